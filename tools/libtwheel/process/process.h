/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A session in the process: what libtwheel has in place of /dev/twheel
 */
#ifndef TWHEEL_PROCESS_H
#define TWHEEL_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct twheel_process;
struct twheel_session;
struct twheel_start;

static int twheel_process_open(struct twheel_process **process, bool alone,
			       clockid_t clock);
static void twheel_process_close(struct twheel_process *process, bool copied);
static int twheel_process_command(struct twheel_process *process,
				  unsigned long command, void *argument);
static inline bool twheel_process_start_shortly(struct twheel_session *alone,
						struct twheel_start start, int *result);
static inline bool twheel_process_stop_shortly(struct twheel_session *alone, __u64 id);
static struct twheel_session *twheel_process_alone(const struct twheel_process *process);
static inline int twheel_process_start(struct twheel_process *process,
				       struct twheel_start start, __u64 *id);
static inline int twheel_process_stop(struct twheel_process *process, __u64 id,
				      __u32 flags);
static ssize_t twheel_process_read(struct twheel_process *process, void *to, size_t size);
static int twheel_process_fd(const struct twheel_process *process);
static int twheel_process_error(const struct twheel_process *process);
static __u64 *twheel_process_words(const struct twheel_process *process);

#endif /* TWHEEL_PROCESS_H */
