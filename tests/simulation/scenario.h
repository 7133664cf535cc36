/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens in a seed
 */
#ifndef _SCENARIO_H
#define _SCENARIO_H

#include <linux/types.h>

u64 scenario_run(void);
void sim_reset_wheel(void);
void sim_reset_share(void);

#endif /* _SCENARIO_H */
