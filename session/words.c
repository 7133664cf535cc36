// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The words of a session: deadlines that its program stores
 *
 * A session with shared_ids has a word for each id below that number, and its
 * program maps them. One store into the word of a pending timer refreshes it:
 * the wheel asks word_deadline() before the timer expires. The kernel only reads.
 *
 * SETUP allocates the array of pages and charges the user for all of them, so
 * that a store never hits a limit of the user. The fault handler allocates a
 * page when a program first touches it. Until then its words read as "nothing
 * stored". So a program may ask for as many words as it can have timers, and
 * takes memory only for the pages that it touches.
 *
 * The pages belong to the session, and are freed after its close. A mapping
 * holds the open file, and so the session. A page that is mapped or pinned has
 * additional references, so that nothing a program can still access is freed.
 * After MADV_DONTNEED a program finds the same pages again.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "session.h"

/*
 * Reserve @nr words, not 0. Returns ERR_PTR() of -ENOSPC at a limit of the
 * user, or -ENOMEM. May sleep.
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
	for (; words->nr_pages < nr_pages; words->nr_pages++) {
		ret = twheel_session_user_charge(s->user, TWHEEL_COUNT_WORD_PAGES,
						 s->unlimited);
		if (ret) {
			twheel_session_words_free(s, words);
			return ERR_PTR(ret);
		}
	}
	return words;
}

/* Free @words, which may be NULL and which no one else uses. May sleep. */
void twheel_session_words_free(struct twheel_session *s,
			       struct twheel_session_words *words)
{
	if (!words)
		return;
	while (words->nr_pages) {
		free_page((unsigned long)words->pages[--words->nr_pages]);
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_WORD_PAGES);
		cond_resched();
	}
	kvfree(words);
}

/*
 * Returns a page, allocated if necessary. If another thread allocates the page
 * first, returns the page of the other thread. A fault may invoke the OOM
 * killer, as usual.
 */
static u64 *page_of(struct twheel_session_words *words, unsigned long nr)
{
	u64 *page, *first = READ_ONCE(words->pages[nr]);

	if (first)
		return first;
	page = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page)
		return NULL;
	/* Pairs with twheel_session_words_read(), which must see zeroes. */
	first = cmpxchg(&words->pages[nr], NULL, page);
	if (!first)
		return page;
	free_page((unsigned long)page);
	return first;
}

/* Handle a page fault. The words of a session exist once it can be mapped. */
static vm_fault_t words_fault(struct vm_fault *vmf)
{
	struct twheel_session *s = vmf->vma->vm_private_data;
	u64 *page;

	if (vmf->pgoff >= s->words->nr_pages)
		return VM_FAULT_SIGBUS;
	page = page_of(s->words, vmf->pgoff);
	if (!page)
		return VM_FAULT_OOM;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct words_vm_ops = {
	.fault = words_fault,
};

/*
 * mmap(2): map the words. Maps only the whole array, shared. A child does not
 * inherit the mapping, which would hold the session open. A read-only mapping
 * can never be written. Returns 0, -ENODEV if the session has no words, or
 * -EINVAL.
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
