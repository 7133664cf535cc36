/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/fs.h for the simulation: a file, and what can be done with it
 */
#ifndef _SIM_LINUX_FS_H
#define _SIM_LINUX_FS_H

#include <linux/err.h>
#include <linux/kernel.h>

#define FMODE_READ	1U
#define FMODE_WRITE	2U
#define FMODE_NOWAIT	4U
#define O_NONBLOCK	04000
#define IOCB_NOWAIT	1
#define ERESTARTSYS	512
#define MAX_RW_COUNT	0x7ffff000U
#define POLL_IN		1

struct inode;
struct iov_iter;
struct seq_file;
struct vm_area_struct;
struct poll_table_struct;

typedef unsigned int __poll_t;

/**
 * struct file - an open file
 * @f_op: what can be done with it
 * @f_mode: FMODE_*
 * @f_flags: O_*
 * @private_data: the session
 * @refs: descriptors, mappings and calls under way
 * @oracle: the record of the session
 */
struct file {
	const struct file_operations *f_op;
	unsigned int f_mode;
	unsigned int f_flags;
	void *private_data;
	int refs;
	struct oracle_session *oracle;
};

struct kiocb {
	struct file *ki_filp;
	int ki_flags;
};

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read_iter)(struct kiocb *iocb, struct iov_iter *to);
	__poll_t (*poll)(struct file *file, struct poll_table_struct *wait);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd,
			       unsigned long arg);
	long (*compat_ioctl)(struct file *file, unsigned int cmd,
			     unsigned long arg);
	void (*show_fdinfo)(struct seq_file *seq, struct file *file);
};

int stream_open(struct inode *inode, struct file *file);
long compat_ptr_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif /* _SIM_LINUX_FS_H */
