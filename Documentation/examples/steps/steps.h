/* SPDX-License-Identifier: GPL-2.0 */
/* The timeouts of server.c: each step of tutorial.rst has its own functions. */
#ifndef STEPS_H
#define STEPS_H

#include <stdint.h>

/* Connections are named by their descriptors, which are below this. */
#define MAX_CONNECTIONS	1024

extern uint64_t timeout_ns;

void timeouts_open(void);
/* A descriptor that is readable when a connection is idle. */
int timeouts_fd(void);
void opened(int connection);
void heard_from(int connection);
/* Nothing may call connection_idle() after this. */
void closed(int connection);
/* Calls connection_idle() for idle ones. */
void collect(void);
/* The server has nothing more to do now. */
void before_waiting(void);

void connection_idle(int connection);
/* Ends the program if @ret is -errno, as the calls of libtwheel return it. */
void must(int ret, const char *what);

#endif
