/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz.h - calls on /dev/twheel that nobody in their right mind would make
 *
 * The calls are made from a grammar: a command, an argument that would be
 * right, and then some of it is spoilt: bytes, the size, the pointer. What is
 * known to be true of any call, whatever it was given, is checked on each.
 *
 * A timer's user_data says when it is due and holds a checksum of that and of
 * its id, so that an event can be judged wherever and by whomever it is read.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/twheel.h>

#define GARBAGE		0xa5
#define PAGE		4096UL
#define US		1000ULL
#define MS		1000000ULL
#define SECOND		1000000000ULL
#define HOUR		(3600 * SECOND)
#define IDS_MAX		(1UL << 24)
#define SESSIONS	4
#define THREADS_MAX	4

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)							\
	({								\
		__typeof__(a) a_ = (a);					\
		__typeof__(b) b_ = (b);					\
									\
		a_ < b_ ? a_ : b_;					\
	})

/**
 * struct fuzz_kind - a way to go about it
 * @name: of the test case
 * @threads: that work on the sessions at once
 * @own: each thread keeps to a session of its own
 * @spoilt: percentage of calls with something wrong in them
 * @churn: sessions are closed, duplicated and forked meanwhile
 * @killed: the process is killed in the middle of it all
 */
struct fuzz_kind {
	const char *name;
	unsigned int threads;
	bool own;
	unsigned int spoilt;
	bool churn;
	bool killed;
};

/**
 * struct fuzz_shared - what all processes of a run share
 * @failed: something was wrong
 * @text: what it was
 * @calls: system calls made
 * @successes: of these, those that did not fail
 * @events: events read
 * @started: a bit for each id that somebody has tried to start
 */
struct fuzz_shared {
	int failed;
	char text[400];
	__u64 calls;
	__u64 successes;
	__u64 events;
	unsigned char started[IDS_MAX / 8];
};

/**
 * struct fuzz_area - memory seen through several mappings
 * @size: of it, in bytes; a hole follows each mapping
 * @mine: for the program itself
 * @view: for the kernel
 * @read_only: for the kernel, which cannot write to it
 * @unstable: for the kernel, while another thread plays with it
 */
struct fuzz_area {
	size_t size;
	char *mine;
	char *view;
	char *read_only;
	char *unstable;
};

enum place_kind {
	PLACE_NORMAL,
	PLACE_PAGE_END,
	PLACE_FRESH,
	PLACE_UNSTABLE,
	PLACE_READ_ONLY,
	PLACE_CROSSING,
	PLACE_NOWHERE,
	NR_PLACES,
};

/**
 * struct place - where an argument is
 * @kind: see there
 * @user: what the kernel is given
 * @mine: the same memory for us, or NULL
 * @room: how much of it there is, at most what was asked for
 */
struct place {
	enum place_kind kind;
	char *user;
	char *mine;
	size_t room;
};

/**
 * struct fuzz_thread - one thread of a round
 * @shared: see there
 * @kind: see there
 * @random: state of its random numbers
 * @number: which one it is
 * @forked: it is a child: pages of its mappings may not be there
 * @fds: the sessions of the process
 * @structs: where its arguments are
 * @arrays: where its arrays and events are
 */
struct fuzz_thread {
	struct fuzz_shared *shared;
	const struct fuzz_kind *kind;
	__u64 random;
	unsigned int number;
	bool forked;
	int *fds;
	struct fuzz_area structs;
	struct fuzz_area arrays;
};

/* fuzz_random.c */
__u64 fuzz_random(struct fuzz_thread *t);
__u64 fuzz_below(struct fuzz_thread *t, __u64 limit);
bool fuzz_percent(struct fuzz_thread *t, unsigned int percent);
bool fuzz_spoilt(struct fuzz_thread *t);
__u64 fuzz_number(struct fuzz_thread *t);
__u64 fuzz_time(struct fuzz_thread *t);
__u64 fuzz_id(struct fuzz_thread *t);
void fuzz_mutate(struct fuzz_thread *t, void *data, size_t size);

/* fuzz_memory.c */
void fuzz_area_make(struct fuzz_area *area, size_t size);
void fuzz_area_free(struct fuzz_area *area);
void fuzz_area_disturb(struct fuzz_thread *t, struct fuzz_area *area);
struct place fuzz_place(struct fuzz_thread *t, struct fuzz_area *area,
			size_t size);
bool place_is_known(const struct place *place);

/* fuzz_check.c */
__u64 fuzz_now(void);
void fuzz_fail(struct fuzz_shared *shared, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void fuzz_mark_started(struct fuzz_shared *shared, __u64 id);
__u64 fuzz_user_data(__u64 id, __u64 expires_ns, __u32 flags);
void check_user_data(struct fuzz_shared *shared, const char *what, __u64 id,
		     __u64 user_data);
void check_event(struct fuzz_shared *shared, const struct twheel_event *event);
void check_stats(struct fuzz_shared *shared, const struct twheel_stats *stats);
void check_info(struct fuzz_shared *shared, const struct twheel_info *info);
void check_entry(struct fuzz_shared *shared, const char *what,
		 const struct twheel_entry *entry);
void check_untouched(struct fuzz_shared *shared, const char *what,
		     const void *data, size_t size);

/* fuzz_struct.c, fuzz_array.c, fuzz_file.c: one call each */
int fuzz_ioctl(struct fuzz_thread *t, int fd, unsigned int command, void *arg);
void fuzz_struct_call(struct fuzz_thread *t, int fd);
void fuzz_submit(struct fuzz_thread *t, int fd);
void fuzz_list(struct fuzz_thread *t, int fd);
void fuzz_read(struct fuzz_thread *t, int fd);
void fuzz_file_call(struct fuzz_thread *t, int fd);
int fuzz_open(struct fuzz_shared *shared);

/* fuzz_round.c */
void fuzz_round(struct fuzz_shared *shared, const struct fuzz_kind *kind,
		__u64 seed);

#endif /* FUZZ_H */
