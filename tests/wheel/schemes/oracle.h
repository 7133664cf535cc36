/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requirements of the promises, in the plainest form
 */
#ifndef _TWHEEL_TEST_ORACLE_H
#define _TWHEEL_TEST_ORACLE_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct twheel_oracle_entry - what the oracle knows of a node
 * @link: in the oracle's list, sorted by @tick; empty if not pending
 * @waiting: in the oracle's list of nodes that the wheel may still move
 * @expires: the tick that was asked for
 * @tick: the tick at which the node has to come out
 * @earliest: an earlier tick at which it may come out too
 * @old_tick: the tick before a refresh, by whose end the wheel has moved it
 * @from: first start number that the node may be ordered by
 * @to: last start number that the node may be ordered by
 */
struct twheel_oracle_entry {
	struct list_head link;
	struct list_head waiting;
	u64 expires;
	u64 tick;
	u64 earliest;
	u64 old_tick;
	u64 from;
	u64 to;
};

/**
 * struct twheel_oracle - a list sorted by tick
 * @entries: all pending nodes
 * @waiting: pending nodes that were refreshed and may not have moved yet
 * @clock: the last tick whose processing has begun
 * @done: the tick at @clock is finished
 * @pending: number of entries
 * @starts: starts and restarts so far, which number each of them
 * @order: the lowest start number that the tick's next node may have
 * @error: the first failure, in words, or NULL
 */
struct twheel_oracle {
	struct list_head entries;
	struct list_head waiting;
	u64 clock;
	bool done;
	u64 pending;
	u64 starts;
	u64 order;
	const char *error;
};

void twheel_oracle_init(struct twheel_oracle *o, u64 clock);
void twheel_oracle_entry_init(struct twheel_oracle_entry *e);
bool twheel_oracle_pending(const struct twheel_oracle_entry *e);
void twheel_oracle_start(struct twheel_oracle *o,
			 struct twheel_oracle_entry *e, u64 expires);
void twheel_oracle_restart(struct twheel_oracle *o,
			   struct twheel_oracle_entry *e, u64 expires);
void twheel_oracle_stop(struct twheel_oracle *o,
			struct twheel_oracle_entry *e);
void twheel_oracle_popped(struct twheel_oracle *o,
			  struct twheel_oracle_entry *e, u64 clock);
void twheel_oracle_paused(struct twheel_oracle *o, u64 clock);
void twheel_oracle_finished(struct twheel_oracle *o, u64 clock);
u64 twheel_oracle_first(const struct twheel_oracle *o);

#endif /* _TWHEEL_TEST_ORACLE_H */
