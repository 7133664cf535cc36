// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory is in use, in three figures
 *
 *   slabinfo	all caches of /proc/slabinfo
 *   meminfo	memory of the kernel as a whole: all that is not free, less
 *		that of programs and the page cache
 *   process	the resident memory of this process
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static FILE *open_proc(const char *name)
{
	FILE *file = fopen(name, "r");

	if (!file)
		fail(name);
	return file;
}

static double read_slabinfo(void)
{
	FILE *file = open_proc("/proc/slabinfo");
	unsigned long pages, slabs;
	double bytes = 0;
	char line[512];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*u %*u %*u %*u %lu : tunables %*u %*u %*u : slabdata %*u %lu",
			   &pages, &slabs) == 2)
			bytes += (double)pages * slabs * sysconf(_SC_PAGESIZE);
	fclose(file);
	return bytes;
}

static double read_meminfo(void)
{
	static const char * const not_ours[] = {
		"MemFree:", "AnonPages:", "PageTables:", "SecPageTables:",
		"Buffers:", "Cached:",
	};
	FILE *file = open_proc("/proc/meminfo");
	unsigned long kib, total = 0;
	double used = 0;
	char name[64];
	unsigned int i;

	while (fscanf(file, "%63s %lu%*[^\n]", name, &kib) == 2) {
		if (!strcmp(name, "MemTotal:"))
			total = kib;
		for (i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
			if (!strcmp(name, not_ours[i]))
				used -= kib;
	}
	fclose(file);
	return (used + total) * 1024;
}

static double read_process(void)
{
	FILE *file = open_proc("/proc/self/statm");
	unsigned long resident = 0;

	if (fscanf(file, "%*u %lu", &resident) != 1)
		fail("/proc/self/statm");
	fclose(file);
	return (double)resident * sysconf(_SC_PAGESIZE);
}

struct memory memory_read(void)
{
	return (struct memory) {
		.slabinfo	= read_slabinfo(),
		.meminfo	= read_meminfo(),
		.process	= read_process(),
	};
}
