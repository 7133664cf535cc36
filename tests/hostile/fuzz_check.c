// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of what must be true after any call
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/*
 * user_data holds a checksum and the time at which the timer is due. The time
 * is in units of 2^DUE_SHIFT ns, so that it does not wrap while the machine is
 * up.
 */
#define DUE_SHIFT	10
#define DUE_BITS	40
#define DUE_MASK	((1ULL << DUE_BITS) - 1)
#define SUM_BITS	24
#define SUM_MASK	((1ULL << SUM_BITS) - 1)

/* Record the failure, if it is the first one, and end this process. */
void fuzz_fail(struct fuzz_shared *shared, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!__atomic_exchange_n(&shared->failed, 1, __ATOMIC_ACQ_REL))
		vsnprintf(shared->text, sizeof(shared->text), fmt, args);
	va_end(args);
	if (shared->in_process) {
		fprintf(stderr, "%s\n", shared->text);
		abort();
	}
	_exit(1);
}

bool fuzz_is_one_of(int value, const int *values, size_t nr)
{
	while (nr--)
		if (values[nr] == value)
			return true;
	return false;
}

/*
 * Record that @id was started. Must be called before the start, because an event may be read
 * before the start returns.
 */
void fuzz_mark_started(struct fuzz_shared *shared, __u64 id)
{
	if (id < IDS_MAX)
		__atomic_fetch_or(&shared->started[id / 8], 1 << id % 8, __ATOMIC_RELAXED);
}

static bool was_started(struct fuzz_shared *shared, __u64 id)
{
	if (id & TWHEEL_ID_KERNEL)
		return true;
	return id < IDS_MAX && shared->started[id / 8] & 1 << id % 8;
}

/*
 * Returns the checksum for user_data. It is made before the kernel chooses an id, so all ids that
 * the kernel chooses count as TWHEEL_ID_ANY.
 */
static __u64 sum_of(__u64 id, __u64 due)
{
	__u64 sum = id & TWHEEL_ID_KERNEL ? TWHEEL_ID_ANY : id;

	sum = (sum ^ due * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	return (sum ^ sum >> 32) & SUM_MASK;
}

__u64 fuzz_user_data(__u64 id, __u64 expires_ns, __u32 flags)
{
	__u64 due = expires_ns;

	if (!(flags & TWHEEL_START_ABS))
		due += now_ns();
	due = due >> DUE_SHIFT & DUE_MASK;
	return due << SUM_BITS | sum_of(id, due);
}

/* Check @user_data. It is 0 if the structure of the start was too short to contain it. */
void check_user_data(struct fuzz_shared *shared, const char *what, __u64 id, __u64 user_data)
{
	if (!was_started(shared, id))
		fuzz_fail(shared, "%s: id %#llx was never started", what, id);
	if (user_data && sum_of(id, user_data >> SUM_BITS) != (user_data & SUM_MASK))
		fuzz_fail(shared, "%s: id %#llx has user_data %#llx", what, id, user_data);
}

/* Compare times less than six days apart. @due is as in user_data. */
static bool is_before(__u64 time, __u64 due)
{
	return (((time >> DUE_SHIFT) - due) & DUE_MASK) > DUE_MASK / 2;
}

/*
 * Check an event. The session may use either clock. The limit is CLOCK_BOOTTIME, which is never
 * behind the other one here.
 */
void check_event(struct fuzz_shared *shared, const struct twheel_event *event)
{
	check_user_data(shared, "event", event->id, event->user_data);
	if (event->expired_ns < event->deadline_ns ||
	    event->expired_ns > clock_ns(CLOCK_BOOTTIME))
		fuzz_fail(shared, "event: deadline %llu, expired %llu", event->deadline_ns,
			  event->expired_ns);
	if (event->user_data && is_before(event->deadline_ns, event->user_data >> SUM_BITS))
		fuzz_fail(shared, "event: deadline %llu, due %llu", event->deadline_ns,
			  event->user_data >> SUM_BITS << DUE_SHIFT);
	if (event->flags & ~TWHEEL_EVENT_PERIODIC || event->reserved || event->overruns >> 63)
		fuzz_fail(shared, "event: flags %#x, reserved %#x, overruns %llu",
			  event->flags, event->reserved, event->overruns);
	__atomic_fetch_add(&shared->events, 1, __ATOMIC_RELAXED);
}

void check_stats(struct fuzz_shared *shared, const struct twheel_stats *s)
{
	__u64 read = 0;
	int i;

	if (s->started + s->rearmed != s->stopped + s->expired + s->pending)
		fuzz_fail(shared,
			  "stats: started %llu + rearmed %llu != stopped %llu + expired %llu + pending %llu",
			  s->started, s->rearmed, s->stopped, s->expired, s->pending);
	if (s->expired != s->delivered + s->replaced + s->withdrawn + s->unread)
		fuzz_fail(shared,
			  "stats: expired %llu != delivered %llu + replaced %llu + withdrawn %llu + unread %llu",
			  s->expired, s->delivered, s->replaced, s->withdrawn, s->unread);
	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		read += s->lateness[i];
	if (read != s->delivered)
		fuzz_fail(shared, "stats: delivered %llu, with a lateness %llu", s->delivered,
			  read);
	if (s->stopped_by_store > s->stopped + s->withdrawn)
		fuzz_fail(shared, "stats: stopped %llu, withdrawn %llu, by a store %llu",
			  s->stopped, s->withdrawn, s->stopped_by_store);
	if (s->wakeups > s->expired)
		fuzz_fail(shared, "stats: wakeups %llu, expired %llu", s->wakeups, s->expired);
}

void check_info(struct fuzz_shared *shared, const struct twheel_info *info)
{
	if (info->abi_version != TWHEEL_ABI_VERSION || info->scheme > 2 ||
	    info->mode > 1 || info->tick_ns < 50 * US ||
	    info->event_size != TWHEEL_EVENT_SIZE_V1 ||
	    info->tick_ns > SECOND || info->max_timers > IDS_MAX ||
	    info->max_interval_ns >> 63 || info->slots > 1 << 20 ||
	    info->shared_ids > IDS_MAX ||
	    (info->clock != TWHEEL_CLOCK_MONOTONIC && info->clock != TWHEEL_CLOCK_BOOTTIME) ||
	    info->reserved || info->reserved2 || info->reserved3)
		fuzz_fail(shared, "info: version %u, scheme %u, mode %u, event size %u, tick %llu",
			  info->abi_version, info->scheme, info->mode,
			  info->event_size, info->tick_ns);
}

void check_entry(struct fuzz_shared *shared, const char *what, const struct twheel_entry *entry)
{
	check_user_data(shared, what, entry->id, entry->user_data);
	if ((entry->state != TWHEEL_STATE_PENDING &&
	     entry->state != TWHEEL_STATE_EXPIRED) || entry->reserved ||
	    entry->deadline_ns >> 63 || entry->remaining_ns >> 63 ||
	    entry->period_ns >> 63 ||
	    (entry->state == TWHEEL_STATE_EXPIRED && entry->remaining_ns))
		fuzz_fail(shared, "%s: state %u, reserved %u, deadline %llu, remaining %llu, period %llu",
			  what, entry->state, entry->reserved, entry->deadline_ns,
			  entry->remaining_ns, entry->period_ns);
}

/* Check that the kernel wrote zeroes to the part of a structure that it does not know. */
void check_zeroes(struct fuzz_shared *shared, const char *data, size_t from, size_t size)
{
	size_t i;

	for (i = from; i < size; i++)
		if (data[i])
			fuzz_fail(shared, "structure: byte %zu of %zu is %#x", i, size,
				  data[i] & 0xff);
}

/*
 * Check that memory still contains the garbage. The kernel may write zeroes, too, to test for a
 * fault.
 */
void check_untouched(struct fuzz_shared *shared, const char *what,
		     const void *data, size_t size)
{
	const unsigned char *bytes = data;
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i] != GARBAGE && bytes[i])
			fuzz_fail(shared, "%s: byte %zu of %zu behind its end is %#x",
				  what, i, size, bytes[i]);
}
