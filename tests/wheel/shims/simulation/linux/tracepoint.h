/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/tracepoint.h for the simulation: the tracepoint of an expiry tells the oracle
 */
#ifndef _SIM_LINUX_TRACEPOINT_H
#define _SIM_LINUX_TRACEPOINT_H

#include <linux/compiler.h>

struct twheel_timer;

void oracle_expires(const struct twheel_timer *timer);

/* The tracepoint that an expiry is judged by. The others trace nothing. */
#define sim_trace_twheel_expire(base, timer)	oracle_expires(timer)
#define sim_trace_twheel_start(...)
#define sim_trace_twheel_stop(...)
#define sim_trace_twheel_word(...)
#define sim_trace_twheel_cascade(...)
#define sim_trace_twheel_tick(...)

#define TP_PROTO(...)	__VA_ARGS__
#define TP_ARGS(...)	(__VA_ARGS__)
#define TRACE_EVENT(name, proto, args, ...)				\
	static inline __maybe_unused void trace_##name(proto)		\
	{								\
		sim_trace_##name args;					\
	}
#define DECLARE_EVENT_CLASS(name, ...)	struct sim_class_##name
#define DEFINE_EVENT(class, name, proto, args) \
	TRACE_EVENT(name, TP_PROTO(proto), args)

#endif /* _SIM_LINUX_TRACEPOINT_H */
