// SPDX-License-Identifier: GPL-2.0
/*
 * The commands whose argument is one structure, and unknown commands
 *
 * After any call, memory that the command must not write is as it was. Memory
 * that it must write is written completely.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fuzz.h"

/* The first number that no command has. */
#define FIRST_UNKNOWN		9

/**
 * struct command - an existing command
 * @number: its number, with the size of our structure
 * @size: that size
 * @make: fills in a valid structure
 */
struct command {
	unsigned int number;
	size_t size;
	void (*make)(struct fuzz_thread *t, void *body);
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
 * @command: the command, or NULL if no command has that number
 * @number: the number that is passed
 * @size: the structure's size according to @number
 * @place: where the structure is
 * @result: 0, 1 or -errno
 */
struct request {
	const struct command *command;
	unsigned int number;
	size_t size;
	struct place place;
	int result;
};

static void make_nothing(struct fuzz_thread *t, void *body)
{
	(void)t;
	(void)body;
}

/* Small wheels, which are quick to make, and setups that are refused. */
static void make_setup(struct fuzz_thread *t, void *body)
{
	struct twheel_setup *setup = body;

	if (fuzz_percent(t, 50))
		setup->max_timers = 1 + fuzz_below(t, 3000);
	if (fuzz_percent(t, 20))
		setup->event_size = TWHEEL_EVENT_SIZE_V1 + 8 * fuzz_below(t, 9);
	if (fuzz_percent(t, 70))
		setup->shared_ids = fuzz_below(t, 3000);
	if (fuzz_percent(t, 30))
		setup->wake_ns = fuzz_below(t, 20 * MS);
	if (fuzz_percent(t, 40))
		return;
	setup->flags = TWHEEL_SETUP_PRIVATE;
	setup->scheme = fuzz_below(t, 3);
	setup->mode = fuzz_percent(t, 5);
	setup->clock = fuzz_percent(t, 90) ?
		       fuzz_below(t, 2) * TWHEEL_CLOCK_BOOTTIME :
		       fuzz_below(t, 12);
	setup->tick_ns = fuzz_below(t, 5) * 250 * US;
	if (setup->scheme != TWHEEL_SCHEME_HIER && fuzz_percent(t, 80))
		setup->slots = 1 << fuzz_below(t, 10);
}

static void make_start(struct fuzz_thread *t, void *body)
{
	struct twheel_start *start = body;

	start->id = fuzz_id(t);
	start->expires_ns = fuzz_time(t);
	if (fuzz_percent(t, 25))
		start->period_ns = fuzz_time(t);
	if (fuzz_percent(t, 2))
		start->fd = fuzz_time(t);
	start->flags = fuzz_below(t, 4);
	if (fuzz_percent(t, 25)) {
		start->period_ns = 0;
		start->flags &= TWHEEL_START_REPLACE;
		start->flags |= fuzz_start_of_fd(t, &start->fd);
	}
	if (start->flags & TWHEEL_START_ABS && fuzz_percent(t, 80))
		start->expires_ns += now_ns();
}

static void make_stop(struct fuzz_thread *t, void *body)
{
	struct twheel_stop *stop = body;

	stop->id = fuzz_id(t);
	stop->flags = fuzz_below(t, 2) * TWHEEL_STOP_WITHDRAW;
}

static void make_get(struct fuzz_thread *t, void *body)
{
	struct twheel_entry *entry = body;

	entry->id = fuzz_id(t);
}

static const struct command commands[] = {
	{ TWHEEL_IOC_INFO, sizeof(struct twheel_info), make_nothing },
	{ TWHEEL_IOC_STATS, sizeof(struct twheel_stats), make_nothing },
	{ TWHEEL_IOC_SETUP, sizeof(struct twheel_setup), make_setup },
	{ TWHEEL_IOC_START, sizeof(struct twheel_start), make_start },
	{ TWHEEL_IOC_START, sizeof(struct twheel_start), make_start },
	{ TWHEEL_IOC_START, sizeof(struct twheel_start), make_start },
	{ TWHEEL_IOC_START, sizeof(struct twheel_start), make_start },
	{ TWHEEL_IOC_STOP, sizeof(struct twheel_stop), make_stop },
	{ TWHEEL_IOC_STOP, sizeof(struct twheel_stop), make_stop },
	{ TWHEEL_IOC_GET, sizeof(struct twheel_entry), make_get },
	{ TWHEEL_IOC_GET, sizeof(struct twheel_entry), make_get },
};

int fuzz_ioctl(struct fuzz_thread *t, int fd, unsigned int command, void *arg)
{
	int result;

	fuzz_fault_begin(t);
	result = ioctl(fd, command, arg);
	fuzz_fault_end(t);
	__atomic_fetch_add(&t->shared->calls, 1, __ATOMIC_RELAXED);
	if (result < 0)
		return -errno;
	__atomic_fetch_add(&t->shared->successes, 1, __ATOMIC_RELAXED);
	return result;
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

static unsigned int sized(unsigned int number, size_t size)
{
	return (number & ~((unsigned int)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
	       size << _IOC_SIZESHIFT;
}

static void choose_command(struct fuzz_thread *t, struct request *request,
			   const struct command *command)
{
	request->command = command;
	request->number = request->command->number;
	request->size = request->command->size;
	if (!fuzz_spoilt(t))
		return;
	if (fuzz_percent(t, 30)) {
		request->command = NULL;
		request->number = _IOC(fuzz_below(t, 4), TWHEEL_IOC_MAGIC,
				       FIRST_UNKNOWN +
				       fuzz_below(t, 256 - FIRST_UNKNOWN),
				       request->size);
	}
	request->size = choose_size(t, request->size);
	request->number = sized(request->number, request->size);
}

/* Sets user_data as required, and records the id, before the kernel reads. */
static void sign_start(struct fuzz_thread *t, const struct request *request,
		       struct twheel_start *start)
{
	size_t end = offsetof(struct twheel_start, user_data) + sizeof(__u64);

	if (!request->command || request->command->make != make_start)
		return;
	start->user_data = 0;
	if (request->size >= end)
		start->user_data = fuzz_user_data(start->id, start->expires_ns,
						  start->flags);
	fuzz_mark_started(t->shared, start->id);
}

static void make_body(struct fuzz_thread *t, const struct request *request,
		      union body *body)
{
	size_t known = request->command ? request->command->size : 64;

	memset(body, 0, request->size > known ? request->size : known);
	if (request->command)
		request->command->make(t, body);
	if (fuzz_spoilt(t))
		fuzz_mutate(t, body, request->size);
	if (request->size < known)
		memset(body->bytes + request->size, 0, known - request->size);
	sign_start(t, request, &body->start);
	/* Where descriptors change, a reader could not know the size of events. */
	if (t->kind->churn && request->command &&
	    request->command->make == make_setup)
		body->setup.event_size = 0;
}

/* The structure is as we made it, except for @length bytes at @from. */
static void check_unchanged(struct fuzz_thread *t,
			    const struct request *request,
			    const union body *body, size_t from, size_t length)
{
	const char *now = request->place.mine;
	size_t size = MIN(request->size, request->place.room);
	size_t i;

	for (i = 0; i < size; i++)
		if (now[i] != (char)body->bytes[i] &&
		    (i < from || i >= from + length))
			fuzz_fail(t->shared,
				  "command %#x, result %d: byte %zu of %zu has changed",
				  request->number, request->result, i, size);
}

/* The kernel writes a structure completely, with zeroes behind its own part. */
static void check_tail(struct fuzz_thread *t, const struct request *request,
		       size_t known)
{
	const char *now = request->place.mine;
	size_t i;

	for (i = known; i < request->size; i++)
		if (now[i])
			fuzz_fail(t->shared,
				  "command %#x: byte %zu of %zu is %#x",
				  request->number, i, request->size, now[i]);
}

/* Checks what a command that returns a structure has written. */
static void check_output(struct fuzz_thread *t, const struct request *request,
			 const union body *body)
{
	size_t known = request->command->size;
	union body out;

	if (request->size < known) {
		check_unchanged(t, request, body, 0, request->size);
		return;
	}
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
	check_tail(t, request, known);
}

static bool has_output(const struct request *request)
{
	return request->command &&
	       (request->command->number == TWHEEL_IOC_INFO ||
		request->command->number == TWHEEL_IOC_STATS ||
		request->command->number == TWHEEL_IOC_GET);
}

/* A start with TWHEEL_ID_ANY returns an id if and only if it succeeded. */
static void check_input(struct fuzz_thread *t, const struct request *request,
			const union body *body)
{
	bool any = request->command && request->size >= sizeof(__u64) &&
		   request->command->make == make_start &&
		   body->start.id == TWHEEL_ID_ANY;
	__u64 id;

	check_unchanged(t, request, body, 0, any ? sizeof(id) : 0);
	if (!any || !place_is_known(&request->place))
		return;
	memcpy(&id, request->place.mine, sizeof(id));
	if ((request->result < 0) != (id == TWHEEL_ID_ANY) ||
	    !(id & TWHEEL_ID_KERNEL))
		fuzz_fail(t->shared, "start: result %d, id %#llx",
			  request->result, (unsigned long long)id);
}

static void check_memory(struct fuzz_thread *t, const struct request *request,
			 const union body *body)
{
	if (!request->place.mine)
		return;
	if (!has_output(request) || request->result == -EINVAL ||
	    request->result == -ENOENT || request->result == -ENOTTY)
		check_input(t, request, body);
	else if (!request->result)
		check_output(t, request, body);
	if (request->place.kind != PLACE_CROSSING)
		check_untouched(t->shared, "structure",
				request->place.mine + request->size,
				request->place.kind == PLACE_PAGE_END ? 0 : 8);
}

static void check_result(struct fuzz_thread *t, const struct request *request,
			 const union body *body)
{
	if (request->command && request->command->make == make_start &&
	    fuzz_is_fd_error(body->start.flags, request->result))
		return;
	switch (request->result) {
	case 0:
	case 1:
		if (request->command)
			return;
		break;
	case -ENOTTY:
		if (!request->command)
			return;
		break;
	case -EINVAL:
	case -E2BIG:
	case -EFAULT:
	case -EBADF:
	case -ENOENT:
	case -EALREADY:
	case -ENOSPC:
	case -ENOMEM:
	case -EBUSY:
		return;
	case -EOPNOTSUPP:
		if (t->shared->no_words)
			return;
		break;
	case -EPERM:
		/* Some of what SETUP does takes a privilege. */
		if (t->kind->users)
			return;
		break;
	}
	fuzz_fail(t->shared, "command %#x: result %d", request->number,
		  request->result);
}

static void call_command(struct fuzz_thread *t, int fd,
			 const struct command *command)
{
	struct request request;
	union body body;

	choose_command(t, &request, command);
	make_body(t, &request, &body);
	request.place = fuzz_place(t, &t->structs, request.size);
	if (request.place.mine)
		memcpy(request.place.mine, &body,
		       MIN(request.size, request.place.room));
	request.result = fuzz_ioctl(t, fd, request.number, request.place.user);
	check_result(t, &request, &body);
	check_memory(t, &request, &body);
}

/* One command with one structure. */
void fuzz_struct_call(struct fuzz_thread *t, int fd)
{
	call_command(t, fd, &commands[fuzz_below(t, ARRAY_SIZE(commands))]);
}

void fuzz_setup(struct fuzz_thread *t, int fd)
{
	static const struct command setup = {
		TWHEEL_IOC_SETUP, sizeof(struct twheel_setup), make_setup
	};

	call_command(t, fd, &setup);
}
