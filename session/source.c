// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Sockets, from which timers take their deadline
 *
 * TCP stamps a socket with the jiffy in which it received the last data
 * (icsk_ack.lrcvtime). A timer with a socket reads the stamp when it is due,
 * and is extended if data arrived since. So packets cost nothing for the timer.
 *
 * The timer holds the struct sock, like TCP's own timers, and not the file. The
 * program's close() closes the connection. The memory remains until the timer
 * is stopped: it checks for SOCK_DEAD twice a minute. The last reference may be
 * put in softirq context, as TCP does.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/net.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "core/compat.h"
#include "session.h"

#ifndef CONFIG_INET
#error "twheel needs a kernel with CONFIG_INET"
#endif

/* Returns whether data may arrive or arrived. TCP Fast Open: SYN_RECV. */
static bool is_connected(const struct sock *sk)
{
	return (1 << inet_sk_state_load(sk)) &
	       (TCPF_ESTABLISHED | TCPF_SYN_RECV | TCPF_CLOSE_WAIT |
		TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2);
}

static u32 stamp_of(const struct sock *sk)
{
	/*
	 * TCP writes the stamp with the socket's lock held, and this reads it
	 * without. Any value of the single word is correct: the read just seems
	 * a little earlier or later. Pairs with tcp_event_data_recv().
	 */
	return data_race(READ_ONCE(inet_csk(sk)->icsk_ack.lrcvtime));
}

/* Later data of this jiffy has the same stamp and must count: keep one less. */
static u32 stamp_to_keep(u32 stamp, u32 now)
{
	return stamp == now ? stamp - 1 : stamp;
}

static int check_sock(const struct sock *sk)
{
	if (!sk)
		return -ENOTCONN;
	if ((sk->sk_family != AF_INET && sk->sk_family != AF_INET6) ||
	    sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return -EOPNOTSUPP;
	return is_connected(sk) ? 0 : -ENOTCONN;
}

/*
 * Hold the socket of a descriptor. After the program closed the socket no
 * other limit counts it. So each hold is charged like a chunk of timers, which
 * is more memory. Returns the socket, or an error of START as ERR_PTR().
 */
struct sock *twheel_session_hold_sock(struct twheel_session *s, int fd)
{
	struct file *file = fget(fd);
	struct socket *sock;
	struct sock *sk;
	int ret;

	if (!file)
		return ERR_PTR(-EBADF);
	sock = sock_from_file(file);
	ret = sock ? check_sock(sock->sk) : -ENOTSOCK;
	if (!ret)
		ret = twheel_session_user_charge(s->user, TWHEEL_COUNT_PIECES, s->unlimited);
	sk = ret ? ERR_PTR(ret) : sock->sk;
	if (!ret)
		sock_hold(sk);
	fput(file);
	return sk;
}

/* Undo twheel_session_hold_sock(). Any context, as TCP's timers do it. */
void twheel_session_put_sock(struct twheel_session *s, struct sock *sk)
{
	sock_put(sk);
	twheel_session_user_uncharge(s->user, TWHEEL_COUNT_PIECES);
}

/*
 * A timer with a socket checks it every 34 s, counted back from the deadline,
 * so that a closed socket is released within a minute. As a shift, of ns.
 */
#ifndef TWHEEL_CHECK_SHIFT
#define TWHEEL_CHECK_SHIFT	35
#endif

/* Returns the first time after @now at which the timer checks its socket. */
static ktime_t next_check(struct twheel_utimer *ut, ktime_t now, ktime_t deadline)
{
	ut->checks = deadline > now ? (u64)(deadline - now - 1) >> TWHEEL_CHECK_SHIFT : 0;
	return deadline - ((s64)ut->checks << TWHEEL_CHECK_SHIFT);
}

/* Returns the deadline of a timer whose next check is at @check. */
ktime_t twheel_session_after_checks(const struct twheel_utimer *ut, ktime_t check)
{
	return check + ((s64)ut->checks << TWHEEL_CHECK_SHIFT);
}

/*
 * Assign a held socket to a timer that is not pending, and return the time of
 * the first check. Data received until now does not extend the timer, so the
 * idle time begins at a clock read after the stamp.
 */
ktime_t twheel_session_watch(struct twheel_session *s, struct twheel_utimer *ut,
			     struct sock *sk, u64 idle_ns)
{
	u32 stamp = stamp_of(sk);
	ktime_t now;

	/* After the jiffy of the stamp no other data has the same stamp. */
	smp_rmb();
	ut->sk = sk;
	ut->idle_ns = idle_ns;
	ut->stamp = stamp_to_keep(stamp, tcp_jiffies32);
	now = twheel_clock_time(s->clock, ktime_get());
	return next_check(ut, now, now + idle_ns);
}

/*
 * Returns the end of the idle time, at least @due.
 *
 * Data arrived in the jiffy of the stamp, and the current jiffy began. So the
 * age of the data is at least the difference less one jiffy, which is never
 * early and at most two jiffies late. An unchanged stamp needs no arithmetic:
 * it may be too old for 32 bits.
 *
 * The CPU may stall between two reads. So the jiffy is read before the stamp,
 * and the clock after it: the data only seems younger than it is.
 */
static ktime_t deadline_of(struct twheel_session *s, struct twheel_utimer *ut, ktime_t due)
{
	u32 jiffy = tcp_jiffies32, stamp = stamp_of(ut->sk);
	s32 age;

	/* connect() with AF_UNSPEC clears the stamp. A normal end leaves it. */
	if (stamp == ut->stamp || (!stamp && !is_connected(ut->sk)))
		return due;
	ut->stamp = stamp_to_keep(stamp, jiffy);
	/* The stamp may be of a jiffy that this CPU did not see yet. */
	age = max_t(s32, jiffy - stamp, 0);
	/* A jiffy counted late must not move the deadline back. */
	return max(twheel_clock_time(s->clock, ktime_get()) + (s64)ut->idle_ns + TICK_NSEC -
		   (s64)age * TICK_NSEC, due);
}

/*
 * Check the socket of a timer at @time. Returns the time of the next check,
 * @time if the timer is due, or TWHEEL_WORD_STOP if the program closed the
 * socket.
 */
u64 twheel_session_check_source(struct twheel_session *s, struct twheel_utimer *ut,
				ktime_t time)
{
	ktime_t due = twheel_session_after_checks(ut, time), deadline;

	/* TCP sets the flag under the socket's lock. Pairs with sock_orphan(). */
	if (data_race(sock_flag(ut->sk, SOCK_DEAD)))
		return TWHEEL_WORD_STOP;
	deadline = deadline_of(s, ut, due);
	s->stats.carried += deadline != due;
	return next_check(ut, time, deadline);
}
