// SPDX-License-Identifier: GPL-2.0
/*
 * idle_socket: an idle timeout for a connection whose data the program does not see
 *
 * With splice(2) the data passes by, and there is no place for a store. TCP remembers when
 * it last received data, so the program asks when the timer expires: one system call for
 * each timeout, none for each packet.
 */
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <twheel.h>

#define MS		1000000ULL
#define MESSAGES	10

/*
 * Return for how long a socket has received nothing. TCP notes the jiffy of the data, and
 * not its time, so that the data may be up to a jiffy younger than TCP says.
 */
static __u64 silence_ns(int fd)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);
	struct timespec jiffy;
	__u64 ns;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		err(1, "TCP_INFO");
	clock_getres(CLOCK_MONOTONIC_COARSE, &jiffy);
	ns = info.tcpi_last_data_recv * MS;
	return ns > (__u64)jiffy.tv_nsec ? ns - (__u64)jiffy.tv_nsec : 0;
}

/* Shut the socket down if it was silent for the timeout. Otherwise wait for the rest of it. */
static int expired(struct twheel *t, int fd, __u64 timeout_ns)
{
	__u64 silence = silence_ns(fd);

	if (silence < timeout_ns)
		return twheel_start(t, (__u64)fd, timeout_ns - silence, 0);
	return shutdown(fd, SHUT_RDWR) ? -errno : 1;
}

static void serve(int fd, __u64 timeout_ns)
{
	struct twheel_event event;
	struct twheel *t;
	int ret = twheel_open(&t, NULL);

	if (!ret)
		ret = twheel_start(t, (__u64)fd, timeout_ns, 0);
	while (!ret) {
		ret = twheel_wait(t, &event, 1, -1);
		if (ret == 1)
			ret = expired(t, (int)event.id, timeout_ns);
	}
	if (ret < 0)
		errx(1, "/dev/twheel: %s", strerror(-ret));
	twheel_close(t);
}

/* Be the peer: send some messages, then nothing, until the other side closes. */
static void talk(int fd, int timeout_ms)
{
	struct pollfd closed = { .fd = fd, .events = POLLIN };
	__u64 spoke_ns = 0;
	int sent = 0;

	while (!poll(&closed, 1, sent < MESSAGES ? timeout_ms / 4 : -1)) {
		spoke_ns = twheel_now();
		sent += send(fd, "", 1, MSG_NOSIGNAL) == 1;
	}
	printf("closed %llu ms after message %d\n", (twheel_now() - spoke_ns) / MS, sent);
}

/* Connect two sockets by TCP. */
static void connect_pair(int *server, int *peer)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct sockaddr *any = (struct sockaddr *)&address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*peer = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, any, size) || listen(listener, 1) ||
	    getsockname(listener, any, &size) || connect(*peer, any, size))
		err(1, "127.0.0.1");
	*server = accept(listener, NULL, NULL);
	close(listener);
}

int main(int argc, char **argv)
{
	int timeout_ms = argc > 1 ? atoi(argv[1]) : 500, server, peer;

	connect_pair(&server, &peer);
	if (fork()) {
		close(peer);
		serve(server, (__u64)timeout_ms * MS);
		close(server);
		wait(NULL);
		return 0;
	}
	close(server);
	talk(peer, timeout_ms);
	return 0;
}
