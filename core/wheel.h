/* SPDX-License-Identifier: GPL-2.0 */
/* Wheels, as the module and /proc/twheel see them */
#ifndef _TWHEEL_WHEEL_H
#define _TWHEEL_WHEEL_H

#include "base.h"

extern struct twheel_base twheel_wheel_unbound;

int twheel_wheel_init(u64 default_tick_ns);
void twheel_wheel_exit(void);
int twheel_wheel_create_default(const struct twheel_config *config);
int twheel_wheel_scheme_by_name(const char *name);
int twheel_wheel_mode_by_name(const char *name);
const char *twheel_wheel_mode_name(enum twheel_mode tick_mode);
struct twheel *twheel_wheel_find(unsigned long *number);
unsigned int twheel_wheel_count(void);
void twheel_wheel_request_slots(struct twheel *wheel, unsigned int cpu);

#endif /* _TWHEEL_WHEEL_H */
