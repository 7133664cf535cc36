/* SPDX-License-Identifier: GPL-2.0 */
/*
 * listen.h - what the two servers have in common: they listen, and end with their
 * standard input
 */
#ifndef LISTEN_H
#define LISTEN_H

#include <stdbool.h>

/* Descriptors, and so connections. */
#define FILES_MAX	(1U << 18)

unsigned int raise_limit(void);
int open_listener(int port);
void watch(int epfd, int fd);
bool input_has_ended(int epfd);

#endif /* LISTEN_H */
