// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Timers with a descriptor: a socket that they watch, or an eventfd
 *
 * TCP stamps a socket with the jiffy in which it has received the last data
 * (icsk_ack.lrcvtime). A timer that watches a socket looks at the stamp when it is due,
 * and goes on if data has come since. So a packet costs nothing for the timer.
 *
 * A watch holds the struct sock, as TCP's own timers do, and not the file. The
 * program's close() closes the connection. The memory stays until the timer is stopped,
 * which is at its deadline at the latest: there the timer sees SOCK_DEAD. The last
 * reference may be put in softirq context, as TCP puts it.
 *
 * A socket is shut down, or reset, by a work of the session, which has to own the
 * socket's lock for that. A program may own it for as long as it likes, with a read
 * into memory that is never faulted in. So the work does not wait for it. The work
 * comes back for the sockets that were busy.
 */
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "core/compat.h"
#include "session.h"

/* The work of all sessions: a socket's shutdown is due, and nobody waits for it. */
static struct workqueue_struct *workqueue;

/* A busy socket is tried again after this time. */
#define BUSY_JIFFIES	(HZ / 100 + 1)

/**
 * struct twheel_session_actions - sockets that a session is to shut down
 * @work: does that
 * @session: the session. Constant
 * @acted: called after each. Constant
 * @due: watches whose time is over
 * @busy: watches whose socket was locked
 *
 * The lists are guarded by the session's lock.
 */
struct twheel_session_actions {
	struct delayed_work work;
	struct twheel_session *session;
	twheel_session_acted acted;
	struct list_head due;
	struct list_head busy;
};

/* Looking at a socket. */

/* Data may come, or has come. A child of TCP Fast Open is in SYN_RECV. */
static bool is_connected(const struct sock *sk)
{
	return (1 << inet_sk_state_load(sk)) &
	       (TCPF_ESTABLISHED | TCPF_SYN_RECV | TCPF_CLOSE_WAIT |
		TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2);
}

/* The caller holds the socket. */
static bool is_closed(const struct sock *sk)
{
	/* TCP sets the flag under the socket's lock. Pairs with sock_orphan(). */
	return data_race(sock_flag(sk, SOCK_DEAD));
}

/* The session has a timer: its clock does not change any more. */
static ktime_t clock_of(const struct twheel_session *s)
{
	return twheel_clock_time(s->clock, ktime_get());
}

static u32 stamp_of(const struct sock *sk)
{
	/*
	 * TCP writes the stamp with the socket's lock held, and we read it without. It is
	 * one word, and any of its values is right: the read is as if it came a little
	 * earlier or later. Pairs with tcp_event_data_recv().
	 */
	return data_race(READ_ONCE(inet_csk(sk)->icsk_ack.lrcvtime));
}

/* Data that comes in this jiffy still has the same stamp, and has to count. */
static u32 stamp_to_keep(u32 stamp, u32 now)
{
	return stamp == now ? stamp - 1 : stamp;
}

/**
 * twheel_session_watch_look - a timer that watches a socket is due
 * @s: the session
 * @watch: its watch
 * @due: the deadline that has come
 *
 * The stamp is of the jiffy in which data has come, and the jiffy that we are in has
 * begun: so the data is older than the difference less one jiffy. That is never early,
 * and at most two jiffies late. A stamp that has not changed needs no arithmetic: it
 * may be older than what 32 bits can tell.
 *
 * A CPU may stand still between two reads. The jiffy is read before the stamp, and the
 * clock after it: then the data only seems to be younger than it is.
 *
 * Context: Session's lock held, or the action is under way.
 * Return: when the socket is idle for its time, @due if no data has come, and 0 if the
 * socket is closed.
 */
ktime_t twheel_session_watch_look(struct twheel_session *s,
				  struct twheel_session_watch *watch, ktime_t due)
{
	const struct sock *sk = watch->sk;
	u32 jiffy = tcp_jiffies32, stamp;
	s32 age;

	if (is_closed(sk))
		return 0;
	stamp = stamp_of(sk);
	/* connect() with AF_UNSPEC clears the stamp. Other ends of a connection leave it. */
	if (stamp == watch->stamp || (!stamp && !is_connected(sk)))
		return due;
	watch->stamp = stamp_to_keep(stamp, jiffy);
	/* The stamp may be of a jiffy that this CPU does not see yet. */
	age = max_t(s32, jiffy - stamp, 0);
	return clock_of(s) + watch->idle_ns + TICK_NSEC -
	       (s64)age * TICK_NSEC;
}

/* Acting. */

/* As lock_sock(), but without waiting. release_sock() undoes it. */
static bool try_lock_sock(struct sock *sk)
{
	bool free;

	spin_lock_bh(&sk->sk_lock.slock);
	free = !sock_owned_by_user_nocheck(sk);
	if (free)
		sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return free;
}

/* As shutdown(2) both ways. */
static void shut_down(struct sock *sk)
{
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SHUTDOWN_MASK);
	READ_ONCE(sk->sk_prot)->shutdown(sk, SHUTDOWN_MASK);
	sk->sk_state_change(sk);
}

/* As connect(2) with AF_UNSPEC. tcp_abort() would wait for the lock. */
static void reset(struct sock *sk)
{
	twheel_sock_disconnects(sk);
	if (!READ_ONCE(sk->sk_prot)->disconnect(sk, O_NONBLOCK))
		sk->sk_socket->state = SS_UNCONNECTED;
}

/* Socket's lock held. Returns as twheel_session_watch_look(). */
static ktime_t act_locked(struct twheel_session *s,
			  struct twheel_session_watch *watch)
{
	struct sock *sk = watch->sk;
	ktime_t now = clock_of(s);
	ktime_t deadline = twheel_session_watch_look(s, watch, now);

	/* It was closed, or data has come since the timer has looked. */
	if (!deadline || deadline > now)
		return deadline;
	watch->acted = true;
	watch->shut = is_connected(sk);
	if (!watch->shut)
		return deadline;
	if (watch->flags & TWHEEL_START_RESET)
		reset(sk);
	else
		shut_down(sk);
	return deadline;
}

static void act(struct twheel_session_actions *actions,
		struct twheel_session_watch *watch)
	__must_hold(&actions->session->lock)
{
	struct twheel_session *s = actions->session;
	struct sock *sk = watch->sk;
	ktime_t deadline = 0;
	bool locked;

	list_del_init(&watch->due);
	spin_unlock_bh(&s->lock);
	locked = try_lock_sock(sk);
	if (locked) {
		deadline = act_locked(s, watch);
		release_sock(sk);
	}
	cond_resched();
	spin_lock_bh(&s->lock);
	if (locked)
		actions->acted(s, watch, deadline);
	else
		list_add_tail(&watch->due, &actions->busy);
}

static void do_actions(struct work_struct *work)
{
	struct twheel_session_actions *actions =
		container_of(to_delayed_work(work),
			     struct twheel_session_actions, work);
	struct twheel_session *s = actions->session;

	spin_lock_bh(&s->lock);
	list_splice_init(&actions->busy, &actions->due);
	while (!s->closing && !list_empty(&actions->due))
		act(actions, list_first_entry(&actions->due,
					      struct twheel_session_watch, due));
	if (!s->closing && !list_empty(&actions->busy))
		queue_delayed_work(workqueue, &actions->work, BUSY_JIFFIES);
	spin_unlock_bh(&s->lock);
}

/**
 * twheel_session_watch_act - have a socket shut down, or reset
 * @s: the session
 * @watch: the watch, whose flags say which
 *
 * Context: Any, session's lock held.
 */
void twheel_session_watch_act(struct twheel_session *s,
			      struct twheel_session_watch *watch)
{
	struct twheel_session_actions *actions = s->actions;

	if (list_empty(&actions->due))
		mod_delayed_work(workqueue, &actions->work, 0);
	list_add_tail(&watch->due, &actions->due);
}

/**
 * twheel_session_watch_end_actions - do no more actions
 * @s: the session, which is closing, with its timers stopped
 *
 * Context: Process, may sleep.
 */
void twheel_session_watch_end_actions(struct twheel_session *s)
{
	if (!s->actions)
		return;
	cancel_delayed_work_sync(&s->actions->work);
	kfree(s->actions);
}

/**
 * twheel_session_watch_signal - add 1 to the eventfd
 * @watch: its watch
 *
 * Context: Softirq.
 * Return: false if the softirq runs in the middle of another such call, as it can on
 * PREEMPT_RT. Then the caller has to come back.
 */
bool twheel_session_watch_signal(const struct twheel_session_watch *watch)
{
	bool allowed = eventfd_signal_allowed();

	if (allowed)
		twheel_eventfd_signal(watch->eventfd);
	return allowed;
}

/* Making and freeing. */

static int check_sock(const struct sock *sk)
{
	if (!sk)
		return -ENOTCONN;
	if ((sk->sk_family != AF_INET && sk->sk_family != AF_INET6) ||
	    sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return -EOPNOTSUPP;
	return is_connected(sk) ? 0 : -ENOTCONN;
}

static int hold_sock(struct twheel_session_watch *watch, int fd)
{
	struct file *file = fget(fd);
	struct socket *sock;
	int ret = -ENOTSOCK;

	if (!file)
		return -EBADF;
	sock = sock_from_file(file);
	if (sock)
		ret = check_sock(sock->sk);
	if (!ret) {
		watch->sk = sock->sk;
		sock_hold(watch->sk);
		watch->stamp = stamp_to_keep(stamp_of(watch->sk), tcp_jiffies32);
	}
	fput(file);
	return ret;
}

static int hold_eventfd(struct twheel_session_watch *watch, int fd)
{
	struct eventfd_ctx *eventfd = eventfd_ctx_fdget(fd);

	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	watch->eventfd = eventfd;
	return 0;
}

/* Another thread may be faster. */
static int need_actions(struct twheel_session *s, twheel_session_acted acted)
{
	struct twheel_session_actions *actions;

	/* Pairs with the store below. */
	if (READ_ONCE(s->actions))
		return 0;
	actions = kzalloc(sizeof(*actions), GFP_SESSION);
	if (!actions)
		return -ENOMEM;
	INIT_DELAYED_WORK(&actions->work, do_actions);
	actions->session = s;
	actions->acted = acted;
	INIT_LIST_HEAD(&actions->due);
	INIT_LIST_HEAD(&actions->busy);
	spin_lock_bh(&s->lock);
	if (!s->actions) {
		/* Pairs with the read above. */
		WRITE_ONCE(s->actions, actions);
		actions = NULL;
	}
	spin_unlock_bh(&s->lock);
	kfree(actions);
	return 0;
}

static int fill_in(struct twheel_session_watch *watch,
		   const struct twheel_start *args)
{
	INIT_LIST_HEAD(&watch->due);
	watch->flags = args->flags;
	if (!(args->flags & TWHEEL_START_IDLE)) {
		watch->period_ns = args->period_ns;
		return hold_eventfd(watch, args->fd);
	}
	watch->idle_ns = args->expires_ns;
	return hold_sock(watch, args->fd);
}

/**
 * twheel_session_watch_make - make a watch
 * @s: the session
 * @args: as in TWHEEL_IOC_START, with flags that go together
 * @acted: called after the action, if there is one
 *
 * Context: Process, may sleep. Without the session's lock.
 * Return: the watch, or ERR_PTR() of -EINVAL for no eventfd, -EBADF, -ENOTSOCK, -EOPNOTSUPP,
 * -ENOTCONN or -ENOMEM.
 */
struct twheel_session_watch *
twheel_session_watch_make(struct twheel_session *s,
			  const struct twheel_start *args,
			  twheel_session_acted acted)
{
	struct twheel_session_watch *watch;
	int ret = 0;

	if (args->flags & (TWHEEL_START_SHUT | TWHEEL_START_RESET))
		ret = need_actions(s, acted);
	if (ret)
		return ERR_PTR(ret);
	watch = kzalloc(sizeof(*watch), GFP_SESSION);
	if (!watch)
		return ERR_PTR(-ENOMEM);
	ret = fill_in(watch, args);
	if (ret) {
		kfree(watch);
		return ERR_PTR(ret);
	}
	return watch;
}

/**
 * twheel_session_watch_let_go - hold the socket no more
 * @watch: the watch
 *
 * Context: Any. The last reference may be ours, as in TCP's timers.
 */
void twheel_session_watch_let_go(struct twheel_session_watch *watch)
{
	if (watch->sk)
		sock_put(watch->sk);
	watch->sk = NULL;
}

/**
 * twheel_session_watch_free - undo twheel_session_watch_make()
 * @watch: the watch, in no list
 *
 * Context: Any.
 */
void twheel_session_watch_free(struct twheel_session_watch *watch)
{
	twheel_session_watch_let_go(watch);
	if (watch->eventfd)
		eventfd_ctx_put(watch->eventfd);
	kfree(watch);
}

/**
 * twheel_session_watch_init - what watches need
 *
 * Return: 0 or -ENOMEM.
 */
int twheel_session_watch_init(void)
{
	workqueue = alloc_workqueue("twheel_session", WQ_UNBOUND, 0);
	return workqueue ? 0 : -ENOMEM;
}

/**
 * twheel_session_watch_exit - undo twheel_session_watch_init()
 */
void twheel_session_watch_exit(void)
{
	destroy_workqueue(workqueue);
}
