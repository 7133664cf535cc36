/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debugfs, as the module makes and removes it
 */
#ifndef _TWHEEL_DEBUGFS_H
#define _TWHEEL_DEBUGFS_H

void twheel_debugfs_init(void);
void twheel_debugfs_exit(void);

#endif /* _TWHEEL_DEBUGFS_H */
