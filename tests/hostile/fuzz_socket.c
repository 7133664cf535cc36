// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptors for timers of sockets, right ones and wrong ones
 *
 * A process has some connections over loopback, which its threads share. Other
 * descriptors are of kinds that no timer takes. While a thread uses a descriptor, other
 * threads may use it, too: a number may be closed, and then name another connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "fuzz.h"

#define PAIRS		6

/* The two ends of each connection, and then other descriptors. */
static int fds[2 * PAIRS + 4];
static int listener = -1;
static struct sockaddr_in address;

/* Reset at close, which leaves no state behind and uses up no port. */
static void reset_at_close(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static int connect_to_listener(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Replace a connection. Two threads may end up with one end each. */
static void make_pair(int *pair)
{
	int ends[2];
	unsigned int i;

	ends[0] = connect_to_listener();
	ends[1] = ends[0] < 0 ? -1 :
		  accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	for (i = 0; i < 2; i++) {
		reset_at_close(ends[i]);
		ends[i] = __atomic_exchange_n(&pair[i], ends[i], __ATOMIC_ACQ_REL);
		if (ends[i] > 0)
			close(ends[i]);
	}
}

static void listen_to(void)
{
	socklen_t size = sizeof(address);

	address = (struct sockaddr_in){
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bind(listener, (struct sockaddr *)&address, size);
	listen(listener, 64);
	getsockname(listener, (struct sockaddr *)&address, &size);
}

/* Call it once in a process, before its threads. */
void fuzz_sockets_make(void)
{
	unsigned int i, at = 2 * PAIRS;

	listen_to();
	for (i = 0; i < PAIRS; i++)
		make_pair(&fds[2 * i]);
	fds[at++] = listener;
	fds[at++] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fds[at++] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fds[at++] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int fd_of(struct fuzz_thread *t, unsigned int first, unsigned int nr)
{
	return __atomic_load_n(&fds[first + fuzz_below(t, nr)], __ATOMIC_ACQUIRE);
}

/* Returns the flags of a start, and in @fd its descriptor. */
__u32 fuzz_start_of_fd(struct fuzz_thread *t, __s32 *fd)
{
	*fd = fd_of(t, 0, fuzz_percent(t, 90) ? 2 * PAIRS : ARRAY_SIZE(fds));
	if (fuzz_percent(t, 3))
		*fd = fuzz_number(t);
	return TWHEEL_START_IDLE;
}

/* Returns whether @result is an error that the descriptor of a start explains. */
bool fuzz_is_fd_error(__u32 flags, int result)
{
	return flags & TWHEEL_START_IDLE &&
	       IS_ONE_OF(result, -EBADF, -ENOTSOCK, -ENOTCONN, -EOPNOTSUPP);
}

/* Do something that programs do to their connections. */
void fuzz_socket_call(struct fuzz_thread *t)
{
	unsigned int pair = 2 * fuzz_below(t, PAIRS);
	int fd = fd_of(t, pair, 2);
	char bytes[64];

	switch (fuzz_below(t, 8)) {
	case 0:
		/* Where sessions come and go another thread may take it for one. */
		if (!t->kind->churn)
			make_pair(&fds[pair]);
		break;
	case 1:
		shutdown(fd, fuzz_below(t, 3));
		break;
	case 2:
		/* A connection that was one, and listens. */
		connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC },
			sizeof(struct sockaddr));
		break;
	case 3:
	case 4:
		recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		break;
	default:
		send(fd, bytes, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}
