// SPDX-License-Identifier: GPL-2.0
/*
 * session/source.c, and a socket that receives data while the source reads its stamp
 *
 * Programs have no sockets: all that is simulated of them is the order of reads.
 */
#include <linux/err.h>

#include "scenario.h"
#include "session/timer.h"

#define CONFIG_INET	1
#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
#define IPPROTO_TCP	6
#define SOCK_DEAD	0
#define TICK_NSEC	(NSEC_PER_SEC / HZ)
#define tcp_jiffies32	((u32)jiffies)

enum {
	TCPF_ESTABLISHED = 1, TCPF_SYN_RECV = 2, TCPF_CLOSE_WAIT = 4,
	TCPF_FIN_WAIT1 = 8, TCPF_FIN_WAIT2 = 16,
};

struct inet_connection_sock {
	struct {
		u32 lrcvtime;
	} icsk_ack;
};

struct sock {
	int sk_family;
	int sk_type;
	int sk_protocol;
	struct inet_connection_sock csk;
};

struct socket {
	struct sock *sk;
};

/* Jiffies that pass just before the next read of a stamp, then data arrives. */
static unsigned int data_after;
/* When the last data arrived, on CLOCK_MONOTONIC. */
static ktime_t received;

static void receive(struct sock *sk)
{
	sk->csk.icsk_ack.lrcvtime = tcp_jiffies32;
	received = sim.now - sim.behind;
}

static const struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	if (data_after) {
		sim.now += data_after * TICK_NSEC;
		data_after = 0;
		receive((struct sock *)sk);
	}
	return &sk->csk;
}

static int inet_sk_state_load(const struct sock *sk) { return 0; }
static bool sock_flag(const struct sock *sk, int flag) { return false; }
static void sock_hold(struct sock *sk) { }
static void sock_put(struct sock *sk) { }
static struct file *fget(int fd) { return NULL; }
static void fput(struct file *file) { }
static struct socket *sock_from_file(struct file *file) { return NULL; }

#include "session/source.c"

/* However long this CPU stalls between two reads, no timer is early. */
void sim_check_source(void)
{
	struct twheel_session s = { .clock = CLOCK_MONOTONIC };
	u64 began = sim.now, idle = 20 * TICK_NSEC;
	struct twheel_utimer ut = {};
	struct sock sk = {};
	ktime_t deadline;

	receive(&sk);
	data_after = 1;
	twheel_session_watch(&ut, &sk, idle);
	/* More of the same jiffy. */
	receive(&sk);
	deadline = twheel_session_deadline_of(&s, &ut, 0);
	if (deadline < received + idle)
		sim_fail("data in the jiffy in which a timer was started does not count");
	sim.now += TICK_NSEC;
	data_after = 5;
	deadline = twheel_session_deadline_of(&s, &ut, 0);
	if (deadline < received + idle)
		sim_fail("data that arrives while a timer is checked makes it early");
	sim.now = began;
}
