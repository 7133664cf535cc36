// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that ask a session for its timers, its counters and its configuration
 */
#include <errno.h>
#include <stdint.h>

#include "call.h"

void call_get(struct session *s, const struct step *step)
{
	struct oracle_call_of call = call_begin(s);
	struct oracle_id *own = call_own_id(s, step);
	struct twheel_entry entry = {}, *at;
	long ret;

	if (!own || !own->start)
		return;
	entry.id = own->id;
	at = call_put(step, &entry, sizeof(entry));
	ret = twheel_command(s->t, TWHEEL_IOC_GET, at);
	call_take(step, &entry, at, sizeof(entry));
	life_lock();
	life_note("GET(s%d, %#llx) = %ld", call_nr_of(s), entry.id, ret);
	CHECK("GET", ret, 0, EINVAL, ENOENT, EFAULT);
	if (ret == -EINVAL && !call_is_invalid_id(&s->os, own->id))
		oracle_fail("GET finds an id invalid");
	if (!call_is_fault(step, ret))
		oracle_got(&s->os, own, &entry, &call, ret);
	life_unlock();
}

static long walk(struct session *s, const struct step *step, u64 *cursor, bool drains,
		 u32 *seen, const struct oracle_call_of *call)
{
	struct twheel_entry entries[ROOM] = {}, *at;
	struct twheel_list list = {
		.cursor = *cursor, .count = step->count, .entry_size = sizeof(entries[0]),
		.flags = drains ? TWHEEL_LIST_DRAIN : 0,
	};
	size_t size = step->count * sizeof(entries[0]);
	unsigned int i, k;
	long ret;

	at = call_put(step, entries, size);
	list.entries = (uintptr_t)at;
	ret = twheel_command(s->t, TWHEEL_IOC_LIST, &list);
	call_take(step, entries, at, size);
	life_lock();
	life_note("LIST(s%d, %s%u) = %ld", call_nr_of(s),
		  drains ? "DRAIN, " : "", step->count, ret);
	CHECK("LIST", ret, step->count, EFAULT);
	call_is_fault(step, ret);
	for (i = 0; i < max(ret, 0L); i++) {
		oracle_entry(&s->os, &entries[i], call, drains);
		for (k = 0; k < ORACLE_OWN; k++) {
			const struct oracle_start *t = s->os.ids[self.nr][k].start;

			seen[k] += t && entries[i].user_data == oracle_data(t);
		}
	}
	life_unlock();
	*cursor = list.cursor;
	return ret;
}

void call_list(struct session *s, const struct step *step, bool drains)
{
	struct oracle_call_of call;
	u32 seen[ORACLE_OWN] = {};
	unsigned int k;
	u64 cursor = 0;
	long ret;

	life_lock();
	s->os.drains += drains;
	life_unlock();
	call = call_begin(s);
	do {
		ret = walk(s, step, &cursor, drains, seen, &call);
	} while (ret > 0);
	life_lock();
	for (k = 0; k < ORACLE_OWN && !drains; k++) {
		const struct oracle_start *t = s->os.ids[self.nr][k].start;

		if (seen[k] > 1)
			oracle_fail("a timer is listed twice");
		if (!ret && !seen[k] && t && oracle_surely_pending(t, &call))
			oracle_fail("start %u: is pending, and not listed", t->nr);
	}
	if (drains) {
		s->os.drains--;
		s->os.drained_at = oracle_calls(&s->os).began;
	}
	life_unlock();
}

void call_stats(struct session *s, const struct step *step)
{
	struct twheel_stats stats, *at = call_put(step, &stats, sizeof(stats));
	long ret = twheel_command(s->t, TWHEEL_IOC_STATS, at);

	call_take(step, &stats, at, sizeof(stats));
	life_lock();
	life_note("STATS(s%d) = %ld", call_nr_of(s), ret);
	CHECK("STATS", ret, 0, EFAULT);
	if (!call_is_fault(step, ret)) {
		oracle_stats(&s->os, &stats);
		if ((IS_ALONE || IS_EXACT) && !s->os.fuzzy && !s->os.uncounted)
			oracle_check_counters(&s->os, &stats);
	}
	life_unlock();
}

void call_info(struct session *s, const struct step *step)
{
	struct twheel_info info, *at = call_put(step, &info, sizeof(info));
	long ret = twheel_command(s->t, TWHEEL_IOC_INFO, at);

	call_take(step, &info, at, sizeof(info));
	CHECK("INFO", ret, 0, EFAULT);
	if (!call_is_fault(step, ret) &&
	    (info.abi_version != TWHEEL_ABI_VERSION || info.max_timers != s->os.max_timers ||
	     info.shared_ids != s->os.shared_ids || info.tick_ns != s->tick_ns ||
	     info.event_size != TWHEEL_EVENT_SIZE_V1))
		oracle_fail("INFO says something else than SETUP");
}

void call_setup(struct session *s)
{
	struct twheel_setup setup = { .max_timers = 7 };
	bool begun;
	long ret;

	life_lock();
	begun = s->os.counted.started;
	life_unlock();
	if (!begun)
		return;
	ret = twheel_command(s->t, TWHEEL_IOC_SETUP, &setup);
	if (ret != -EBUSY)
		oracle_fail("SETUP of a session that is in use returns %ld", ret);
}
