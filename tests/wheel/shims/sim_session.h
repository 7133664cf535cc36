/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's headers for the simulation: processes, files and memory of user space
 */
#ifndef _SIM_SESSION_H
#define _SIM_SESSION_H

#include "sim_machine.h"

/* linux/cred.h */

#include <linux/uidgid.h>

kuid_t current_euid(void);

/* linux/user_namespace.h */

/* @root is the id of this namespace's root in the initial namespace. */
struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
	kuid_t root;
};

extern struct user_namespace init_user_ns;

struct user_namespace *current_user_ns(void);

static inline kuid_t make_kuid(struct user_namespace *ns, u32 uid)
{
	return ns->root;
}

/* linux/capability.h */

#define CAP_SYS_NICE		23
#define CAP_SYS_RESOURCE	24

bool ns_capable_noaudit(struct user_namespace *ns, int cap);

/* linux/fs.h: a file, and what can be done with it */

#define FMODE_READ	1U
#define FMODE_WRITE	2U
#define FMODE_NOWAIT	4U
#define O_NONBLOCK	04000
#define IOCB_NOWAIT	1
#define ERESTARTSYS	512
#define MAX_RW_COUNT	0x7ffff000U

struct inode;
struct iov_iter;
struct seq_file;
struct vm_area_struct;
struct poll_table_struct;

typedef unsigned int __poll_t;

/* An open file */
struct file {
	const struct file_operations *f_op;	/* its operations */
	unsigned int f_mode;			/* FMODE_* */
	unsigned int f_flags;			/* O_* */
	void *private_data;
	int refs;				/* number of descriptors, mappings and calls */
	struct oracle_session *oracle;		/* record of the session */
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

#define stream_open(inode, file)	0
#define compat_ptr_ioctl		NULL

/* linux/mm.h */

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

/* A page for user space to map */
struct page {
	void *addr;	/* its address */
	int refs;	/* number of references, by the session and by mappings */
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

/* linux/gfp.h: pages are blocks with a count of references */

unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long addr);

/* linux/miscdevice.h */

#define MISC_DYNAMIC_MINOR	255

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	unsigned short mode;
};

extern const struct miscdevice *user_device;	/* the device, or NULL */

#define misc_register(misc)	(user_device = (misc), 0)
#define misc_deregister(misc)	((void)(user_device = NULL))

/* linux/nsproxy.h */

struct nsproxy {
	struct time_namespace *time_ns;
};

/* The part of a task that the module uses */
struct task_struct {
	struct nsproxy *nsproxy;	/* its namespaces */
};

/* linux/pid.h */

struct pid {
	int refs;
};

static inline struct pid *get_pid(struct pid *pid)
{
	pid->refs++;
	return pid;
}

void put_pid(struct pid *pid);

/* linux/wait.h: queues of sleepers */

/* The waiters of an event */
typedef struct wait_queue_head {
	spinlock_t lock;		/* guards @waiters */
	struct list_head waiters;	/* all waiters */
} wait_queue_head_t;

/* A waiter */
struct user_waiter {
	struct list_head entry;		/* link in @queue */
	struct wait_queue_head *queue;	/* the queue */
	bool poller;			/* a poller, which remains in the queue when it is woken */
	bool woken;			/* the task was woken */
};

void init_waitqueue_head(wait_queue_head_t *queue);
void user_wake(wait_queue_head_t *queue, int readers);
void user_wait_begin(wait_queue_head_t *queue, struct user_waiter *waiter);
long user_wait_prepare(struct user_waiter *waiter);
void user_wait_end(struct user_waiter *waiter);

#define wake_up_interruptible(queue)		user_wake(queue, 1)
#define __wake_up(queue, mode, nr, key)		user_wake(queue, nr)

/* Follows ___wait_event() of the kernel. */
#define wait_event_interruptible_exclusive(queue, condition) ({		\
	struct user_waiter __waiter;					\
	long __ret = 0, __signal;					\
									\
	might_sleep();							\
	if (!(condition)) {						\
		user_wait_begin(&(queue), &__waiter);			\
		for (;;) {						\
			__signal = user_wait_prepare(&__waiter);	\
			if (condition)					\
				break;					\
			__ret = __signal;				\
			if (__ret)					\
				break;					\
			sim_wait(&__waiter.woken);			\
		}							\
		user_wait_end(&__waiter);				\
	}								\
	__ret; })

/* linux/poll.h */

#define EPOLLIN		1U
#define EPOLLRDNORM	0x40U

/* A caller of poll() */
typedef struct poll_table_struct {
	struct user_waiter waiter;	/* its entry in the queue */
} poll_table;

void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table);

/* linux/sched/signal.h */

bool signal_pending(const struct task_struct *task);
/* No signal is fatal: each has a handler. */
#define fatal_signal_pending(task)	false

/* linux/seq_file.h: nothing is shown */

struct seq_file;

static inline __attribute__((__format__(printf, 2, 3)))
void seq_printf(struct seq_file *seq, const char *fmt, ...)
{
}

/* linux/time_namespace.h */

#define CONFIG_TIME_NS	1

struct time_namespace {
	struct {
		s64 monotonic;
		s64 boottime;
	} offsets;
};

/* Offsets are kept in ns. */
#define timespec64_to_ns(ts)	(*(ts))

/* linux/uaccess.h: copies between kernel and user space, see user_memory.c */

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

/* linux/uio.h: buffers of user space */

#define USER_SEGMENTS	3
#define ITER_DEST	0

struct user_segment {
	void *base;
	size_t size;
};

/* The destination of a read */
struct iov_iter {
	void *ubuf;		/* the buffer, if there is only one */
	size_t iov_offset;	/* present offset, from the beginning */
	size_t count;		/* bytes left */
	struct user_segment segments[USER_SEGMENTS];	/* the buffers, one after the other */
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

/* linux/workqueue.h: one task runs all works */

#define HZ	1000

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
	struct list_head link;
	u64 at;
	u64 wanted;	/* the earliest time that a caller asked for since the last run */
	bool queued;
	bool running;
};

#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, fn) \
	(*(w) = (struct delayed_work){ .work = { .func = (fn) } })

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);
bool mod_delayed_work(void *wq, struct delayed_work *work, unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *work);

#define system_wq NULL

#endif /* _SIM_SESSION_H */
