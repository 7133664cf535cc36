/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/twheel, as the module makes and removes it
 */
#ifndef _TWHEEL_PROC_H
#define _TWHEEL_PROC_H

int twheel_proc_init(void);
void twheel_proc_exit(void);

#endif /* _TWHEEL_PROC_H */
