/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the kernel calls at its own tracepoints
 *
 * Few tracepoints are exported to modules, but all can be found by their names.
 */
#ifndef BENCH_TRACEPOINTS_H
#define BENCH_TRACEPOINTS_H

#include <linux/string.h>
#include <linux/tracepoint.h>

/**
 * struct bench_tracepoint - a function to call at a tracepoint
 * @name: name of the tracepoint
 * @fn: takes NULL and then the tracepoint's arguments
 * @tracepoint: the tracepoint while @fn is registered, else NULL
 */
struct bench_tracepoint {
	const char *name;
	void *fn;
	struct tracepoint *tracepoint;
};

static inline void bench_tracepoint_find(struct tracepoint *tracepoint, void *data)
{
	struct bench_tracepoint *at = data;

	if (!strcmp(tracepoint->name, at->name))
		at->tracepoint = tracepoint;
}

static inline void bench_tracepoints_remove(struct bench_tracepoint *at, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		if (!at[i].tracepoint)
			continue;
		tracepoint_probe_unregister(at[i].tracepoint, at[i].fn, NULL);
		at[i].tracepoint = NULL;
	}
	tracepoint_synchronize_unregister();
}

/*
 * Register all functions, or none if one fails. Sleeps. Returns 0, -ENOENT, or another error of
 * the kernel.
 */
static inline int bench_tracepoints_insert(struct bench_tracepoint *at, u32 nr)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < nr && !ret; i++) {
		for_each_kernel_tracepoint(bench_tracepoint_find, &at[i]);
		ret = !at[i].tracepoint ? -ENOENT :
			tracepoint_probe_register(at[i].tracepoint, at[i].fn, NULL);
		if (ret)
			at[i].tracepoint = NULL;
	}
	if (ret)
		bench_tracepoints_remove(at, nr);
	return ret;
}

#endif /* BENCH_TRACEPOINTS_H */
