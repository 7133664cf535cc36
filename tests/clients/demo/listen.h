/* SPDX-License-Identifier: GPL-2.0 */
/*
 * listen.h - what the two servers have in common: they listen, and end with their
 * standard input
 */
#ifndef LISTEN_H
#define LISTEN_H

/* Descriptors, and so connections. */
#define FILES_MAX	(1U << 18)

unsigned int raise_limit(void);
int open_listener(int port);
void watch(int epfd, int fd);
void serve_until_the_end(int epfd, const unsigned int *nr_open, void (*serve)(int fd));

#endif /* LISTEN_H */
