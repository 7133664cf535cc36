/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a server's idle timeouts in an event loop: declarations that the
 * parts share
 */
#ifndef SERVERS_H
#define SERVERS_H

#include <stdbool.h>

#include "../../api/selftests/user.h"

#define CONNECTIONS	100000U
#define TIMEOUT_NS	(2 * SECOND)

/**
 * struct loop - an event loop
 * @name: its name in the results
 * @open: make it, with a timer for each connection that is not started
 * @watch: call @fn whenever @fd is readable
 * @start: start a connection's timer, or start it anew
 * @run: run until server_done() says so
 *
 * Its timers call server_timeout().
 */
struct loop {
	const char *name;
	void (*open)(void);
	void (*watch)(int fd, void (*fn)(void));
	void (*start)(unsigned int connection, __u64 delay_ns);
	void (*run)(void);
};

extern const struct loop loop_libevent, loop_libuv;

void server_timeout(unsigned int connection);
bool server_done(void);
void fail(const char *what) __attribute__((noreturn));

#endif /* SERVERS_H */
