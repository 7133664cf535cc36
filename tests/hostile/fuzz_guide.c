// SPDX-License-Identifier: GPL-2.0
/*
 * Tries, and where the kernel says that they have been
 *
 * The kernel notes each place of the module that a call of this thread comes to
 * (CONFIG_KCOV). It does not note what runs in softirq context, such as the
 * callbacks of timers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Of <linux/kcov.h>, as a 64-bit kernel has them. */
#define KCOV_INIT_TRACE	_IOR('c', 1, __u64)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0

/* Places that are noted of a call, in words of the kernel. */
#define COVER_SIZE	(32 * 1024)
#define CALLS_OF_TRY	12
/* How many tries of a hundred begin with a tape. */
#define GUIDED		60

static __thread struct fuzz_thread *current;

/* FNV-1a. The names of kinds stay, their order may change. */
__u32 fuzz_kind_number(const struct fuzz_kind *kind)
{
	const char *c = kind->name;
	__u32 number = 2166136261U;

	while (*c)
		number = (number ^ (unsigned char)*c++) * 16777619U;
	return number;
}

/* As root, for a thread that may belong to another user later. */
void fuzz_guide_open(struct fuzz_thread *t)
{
	t->kcov = -1;
	if (!t->shared->corpus)
		return;
	t->kcov = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (t->kcov < 0)
		return;
	if (ioctl(t->kcov, KCOV_INIT_TRACE, COVER_SIZE))
		abort();
	t->cover = mmap(NULL, COVER_SIZE * sizeof(*t->cover),
			PROT_READ | PROT_WRITE, MAP_SHARED, t->kcov, 0);
	if (t->cover == MAP_FAILED)
		abort();
}

/* In the thread itself. */
void fuzz_guide_enable(struct fuzz_thread *t)
{
	current = t;
	if (t->kcov >= 0 && ioctl(t->kcov, KCOV_ENABLE, KCOV_TRACE_PC))
		abort();
}

bool fuzz_try_is_over(const struct fuzz_thread *t)
{
	const struct fuzz_tape *tape = &t->tape;

	if (tape->entry && tape->at < tape->given)
		return false;
	return tape->entry || !tape->calls || tape->calls >= CALLS_OF_TRY ||
	       tape->at >= TAPE_MAX;
}

/* Few changes: most of the tape that has led there is wanted. */
static void mutate(struct fuzz_thread *t)
{
	struct fuzz_tape *tape = &t->tape;
	unsigned int count = fuzz_new_word(t) % 6;

	if (fuzz_new_word(t) % 4 == 0)
		tape->given = 1 + fuzz_new_word(t) % tape->given;
	while (count--) {
		__u32 *word = &tape->words[fuzz_new_word(t) % tape->given];

		switch (fuzz_new_word(t) % 3) {
		case 0:
			*word += fuzz_new_word(t) % 2 ? 1 : -1;
			break;
		case 1:
			*word = tape->words[fuzz_new_word(t) % tape->given];
			break;
		default:
			*word = fuzz_new_word(t);
		}
	}
}

static void give(struct fuzz_thread *t, const struct fuzz_entry *entry)
{
	memcpy(t->tape.words, t->shared->corpus->words + entry->at,
	       entry->nr * sizeof(t->tape.words[0]));
	t->tape.given = entry->nr;
}

/* Returns whether there is a try to make. */
bool fuzz_try_begin(struct fuzz_thread *t)
{
	struct fuzz_corpus *corpus = t->shared->corpus;
	struct fuzz_tape *tape = &t->tape;
	const struct fuzz_entry *entry;

	tape->at = 0;
	tape->given = 0;
	tape->calls = 0;
	tape->entry = NULL;
	tape->guided = false;
	tape->found = false;
	if (t->kcov < 0)
		return true;
	if (corpus->replaying) {
		tape->entry = fuzz_corpus_take(corpus, fuzz_kind_number(t->kind));
		if (tape->entry)
			give(t, tape->entry);
		return tape->entry;
	}
	if (fuzz_new_word(t) % 100 >= GUIDED)
		return true;
	entry = fuzz_corpus_any(corpus, fuzz_kind_number(t->kind),
				fuzz_new_word(t));
	if (entry) {
		give(t, entry);
		mutate(t);
		tape->guided = true;
		__atomic_fetch_add(&corpus->tries, 1, __ATOMIC_RELAXED);
	}
	return true;
}

static bool reached_new(struct fuzz_thread *t)
{
	__u64 i, count = __atomic_load_n(&t->cover[0], __ATOMIC_RELAXED);
	bool found = false;

	for (i = 1; i <= count && i < COVER_SIZE; i++)
		found |= fuzz_corpus_mark(t->shared->corpus, t->cover[i]);
	__atomic_store_n(&t->cover[0], 0, __ATOMIC_RELAXED);
	return found;
}

/* Looks at the effect of the call that was just made. */
void fuzz_try_look(struct fuzz_thread *t)
{
	struct fuzz_corpus *corpus = t->shared->corpus;
	struct fuzz_tape *tape = &t->tape;
	bool found;

	tape->calls++;
	if (t->kcov < 0 || t->forked)
		return;
	found = reached_new(t);
	if (tape->entry) {
		tape->found |= found;
		if (tape->at >= tape->given)
			tape->entry->vain = tape->found ? 0 :
						tape->entry->vain + 1;
	} else if (found) {
		fuzz_corpus_keep(corpus, fuzz_kind_number(t->kind), tape);
		if (tape->guided && !tape->found)
			__atomic_fetch_add(&corpus->found, 1, __ATOMIC_RELAXED);
		tape->found = true;
	}
}

/* The next run finds the failure, if it is still there. */
void fuzz_keep_failure(void)
{
	if (!current || current->kcov < 0 || current->forked)
		return;
	if (current->tape.entry)
		current->tape.entry->vain = 0;
	else
		fuzz_corpus_keep(current->shared->corpus,
				 fuzz_kind_number(current->kind), &current->tape);
}
