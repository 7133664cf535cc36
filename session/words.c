// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The words of a session: deadlines that its program stores
 *
 * A session that was set up with shared_ids has a word for each id below that.
 * Its program maps them. A store into the word of a pending timer is all that it
 * takes to push the timer back: session_expired() reads the word when the timer
 * is due. The kernel never writes a word.
 *
 * The pages belong to the session. They are made in SETUP, and go when the session
 * is closed. A mapping holds the open file, and so the session. A page that is
 * mapped or pinned has references beside the session's. So nothing is freed that
 * anybody can still reach.
 *
 * Words become more, and never fewer. The array of pages is made anew then, with
 * the pages of the old one at its begin: an old mapping and a new one show the same
 * words. Everybody but a thread that makes such an array looks at the session's
 * under its lock.
 *
 * A page is mapped when it is touched, so that a mapping of many words costs
 * nothing in advance, and one that was thrown away (MADV_DONTNEED) comes back.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/compat.h"
#include "session.h"

static int add_page(struct twheel_session *s, struct twheel_session_words *words)
{
	u64 *page;
	int ret = twheel_session_user_charge(s->user, TWHEEL_COUNT_WORD_PAGES,
					     s->unlimited);

	if (ret)
		return ret;
	page = (u64 *)get_zeroed_page(GFP_SESSION);
	if (!page) {
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_WORD_PAGES);
		return -ENOMEM;
	}
	words->pages[words->nr_pages++] = page;
	return 0;
}

/* The pages that the session has already. */
static void lend_pages(struct twheel_session *s, struct twheel_session_words *words,
		       u32 nr_pages)
{
	const struct twheel_session_words *old;

	/* Pairs with kvfree_rcu() in take_words(). */
	rcu_read_lock();
	spin_lock_bh(&s->lock);
	old = s->words;
	spin_unlock_bh(&s->lock);
	if (old) {
		words->lent = min(old->nr_pages, nr_pages);
		words->nr_pages = words->lent;
		memcpy(words->pages, old->pages, words->lent * sizeof(old->pages[0]));
	}
	rcu_read_unlock();
}

/**
 * twheel_session_words_make - make the words of a session, or more of them
 * @s: the session
 * @nr: how many, not 0
 *
 * Context: Process, may sleep.
 * Return: the words, 0 where the session has none yet, or ERR_PTR() of -ENOSPC at a
 * limit of the user's, or -ENOMEM.
 */
struct twheel_session_words *
twheel_session_words_make(struct twheel_session *s, u32 nr)
{
	u32 nr_pages = DIV_ROUND_UP(nr, TWHEEL_WORDS_PER_PAGE);
	struct twheel_session_words *words;
	int ret;

	words = kvzalloc(struct_size(words, pages, nr_pages), GFP_SESSION);
	if (!words)
		return ERR_PTR(-ENOMEM);
	words->nr = nr;
	lend_pages(s, words, nr_pages);
	while (words->nr_pages < nr_pages) {
		ret = add_page(s, words);
		if (ret) {
			twheel_session_words_free(s, words);
			return ERR_PTR(ret);
		}
		cond_resched();
	}
	return words;
}

/**
 * twheel_session_words_free - undo twheel_session_words_make()
 * @s: the session
 * @words: its words, which nobody reads any more, or NULL
 *
 * Context: Process, may sleep.
 */
void twheel_session_words_free(struct twheel_session *s,
			       struct twheel_session_words *words)
{
	if (!words)
		return;
	while (words->nr_pages > words->lent) {
		free_page((unsigned long)words->pages[--words->nr_pages]);
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_WORD_PAGES);
		cond_resched();
	}
	kvfree(words);
}

static vm_fault_t words_fault(struct vm_fault *vmf)
{
	struct twheel_session *s = vmf->vma->vm_private_data;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	spin_lock_bh(&s->lock);
	if (vmf->pgoff < s->words->nr_pages) {
		vmf->page = virt_to_page(s->words->pages[vmf->pgoff]);
		get_page(vmf->page);
		ret = 0;
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

static const struct vm_operations_struct words_vm_ops = {
	.fault = words_fault,
};

/**
 * twheel_session_mmap - mmap(2): map the words
 * @s: the session, which the mapping's file keeps
 * @vma: the new mapping
 *
 * The whole array, shared, or nothing. A child does not inherit the mapping: it
 * would hold the session open. A mapping for reading is never written.
 *
 * Context: Process, mmap_lock held.
 * Return: 0, -ENODEV if the session has no words, -EINVAL.
 */
int twheel_session_mmap(struct twheel_session *s, struct vm_area_struct *vma)
{
	unsigned long flags = vma->vm_flags;
	u32 nr_pages;

	spin_lock_bh(&s->lock);
	nr_pages = s->words ? s->words->nr_pages : 0;
	spin_unlock_bh(&s->lock);
	if (!nr_pages)
		return -ENODEV;
	if (!(flags & VM_SHARED) || vma->vm_pgoff || vma_pages(vma) != nr_pages)
		return -EINVAL;
	twheel_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND,
			    flags & VM_WRITE ? 0 : VM_MAYWRITE);
	vma->vm_private_data = s;
	vma->vm_ops = &words_vm_ops;
	return 0;
}
