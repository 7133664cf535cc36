/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libtwheel in one file, made by tools/libtwheel/amalgamate: timers by the million, with
 * or without the module. See twheel.h for its use.
 *
 * A unity build may include this file, if _GNU_SOURCE is defined before the first header:
 * only the names of twheel.h remain at its end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>
