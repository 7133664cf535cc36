/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/uaccess.h for the simulation: copies between kernel and user space, see user_memory.c
 */
#ifndef _SIM_LINUX_UACCESS_H
#define _SIM_LINUX_UACCESS_H

#include <linux/err.h>
#include <linux/kernel.h>

unsigned long copy_to_user(void *to, const void *from, unsigned long size);
unsigned long clear_user(void *to, unsigned long size);
int copy_struct_from_user(void *to, size_t size, const void *from, size_t usize);
int check_zeroed_user(const void *from, size_t size);
void pagefault_disable(void);
void pagefault_enable(void);
bool user_reach_all(const void *addr, size_t size);

#define u64_to_user_ptr(x)		((void *)(unsigned long)(x))
#define user_read_access_begin(from, size)	true
#define user_read_access_end()		do { } while (0)
#define user_write_access_begin(to, size)	true
#define user_write_access_end()		do { } while (0)

#define put_user(x, ptr) ({						\
	int __ret = user_reach_all(ptr, sizeof(*(ptr))) ? 0 : -EFAULT;	\
									\
	if (!__ret)							\
		*(ptr) = (x);						\
	__ret; })
#define unsafe_put_user(x, ptr, label)					\
	do {								\
		if (put_user(x, ptr))					\
			goto label;					\
	} while (0)
#define unsafe_get_user(x, ptr, label)					\
	do {								\
		if (!user_reach_all(ptr, sizeof(*(ptr))))		\
			goto label;					\
		(x) = *(ptr);						\
	} while (0)

#endif /* _SIM_LINUX_UACCESS_H */
