// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: the user API, include/uapi/linux/twheel.h
 *
 * Each open file is a session (session/). Here is what lies between
 * it and user space: structures are copied in, whatever their size, and out
 * again, flags and padding are checked, readers wait.
 *
 * A command is known by its number; the size in it is that of the caller's
 * structure, which may be older or newer than ours.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "session/session.h"
#include "twheel_chardev.h"
#include "twheel_compat.h"

/* Most operations in one submit. */
#define MAX_BATCH	65536
static unsigned int dev_mode = 0600;
module_param(dev_mode, uint, 0444);
MODULE_PARM_DESC(dev_mode, "Mode of /dev/twheel (default 0600)");

/* Structures in and out. */

static int copy_in(void *to, size_t size, unsigned long arg, size_t usize)
{
	if (usize < sizeof(__u64))
		return -EINVAL;
	return copy_struct_from_user(to, size, (void __user *)arg, usize);
}

/* A caller with a longer structure finds zeroes in what we do not know. */
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

/* The commands. */

static long do_info(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_info info = {
		.abi_version	= TWHEEL_ABI_VERSION,
		.features	= TWHEEL_FEATURE_SETUP | TWHEEL_FEATURE_SUBMIT |
				  TWHEEL_FEATURE_DRAIN | TWHEEL_FEATURE_STATS,
		.max_batch	= MAX_BATCH,
	};

	if (usize < sizeof(__u64))
		return -EINVAL;
	twheel_session_info(s, &info);
	return copy_out(arg, usize, &info, sizeof(info));
}

static long do_setup(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_setup setup;
	int ret = copy_in(&setup, sizeof(setup), arg, usize);

	return ret ?: twheel_session_setup(s, &setup);
}

/* What most callers pass, without the detours of a copy of any size. */
static int get_start(struct twheel_start *start, unsigned long arg,
		     size_t usize)
{
	const struct twheel_start __user *from = (void __user *)arg;

	if (unlikely(usize != sizeof(*start)))
		return copy_in(start, sizeof(*start), arg, usize);
	if (!user_read_access_begin(from, sizeof(*start)))
		return -EFAULT;
	unsafe_get_user(start->id, &from->id, fault);
	unsafe_get_user(start->expires_ns, &from->expires_ns, fault);
	unsafe_get_user(start->period_ns, &from->period_ns, fault);
	unsafe_get_user(start->user_data, &from->user_data, fault);
	unsafe_get_user(start->flags, &from->flags, fault);
	unsafe_get_user(start->reserved, &from->reserved, fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

/*
 * The id is what a caller of TWHEEL_ID_ANY must get: make sure that it can be
 * written before anything is started, and take the start back if it cannot be
 * written after all.
 */
static long do_start(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_start __user *to = (void __user *)arg;
	struct twheel_start start;
	int ret = get_start(&start, arg, usize);
	bool any;

	if (ret)
		return ret;
	any = start.id == TWHEEL_ID_ANY;
	if (any && put_user(start.id, &to->id))
		return -EFAULT;
	ret = twheel_session_start(s, &start);
	if (any && ret >= 0 && put_user(start.id, &to->id)) {
		twheel_session_stop(s, start.id);
		return -EFAULT;
	}
	return ret;
}

static int get_stop(struct twheel_stop *stop, unsigned long arg, size_t usize)
{
	const struct twheel_stop __user *from = (void __user *)arg;

	if (unlikely(usize != sizeof(*stop)))
		return copy_in(stop, sizeof(*stop), arg, usize);
	return get_user(stop->id, &from->id);
}

static long do_stop(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_stop stop;
	int ret = get_stop(&stop, arg, usize);

	return ret ?: twheel_session_stop(s, stop.id);
}

static long do_get(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_get get;
	int ret = copy_in(&get, sizeof(get), arg, usize);

	if (ret)
		return ret;
	if (get.reserved)
		return -EINVAL;
	get = (struct twheel_get) { .id = get.id };
	ret = twheel_session_get(s, &get);
	return ret ?: copy_out(arg, usize, &get, sizeof(get));
}

static struct twheel_op __user *op_at(const struct twheel_submit *submit,
				      unsigned int nr)
{
	return u64_to_user_ptr(submit->ops + (u64)nr * submit->op_size);
}

/* Operations of another size than ours are taken one by one. */
static int get_long_op(struct twheel_session_op *to,
		       const struct twheel_submit *submit)
{
	struct twheel_op op;
	int ret = copy_in(&op, sizeof(op),
			  (unsigned long)op_at(submit, submit->done),
			  submit->op_size);

	if (ret)
		return ret;
	to->opcode = op.opcode;
	to->start = (struct twheel_start) {
		.id		= op.id,
		.expires_ns	= op.expires_ns,
		.period_ns	= op.period_ns,
		.user_data	= op.user_data,
		.flags		= op.flags,
		.reserved	= op.reserved,
	};
	return 0;
}

static int get_ops(struct twheel_session_op *ops,
		   const struct twheel_submit *submit, unsigned int count)
{
	const struct twheel_op __user *from = op_at(submit, submit->done);
	struct twheel_session_op *to = ops, *end = ops + count;

	if (submit->op_size != sizeof(*from))
		return get_long_op(ops, submit);
	if (!user_read_access_begin(from, count * sizeof(*from)))
		return -EFAULT;
	for (; to < end; to++, from++) {
		unsafe_get_user(to->opcode, &from->opcode, fault);
		unsafe_get_user(to->start.flags, &from->flags, fault);
		unsafe_get_user(to->start.id, &from->id, fault);
		unsafe_get_user(to->start.expires_ns, &from->expires_ns, fault);
		unsafe_get_user(to->start.period_ns, &from->period_ns, fault);
		unsafe_get_user(to->start.user_data, &from->user_data, fault);
		unsafe_get_user(to->start.reserved, &from->reserved, fault);
	}
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

static int put_results(const struct twheel_session_op *ops,
		       const struct twheel_submit *submit, unsigned int count)
{
	struct twheel_op __user *to = op_at(submit, submit->done);
	const struct twheel_session_op *from = ops, *end = ops + count;

	/* One operation if they are not of our size: no stride in here. */
	if (!user_write_access_begin(to, count * sizeof(*to)))
		return -EFAULT;
	for (; from < end; from++, to++) {
		unsafe_put_user(from->start.id, &to->id, fault);
		unsafe_put_user(from->result, &to->result, fault);
	}
	user_write_access_end();
	return 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/*
 * Whether the results can be written: write back what is there already. A
 * piece spans two pages at most, and ends in one of these two fields.
 */
static bool can_write(const struct twheel_session_op *ops,
		      const struct twheel_submit *submit, unsigned int count)
{
	struct twheel_op __user *to = op_at(submit, submit->done);

	return !put_user(ops[0].opcode, &to[0].opcode) &&
	       !put_user(ops[count - 1].start.reserved,
			 &to[count - 1].reserved);
}

/*
 * One piece: nothing of it is done unless its results can be written. Returns
 * -EIO if they could not be written all the same: then the piece is not to be
 * done again.
 */
static int submit_piece(struct twheel_session *s, struct twheel_submit *submit,
			unsigned int count, ktime_t now)
{
	/* 768 bytes. */
	struct twheel_session_op ops[TWHEEL_OPS_PER_LOCK] __uninitialized;
	int ret = get_ops(ops, submit, count);

	if (ret)
		return ret;
	if (!can_write(ops, submit, count))
		return -EFAULT;
	twheel_session_run_ops(s, ops, count, now);
	if (put_results(ops, submit, count))
		return -EIO;
	submit->done += count;
	return 0;
}

/*
 * Near the end of what is mapped a piece can fail where a single operation
 * would not: then the operations are taken one by one.
 */
static int submit_all(struct twheel_session *s, struct twheel_submit *submit)
{
	bool single = submit->op_size != sizeof(struct twheel_op);
	ktime_t now = ktime_get();

	while (submit->done < submit->count) {
		unsigned int left = submit->count - submit->done;
		unsigned int piece = single ? 1 : min(left, TWHEEL_OPS_PER_LOCK);
		int ret = submit_piece(s, submit, piece, now);

		if (ret == -EIO || (ret && single))
			return ret;
		if (ret)
			single = true;
		else if (signal_pending(current))
			return 0;
		cond_resched();
	}
	return 0;
}

static bool bad_submit(const struct twheel_submit *submit)
{
	return !submit->count || submit->count > MAX_BATCH || submit->flags ||
	       submit->op_size < sizeof(struct twheel_op) ||
	       submit->op_size > PAGE_SIZE ||
	       submit->ops != (unsigned long)submit->ops;
}

static long do_submit(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_submit __user *to = (void __user *)arg;
	struct twheel_submit submit;
	int ret = copy_in(&submit, sizeof(submit), arg, usize);

	if (ret)
		return ret;
	if (usize < sizeof(submit) || bad_submit(&submit))
		return -EINVAL;
	submit.done = 0;
	/* Where done is to be written has to be there before all else. */
	if (put_user(submit.done, &to->done))
		return -EFAULT;
	ret = submit_all(s, &submit);
	if (ret && ret != -EIO && !submit.done)
		return ret;
	if (put_user(submit.done, &to->done) || ret == -EIO)
		return -EFAULT;
	return 0;
}

static long do_drain(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_drain __user *to = (void __user *)arg;
	struct twheel_drain drain;
	u32 count;
	int ret = copy_in(&drain, sizeof(drain), arg, usize);

	if (ret)
		return ret;
	if (usize < sizeof(drain) || drain.flags || !drain.count ||
	    drain.timers != (unsigned long)drain.timers)
		return -EINVAL;
	/* As in do_submit(). */
	if (put_user(drain.count, &to->count))
		return -EFAULT;
	ret = twheel_session_drain(s, u64_to_user_ptr(drain.timers),
				   drain.count, &count);
	if (ret)
		return ret;
	return put_user(count, &to->count);
}

static long do_stats(struct twheel_session *s, unsigned long arg, size_t usize)
{
	struct twheel_stats stats;

	if (usize < sizeof(__u64))
		return -EINVAL;
	twheel_session_stats(s, &stats);
	return copy_out(arg, usize, &stats, sizeof(stats));
}

static long twheel_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct twheel_session *s = file->private_data;
	size_t usize = _IOC_SIZE(cmd);
	/* What makes up the command but its size. */
	unsigned int bare = cmd & ~IOCSIZE_MASK;

	/* Most commands are starts. */
	if (likely(cmd == TWHEEL_IOC_START))
		return do_start(s, arg, sizeof(struct twheel_start));
	switch (bare) {
	case TWHEEL_IOC_INFO & ~IOCSIZE_MASK:
		return do_info(s, arg, usize);
	case TWHEEL_IOC_SETUP & ~IOCSIZE_MASK:
		return do_setup(s, arg, usize);
	case TWHEEL_IOC_START & ~IOCSIZE_MASK:
		return do_start(s, arg, usize);
	case TWHEEL_IOC_STOP & ~IOCSIZE_MASK:
		return do_stop(s, arg, usize);
	case TWHEEL_IOC_GET & ~IOCSIZE_MASK:
		return do_get(s, arg, usize);
	case TWHEEL_IOC_SUBMIT & ~IOCSIZE_MASK:
		return do_submit(s, arg, usize);
	case TWHEEL_IOC_DRAIN & ~IOCSIZE_MASK:
		return do_drain(s, arg, usize);
	case TWHEEL_IOC_STATS & ~IOCSIZE_MASK:
		return do_stats(s, arg, usize);
	default:
		return -ENOTTY;
	}
}

/* Reading. */

static int wait_for_event(struct file *file, struct twheel_session *s)
{
	if (file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible_exclusive(s->wait,
						  twheel_session_readable(s));
}

static ssize_t twheel_read(struct file *file, char __user *buf, size_t size,
			   loff_t *pos)
{
	struct twheel_session *s = file->private_data;
	size_t room = min_t(size_t, size, MAX_RW_COUNT) /
		      sizeof(struct twheel_event);
	ssize_t ret;

	if (!room)
		return -EINVAL;
	for (;;) {
		ret = twheel_session_read(s, (void __user *)buf, room);
		if (ret) {
			twheel_session_pass_on(s);
			return ret < 0 ? ret :
			       ret * sizeof(struct twheel_event);
		}
		ret = wait_for_event(file, s);
		if (ret)
			return ret;
	}
}

static __poll_t twheel_poll(struct file *file, poll_table *wait)
{
	struct twheel_session *s = file->private_data;

	poll_wait(file, &s->wait, wait);
	return twheel_session_readable(s) ? EPOLLIN | EPOLLRDNORM : 0;
}

static int twheel_fasync(int fd, struct file *file, int on)
{
	struct twheel_session *s = file->private_data;

	return fasync_helper(fd, file, on, &s->fasync);
}

/* The file. */

static int twheel_open(struct inode *inode, struct file *file)
{
	struct twheel_session *s = twheel_session_open();

	if (IS_ERR(s))
		return PTR_ERR(s);
	file->private_data = s;
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
	.read		= twheel_read,
	.poll		= twheel_poll,
	.fasync		= twheel_fasync,
	.unlocked_ioctl	= twheel_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= twheel_show_fdinfo,
};

static struct miscdevice twheel_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "twheel",
	.fops	= &twheel_fops,
};

/**
 * twheel_chardev_init - make /dev/twheel
 *
 * Return: 0 or a negative errno.
 */
int twheel_chardev_init(void)
{
	int ret;

	/* 0 would be the driver core's own choice, not what was asked for. */
	if (!dev_mode || dev_mode & ~0666U) {
		pr_err("dev_mode=%#o: not a mode of read and write bits\n",
		       dev_mode);
		return -EINVAL;
	}
	ret = twheel_session_init();
	if (ret)
		return ret;
	twheel_misc.mode = dev_mode;
	ret = misc_register(&twheel_misc);
	if (ret)
		twheel_session_exit();
	return ret;
}

/**
 * twheel_chardev_exit - undo twheel_chardev_init()
 */
void twheel_chardev_exit(void)
{
	misc_deregister(&twheel_misc);
	twheel_session_exit();
}
