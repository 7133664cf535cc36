/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much memory is in use, in bytes (memory.c)
 */
#ifndef MEMORY_H
#define MEMORY_H

struct memory {
	double slabinfo;
	double meminfo;
	double process;
};

struct memory memory_read(void);

/* Defined by the program: ends it when something fails that never should. */
void fail(const char *what) __attribute__((noreturn));

#endif /* MEMORY_H */
