/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libtwheel share
 */
#ifndef UTIL_H
#define UTIL_H

#include <twheel.h>

#include "harness.h"
#include "session.h"

/* Puts something else in the place of the library's next ioctls of this command. */
extern unsigned long wrap_command;
extern int (*wrap_ioctl)(int fd, unsigned long command, void *argument);
int __real_ioctl(int fd, unsigned long command, ...);

struct twheel *open_default(void);
struct twheel *open_words(__u32 ids);
unsigned int open_files(void);
void expect_unread_of(struct twheel *t, __u64 count);
int state_of(struct twheel *t, __u64 id);
__u64 deadline_of(struct twheel *t, __u64 id);

#endif /* UTIL_H */
