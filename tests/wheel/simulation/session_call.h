/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls on /dev/twheel that the tasks of a seed make
 */
#ifndef _SESSION_CALL_H
#define _SESSION_CALL_H

#include "user_space.h"

struct oracle_session;

/* A descriptor that all tasks know */
struct user_file {
	struct file *file;		/* the file, or NULL */
	struct oracle_session *os;	/* the record of its session */
	struct user_mapping map;	/* its words */
};

extern bool user_limits;	/* there are limits of timers that can be reached */

/* A result that is documented, or the seed has failed. */
void call_check(const char *what, long ret, long most, const int *errors);
#define CALL_CHECK(what, ret, most, ...) \
	call_check(what, ret, most, (const int []){ __VA_ARGS__, 0 })

void call_setup(struct user_file *f, bool first);
void call_start(struct user_file *f);
void call_map(struct user_file *f, const struct user_file *mine);
void call_any(struct user_file *f);
void call_empty(struct user_file *f);

#endif /* _SESSION_CALL_H */
