// SPDX-License-Identifier: GPL-2.0
/*
 * server TIMEOUT_MS: close connections that are silent for TIMEOUT_MS.
 *
 * The program is also the clients: 100 connections, each with ten messages. Every
 * fourth closes after five messages, and the others become silent.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

#define CLIENTS		100
#define MESSAGES	10
#define ROUND_MS	10

uint64_t timeout_ns;

static int epfd, clients[CLIENTS];
static uint64_t heard_ns[MAX_CONNECTIONS];
static unsigned int messages, idle, gone;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static void connect_all(void)
{
	int i, pair[2];

	for (i = 0; i < CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
			err(1, "socketpair");
		clients[i] = pair[0];
		watch(pair[1]);
		heard_ns[pair[1]] = now_ns();
		opened(pair[1]);
	}
}

static void clients_speak(int round)
{
	int i;

	for (i = 0; i < CLIENTS && round < MESSAGES; i++) {
		if (i % 4)
			send(clients[i], "!", 1, MSG_NOSIGNAL);
		else if (round < MESSAGES / 2)
			send(clients[i], "!", 1, MSG_NOSIGNAL);
		else if (round == MESSAGES / 2)
			close(clients[i]);
	}
}

static void receive(int connection)
{
	char data[64];
	ssize_t size = read(connection, data, sizeof(data));

	if (size > 0) {
		heard_ns[connection] = now_ns();
		heard_from(connection);
		messages += size;
		return;
	}
	closed(connection);
	close(connection);
	heard_ns[connection] = 0;
	gone++;
}

void connection_idle(int connection)
{
	if (!heard_ns[connection] || now_ns() < heard_ns[connection] + timeout_ns)
		errx(1, "connection %d is not idle", connection);
	close(connection);
	heard_ns[connection] = 0;
	idle++;
}

void must(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	int round, ready, i;

	timeout_ns = (argc > 1 ? atoi(argv[1]) : 300) * 1000000ULL;
	epfd = epoll_create1(EPOLL_CLOEXEC);
	timeouts_open();
	watch(timeouts_fd());
	connect_all();
	for (round = 0; idle + gone < CLIENTS; round++) {
		bool expired = false;

		clients_speak(round);
		ready = epoll_wait(epfd, events, 64, ROUND_MS);
		for (i = 0; i < ready; i++) {
			if (events[i].data.fd == timeouts_fd())
				expired = true;
			else
				receive(events[i].data.fd);
		}
		/* Last, because it closes descriptors that events[] may contain. */
		if (expired)
			collect();
		before_waiting();
	}
	printf("%u messages, %u idle, %u gone\n", messages, idle, gone);
	return 0;
}
