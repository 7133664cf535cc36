/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls on /dev/twheel that no sane program would make
 *
 * The calls follow a grammar: a command, and an argument that would be valid. Then a part of the
 * call is damaged, such as some bytes, the size or the pointer. After each call, the fuzzer
 * checks everything that must be true however bad the call was.
 *
 * A timer's user_data holds the time at which the timer is due, and a checksum of this time and
 * the id. So any thread that reads an event can judge it without knowing the start.
 *
 * fuzz_process.c makes the same calls on a session in the process under libFuzzer, whose input
 * takes the place of random numbers.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>
#include <linux/twheel.h>

#include "../api/selftests/user.h"

#define GARBAGE		0xa5
#define PAGE		((unsigned long)sysconf(_SC_PAGESIZE))
#define IDS_MAX		(1UL << 24)
#define SESSIONS	4
#define THREADS_MAX	4
/* The distance between the seeds of two rounds. */
#define FUZZ_ROUND	101

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)							\
	({								\
		__typeof__(a) a_ = (a);					\
		__typeof__(b) b_ = (b);					\
									\
		a_ < b_ ? a_ : b_;					\
	})

#define IS_ONE_OF(value, ...)						\
	({								\
		const int values_[] = { __VA_ARGS__ };			\
									\
		fuzz_is_one_of(value, values_, ARRAY_SIZE(values_));	\
	})

/**
 * struct fuzz_kind - a way of fuzzing
 * @name: name of the test case
 * @threads: number of threads that call at the same time
 * @own: each thread uses only one session of its own
 * @spoilt: percentage of calls that are damaged
 * @words: percentage of calls that map words and store there. If it is not 0, all sessions have
 *	words from the beginning
 * @churn: sessions are closed, duplicated and forked during the calls
 * @users: some processes belong to users without a privilege, or are in a time namespace
 * @killed: the process is killed at any time
 * @faults: percentage of calls with a failing allocation or copy, if the kernel supports that.
 *	There are no signals then, because sending them would fail, too
 */
struct fuzz_kind {
	const char *name;
	unsigned int threads;
	bool own;
	unsigned int spoilt;
	unsigned int words;
	bool churn;
	bool users;
	bool killed;
	unsigned int faults;
};

/**
 * struct fuzz_shared - memory that all processes of a run share
 * @failed: a check failed
 * @end: time after which no call begins
 * @no_words: the kernel does not support words, and may refuse them
 * @text: message of the failed check
 * @calls: number of system calls
 * @successes: number of successful calls
 * @events: number of events read
 * @faults: the kernel supports the kind faults
 * @in_process: the session is in the process, and takes only good pointers
 * @started: a bit for each id, set before any thread starts it
 */
struct fuzz_shared {
	int failed;
	__u64 end;
	bool no_words;
	char text[400];
	__u64 calls;
	__u64 successes;
	__u64 events;
	bool faults;
	bool in_process;
	unsigned char started[IDS_MAX / 8];
};

/**
 * struct fuzz_area - memory seen through several mappings
 * @size: its size in bytes. A hole follows each mapping
 * @mine: mapping for the program itself
 * @view: mapping for the kernel
 * @read_only: mapping for the kernel, which cannot write to it
 * @unstable: mapping for the kernel, which another thread changes all the time
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
 * struct place - memory of an argument
 * @kind: kind of memory
 * @user: pointer to pass to the kernel
 * @mine: the same memory for the program, or NULL
 * @room: usable bytes, at most as many as the caller wanted
 */
struct place {
	enum place_kind kind;
	char *user;
	char *mine;
	size_t room;
};

/**
 * struct fuzz_thread - one thread of a round
 * @shared: shared by all processes of the run
 * @kind: the way of fuzzing
 * @random: state of its random numbers
 * @input: bytes to use instead of random numbers, or NULL
 * @left: rest of @input, in bytes
 * @number: its number in the round
 * @forked: the thread is a child, which may lack pages of its mappings
 * @nth: its file fail-nth, or -1
 * @structs: memory for its arguments
 * @arrays: memory for its arrays and events
 */
struct fuzz_thread {
	struct fuzz_shared *shared;
	const struct fuzz_kind *kind;
	__u64 random;
	const unsigned char *input;
	size_t left;
	unsigned int number;
	bool forked;
	int nth;
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
void fuzz_areas_make(struct fuzz_thread *t);
void fuzz_area_disturb(struct fuzz_thread *t, struct fuzz_area *area);
struct place fuzz_place(struct fuzz_thread *t, struct fuzz_area *area, size_t size);
bool place_is_known(const struct place *place);

/* fuzz_check.c */
void fuzz_fail(struct fuzz_shared *shared, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
bool fuzz_is_one_of(int value, const int *values, size_t nr);
void fuzz_mark_started(struct fuzz_shared *shared, __u64 id);
__u64 fuzz_user_data(__u64 id, __u64 expires_ns, __u32 flags);
void check_user_data(struct fuzz_shared *shared, const char *what, __u64 id, __u64 user_data);
void check_event(struct fuzz_shared *shared, const struct twheel_event *event);
void check_stats(struct fuzz_shared *shared, const struct twheel_stats *stats);
void check_info(struct fuzz_shared *shared, const struct twheel_info *info);
void check_entry(struct fuzz_shared *shared, const char *what,
		 const struct twheel_entry *entry);
void check_zeroes(struct fuzz_shared *shared, const char *data, size_t from, size_t size);
void check_untouched(struct fuzz_shared *shared, const char *what,
		     const void *data, size_t size);

/* fuzz_struct.c, fuzz_array.c, fuzz_file.c: one call each */
ssize_t fuzz_end_call(struct fuzz_thread *t, ssize_t result);
int fuzz_ioctl(struct fuzz_thread *t, int fd, unsigned int command, void *arg);
void fuzz_make_start(struct fuzz_thread *t, void *body);
void fuzz_stats(struct fuzz_thread *t, int fd);
void fuzz_struct_call(struct fuzz_thread *t, int fd);
void fuzz_setup(struct fuzz_thread *t, int fd);
void fuzz_submit(struct fuzz_thread *t, int fd);
void fuzz_list(struct fuzz_thread *t, int fd);
void fuzz_read(struct fuzz_thread *t, int fd);
void fuzz_file_call(struct fuzz_thread *t, int fd);
void fuzz_words(struct fuzz_thread *t, int fd);
void fuzz_life(struct fuzz_thread *t);
int fuzz_open(struct fuzz_shared *shared, const struct fuzz_kind *kind, int flags);
int fuzz_open_again(struct fuzz_thread *t);

/* fuzz_fault.c */
void fuzz_fault_open(struct fuzz_thread *t);
void fuzz_fault_begin(struct fuzz_thread *t);
void fuzz_fault_end(struct fuzz_thread *t);

/* fuzz_user.c */
void fuzz_become(struct fuzz_shared *shared, __u64 seed);
void fuzz_look(struct fuzz_thread *t, int fd);

/* fuzz_round.c */
bool fuzz_may_go_on(const struct fuzz_shared *shared);
void fuzz_settle(struct fuzz_shared *shared, int fd);
void fuzz_round(struct fuzz_shared *shared, const struct fuzz_kind *kind, __u64 seed);

#endif /* FUZZ_H */
