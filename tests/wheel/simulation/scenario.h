/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a seed
 */
#ifndef _SCENARIO_H
#define _SCENARIO_H

#include <linux/types.h>

/**
 * struct scenario - how far a seed is
 * @ready: the first task has made what all use
 * @busy: tasks that have not come to their end
 * @ops_left: operations that the tasks have still to do
 * @ops_done: those that they have done
 */
struct scenario {
	bool ready;
	int busy;
	int ops_left;
	u64 ops_done;
};

extern struct scenario scenario;

/*
 * Functions that each program has of its own, in scenario.c or
 * session_scenario.c. First the choices are made that hold for all of a seed.
 * The first task begins and ends the seed, and all tasks do operations.
 */
void scenario_choose(void);
void scenario_begin(void);
void scenario_op(unsigned int user);
void scenario_end(void);

/* Between two operations of a task. @far: the longest pause, in ticks. */
void scenario_pause(u64 tick_ns, u32 far);

void sim_reset_wheel(void);
void sim_reset_throttle(void);

#endif /* _SCENARIO_H */
