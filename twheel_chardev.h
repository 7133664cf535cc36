/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* /dev/twheel and /proc/twheel, as the module makes and removes them */
#ifndef _TWHEEL_CHARDEV_H
#define _TWHEEL_CHARDEV_H

/*
 * Features of sessions of the kernel. Sessions in the process define their own.
 * do_info() adds TWHEEL_FEATURE_SHARED to both if words are coherent.
 */
#define TWHEEL_HOST_FEATURES	TWHEEL_FEATURE_NOWAIT

int twheel_chardev_init(void);
void twheel_chardev_exit(void);
int twheel_proc_init(void);
void twheel_proc_exit(void);

#endif /* _TWHEEL_CHARDEV_H */
