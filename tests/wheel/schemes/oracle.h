/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The oracle: what a scheme promises, in the plainest form
 */
#ifndef _TWHEEL_TEST_ORACLE_H
#define _TWHEEL_TEST_ORACLE_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct twheel_oracle_entry - what the oracle knows of a node
 * @link: link in the oracle's list, sorted by @tick; empty if not pending
 * @waiting: link in the oracle's list of refreshed nodes that the wheel has yet to move
 * @expires: requested tick
 * @tick: tick of the expiry
 * @earliest: first tick at which the expiry is right. After a late restart it is before @tick
 * @old_tick: tick before a refresh. The wheel moves the node before this tick is over
 * @from: first start number to order the node by
 * @to: last start number to order the node by
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
 * @waiting: pending nodes, refreshed and perhaps not moved yet
 * @clock: latest begun tick
 * @done: the tick at @clock is finished
 * @pending: number of entries
 * @starts: number of starts and restarts so far, which is the number of the next one
 * @order: lowest start number allowed for the tick's next node
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
