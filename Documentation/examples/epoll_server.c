// SPDX-License-Identifier: GPL-2.0
/* epoll_server PORT TIMEOUT_MS: closes connections that are silent for so long. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/twheel.h>

#define BATCH	64

/* What user_data points to. The timer's id is the descriptor. */
struct connection {
	int fd;
};

static struct connection listener, input = { STDIN_FILENO }, wheel;
static struct twheel_op ops[BATCH];
static unsigned int nr_ops, opened, idle, gone, drained;
static __u64 timeout_ns;
static int epfd;

static void flush_ops(void)
{
	struct twheel_submit submit = {
		.ops = (unsigned long)ops,
		.count = nr_ops,
		.op_size = sizeof(ops[0]),
	};

	while (submit.count) {
		int done = ioctl(wheel.fd, TWHEEL_IOC_SUBMIT, &submit);

		if (done < 0 || submit.failed)
			err(1, "TWHEEL_IOC_SUBMIT");
		submit.ops += (__u64)done * submit.op_size;
		submit.count -= done;
	}
	nr_ops = 0;
}

/*
 * Start or push back. If the timer has expired, and its event is unread, REPLACE
 * withdraws the event: the peer was just in time.
 */
static void refresh(struct connection *c)
{
	ops[nr_ops++] = (struct twheel_op) {
		.opcode = TWHEEL_OP_START,
		.flags = TWHEEL_START_REPLACE,
		.id = c->fd,
		.expires_ns = timeout_ns,
		.user_data = (unsigned long)c,
	};
	if (nr_ops == BATCH)
		flush_ops();
}

static void watch(struct connection *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, c->fd, &event))
		err(1, "epoll_ctl");
}

static void accept_all(void)
{
	int fd;

	while ((fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		struct connection *c = malloc(sizeof(*c));

		if (!c)
			err(1, "malloc");
		c->fd = fd;
		watch(c);
		refresh(c);
		opened++;
	}
}

static void forget(struct connection *c)
{
	close(c->fd);
	free(c);
}

/* The peer has closed: after this stop no event can name the connection. */
static void stop_and_forget(struct connection *c)
{
	struct twheel_stop stop = {
		.id = c->fd,
		.flags = TWHEEL_STOP_WITHDRAW,
	};

	flush_ops();
	if (ioctl(wheel.fd, TWHEEL_IOC_STOP, &stop) < 0)
		err(1, "TWHEEL_IOC_STOP");
	forget(c);
	gone++;
}

static void receive(struct connection *c)
{
	char data[4096];
	ssize_t size = read(c->fd, data, sizeof(data));

	if (size > 0)
		refresh(c);
	else if (!size || errno != EAGAIN)
		stop_and_forget(c);
}

/* Returns false when there is none. A timer whose event was read is free. */
static bool read_events(void)
{
	struct twheel_event events[BATCH];
	ssize_t size, i;

	flush_ops();
	size = read(wheel.fd, events, sizeof(events));
	for (i = 0; i < size / (ssize_t)sizeof(events[0]); i++) {
		forget((void *)(unsigned long)events[i].user_data);
		idle++;
	}
	return size > 0;
}

/* What is pending comes from DRAIN, what has expired comes as an event. */
static void shut_down(void)
{
	struct twheel_entry entries[BATCH];
	struct twheel_list list = {
		.entries = (unsigned long)entries,
		.count = BATCH,
		.entry_size = sizeof(entries[0]),
	};
	int got, i;

	flush_ops();
	while ((got = ioctl(wheel.fd, TWHEEL_IOC_DRAIN, &list)) > 0) {
		for (i = 0; i < got; i++)
			forget((void *)(unsigned long)entries[i].user_data);
		drained += got;
	}
	while (read_events())
		;
	close(wheel.fd);
}

static void init(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	epfd = epoll_create1(EPOLL_CLOEXEC);
	wheel.fd = open("/dev/twheel", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (epfd < 0 || wheel.fd < 0 || listener.fd < 0 ||
	    bind(listener.fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener.fd, 100))
		err(1, "init");
	watch(&wheel);
	watch(&listener);
	watch(&input);
}

int main(int argc, char **argv)
{
	struct epoll_event events[BATCH];
	bool ending = false;
	int i, ready;

	if (argc != 3)
		errx(2, "usage: epoll_server PORT TIMEOUT_MS");
	timeout_ns = atoi(argv[2]) * 1000000ULL;
	init(atoi(argv[1]));
	while (!ending) {
		bool expired = false;

		ready = epoll_wait(epfd, events, BATCH, -1);
		for (i = 0; i < ready; i++) {
			struct connection *c = events[i].data.ptr;

			if (c == &wheel)
				expired = true;
			else if (c == &listener)
				accept_all();
			else if (c == &input)
				ending = true;
			else
				receive(c);
		}
		/* Last: an entry of events[] must not name what is freed here. */
		if (expired)
			read_events();
		flush_ops();
	}
	shut_down();
	printf("%u opened, %u idle, %u gone, %u drained\n", opened, idle, gone,
	       drained);
	return 0;
}
