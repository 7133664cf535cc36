/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For adapters that are modules
 */
#ifndef COMPARED_METER_H
#define COMPARED_METER_H

/* @word is "begin", "full" or "end". May sleep. */
int meter_mark(const char *word);

#endif /* COMPARED_METER_H */
