// SPDX-License-Identifier: GPL-2.0
/*
 * The commands whose argument is one structure, and unknown commands
 *
 * After each call, memory that the command must not write has to be unchanged, and memory that
 * the command must write has to be written completely.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fuzz.h"

/* The first command number that does not exist. */
#define FIRST_UNKNOWN		9

/**
 * struct command - an existing command
 * @number: its number, with the size of our structure
 * @make: function that fills in a valid structure, or NULL
 * @returns: the kernel writes to the structure
 */
struct command {
	unsigned int number;
	void (*make)(struct fuzz_thread *t, void *body);
	bool returns;
};

union body {
	struct twheel_info info;
	struct twheel_setup setup;
	struct twheel_start start;
	struct twheel_stop stop;
	struct twheel_entry entry;
	struct twheel_stats stats;
	unsigned char bytes[_IOC_SIZEMASK + 1];
};

/**
 * struct request - one call
 * @command: the command, or NULL if no command has @number
 * @number: number to pass
 * @size: size of the structure according to @number
 * @place: memory of the structure
 * @result: 0, 1, 2 or -errno
 */
struct request {
	const struct command *command;
	unsigned int number;
	size_t size;
	struct place place;
	int result;
};

/* Make a SETUP of a small session, or sometimes an invalid one. */
static void make_setup(struct fuzz_thread *t, void *body)
{
	struct twheel_setup *setup = body;

	if (fuzz_percent(t, 50))
		setup->max_timers = 1 + fuzz_below(t, 3000);
	if (fuzz_percent(t, 20))
		setup->event_size = TWHEEL_EVENT_SIZE_V1 + 8 * fuzz_percent(t, 5);
	if (fuzz_percent(t, 70))
		setup->shared_ids = fuzz_below(t, 3000);
	if (fuzz_percent(t, 2))
		setup->reserved[fuzz_below(t, 3)] = fuzz_number(t);
	if (fuzz_percent(t, 2))
		setup->reserved2 = fuzz_number(t);
	if (fuzz_percent(t, 40))
		return;
	setup->flags = TWHEEL_SETUP_PRIVATE;
	setup->clock = fuzz_percent(t, 90) ?
		       fuzz_below(t, 2) * TWHEEL_CLOCK_BOOTTIME :
		       fuzz_below(t, 12);
	setup->tick_ns = fuzz_below(t, 5) * 250 * US;
}

void fuzz_make_start(struct fuzz_thread *t, void *body)
{
	struct twheel_start *start = body;

	start->id = fuzz_id(t);
	start->expires_ns = fuzz_time(t);
	if (fuzz_percent(t, 25))
		start->period_ns = fuzz_time(t);
	if (fuzz_percent(t, 2))
		start->reserved = fuzz_number(t);
	start->flags = fuzz_percent(t, 98) ? fuzz_below(t, 2) : fuzz_below(t, 8);
	if (start->flags & TWHEEL_START_ABS && fuzz_percent(t, 80))
		start->expires_ns += now_ns();
}

static void make_stop(struct fuzz_thread *t, void *body)
{
	struct twheel_stop *stop = body;

	stop->id = fuzz_id(t);
	stop->flags = fuzz_percent(t, 2);
}

static void make_get(struct fuzz_thread *t, void *body)
{
	struct twheel_entry *entry = body;

	entry->id = fuzz_id(t);
}

/* Commands that occur several times are called more often. */
static const struct command commands[] = {
	{ TWHEEL_IOC_INFO, NULL, true },
	{ TWHEEL_IOC_STATS, NULL, true },
	{ TWHEEL_IOC_SETUP, make_setup, false },
	{ TWHEEL_IOC_START, fuzz_make_start, false },
	{ TWHEEL_IOC_START, fuzz_make_start, false },
	{ TWHEEL_IOC_START, fuzz_make_start, false },
	{ TWHEEL_IOC_START, fuzz_make_start, false },
	{ TWHEEL_IOC_STOP, make_stop, false },
	{ TWHEEL_IOC_STOP, make_stop, false },
	{ TWHEEL_IOC_GET, make_get, true },
	{ TWHEEL_IOC_GET, make_get, true },
};

/* End a call that fuzz_fault_begin() began. Returns its result or -errno. */
ssize_t fuzz_end_call(struct fuzz_thread *t, ssize_t result)
{
	fuzz_fault_end(t);
	__atomic_fetch_add(&t->shared->calls, 1, __ATOMIC_RELAXED);
	if (result < 0)
		return -errno;
	__atomic_fetch_add(&t->shared->successes, 1, __ATOMIC_RELAXED);
	return result;
}

int fuzz_ioctl(struct fuzz_thread *t, int fd, unsigned int command, void *arg)
{
	fuzz_fault_begin(t);
	return fuzz_end_call(t, ioctl(fd, command, arg));
}

static size_t choose_size(struct fuzz_thread *t, size_t size)
{
	if (!fuzz_spoilt(t))
		return size;
	switch (fuzz_below(t, 4)) {
	case 0:
		return fuzz_below(t, size);
	case 1:
		return size + fuzz_below(t, 64);
	case 2:
		return fuzz_below(t, _IOC_SIZEMASK + 1);
	default:
		return size - 8;
	}
}

static void choose_command(struct fuzz_thread *t, struct request *request,
			   const struct command *command)
{
	unsigned int direction = _IOC_DIR(command->number);
	unsigned int number = _IOC_NR(command->number);

	request->command = command;
	request->size = _IOC_SIZE(command->number);
	if (fuzz_spoilt(t)) {
		if (fuzz_percent(t, 30)) {
			request->command = NULL;
			direction = fuzz_below(t, 4);
			number = FIRST_UNKNOWN + fuzz_below(t, 256 - FIRST_UNKNOWN);
		}
		request->size = choose_size(t, request->size);
	}
	request->number = _IOC(direction, TWHEEL_IOC_MAGIC, number, request->size);
}

static bool is_start(const struct request *request)
{
	return request->command && request->command->number == TWHEEL_IOC_START;
}

/*
 * Record the id and set user_data as the checks expect it. Must be called before the kernel reads
 * @start.
 */
static void sign_start(struct fuzz_thread *t, const struct request *request,
		       struct twheel_start *start)
{
	size_t end = offsetof(struct twheel_start, user_data) + sizeof(__u64);

	if (!is_start(request))
		return;
	start->user_data = 0;
	if (request->size >= end)
		start->user_data = fuzz_user_data(start->id, start->expires_ns, start->flags);
	fuzz_mark_started(t->shared, start->id);
}

static void make_body(struct fuzz_thread *t, const struct request *request, union body *body)
{
	size_t known = request->command ? _IOC_SIZE(request->command->number) : 64;

	memset(body, 0, request->size > known ? request->size : known);
	if (request->command && request->command->make)
		request->command->make(t, body);
	if (fuzz_spoilt(t))
		fuzz_mutate(t, body, request->size);
	if (request->size < known)
		memset(body->bytes + request->size, 0, known - request->size);
	sign_start(t, request, &body->start);
}

/* Check the structure that a command returned. */
static void check_output(struct fuzz_thread *t, const struct request *request,
			 const union body *body)
{
	size_t known = _IOC_SIZE(request->command->number);
	union body out;

	if (request->size < known)
		return;
	memcpy(&out, request->place.mine, known);
	switch (request->command->number) {
	case TWHEEL_IOC_INFO:
		check_info(t->shared, &out.info);
		break;
	case TWHEEL_IOC_STATS:
		check_stats(t->shared, &out.stats);
		break;
	case TWHEEL_IOC_GET:
		check_entry(t->shared, "get", &out.entry);
		if (out.entry.id != body->entry.id)
			fuzz_fail(t->shared, "get: another id");
		break;
	}
	check_zeroes(t->shared, request->place.mine, known, request->size);
}

/*
 * Check that the command did not change its structure. Only a START with TWHEEL_ID_ANY returns an
 * id, and only if it succeeded.
 */
static void check_input(struct fuzz_thread *t, const struct request *request,
			const union body *body)
{
	bool any = is_start(request) && request->size >= sizeof(__u64) &&
		   body->start.id == TWHEEL_ID_ANY;
	size_t i, size = MIN(request->size, request->place.room);
	const char *now = request->place.mine;
	__u64 id;

	for (i = any ? sizeof(id) : 0; i < size; i++)
		if (now[i] != (char)body->bytes[i])
			fuzz_fail(t->shared, "command %#x, result %d: byte %zu of %zu has changed",
				  request->number, request->result, i, size);
	if (!any || !place_is_known(&request->place))
		return;
	memcpy(&id, now, sizeof(id));
	if ((request->result < 0) != (id == TWHEEL_ID_ANY) || !(id & TWHEEL_ID_KERNEL))
		fuzz_fail(t->shared, "start: result %d, id %#llx", request->result, id);
}

static void check_memory(struct fuzz_thread *t, const struct request *request,
			 const union body *body)
{
	if (!request->place.mine)
		return;
	if (!request->command || !request->command->returns || request->result == -EINVAL ||
	    request->result == -ENOENT || request->result == -ENOTTY)
		check_input(t, request, body);
	else if (!request->result)
		check_output(t, request, body);
	if (request->place.kind != PLACE_CROSSING)
		check_untouched(t->shared, "structure",
				request->place.mine + request->size,
				request->place.kind == PLACE_PAGE_END ? 0 : 8);
}

/* Returns the largest result that the command can have. */
static int most(const struct command *command)
{
	return command->number == TWHEEL_IOC_START ? 2 : command->number == TWHEEL_IOC_STOP;
}

static void check_result(struct fuzz_thread *t, const struct request *request)
{
	int result = request->result;

	if (request->command ? result >= 0 && result <= most(request->command) :
			       result == -ENOTTY)
		return;
	if (IS_ONE_OF(result, -EINVAL, -E2BIG, -EFAULT, -EBADF, -ENOENT, -ENOSPC, -ENOMEM, -EBUSY))
		return;
	if (result == -EOPNOTSUPP && t->shared->no_words)
		return;
	/* A user without the privilege may be refused. */
	if (result == -EPERM && t->kind->users)
		return;
	fuzz_fail(t->shared, "command %#x: result %d", request->number, result);
}

static void call_command(struct fuzz_thread *t, int fd, const struct command *command)
{
	struct request request;
	union body body;

	choose_command(t, &request, command);
	make_body(t, &request, &body);
	request.place = fuzz_place(t, &t->structs, request.size);
	if (request.place.mine)
		memcpy(request.place.mine, &body, MIN(request.size, request.place.room));
	request.result = fuzz_ioctl(t, fd, request.number, request.place.user);
	check_result(t, &request);
	check_memory(t, &request, &body);
}

/* Check the counters of a session while its timers run. */
void fuzz_stats(struct fuzz_thread *t, int fd)
{
	struct twheel_stats stats;

	if (!ioctl(fd, TWHEEL_IOC_STATS, &stats))
		check_stats(t->shared, &stats);
}

/* Call one command with one structure. */
void fuzz_struct_call(struct fuzz_thread *t, int fd)
{
	call_command(t, fd, &commands[fuzz_below(t, ARRAY_SIZE(commands))]);
}

void fuzz_setup(struct fuzz_thread *t, int fd)
{
	static const struct command setup = { TWHEEL_IOC_SETUP, make_setup, false };

	call_command(t, fd, &setup);
}
