// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of user programs, and copies to and from it
 *
 * A page of a program may be paged out. A copy then waits until the page is back.
 * With page faults off the copy fails at this page. A page may be paged out again
 * at any time, even between the fault for it and the copy.
 */
#include <linux/gfp.h>
#include <linux/slab.h>

#include "user_space.h"

static char memory[SIM_USERS][USER_MEMORY] __attribute__((__aligned__(4096)));

void *user_memory(unsigned int nr, size_t offset)
{
	return memory[nr] + offset;
}

static enum user_page *page_of(const void *addr)
{
	size_t offset = (const char *)addr - memory[0];

	if (offset >= sizeof(memory))
		return NULL;
	return &user_programs[SIM_FIRST_USER + offset / USER_MEMORY]
			.pages[offset % USER_MEMORY / PAGE_SIZE];
}

void user_page_set(const void *addr, enum user_page state)
{
	*page_of(addr) = state;
}

void user_pages_back(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < USER_PAGES; i++)
		user_programs[SIM_FIRST_USER + nr].pages[i] = USER_HERE;
}

/* Returns whether the whole range can be written if page faults are on. */
bool user_all_come(const void *addr, size_t size)
{
	const char *at = addr, *end = at + size;

	for (; at < end; at = (char *)(((unsigned long)at | (PAGE_SIZE - 1)) + 1)) {
		const enum user_page *page = page_of(at);

		if (!page || *page > USER_OUT)
			return false;
	}
	return true;
}

/* Faults. */

void pagefault_disable(void)
{
	user_current()->no_faults++;
}

void pagefault_enable(void)
{
	user_current()->no_faults--;
}

static bool touch(enum user_page *page)
{
	bool may_fault = !user_current()->no_faults;

	if (may_fault)
		sim_might_sleep("a page fault");
	sim_point();
	if (!page || *page == USER_GONE)
		return false;
	if (*page == USER_HERE && !sim_calm && sim_chance(256))
		*page = sim_chance(16) ? USER_GONE : USER_OUT;
	if (*page == USER_HERE)
		return true;
	if (!may_fault)
		return false;
	sim_sleep(sim_below(20000));
	if (*page == USER_OUT)
		*page = USER_HERE;
	return *page != USER_GONE;
}

/* Returns the number of bytes from @addr on that can be reached. */
static size_t reach(const void *addr, size_t size)
{
	const char *at = addr, *end = at + size;

	while (at < end && touch(page_of(at)))
		at = (char *)(((unsigned long)at | (PAGE_SIZE - 1)) + 1);
	return min_t(size_t, at - (const char *)addr, size);
}

bool user_reach_all(const void *addr, size_t size)
{
	return reach(addr, size) == size;
}

/* Copies. */

unsigned long copy_to_user(void *to, const void *from, unsigned long size)
{
	size_t done = reach(to, size);

	memcpy(to, from, done);
	return size - done;
}

unsigned long clear_user(void *to, unsigned long size)
{
	size_t done = reach(to, size);

	memset(to, 0, done);
	return size - done;
}

int check_zeroed_user(const void *from, size_t size)
{
	const char *at = from;

	if (!user_reach_all(from, size))
		return -EFAULT;
	while (size--)
		if (*at++)
			return 0;
	return 1;
}

int copy_struct_from_user(void *to, size_t size, const void *from, size_t usize)
{
	size_t known = min(size, usize);
	int ret;

	if (usize > size) {
		ret = check_zeroed_user((const char *)from + size, usize - size);
		if (ret <= 0)
			return ret ?: -E2BIG;
	}
	if (!user_reach_all(from, known))
		return -EFAULT;
	memcpy(to, from, known);
	memset((char *)to + known, 0, size - known);
	return 0;
}

void iov_iter_ubuf(struct iov_iter *iter, int direction, void *buf, size_t size)
{
	*iter = (struct iov_iter) {
		.ubuf = buf,
		.count = size,
		.segments = { { buf, size } },
	};
}

/* Returns the address at the present offset, and limits *@size to the end of its buffer. */
static void *next_piece(const struct iov_iter *iter, size_t *size)
{
	size_t offset = iter->iov_offset;
	int i;

	for (i = 0; i < USER_SEGMENTS; i++) {
		const struct user_segment *segment = &iter->segments[i];

		if (offset < segment->size) {
			*size = min(*size, segment->size - offset);
			return (char *)segment->base + offset;
		}
		offset -= segment->size;
	}
	return NULL;
}

/* Copy @size bytes from @from to the buffers, or zeroes if @from is NULL. Returns their number. */
static size_t fill(struct iov_iter *iter, const void *from, size_t size)
{
	size_t done = 0, part, reached;
	void *to;

	size = min(size, iter->count);
	while (done < size) {
		part = size - done;
		to = next_piece(iter, &part);
		if (!to)
			break;
		reached = reach(to, part);
		if (from)
			memcpy(to, (const char *)from + done, reached);
		else
			memset(to, 0, reached);
		iov_iter_advance(iter, reached);
		done += reached;
		if (reached < part)
			break;
	}
	return done;
}

size_t copy_to_iter(const void *from, size_t size, struct iov_iter *iter)
{
	return fill(iter, from, size);
}

size_t iov_iter_zero(size_t size, struct iov_iter *iter)
{
	return fill(iter, NULL, size);
}

/* Returns the number of bytes, from the first missing page on, that could not be faulted in. */
size_t fault_in_iov_iter_writeable(const struct iov_iter *iter, size_t size)
{
	struct iov_iter copy = *iter;
	size_t part;
	void *to;

	while (size) {
		part = size;
		to = next_piece(&copy, &part);
		if (!to || !user_reach_all(to, part))
			break;
		iov_iter_advance(&copy, part);
		size -= part;
	}
	return size;
}

/* Pages of words. The page in front of each has its struct page. */

unsigned long get_zeroed_page(gfp_t gfp)
{
	struct page *page = sim_alloc_aligned(2 * PAGE_SIZE, PAGE_SIZE);

	if (!page)
		return 0;
	page->addr = (char *)page + PAGE_SIZE;
	page->refs = 1;
	return (unsigned long)page->addr;
}

struct page *virt_to_page(const void *addr)
{
	return (struct page *)((char *)addr - PAGE_SIZE);
}

/* If the page was freed, sim_check_memory() finds the write. */
void get_page(struct page *page)
{
	page->refs++;
}

void put_page(struct page *page)
{
	if (!--page->refs)
		kvfree(page);
}

void free_page(unsigned long addr)
{
	if (addr)
		put_page(virt_to_page((void *)addr));
}

/* Fault in a page of words. Returns the page, or NULL if there was no memory for it. */
static struct page *page_of_word(struct user_mapping *m, unsigned long nr)
{
	struct vm_fault vmf = { .vma = &m->vma, .pgoff = nr };
	unsigned int failed = sim_allocs_failed;
	vm_fault_t ret = m->vma.vm_ops->fault(&vmf);

	if (!ret)
		return vmf.page;
	if (ret != VM_FAULT_OOM || sim_allocs_failed == failed)
		sim_fail("no page of words");
	return NULL;
}

int user_mmap(struct user_mapping *m, struct file *file, u32 words, bool write)
{
	unsigned long pages = DIV_ROUND_UP(words * sizeof(u64), PAGE_SIZE);
	unsigned long flags, i;
	int ret;

	*m = (struct user_mapping) {
		.vma = {
			.vm_end = pages << PAGE_SHIFT,
			.vm_flags = VM_SHARED | VM_READ | VM_MAYWRITE |
				    (write ? VM_WRITE : 0),
		},
	};
	ret = file->f_op->mmap(file, &m->vma);
	if (ret)
		return ret;
	flags = m->vma.vm_flags;
	if (!(flags & VM_DONTCOPY) || !(flags & VM_DONTEXPAND))
		sim_fail("a child inherits the mapping, or it can grow");
	if (!write && flags & VM_MAYWRITE)
		sim_fail("what is mapped for reading can be made writable");
	user_get_file(file);
	m->file = file;
	for (i = 0; i < pages; i++)
		if (sim_chance(2))
			m->pages[i] = page_of_word(m, i);
	return 0;
}

/*
 * Returns the address of a word, or NULL if there was no memory for its page. If the page is not
 * mapped in @m, drops the reference of the fault at once, because the session keeps the page.
 */
u64 *user_word(struct user_mapping *m, u32 nr)
{
	unsigned int i = nr / (PAGE_SIZE / sizeof(u64));
	struct page *page;

	if (i >= vma_pages(&m->vma))
		return NULL;
	page = m->pages[i];
	if (!page) {
		page = page_of_word(m, i);
		if (!page)
			return NULL;
		put_page(page);
	}
	return (u64 *)page->addr + nr % (PAGE_SIZE / sizeof(u64));
}

void user_munmap(struct user_mapping *m)
{
	int i;

	for (i = 0; i < USER_MAPPED; i++)
		if (m->pages[i])
			put_page(m->pages[i]);
	user_close(m->file);
	m->file = NULL;
}
