/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/mm.h for the simulation
 */
#ifndef _SIM_LINUX_MM_H
#define _SIM_LINUX_MM_H

#include <linux/types.h>

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)

#define VM_READ		0x1UL
#define VM_WRITE	0x2UL
#define VM_SHARED	0x8UL
#define VM_MAYWRITE	0x20UL
#define VM_DONTCOPY	0x20000UL
#define VM_DONTEXPAND	0x40000UL
#define VM_FAULT_OOM	1
#define VM_FAULT_SIGBUS	2

typedef int vm_fault_t;

/**
 * struct page - a page that user space can map
 * @addr: where it is
 * @refs: of the session, and of mappings
 */
struct page {
	void *addr;
	int refs;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
};

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
	struct page *page;
};

struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
};

struct page *virt_to_page(const void *addr);
void get_page(struct page *page);
void put_page(struct page *page);

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}

static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

#endif /* _SIM_LINUX_MM_H */
