// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * /dev/twheel: the user API of include/uapi/linux/twheel.h
 *
 * Each open file is a session (session/). This file copies structures of any
 * size in and out, checks flags and padding, and makes readers wait.
 *
 * Commands are identified by number. They also carry the size of the caller's
 * structure, which may be of an older or newer version than the structure here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "core/compat.h"
#include "session/session.h"
#include "twheel_chardev.h"

/* Limit of operations in one submit. */
#define MAX_BATCH	65536

/* Copying structures */

static int copy_in(void *to, size_t size, unsigned long arg, size_t usize)
{
	if (usize < sizeof(__u64))
		return -EINVAL;
	return copy_struct_from_user(to, size, (void __user *)arg, usize);
}

/*
 * Copy a result out. A newer caller, whose structure is longer, finds zeroes in
 * the fields that this module does not know.
 */
static int copy_out(unsigned long arg, size_t usize, const void *from,
		    size_t size)
{
	void __user *to = (void __user *)arg;

	if (copy_to_user(to, from, min(size, usize)))
		return -EFAULT;
	if (usize > size && clear_user(to + size, usize - size))
		return -EFAULT;
	return 0;
}

/* Commands */

/* Changing a session needs the same permission as write(2). */
static int may_change(const struct file *file)
{
	return likely(file->f_mode & FMODE_WRITE) ? 0 : -EBADF;
}

static long do_info(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_info info = {
		.abi_version	= TWHEEL_ABI_VERSION,
		.features	= TWHEEL_HOST_FEATURES,
		.max_batch	= MAX_BATCH,
	};

	if (usize < sizeof(__u64))
		return -EINVAL;
	if (twheel_words_are_coherent())
		info.features |= TWHEEL_FEATURE_SHARED;
	twheel_session_info(s, &info);
	return copy_out(arg, usize, &info, sizeof(info));
}

static long do_setup(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_setup setup;
	int ret = copy_in(&setup, sizeof(setup), arg, usize);

	return ret ?: twheel_session_setup(s, &setup);
}

/*
 * Copy the argument of a start in. Faster than copy_in() for a structure of the
 * current size.
 */
static int get_start(struct twheel_start *start, unsigned long arg,
		     size_t usize)
{
	const struct twheel_start __user *from = (void __user *)arg;

	if (unlikely(usize != sizeof(*start)))
		return copy_in(start, sizeof(*start), arg, usize);
	if (!user_read_access_begin(from, sizeof(*start)))
		return -EFAULT;
	twheel_get_user(start->id, &from->id, fault);
	twheel_get_user(start->expires_ns, &from->expires_ns, fault);
	twheel_get_user(start->period_ns, &from->period_ns, fault);
	twheel_get_user(start->user_data, &from->user_data, fault);
	twheel_get_user(start->flags, &from->flags, fault);
	twheel_get_user(start->reserved, &from->reserved, fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

/*
 * Start a timer with an id of the kernel's choice. Check that the id can be
 * written to the caller before starting anything, and undo the start if it
 * cannot be written after all.
 */
static int start_any(struct twheel_session *s, struct twheel_start *start,
		     __u64 __user *id)
{
	struct twheel_stop stop = {};
	int ret;

	if (put_user(start->id, id))
		return -EFAULT;
	ret = twheel_session_start(s, start);
	if (ret >= 0 && put_user(start->id, id)) {
		stop.id = start->id;
		twheel_session_stop(s, &stop);
		return -EFAULT;
	}
	return ret;
}

/*
 * Neither do_start() nor do_stop() is inlined into twheel_ioctl(): see there.
 */
static noinline long do_start(struct twheel_session *s, unsigned long arg,
			      size_t usize)
{
	struct twheel_start __user *to = (void __user *)arg;
	struct twheel_start start __uninitialized;
	int ret = get_start(&start, arg, usize);

	if (ret)
		return ret;
	if (start.id == TWHEEL_ID_ANY)
		return start_any(s, &start, &to->id);
	return twheel_session_start(s, &start);
}

static int get_stop(struct twheel_stop *stop, unsigned long arg,
		    size_t usize)
{
	const struct twheel_stop __user *from = (void __user *)arg;

	if (unlikely(usize != sizeof(*stop)))
		return copy_in(stop, sizeof(*stop), arg, usize);
	if (!user_read_access_begin(from, sizeof(*stop)))
		return -EFAULT;
	twheel_get_user(stop->id, &from->id, fault);
	twheel_get_user(stop->flags, &from->flags, fault);
	twheel_get_user(stop->reserved, &from->reserved, fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

static noinline long do_stop(struct twheel_session *s, unsigned long arg,
			     size_t usize)
{
	struct twheel_stop stop __uninitialized;
	int ret = get_stop(&stop, arg, usize);

	return ret ?: twheel_session_stop(s, &stop);
}

static long do_get(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_entry entry;
	int ret = copy_in(&entry, sizeof(entry), arg, usize);

	if (ret)
		return ret;
	if (entry.reserved)
		return -EINVAL;
	ret = twheel_session_get(s, &entry);
	return ret ?: copy_out(arg, usize, &entry, sizeof(entry));
}

/* TWHEEL_IOC_SUBMIT */

/**
 * struct batch - a submit in progress
 * @args: arguments of the caller. @args.failed is counted here
 * @done: number of operations carried out, with results
 */
struct batch {
	struct twheel_submit args;
	unsigned int done;
};

static struct twheel_op __user *next_op(const struct batch *batch)
{
	return u64_to_user_ptr(batch->args.ops +
			       (u64)batch->done * sizeof(struct twheel_op));
}

static int get_ops(struct twheel_session_op *to, const struct batch *batch,
		   unsigned int count)
{
	const struct twheel_op __user *from = next_op(batch);
	struct twheel_session_op *end = to + count;

	if (!user_read_access_begin(from, count * sizeof(*from)))
		return -EFAULT;
	for (; to < end; to++, from++) {
		twheel_get_user(to->opcode, &from->opcode, fault);
		twheel_get_user(to->start.flags, &from->flags, fault);
		twheel_get_user(to->start.id, &from->id, fault);
		twheel_get_user(to->start.expires_ns, &from->expires_ns, fault);
		twheel_get_user(to->start.period_ns, &from->period_ns, fault);
		twheel_get_user(to->start.user_data, &from->user_data, fault);
		twheel_get_user(to->start.reserved, &from->reserved, fault);
	}
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

static int put_results(const struct twheel_session_op *from,
		       struct batch *batch, unsigned int count)
{
	struct twheel_op __user *to = next_op(batch);
	const struct twheel_session_op *end = from + count;
	unsigned int failed = 0;

	if (!user_write_access_begin(to, count * sizeof(*to)))
		return -EFAULT;
	for (; from < end; from++, to++) {
		unsafe_put_user(from->start.id, &to->id, fault);
		unsafe_put_user(from->result, &to->result, fault);
		failed += from->result < 0;
	}
	user_write_access_end();
	batch->args.failed += failed;
	batch->done += count;
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/*
 * Check that the results can be written, by writing back the first and the last
 * field that were read. The operations span at most two pages, so one of these
 * fields is on each page.
 */
static bool can_write(const struct twheel_session_op *ops,
		      const struct batch *batch, unsigned int count)
{
	struct twheel_op __user *to = next_op(batch);

	return !put_user(ops[0].opcode, &to[0].opcode) &&
	       !put_user(ops[count - 1].start.reserved, &to[count - 1].reserved);
}

/*
 * Returns the number of operations carried out, or a negative errno if there
 * are none, or if their results were lost. Near the end of a mapping it may be
 * impossible to copy several operations where one can be copied, so retry them
 * one by one.
 */
static int submit_all(struct twheel_session *s, struct batch *batch)
{
	/* 768 bytes of stack. */
	struct twheel_session_op ops[TWHEEL_OPS_PER_LOCK] __uninitialized;
	unsigned int most = TWHEEL_OPS_PER_LOCK;
	ktime_t now = ktime_get();

	while (batch->done < batch->args.count) {
		unsigned int count = min(batch->args.count - batch->done, most);
		unsigned int done;

		if (get_ops(ops, batch, count) || !can_write(ops, batch, count)) {
			if (most == 1)
				return batch->done ?: -EFAULT;
			most = 1;
			continue;
		}
		done = twheel_session_run_ops(s, ops, count, now);
		if (put_results(ops, batch, done))
			return -EFAULT;
		if (done < count)
			return batch->done ?: -ENOMEM;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return batch->done;
}

static long do_submit(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_submit __user *to = (void __user *)arg;
	struct batch batch = {};
	int ret = copy_in(&batch.args, sizeof(batch.args), arg, usize);

	if (ret)
		return ret;
	if (usize < sizeof(batch.args) || !batch.args.count ||
	    batch.args.count > MAX_BATCH || batch.args.flags ||
	    batch.args.op_size != TWHEEL_OP_SIZE_V1 ||
	    batch.args.ops != (unsigned long)batch.args.ops)
		return -EINVAL;
	batch.args.failed = 0;
	/* Check that @failed can be written before carrying out anything. */
	if (put_user(batch.args.failed, &to->failed))
		return -EFAULT;
	ret = submit_all(s, &batch);
	if (batch.args.failed && put_user(batch.args.failed, &to->failed))
		return -EFAULT;
	return ret;
}

static long do_list(struct file *file, unsigned long arg, size_t usize)
{
	struct twheel_list __user *to = (void __user *)arg;
	struct twheel_list list;
	int ret = copy_in(&list, sizeof(list), arg, usize);

	if (ret)
		return ret;
	if (usize < sizeof(list) || !list.count ||
	    list.flags & ~TWHEEL_LIST_DRAIN || list.reserved ||
	    list.entry_size != TWHEEL_ENTRY_SIZE_V1 ||
	    list.entries != (unsigned long)list.entries)
		return -EINVAL;
	if (list.flags && may_change(file))
		return -EBADF;
	/* See do_submit(). */
	if (put_user(list.cursor, &to->cursor))
		return -EFAULT;
	ret = twheel_session_list(file->private_data, &list);
	if (ret >= 0 && put_user(list.cursor, &to->cursor))
		return -EFAULT;
	return ret;
}

static long do_stats(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_stats stats;

	if (usize < sizeof(__u64))
		return -EINVAL;
	twheel_session_stats(s, &stats);
	return copy_out(arg, usize, &stats, sizeof(stats));
}

/* Command number without the size of the structure. */
#define BARE(cmd)	((cmd) & ~IOCSIZE_MASK)

static noinline long do_any(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	struct twheel_session *s = file->private_data;
	size_t usize = _IOC_SIZE(cmd);

	switch (BARE(cmd)) {
	case BARE(TWHEEL_IOC_INFO):
		return do_info(s, arg, usize);
	case BARE(TWHEEL_IOC_SETUP):
		return may_change(file) ?: do_setup(s, arg, usize);
	case BARE(TWHEEL_IOC_START):
		return may_change(file) ?: do_start(s, arg, usize);
	case BARE(TWHEEL_IOC_STOP):
		return may_change(file) ?: do_stop(s, arg, usize);
	case BARE(TWHEEL_IOC_GET):
		return do_get(s, arg, usize);
	case BARE(TWHEEL_IOC_SUBMIT):
		return may_change(file) ?: do_submit(s, arg, usize);
	case BARE(TWHEEL_IOC_LIST):
		return do_list(file, arg, usize);
	case BARE(TWHEEL_IOC_STATS):
		return do_stats(s, arg, usize);
	default:
		return -ENOTTY;
	}
}

/* Tail calls for starts and stops, which are frequent, need no stack frame here. */
static long twheel_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct twheel_session *s = file->private_data;

	if (likely(cmd == TWHEEL_IOC_START))
		return may_change(file) ?:
		       do_start(s, arg, sizeof(struct twheel_start));
	if (likely(cmd == TWHEEL_IOC_STOP))
		return may_change(file) ?:
		       do_stop(s, arg, sizeof(struct twheel_stop));
	return do_any(file, cmd, arg);
}

/* File operations */

static ssize_t twheel_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct twheel_session *s = iocb->ki_filp->private_data;
	ssize_t ret;

	for (;;) {
		ret = twheel_session_read(s, to);
		if (ret)
			break;
		if (iocb->ki_filp->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT)
			return -EAGAIN;
		ret = wait_event_interruptible_exclusive(s->readers,
							 twheel_session_readable(s));
		if (ret)
			return ret;
	}
	/* A tick wakes up only one reader, which wakes up the next one. */
	if (twheel_session_readable(s))
		wake_up_interruptible(&s->readers);
	return ret;
}

static __poll_t twheel_poll(struct file *file, poll_table *wait)
{
	struct twheel_session *s = file->private_data;

	poll_wait(file, &s->pollers, wait);
	return twheel_session_readable(s) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int twheel_mmap(struct file *file, struct vm_area_struct *vma)
{
	return twheel_session_mmap(file->private_data, vma);
}

static int twheel_open(struct inode *inode, struct file *file)
{
	struct twheel_session *s = twheel_session_open();

	if (IS_ERR(s))
		return PTR_ERR(s);
	file->private_data = s;
	/* Nonblocking reads never block, so io_uring needs no worker thread. */
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

static int twheel_release(struct inode *inode, struct file *file)
{
	twheel_session_close(file->private_data);
	return 0;
}

static void twheel_show_fdinfo(struct seq_file *seq, struct file *file)
{
	struct twheel_stats stats;

	twheel_session_stats(file->private_data, &stats);
	seq_printf(seq, "twheel-pending:\t%llu\n", stats.pending);
	seq_printf(seq, "twheel-unread:\t%llu\n", stats.unread);
	seq_printf(seq, "twheel-started:\t%llu\n", stats.started);
	seq_printf(seq, "twheel-expired:\t%llu\n", stats.expired);
}

static const struct file_operations twheel_fops = {
	.owner		= THIS_MODULE,
	.open		= twheel_open,
	.release	= twheel_release,
	.read_iter	= twheel_read_iter,
	.poll		= twheel_poll,
	.mmap		= twheel_mmap,
	.unlocked_ioctl	= twheel_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= twheel_show_fdinfo,
};

static struct miscdevice twheel_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "twheel",
	.mode	= 0600,
	.fops	= &twheel_fops,
};

int twheel_chardev_init(void)
{
	int ret = twheel_table_cache_init();

	BUILD_BUG_ON(sizeof(struct twheel_op) != TWHEEL_OP_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct twheel_entry) != TWHEEL_ENTRY_SIZE_V1);
	BUILD_BUG_ON(sizeof(struct twheel_event) != TWHEEL_EVENT_SIZE_V1);

	if (ret)
		return ret;
	ret = misc_register(&twheel_misc);
	if (ret)
		twheel_table_cache_exit();
	return ret;
}

void twheel_chardev_exit(void)
{
	misc_deregister(&twheel_misc);
	twheel_table_cache_exit();
}
