// SPDX-License-Identifier: GPL-2.0
/*
 * TCP sockets, as far as session/source.c looks at them
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <net/tcp.h>

#include "session_oracle.h"

#define FDS		3
#define SOCKETS		256
#define RECEIVED	512

/* A socket that was opened */
struct user_socket {
	struct sock sk;		/* socket, held by timers */
	struct socket socket;	/* socket of the descriptor */
	struct file file;	/* file of the descriptor */
	/* Time of each piece of data, of the store of its stamp, and the sessions locked then. */
	struct {
		u64 at;
		u64 stored;
		u32 locked;
	} received[RECEIVED];
	unsigned int nr;	/* number of entries of @received */
	u64 closed;		/* time of the close of the descriptor, or 0 */
	bool locked;		/* TCP's lock */
};

static struct user_socket sockets[SOCKETS];
static struct user_socket *fds[FDS];
static unsigned int nr_sockets;

void user_sockets_begin(void)
{
	memset(fds, 0, sizeof(fds));
	nr_sockets = 0;
}

static struct user_socket *user_socket_of(struct sock *sk)
{
	if (sk->refs <= 0)
		sim_fail("a socket is used and not held");
	return container_of(sk, struct user_socket, sk);
}

/* Returns the stamp of data that arrives now. Not 0, the stamp of a disconnected socket. */
static u32 stamp_now(void)
{
	return jiffies + 1;
}

/* Returns tcp_jiffies32. The CPU may stall before it reads the jiffy. */
u32 user_jiffies(void)
{
	sim_point();
	if (sim_chance(16))
		sim.now += sim_below(TICK_NSEC);
	return stamp_now();
}

bool sock_is_dead(const struct sock *sk)
{
	user_socket_of((struct sock *)sk);
	return READ_ONCE(sk->dead);
}

void sock_hold(struct sock *sk)
{
	user_socket_of(sk);
	sk->refs++;
}

void sock_put(struct sock *sk)
{
	user_socket_of(sk);
	sk->refs--;
}

struct user_socket *user_socket(unsigned int fd)
{
	return fd && fd <= FDS ? fds[fd - 1] : NULL;
}

struct file *fget(unsigned int fd)
{
	struct user_socket *socket = user_socket(fd);

	if (!socket)
		return NULL;
	socket->file.refs++;
	return &socket->file;
}

static void release(struct user_socket *socket)
{
	if (--socket->file.refs)
		return;
	socket->socket.sk = NULL;
	WRITE_ONCE(socket->sk.dead, true);
	sock_put(&socket->sk);
}

void fput(struct file *file)
{
	release(container_of(file, struct user_socket, file));
}

struct socket *sock_from_file(struct file *file)
{
	return &container_of(file, struct user_socket, file)->socket;
}

static void open_socket(struct user_socket **fd)
{
	struct user_socket *socket = &sockets[nr_sockets];

	if (nr_sockets == SOCKETS)
		return;
	nr_sockets++;
	*socket = (struct user_socket) {
		.sk = {
			.sk_family	= AF_INET,
			.sk_type	= SOCK_STREAM,
			.sk_protocol	= IPPROTO_TCP,
			.sk_state	= TCP_ESTABLISHED,
			.refs		= 1,
			.icsk_ack	= { stamp_now() },
		},
		.socket.sk	= &socket->sk,
		.file.refs	= 1,
	};
	*fd = socket;
}

static void close_socket(struct user_socket **fd)
{
	struct user_socket *socket = *fd;

	*fd = NULL;
	socket->closed = sim.now;
	release(socket);
}

/*
 * Take TCP's lock, for data, connect() and disconnect. Else an older stamp could replace a newer
 * one, or a disconnect could clear the stamp of data that is recorded. If another task holds the
 * lock, the operation does not happen.
 */
static bool trylock(struct user_socket *socket)
{
	return !socket->locked && (socket->locked = true);
}

/* Receive data. Other tasks may run between the read of the jiffy and the store, not later. */
static void receive(struct user_socket *socket)
{
	u64 at = sim.now;

	if (socket->sk.sk_state != TCP_ESTABLISHED || !trylock(socket))
		return;
	WRITE_ONCE(socket->sk.icsk_ack.lrcvtime, stamp_now());
	socket->locked = false;
	if (socket->nr == RECEIVED)
		return;
	socket->received[socket->nr].at = at;
	socket->received[socket->nr].stored = sim.now;
	socket->received[socket->nr++].locked = oracle_locked_sessions();
}

/* Returns @sk. The CPU may stall before it reads the stamp, while data arrives. */
const struct sock *user_stamped(const struct sock *sk)
{
	struct user_socket *socket = user_socket_of((struct sock *)sk);

	if (sim_chance(16)) {
		sim.now += sim_below(8) * TICK_NSEC;
		receive(socket);
	}
	return sk;
}

/* Carry out an operation of a program or its peer on one of the sockets. */
void user_socket_op(void)
{
	struct user_socket **fd = &fds[sim_below(FDS)], *socket = *fd;
	int i;

	if (!socket) {
		open_socket(fd);
		return;
	}
	switch (sim_below(16)) {
	case 0:
		close_socket(fd);
		break;
	case 1:
		/* connect() with AF_UNSPEC clears the stamp. */
		if (!trylock(socket))
			break;
		socket->nr = 0;
		WRITE_ONCE(socket->sk.sk_state, TCP_CLOSE);
		WRITE_ONCE(socket->sk.icsk_ack.lrcvtime, 0);
		socket->locked = false;
		break;
	case 2:
		/* Both sides shut the connection down. */
		receive(socket);
		WRITE_ONCE(socket->sk.sk_state, TCP_CLOSE);
		break;
	case 3:
		if (socket->sk.sk_state == TCP_ESTABLISHED || !trylock(socket))
			break;
		WRITE_ONCE(socket->sk.icsk_ack.lrcvtime, stamp_now());
		WRITE_ONCE(socket->sk.sk_state, TCP_ESTABLISHED);
		socket->locked = false;
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		/* While others start timers. Another task may close it. */
		for (i = 0; i < 60 && *fd == socket; i++)
			receive(socket);
		break;
	default:
		receive(socket);
	}
}

bool user_socket_is_closed(const struct user_socket *socket)
{
	return socket->closed;
}

/*
 * Check an event with @deadline, of an expiry at @expired. Data that arrives while the callback
 * holds the lock of session @nr need not count.
 */
void user_socket_expired(const struct user_socket *socket, unsigned int nr, u64 idle,
			 u64 deadline, u64 expired)
{
	unsigned int i;

	for (i = 0; i < socket->nr; i++) {
		u64 at = socket->received[i].at, stored = socket->received[i].stored;

		if (stored >= expired || at + idle <= deadline)
			continue;
		if (stored < deadline || !(socket->received[i].locked & BIT(nr)))
			sim_fail("a timer is due at %llu, and its socket received data at %llu",
				 deadline, at);
	}
}

/* Returns whether no timer holds a socket that was closed before @since. */
bool user_sockets_quiet(u64 since)
{
	const struct user_socket *socket;

	for (socket = sockets; socket < sockets + nr_sockets; socket++)
		if (socket->closed && socket->closed < since && socket->sk.refs)
			return false;
	return true;
}

void user_sockets_end(void)
{
	unsigned int i;

	for (i = 0; i < FDS; i++)
		if (fds[i])
			close_socket(&fds[i]);
	for (i = 0; i < nr_sockets; i++)
		if (sockets[i].sk.refs)
			sim_fail("a socket is held for ever");
}
