/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: start, stop, expire, word, cascade, tick
 *
 * Wheels are numbered as in /proc/twheel. A tick is a number on its wheel: tick
 * n is at n * tick_ns. Times are ns.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM twheel

#if !defined(_TWHEEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TWHEEL_TRACE_H

#include <linux/tracepoint.h>

struct twheel_base;
struct twheel_timer;

TRACE_EVENT(twheel_start,
	TP_PROTO(const struct twheel_base *base,
		 const struct twheel_timer *timer, bool restart),
	TP_ARGS(base, timer, restart),
	TP_STRUCT__entry(
		__field(const void *, timer)
		__field(const void *, fn)
		__field(u64, clock)
		__field(u64, expires)
		__field(u32, wheel)
		__field(u32, tick_ns)
		__field(unsigned int, cpu)
		__field(bool, restart)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->fn = twheel_callback_of(timer);
		__entry->clock = base->scheme.clock;
		__entry->expires = timer->node.expires;
		__entry->wheel = base->wheel->number;
		__entry->tick_ns = base->tick_ns;
		__entry->cpu = base->cpu;
		__entry->restart = restart;
	),
	TP_printk("timer=%p fn=%ps wheel=%u base=%u tick_ns=%u clock=%llu expires=%llu restart=%d",
		  __entry->timer, __entry->fn, __entry->wheel, __entry->cpu,
		  __entry->tick_ns, __entry->clock, __entry->expires,
		  __entry->restart)
);

DECLARE_EVENT_CLASS(twheel_timer,
	TP_PROTO(const struct twheel_base *base,
		 const struct twheel_timer *timer),
	TP_ARGS(base, timer),
	TP_STRUCT__entry(
		__field(const void *, timer)
		__field(const void *, fn)
		__field(u64, clock)
		__field(u64, expires)
		__field(u32, wheel)
		__field(u32, tick_ns)
		__field(unsigned int, cpu)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->fn = twheel_callback_of(timer);
		__entry->clock = base->scheme.clock;
		__entry->expires = timer->node.expires;
		__entry->wheel = base->wheel->number;
		__entry->tick_ns = base->tick_ns;
		__entry->cpu = base->cpu;
	),
	TP_printk("timer=%p fn=%ps wheel=%u base=%u tick_ns=%u clock=%llu expires=%llu",
		  __entry->timer, __entry->fn, __entry->wheel, __entry->cpu,
		  __entry->tick_ns, __entry->clock, __entry->expires)
);

DEFINE_EVENT(twheel_timer, twheel_stop,
	TP_PROTO(const struct twheel_base *base,
		 const struct twheel_timer *timer),
	TP_ARGS(base, timer)
);

DEFINE_EVENT(twheel_timer, twheel_expire,
	TP_PROTO(const struct twheel_base *base,
		 const struct twheel_timer *timer),
	TP_ARGS(base, timer)
);

TRACE_EVENT(twheel_word,
	TP_PROTO(const struct twheel_timer *timer, u32 session, u64 id,
		 u64 word),
	TP_ARGS(timer, session, id, word),
	TP_STRUCT__entry(
		__field(const void *, timer)
		__field(u64, id)
		__field(u64, word)
		__field(u32, session)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->id = id;
		__entry->word = word;
		__entry->session = session;
	),
	TP_printk("timer=%p session=%u id=%llu word=%llu", __entry->timer,
		  __entry->session, __entry->id, __entry->word)
);

TRACE_EVENT(twheel_cascade,
	TP_PROTO(const struct twheel_base *base, u64 moved),
	TP_ARGS(base, moved),
	TP_STRUCT__entry(
		__field(u64, clock)
		__field(u64, moved)
		__field(u32, wheel)
		__field(unsigned int, cpu)
	),
	TP_fast_assign(
		__entry->clock = base->scheme.clock;
		__entry->moved = moved;
		__entry->wheel = base->wheel->number;
		__entry->cpu = base->cpu;
	),
	TP_printk("wheel=%u base=%u clock=%llu moved=%llu", __entry->wheel,
		  __entry->cpu, __entry->clock, __entry->moved)
);

TRACE_EVENT(twheel_tick,
	TP_PROTO(const struct twheel_base *base, u64 expired, u64 length_ns),
	TP_ARGS(base, expired, length_ns),
	TP_STRUCT__entry(
		__field(u64, clock)
		__field(u64, expired)
		__field(u64, length_ns)
		__field(u64, pending)
		__field(u32, wheel)
		__field(unsigned int, cpu)
	),
	TP_fast_assign(
		__entry->clock = base->scheme.clock;
		__entry->expired = expired;
		__entry->length_ns = length_ns;
		__entry->pending = base->scheme.pending;
		__entry->wheel = base->wheel->number;
		__entry->cpu = base->cpu;
	),
	TP_printk("wheel=%u base=%u clock=%llu expired=%llu pending=%llu length_ns=%llu",
		  __entry->wheel, __entry->cpu, __entry->clock,
		  __entry->expired, __entry->pending, __entry->length_ns)
);

#endif /* _TWHEEL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
