/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/debugobjects.h for the simulation: not configured
 */
#ifndef _SIM_LINUX_DEBUGOBJECTS_H
#define _SIM_LINUX_DEBUGOBJECTS_H

struct debug_obj_descr {
	const char *name;
};

#define debug_object_init(addr, descr)		((void)(descr))
#define debug_object_init_on_stack(addr, descr)	((void)(descr))
#define debug_object_activate(addr, descr)	((void)(descr))
#define debug_object_deactivate(addr, descr)	((void)(descr))
#define debug_object_assert_init(addr, descr)	((void)(descr))
#define debug_object_free(addr, descr)		((void)(descr))

#endif /* _SIM_LINUX_DEBUGOBJECTS_H */
