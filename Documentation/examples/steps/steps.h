/* SPDX-License-Identifier: GPL-2.0 */
/* The timeouts of server.c, which each step of tutorial.rst implements. */
#ifndef STEPS_H
#define STEPS_H

#include <stdint.h>

/* Limit of descriptors, which identify connections. */
#define MAX_CONNECTIONS	1024

extern uint64_t timeout_ns;

void timeouts_open(void);
/* Returns a descriptor that is readable when a connection is idle. */
int timeouts_fd(void);
void opened(int connection);
void heard_from(int connection);
/* The connection is closed: connection_idle() must not be called for it. */
void closed(int connection);
/* Call connection_idle() for all idle connections. */
void collect(void);
/* The server is about to wait. */
void before_waiting(void);

void connection_idle(int connection);
/* End the program if @ret, a result of libtwheel, is an error. */
void must(int ret, const char *what);

#endif
