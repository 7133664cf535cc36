/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/miscdevice.h for the simulation
 */
#ifndef _SIM_LINUX_MISCDEVICE_H
#define _SIM_LINUX_MISCDEVICE_H

#include <linux/fs.h>

#define MISC_DYNAMIC_MINOR	255

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	unsigned short mode;
};

int misc_register(struct miscdevice *misc);
void misc_deregister(struct miscdevice *misc);

#endif /* _SIM_LINUX_MISCDEVICE_H */
