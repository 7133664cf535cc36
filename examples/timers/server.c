// SPDX-License-Identifier: GPL-2.0 OR MIT
/* An echo server that closes connections after 30 s of silence: server PORT [SILENCE_MS] */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <twheel_timer.h>

#define RETRY_MS	100

struct connection {
	struct twheel_timer idle;
	int fd;
	ssize_t size, sent;		/* bytes received, and bytes sent back */
	char data[4096];
};

static struct twheel_timers *wheel;
static uint64_t now, silence = 30000;	/* in ms */
static int server, epoll;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/* Set the events of a descriptor that the loop waits for. @c is NULL for the listening socket. */
static bool watch(int op, int fd, uint32_t events, struct connection *c)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	return !epoll_ctl(epoll, op, fd, &event);
}

static void on_idle(struct twheel_timer *timer)
{
	struct connection *c = twheel_timer_container(timer, struct connection, idle);

	close(c->fd);
	free(c);
}

static void on_retry(struct twheel_timer *timer)
{
	(void)timer;
	watch(EPOLL_CTL_MOD, server, EPOLLIN, NULL);
}

/* Accept a connection. If that fails, maybe for want of descriptors, try again after RETRY_MS. */
static void accept_one(void)
{
	static struct twheel_timer retry = { .fn = on_retry };
	int fd = accept4(server, NULL, NULL, SOCK_NONBLOCK);
	struct connection *c;

	if (fd < 0) {
		watch(EPOLL_CTL_MOD, server, 0, NULL);
		twheel_timer_start(wheel, &retry, now + 1 + RETRY_MS);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (!c || !watch(EPOLL_CTL_ADD, fd, EPOLLIN, c)) {
		close(fd);
		free(c);
		return;
	}
	c->fd = fd;
	c->idle.fn = on_idle;
	twheel_timer_start(wheel, &c->idle, now + 1 + silence);
}

/*
 * Receive data and send it back, or send the rest of the data that was received before. The server
 * receives no more from a client until the client has read its answers. Returns false if the
 * connection is over.
 */
static bool echo(struct connection *c)
{
	ssize_t sent;

	if (c->sent == c->size) {
		c->sent = 0;
		c->size = recv(c->fd, c->data, sizeof(c->data), 0);
		if (c->size <= 0)
			return false;
	}
	sent = send(c->fd, c->data + c->sent, c->size - c->sent, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN)
		return false;
	c->sent += sent > 0 ? sent : 0;
	twheel_timer_push(wheel, &c->idle, now + 1 + silence);
	return watch(EPOLL_CTL_MOD, c->fd, c->sent < c->size ? EPOLLOUT : EPOLLIN, c);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct epoll_event event;
	uint64_t next;
	int ready;

	if (argc < 2) {
		fprintf(stderr, "usage: server PORT [SILENCE_MS]\n");
		return 2;
	}
	address.sin_port = htons(atoi(argv[1]));
	if (argc > 2)
		silence = atoi(argv[2]);
	now = now_ms();
	wheel = twheel_timers_new(now);
	epoll = epoll_create1(0);
	server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (!wheel || bind(server, (void *)&address, sizeof(address)) ||
	    listen(server, SOMAXCONN) || !watch(EPOLL_CTL_ADD, server, EPOLLIN, NULL)) {
		perror("server");
		return 1;
	}
	for (;;) {
		next = twheel_timers_next(wheel);
		next = next > now ? next - now : 0;
		ready = epoll_wait(epoll, &event, 1, next < INT_MAX ? (int)next : -1);
		now = now_ms();
		if (ready == 1) {
			struct connection *c = event.data.ptr;

			if (!c) {
				accept_one();
			} else if (!echo(c)) {
				twheel_timer_stop(wheel, &c->idle);
				on_idle(&c->idle);
			}
		}
		twheel_timers_advance(wheel, now, UINT_MAX);
	}
}
