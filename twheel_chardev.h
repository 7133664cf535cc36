/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* /dev/twheel and /proc/twheel, as the module makes and removes them */
#ifndef _TWHEEL_CHARDEV_H
#define _TWHEEL_CHARDEV_H

/*
 * Features of the module's sessions. Sessions in a process have other features,
 * see tools/libtwheel/process/kernel.h. TWHEEL_FEATURE_SHARED is a feature of
 * both if twheel_words_are_coherent().
 */
#define TWHEEL_HOST_FEATURES	TWHEEL_FEATURE_NOWAIT

int twheel_chardev_init(void);
void twheel_chardev_exit(void);
int twheel_proc_init(void);
void twheel_proc_exit(void);

#endif /* _TWHEEL_CHARDEV_H */
