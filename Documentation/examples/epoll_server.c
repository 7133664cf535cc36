// SPDX-License-Identifier: GPL-2.0
/* epoll_server PORT TIMEOUT_MS: close connections that are silent for TIMEOUT_MS. */
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
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/twheel.h>

#define BATCH	64
#define WORDS	4096		/* limit of descriptors */
#define RETRY_NS	100000000ULL

/* user_data of a timer points to its connection. Its id is the descriptor. */
struct connection {
	int fd;
};

static struct connection listener, input = { STDIN_FILENO }, wheel;
static unsigned int opened, idle, gone, drained;
static __u64 timeout_ns;
static __u64 *words;		/* a deadline for each descriptor */
static int epfd;

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Refresh the timer: the kernel reads the word when it is due. */
static void refresh(struct connection *c)
{
	__atomic_store_n(&words[c->fd], now_ns() + timeout_ns, __ATOMIC_RELAXED);
}

/* Start a timer that is not pending, for the deadline in its word. */
static void start(struct connection *c)
{
	struct twheel_start start = {
		.id = c->fd,
		.expires_ns = words[c->fd],
		.user_data = (unsigned long)c,
		.flags = TWHEEL_START_ABS,
	};

	if (ioctl(wheel.fd, TWHEEL_IOC_START, &start))
		err(1, "TWHEEL_IOC_START");
}

static void watch(struct connection *c, int op, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	if (epoll_ctl(epfd, op, c->fd, &event))
		err(1, "epoll_ctl");
}

static void open_connection(int fd)
{
	struct connection *c = fd < WORDS ? malloc(sizeof(*c)) : NULL;

	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	watch(c, EPOLL_CTL_ADD, EPOLLIN);
	refresh(c);
	start(c);
	opened++;
}

/*
 * Without a descriptor for the next connection, leave it waiting for a while. The listener
 * stays readable, so the loop would not sleep if it watched it.
 */
static void accept_all(void)
{
	int fd;

	while ((fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK)) >= 0)
		open_connection(fd);
	if (errno == EAGAIN)
		return;
	watch(&listener, EPOLL_CTL_MOD, 0);
	words[listener.fd] = now_ns() + RETRY_NS;
	start(&listener);
}

static void forget(struct connection *c)
{
	close(c->fd);
	free(c);
}

/* Stop a timer. No later event has a pointer to the connection. */
static void stop_and_forget(struct connection *c)
{
	struct twheel_stop stop = { .id = c->fd };

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

/* Close a connection, unless its peer sent data after the timer expired. */
static void expired(const struct twheel_event *event)
{
	struct connection *c = (void *)(unsigned long)event->user_data;

	if (c == &listener) {
		watch(c, EPOLL_CTL_MOD, EPOLLIN);
		return;
	}
	if (words[c->fd] > event->expired_ns) {
		start(c);
		return;
	}
	forget(c);
	idle++;
}

/* Read events. Their timers are free afterwards. */
static void read_events(void)
{
	struct twheel_event events[BATCH];
	ssize_t size, i;

	size = read(wheel.fd, events, sizeof(events));
	for (i = 0; i < size / (ssize_t)sizeof(events[0]); i++)
		expired(&events[i]);
}

/* Free all connections. Each has a pending timer or an unread event. */
static void shut_down(void)
{
	struct twheel_entry entries[BATCH];
	struct twheel_list list = {
		.entries = (unsigned long)entries,
		.count = BATCH,
		.entry_size = TWHEEL_ENTRY_SIZE_V1,
		.flags = TWHEEL_LIST_DRAIN,
	};
	int got, i;

	while ((got = ioctl(wheel.fd, TWHEEL_IOC_LIST, &list)) > 0) {
		for (i = 0; i < got; i++) {
			struct connection *c = (void *)(unsigned long)entries[i].user_data;

			if (c == &listener)
				continue;
			forget(c);
			drained++;
		}
	}
	close(wheel.fd);
}

static void open_wheel(void)
{
	struct twheel_setup setup = { .shared_ids = WORDS };

	wheel.fd = open("/dev/twheel", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (wheel.fd < 0 || ioctl(wheel.fd, TWHEEL_IOC_SETUP, &setup))
		err(1, "/dev/twheel");
	words = mmap(NULL, WORDS * sizeof(words[0]), PROT_READ | PROT_WRITE,
		     MAP_SHARED, wheel.fd, 0);
	if (words == MAP_FAILED)
		err(1, "mmap");
}

static void init(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	open_wheel();
	epfd = epoll_create1(EPOLL_CLOEXEC);
	listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (epfd < 0 || listener.fd < 0 ||
	    bind(listener.fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener.fd, SOMAXCONN))
		err(1, "init");
	watch(&wheel, EPOLL_CTL_ADD, EPOLLIN);
	watch(&listener, EPOLL_CTL_ADD, EPOLLIN);
	watch(&input, EPOLL_CTL_ADD, EPOLLIN);
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
		bool some_expired = false;

		ready = epoll_wait(epfd, events, BATCH, -1);
		for (i = 0; i < ready; i++) {
			struct connection *c = events[i].data.ptr;

			if (c == &wheel)
				some_expired = true;
			else if (c == &listener)
				accept_all();
			else if (c == &input)
				ending = true;
			else
				receive(c);
		}
		/* Last, because events[] may point to a connection that this frees. */
		if (some_expired)
			read_events();
	}
	shut_down();
	printf("%u opened, %u idle, %u gone, %u drained\n", opened, idle, gone,
	       drained);
	return 0;
}
