// SPDX-License-Identifier: GPL-2.0
/*
 * Steps with wrong arguments, and what programs do at the worst moment: close a session while its
 * timers expire, fork, damage a mapping of words, read /proc/twheel
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "uapi_tables.h"

union argument {
	struct twheel_setup setup;
	struct twheel_start start;
	struct twheel_stop stop;
	struct twheel_entry entry;
	struct twheel_submit submit;
	struct twheel_list list;
	struct twheel_stats stats;
	struct twheel_info info;
	u64 words[32];
};

/* Check that a command fails if a reserved field is not 0, or if it has an unknown flag. */
void call_wrong(struct session *s, const struct step *step)
{
	static const struct { const char *name; u32 command, offset, size; u64 known; } zeroes[] = {
		UAPI_ZEROES
	};
	unsigned int nr = (step->id * 6 + step->how) % ARRAY_SIZE(zeroes);
	struct twheel_entry entry;
	struct twheel_op op = { .opcode = TWHEEL_OP_STOP, .id = 20 };
	union argument good = {}, given;
	u64 bit = 1ULL << step->delay % (8 * zeroes[nr].size);
	long ret;

	if (bit & zeroes[nr].known)
		return;
	switch (zeroes[nr].command) {
	case TWHEEL_IOC_SUBMIT:
		good.submit = (struct twheel_submit){
			.ops = (uintptr_t)&op, .count = 1, .op_size = sizeof(op) };
		break;
	case TWHEEL_IOC_LIST:
		good.list = (struct twheel_list){
			.entries = (uintptr_t)&entry, .count = 1, .entry_size = sizeof(entry) };
		break;
	default:
		good.words[0] = zeroes[nr].command == TWHEEL_IOC_SETUP ? 0 : 20;
	}
	*(u32 *)((char *)&good + zeroes[nr].offset + (bit >> 32 ? 4 : 0)) |= bit >> 32 ?: bit;
	given = good;
	ret = twheel_command(s->t, zeroes[nr].command, &good);
	life_note("%s with bit %llu of a field that is 0 = %ld", zeroes[nr].name,
		  step->delay % (8 * zeroes[nr].size), ret);
	/* The SETUP of a session that is in use cannot change. */
	if (ret == -EBUSY && zeroes[nr].command == TWHEEL_IOC_SETUP)
		return;
	if (ret != -EINVAL || memcmp(&given, &good, sizeof(good)))
		oracle_fail("%s: bit %#llx is taken: %ld", zeroes[nr].name, bit, ret);
}

/* Pass random bytes to a command, in a session of its own. Check its errors and the counters. */
void call_spoilt(const struct step *step)
{
	static const struct { const char *name; u64 number; u32 size, value; } commands[] = {
		UAPI_COMMANDS
	};
	unsigned int nr = step->id % (ARRAY_SIZE(commands) + 1), size, i, k;
	u64 random = step->delay * 2 + 1;
	struct twheel_entry entries[64] = {};
	union argument argument = {};
	struct twheel *t;
	u32 number;
	long ret;

	number = nr ? commands[nr - 1].number : TWHEEL_IOC_STATS + 1 + step->how;
	if (!life_open(&t, NULL))
		return;
	for (i = 0; i < 20; i++) {
		for (k = 0; k < step->count; k++) {
			u64 *word = &argument.words[random_number(&random) % 7];

			*word = random_number(&random) >> random_number(&random) % 64;
		}
		size = _IOC_SIZE(number);
		if (!(random_number(&random) % 3))
			size = random_number(&random) % sizeof(argument) & ~7UL;
		if (number == TWHEEL_IOC_SUBMIT || number == TWHEEL_IOC_LIST) {
			argument.list.entries = (uintptr_t)entries;
			argument.list.count %= ARRAY_SIZE(entries) + 1;
			argument.list.entry_size = step->how ? sizeof(entries[0]) : 40;
		}
		ret = twheel_command(t, _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC,
					     _IOC_NR(number), size), &argument);
		if (nr)
			CHECK("a command", ret, ARRAY_SIZE(entries), EINVAL, E2BIG, ENOENT, ENOSPC,
			      ENOMEM, EBUSY, EPERM, EOPNOTSUPP);
		else
			CHECK("an unknown command", ret, -1, ENOTTY);
	}
	if (twheel_stats(t, &argument.stats))
		oracle_fail("STATS of spoilt calls");
	oracle_stats(&life->sessions[0].os, &argument.stats);
	life_close(t, false);
}

/* Close a session while its timers expire. */
void call_swarm(const struct step *step)
{
	unsigned int nr = 1 + step->count * 24, i;
	struct twheel_setup setup = { .flags = step->how & 1, .shared_ids = step->id };
	struct twheel_batch *batch;
	struct twheel_event event;
	struct twheel *t;

	if (!life_open(&t, &setup))
		return;
	if (twheel_batch_new(t, nr, &batch))
		oracle_fail("no memory for a batch");
	for (i = 0; i < nr; i++)
		twheel_batch_start(batch, step->count & 1 ? TWHEEL_ID_ANY : i,
				   step->period % MS + i * US * (step->id % 8), i);
	for (i = 0; i < nr; i++)
		CHECK("a start of a swarm", twheel_batch_op(batch, i)->result, 0, ENOMEM, ENOSPC);
	if (!IS_VIRTUAL)
		usleep(step->delay % (2 * MS) / 1000);
	if (step->how & 2)
		twheel_read(t, &event, 1);
	twheel_batch_free(batch);
	life_close(t, setup.flags);
}

/* Fork. The child has no mapping of the words. It opens the descriptor again, reads and lists. */
void call_fork(struct session *s, const struct step *step)
{
	struct twheel *t;
	pid_t pid;

	/* After fork() a session in the process exists twice, and the copy is of no interest. */
	if (twheel_backend(s->t) == TWHEEL_BACKEND_PROCESS)
		return;
	pid = fork();
	if (!pid) {
		alarm(60);
		if (twheel_attach(&t, dup(twheel_fd(s->t))))
			oracle_fail("the descriptor of a parent");
		twheel_close(t);
		call_read(s, &(struct step){ .how = 0, .count = step->count });
		call_list(s, &(struct step){ .count = step->count }, false);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void read_all(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];

	while (fd >= 0 && read(fd, text, size) > 0)
		;
	close(fd);
}

/*
 * Check in /proc/twheel that the counters of each wheel and CPU add up: each started timer expired,
 * was stopped, or is pending.
 */
static void check_balance(size_t piece)
{
	unsigned long long value, started = 0, expired = 0, stopped = 0;
	FILE *file = fopen("/proc/twheel", "re");
	char line[512], pieces[2048], name[16];

	if (!file)
		return;
	setvbuf(file, pieces, _IOFBF, piece);
	while (fgets(line, sizeof(line), file) && strncmp(line, "session ", 8)) {
		if (sscanf(line, " %15s %llu", name, &value) != 2)
			continue;
		if (!strcmp(name, "started"))
			started = value;
		else if (!strcmp(name, "expired"))
			expired = value;
		else if (!strcmp(name, "stopped"))
			stopped = value;
		else if (!strcmp(name, "pending") && started != expired + stopped + value)
			oracle_fail("/proc/twheel: started %llu, expired %llu, stopped %llu, pending %llu",
				    started, expired, stopped, value);
	}
	fclose(file);
}

/* Watch the descriptor with epoll. End the watch by EPOLL_CTL_DEL, or by closing the epoll. */
static void watch(int fd, bool deletes)
{
	struct epoll_event event = { .events = EPOLLIN | (deletes ? EPOLLET : EPOLLONESHOT) };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, &event, 1, 1);
	if (deletes)
		epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event);
	close(epoll);
}

/* Map the words again. Check that wrong mappings are refused, and damage a right mapping. */
static void spoil_words(const struct session *s, const struct step *step)
{
	size_t size = (s->os.shared_ids * sizeof(u64) + PAGE - 1) & ~(PAGE - 1), part = PAGE;
	int fd = twheel_fd(s->t), flags = step->how == 5 ? MAP_PRIVATE : MAP_SHARED;
	bool reads = step->count == 1;
	char *at;

	if (!size)
		return;
	at = mmap(NULL, size, reads ? PROT_READ : PROT_READ | PROT_WRITE, flags, fd, 0);
	if ((at == MAP_FAILED) != (flags == MAP_PRIVATE))
		oracle_fail("words are mapped with flags %#x: %s", flags, strerror(errno));
	if (at == MAP_FAILED)
		return;
	if (reads && !mprotect(at, size, PROT_READ | PROT_WRITE))
		oracle_fail("words that are read-only are made writable");
	if (mremap(at, size, size + PAGE, 0) != MAP_FAILED)
		oracle_fail("words have a longer mapping");
	if (step->id % 3 == 0)
		mmap(at, part, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (step->id % 3 == 1)
		madvise(at, part, MADV_DONTNEED);
	else
		madvise(at, size, MADV_DOFORK);
	munmap(at, size);
}

/* Check /proc/twheel, read a session's fdinfo, watch its descriptor, or misuse its words. */
void call_look(struct session *s, const struct step *step)
{
	char path[40];

	if (twheel_backend(s->t) == TWHEEL_BACKEND_PROCESS)
		return;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", twheel_fd(s->t));
	if (step->how == 0)
		check_balance(1 + step->count * 100);
	else if (step->how == 1)
		read_all(path, 1 + step->count * 10);
	else if (step->how == 2)
		watch(twheel_fd(s->t), step->count & 1);
	else
		spoil_words(s, step);
}
