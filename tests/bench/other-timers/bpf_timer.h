/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two parts of the adapter for bpf_timer share
 */
#ifndef OTHER_TIMERS_BPF_TIMER_H
#define OTHER_TIMERS_BPF_TIMER_H

#include <linux/types.h>

#define BPF_REQUESTS	256

/* @op is one of enum trace_op. */
struct bpf_request {
	__u64 deadline_ns;
	__u32 connection;
	__u32 op;
};

#endif /* OTHER_TIMERS_BPF_TIMER_H */
