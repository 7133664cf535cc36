/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/seq_file.h for the simulation: nothing is shown
 */
#ifndef _SIM_LINUX_SEQ_FILE_H
#define _SIM_LINUX_SEQ_FILE_H

struct seq_file;

static inline __attribute__((__format__(printf, 2, 3)))
void seq_printf(struct seq_file *seq, const char *fmt, ...)
{
}

#endif /* _SIM_LINUX_SEQ_FILE_H */
