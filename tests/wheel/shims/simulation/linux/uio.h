/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/uio.h for the simulation: buffers of user space
 */
#ifndef _SIM_LINUX_UIO_H
#define _SIM_LINUX_UIO_H

#include <linux/uaccess.h>

#define USER_SEGMENTS	3
#define ITER_DEST	0

struct user_segment {
	void *base;
	size_t size;
};

/**
 * struct iov_iter - where a read goes
 * @ubuf: the buffer, if there is only one
 * @iov_offset: how far we are, from the beginning
 * @count: bytes that are left
 * @segments: the buffers, one after the other
 */
struct iov_iter {
	void *ubuf;
	size_t iov_offset;
	size_t count;
	struct user_segment segments[USER_SEGMENTS];
};

static inline size_t iov_iter_count(const struct iov_iter *iter)
{
	return iter->count;
}

static inline bool iter_is_ubuf(const struct iov_iter *iter)
{
	return iter->ubuf;
}

static inline void iov_iter_advance(struct iov_iter *iter, size_t size)
{
	iter->iov_offset += size;
	iter->count -= size;
}

static inline void iov_iter_revert(struct iov_iter *iter, size_t size)
{
	iter->iov_offset -= size;
	iter->count += size;
}

void iov_iter_ubuf(struct iov_iter *iter, int direction, void *buf, size_t size);
size_t copy_to_iter(const void *from, size_t size, struct iov_iter *iter);
size_t iov_iter_zero(size_t size, struct iov_iter *iter);
size_t fault_in_iov_iter_writeable(const struct iov_iter *iter, size_t size);

#endif /* _SIM_LINUX_UIO_H */
