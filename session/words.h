/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The words of a session: deadlines that its program stores
 */
#ifndef _TWHEEL_SESSION_WORDS_H
#define _TWHEEL_SESSION_WORDS_H

#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/types.h>

#include <uapi/linux/twheel.h>

struct twheel_session;

#define TWHEEL_WORDS_PER_PAGE	((u32)(PAGE_SIZE / sizeof(u64)))

/**
 * struct twheel_session_words - an array that programs map
 * @offset: offset of the program's clock, ns. Constant after the first start
 * @nr: number of words. Constant
 * @nr_pages: number of entries of @pages, each charged to the user. Constant
 * @pages: pages, which a program may write at any time. An entry is NULL until
 *	a program touches the page, and is set once, without a lock
 */
struct twheel_session_words {
	s64 offset;
	u32 nr;
	u32 nr_pages;
	u64 *pages[];
};

/*
 * Returns word @id, below @words->nr. TWHEEL_WORD_NONE if no program touched
 * its page. A program may store another value at any time, so read the word
 * only once. A program also chooses @id, so keep the CPU from using an invalid
 * @id speculatively.
 */
static inline u64
twheel_session_words_read(const struct twheel_session_words *words, u32 id)
{
	u32 page = array_index_nospec(id / TWHEEL_WORDS_PER_PAGE,
				      words->nr_pages);
	/* Pairs with cmpxchg() in page_of(). */
	const u64 *first = READ_ONCE(words->pages[page]);

	if (unlikely(!first))
		return TWHEEL_WORD_NONE;
	/* Pairs with a store of the program. */
	return READ_ONCE(first[id % TWHEEL_WORDS_PER_PAGE]);
}

struct twheel_session_words *
twheel_session_words_make(struct twheel_session *s, u32 nr);
void twheel_session_words_free(struct twheel_session *s,
			       struct twheel_session_words *words);
int twheel_session_mmap(struct twheel_session *s, struct vm_area_struct *vma);

#endif /* _TWHEEL_SESSION_WORDS_H */
