/* SPDX-License-Identifier: GPL-2.0 */
/*
 * memory.h - how much memory is in use, bytes; see memory.c
 */
#ifndef MEMORY_H
#define MEMORY_H

struct memory {
	double slabinfo;
	double meminfo;
	double process;
};

struct memory memory_read(void);

/* The program's way to end when something fails that never does. */
void fail(const char *what) __attribute__((noreturn));

#endif /* MEMORY_H */
