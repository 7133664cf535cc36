/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of the kernel that a wheel and a session need, for a session in the process
 *
 * The sources of the module are compiled into libtwheel, without the file operations of the
 * device: see amalgamate. This header and timers/kernel.h replace the headers of the
 * kernel. User space is this process, so a copy is an assignment. There is one CPU, and the
 * user has the rights of the process.
 *
 * Locks. spin_lock_bh() takes a mutex, which protects a session and its wheel. Callbacks
 * call spin_lock(), which does nothing: the mutex is held then.
 */
#ifndef TWHEEL_PROCESS_KERNEL_H
#define TWHEEL_PROCESS_KERNEL_H

/* Names of the module that libtwheel uses for its own functions. */
#define twheel			twheel_wheel
#define twheel_start(...)	twheel_wheel_start(__VA_ARGS__)
#define twheel_start_at(...)	twheel_wheel_start_at(__VA_ARGS__)
#define twheel_stop(...)	twheel_wheel_stop(__VA_ARGS__)
#define twheel_drain(...)	twheel_wheel_drain(__VA_ARGS__)
#define twheel_round_deadline	twheel_wheel_round_deadline

/* A wheel is its only base. Callbacks do not run concurrently, so a stop need not wait for one. */
#define twheel_base		twheel_wheel
#define twheel_stop_sync(...)	twheel_wheel_stop(__VA_ARGS__)

/* Compilers */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wsign-compare"

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define OPTIMIZER_HIDE_VAR(x)	__asm__("" : "=r" (x) : "0" (x))
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

#define __uninitialized
#define __user
#define __must_hold(lock)

#define TWHEEL_IS_ENABLED_CONFIG_LOCKDEP	0
#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)

/*
 * In a program a wake-up costs as much as two hundred moves. So a timer of level 0 moves when it
 * is refreshed, and leaves nothing at its old tick to wake up for. And few wake-ups with many
 * moves each are better than an even pace.
 */
#define TWHEEL_SLOT_LAZY_MAX	0
#define MOVES_PER_WAKEUP	2048

/* Modules */

#define KBUILD_MODNAME		"twheel"
#define MODULE_PARM_DESC(name, text)
#define module_param_cb(name, ops, value, mode)

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *value, const struct kernel_param *param);
};

#define param_set_uint_minmax(value, param, min, max)	(-EINVAL)
#define param_get_uint		NULL

/* Types */

typedef __u8 u8;
typedef __u16 u16;
typedef long long s64;
typedef s64 ktime_t;

#define KTIME_MAX		((s64)(U64_MAX >> 1))
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L

/* Arithmetic */

#define swap(a, b) \
	do { __typeof__(a) __a = (a); (a) = (b); (b) = __a; } while (0)
#define IS_ALIGNED(x, a)	(!((x) & ((__typeof__(x))(a) - 1)))
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

#define div_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define div64_u64(dividend, divisor)	((u64)(dividend) / (divisor))

/* Bits */

#define BIT_ULL(nr)		(1ULL << (nr))

static inline unsigned long __fls(unsigned long word)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(word);
}

static inline u32 roundup_pow_of_two(u32 x)
{
	return x < 2 ? 1 : 1U << (32 - __builtin_clz(x - 1));
}

/* Only draining a wheel and counting its slots need these. No session does either: trap. */
#define find_last_bit(bits, size)	(__builtin_trap(), (size))
#define bitmap_weight(bits, size)	(__builtin_trap(), (size))

#define array_index_nospec(index, size)	(index)

/* Lists */

struct hlist_node {
	struct hlist_node *next;
};

#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

/* Errors in pointers */

#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= -4095UL)

/* Memory */

#define PAGE_SIZE		4096UL
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0
#define SLAB_ACCOUNT		0

#define kvzalloc(size, gfp)	libtwheel_alloc(1, size)
#define kzalloc(size, gfp)	libtwheel_alloc(1, size)
#define kvcalloc(n, size, gfp)	libtwheel_alloc(n, size)
#define kcalloc(n, size, gfp)	libtwheel_alloc(n, size)
#define kvfree(p)		free(p)
#define kfree(p)		free(p)
#define kvfree_rcu(p, field)	free(p)

/*
 * The only cache is for chunks. A chunk leaves room in its page for the header of
 * malloc(), so that chunks are adjacent.
 */
#define TWHEEL_CHUNK_SPARE	(2 * sizeof(long))

struct kmem_cache;
struct vm_area_struct;

#define kmem_cache_create(name, size, align, flags, ctor)	NULL
#define kmem_cache_destroy(cache)	((void)(cache))
#define kmem_cache_free(cache, p)	free(p)
#define kmem_cache_alloc(cache, gfp)					\
	twheel_process_piece(TWHEEL_CHUNK_SIZE, sizeof(struct twheel_chunk) + \
			     TWHEEL_CHUNK_TIMERS * sizeof(struct twheel_utimer))

static inline void *twheel_process_piece(size_t alignment, size_t size)
{
	int saved = errno;
	void *p;

	if (posix_memalign(&p, alignment, size))
		p = NULL;
	errno = saved;
	return p;
}

/* Only /proc/twheel looks for a session by its number, so all of them have the number 1. */
#define xa_limit_31b		0
#define DEFINE_XARRAY_FLAGS(name, flags)	int name
#define xa_alloc_cyclic(xa, id, entry, limit, next, gfp) \
	((void)(next), *(id) = 1, 0)
#define xa_erase(xa, id)	((void)(xa))

/* Locks and waiters */

struct file {
	unsigned int f_mode;
	void *private_data;
};

/**
 * struct twheel_process - the lock of a session, and the fields of a session in the process
 * @mutex: protects the session and its wheel
 * @file: open file of the session
 * @fd: the timerfd. Constant
 * @clock: clock of @fd, and of the session once it is set up. Constant
 * @boot_ns: boot of the host on @clock, if it is later than 0: in a time namespace. Constant
 * @run_ns: time of the wheel's last run, on the session's clock
 * @set_ns: expiry of @fd, U64_MAX for never. No timer is due earlier
 * @fired: true if @fd is readable
 * @armed: @armed of the wheel when @fd was set
 * @error: result of the last timerfd_settime(2), 0 or a negative errno. After an error @fd
 *	wakes no reader
 *
 * These fields are beside the mutex, because the module's struct twheel_session has no place
 * for them. They are written with @mutex held. @set_ns, @fired and @error are also read
 * without it.
 */
typedef struct twheel_process {
	pthread_mutex_t mutex;
	struct file file;
	int fd;
	clockid_t clock;
	ktime_t boot_ns;
	u64 run_ns;
	u64 set_ns;
	u64 armed;
	int error;
	bool fired;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
	lock->armed = U64_MAX;
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	pthread_mutex_lock(&lock->mutex);
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

#define spin_lock(lock)		((void)(lock))
#define spin_unlock(lock)	((void)(lock))
#define lockdep_assert_held(lock)	((void)(lock))

struct lockdep_map {
};

struct lock_class_key;

struct rcu_head {
	void *unused;
};

typedef int atomic_t;
typedef u64 atomic64_t;

#define atomic64_inc(count)			(++*(count))
#define atomic64_read(count)			(*(count))

typedef int wait_queue_head_t;

#define init_waitqueue_head(queue)		((void)(queue))
#define wake_up_interruptible(queue)		((void)(queue))
#define __wake_up(queue, mode, count, key)	((void)(count))

/* Tasks, CPUs, clocks */

struct pid;

/* A process has one user, itself. */
typedef unsigned int kuid_t;

#define current_euid()		0
#define CAP_SYS_NICE		23
#define CAP_SYS_RESOURCE	24
#define current			NULL
#define get_pid(pid)		NULL
#define put_pid(pid)		((void)(pid))
#define ns_capable_noaudit(ns, cap)	true
#define signal_pending(task)		false
#define fatal_signal_pending(task)	false
#define cond_resched()		((void)0)
#define pagefault_disable()	((void)0)
#define pagefault_enable()	((void)0)
#define usleep_range(from, to)	sched_yield()

#define nr_cpu_ids		1
#define smp_processor_id()	0
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

static inline u64 get_random_u64(void)
{
	u64 number;

	return getentropy(&number, sizeof(number)) ? twheel_now() : number;
}

#define twheel_time_ns_offset(clock)	0
#define twheel_words_are_coherent()	(__SIZEOF_LONG__ == 8)
#define ktime_get()		((ktime_t)twheel_now())
#define trace_twheel_word(timer, session, id, word)	((void)(word))

/*
 * Converts @mono to CLOCK_BOOTTIME. The result is later by the time between the two clock
 * reads, as if the caller had read @mono later, but it is never later than now.
 */
#define TK_OFFS_BOOT		1

static inline ktime_t ktime_mono_to_any(ktime_t mono, int offset)
{
	ktime_t now = ktime_get();
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return mono - now + (s64)boot.tv_sec * NSEC_PER_SEC + boot.tv_nsec;
}

#define TWHEEL_BOOT_NS(s)	((s)->lock.boot_ns)
/* Time of the wheel's run, read once by expire() of process.c. */
#define TWHEEL_RUN_NS(s)	((s)->lock.run_ns)
#define ktime_get_ns()		((u64)ktime_get())

/* User space */

#define u64_to_user_ptr(x)	((void *)(unsigned long)(x))
/* Refuses NULL, like the kernel. Any other invalid address crashes. */
#define user_read_access_begin(from, size)	((from) != NULL)
#define user_read_access_end()			((void)0)
#define user_write_access_begin(to, size)	((to) != NULL)
#define user_write_access_end()			((void)0)
/* Never fails, but uses @label to keep the compiler from warning. */
#define twheel_get_user(x, p, label) \
	do { (x) = *(p); if (0) goto label; } while (0)
#define unsafe_put_user(x, p, label) \
	do { *(p) = (x); if (0) goto label; } while (0)
#define put_user(x, p)		(*(p) = (x), 0)
#define clear_user(to, size)	(memset(to, 0, size), 0)

/* Returns the number of bytes that could not be copied. */
static inline size_t copy_to_user(void *to, const void *from, size_t size)
{
	if (!to)
		return size;
	memcpy(to, from, size);
	return 0;
}

/* Returns 1 if all bytes are 0. */
static inline int check_zeroed_user(const void *from, size_t size)
{
	const char *byte = from;

	while (size--)
		if (*byte++)
			return 0;
	return 1;
}

static inline int copy_struct_from_user(void *to, size_t size, const void *from,
					size_t usize)
{
	size_t known = min(size, usize);

	if (!from)
		return -EFAULT;
	if (usize > size && !check_zeroed_user((const char *)from + size, usize - size))
		return -E2BIG;
	memcpy(to, from, known);
	memset((char *)to + known, 0, size - known);
	return 0;
}

struct iov_iter {
	void *ubuf;
	size_t iov_offset;
	size_t count;
};

#define ITER_DEST		0
#define MAX_RW_COUNT		0x7ffff000U
#define iter_is_ubuf(iter)	true
#define iov_iter_count(iter)	((iter)->count)
#define fault_in_iov_iter_writeable(iter, size)	(!(iter)->ubuf)

static inline void iov_iter_ubuf(struct iov_iter *iter, int direction, void *buf,
				 size_t size)
{
	*iter = (struct iov_iter){ .ubuf = buf, .count = size };
}

static inline void iov_iter_advance(struct iov_iter *iter, size_t size)
{
	iter->iov_offset += size;
	iter->count -= size;
}

#define iov_iter_revert(iter, size)	iov_iter_advance(iter, -(size))

static inline size_t copy_to_iter(const void *from, size_t size,
				  struct iov_iter *iter)
{
	memcpy((char *)iter->ubuf + iter->iov_offset, from, size);
	iov_iter_advance(iter, size);
	return size;
}

static inline size_t iov_iter_zero(size_t size, struct iov_iter *iter)
{
	if (!iter->ubuf)
		return 0;
	memset((char *)iter->ubuf + iter->iov_offset, 0, size);
	iov_iter_advance(iter, size);
	return size;
}

/* Files */

#define FMODE_READ		1U
#define FMODE_WRITE		2U
#define IOCSIZE_MASK		(_IOC_SIZEMASK << _IOC_SIZESHIFT)
#define TWHEEL_HOST_FEATURES		TWHEEL_FEATURE_PROCESS

#endif /* TWHEEL_PROCESS_KERNEL_H */
