// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on /dev/twheel: choose the arguments, make the call, and check its result
 *
 * Most arguments are valid, and some are wrong. Their memory may be paged out,
 * or not mapped. Each function tells the oracle what its call did.
 */
#include <linux/err.h>
#include <linux/uaccess.h>

#include "oracle.h"
#include "scenario.h"
#include "session_oracle.h"

#define BATCH		40
#define ENTRIES		12
#define EVENTS		12
#define ANY_IDS		4	/* ids that all tasks use */
#define ARRAY		(2 * PAGE_SIZE)

bool user_limits;

static unsigned int self(void)
{
	return sim_task->nr - SIM_FIRST_USER;
}

static s64 ahead(void)
{
	return *user_offset(user_current());
}

/*
 * Returns whether the file of a session was not opened for writing. Checks that a call that changes
 * timers is then refused.
 */
static bool is_refused(const struct oracle_session *os, const char *what,
		       long ret)
{
	if (os->changeable)
		return false;
	if (ret != -EBADF)
		sim_fail("%s without FMODE_WRITE: %ld", what, ret);
	return true;
}

static u64 some_period(void)
{
	if (!sim_chance(4))
		return 0;
	return sim_chance(4) ? 1 + sim_below(1000) :
	       1 + sim_below(scenario_ticks(3));
}

/* Memory for arguments and arrays. It may be paged out, or not mapped. */

static void disturb(void *page, bool harmless)
{
	u32 below = sim_below(64);

	if (sim_calm)
		return;
	if (below < 8)
		user_page_set(page, USER_OUT);
	else if (below < 9 && !harmless)
		user_page_set(page, sim_chance(2) ? USER_TRAP : USER_GONE);
}

static void *arguments(size_t size)
{
	size_t offset = sim_chance(4) ? PAGE_SIZE - sim_below(size / 8 + 1) * 8 : 0;
	char *to = user_memory(self(), offset);

	user_pages_back(self());
	memset(to, 0, size);
	disturb(to, false);
	disturb(to + size - 1, false);
	return to;
}

static void *array(size_t size, bool harmless)
{
	size_t offset = ARRAY + (sim_chance(2) ? sim_below(PAGE_SIZE / 8) * 8 : 0);
	char *to = user_memory(self(), offset);
	u32 i;

	if (offset + size > USER_MEMORY)
		to = user_memory(self(), ARRAY);
	for (i = 2; i < USER_PAGES; i++)
		disturb(user_memory(self(), i * PAGE_SIZE), harmless);
	return to;
}

/* Returns whether a call failed with EFAULT. Checks that some of its memory is missing then. */
static bool is_fault(long ret, const void *addr, size_t size)
{
	if (ret == -EFAULT && user_all_come(addr, size))
		sim_fail("EFAULT, and all was there");
	return ret == -EFAULT;
}

void call_check(const char *what, long ret, long most, const int *errors)
{
	if (ret >= 0 && ret <= most)
		return;
	for (; *errors; errors++)
		if (ret == -*errors)
			return;
	sim_fail("%s returns %ld", what, ret);
}

/* Make a call with entries of another size than that of version 1. The call must fail. */
static void try_other_size(struct user_file *f, unsigned int command, void *args, u32 *size)
{
	u32 right = *size;
	long ret;

	if (!sim_chance(24))
		return;
	*size = sim_chance(2) ? right - 8 : right + 8;
	ret = user_ioctl(f->file, command, args);
	if (ret != -EINVAL && ret != -EFAULT && (ret != -EBADF || f->os->changeable))
		sim_fail("entries of %u bytes: %ld", *size, ret);
	*size = right;
}

/* Ids. */

static struct oracle_id *own_id(struct user_file *f)
{
	return &f->os->ids[self()][sim_below(ORACLE_OWN)];
}

static bool is_invalid_id(const struct oracle_session *os, u64 id)
{
	return !(id & TWHEEL_ID_KERNEL) && id >= os->max_timers;
}

static u64 any_id(void)
{
	return 20 + sim_below(ANY_IDS);
}

/* Starting and stopping, with a call or a batch. */

/* A start or a stop */
struct planned {
	struct oracle_start *t;	/* the start, NULL for a stop */
	struct oracle_id *own;	/* its id, or NULL if all tasks use it */
	struct twheel_op in;	/* the arguments, as in a batch */
	bool invalid;		/* the call must fail */
};

static struct planned plan(struct user_file *f, u32 opcode)
{
	struct planned p = { .own = sim_chance(8) ? NULL : own_id(f) };

	p.in.opcode = opcode;
	p.in.id = p.own ? p.own->id : any_id();
	return p;
}

static struct planned plan_stop(struct user_file *f)
{
	struct planned p = plan(f, TWHEEL_OP_STOP);

	p.in.flags = sim_chance(64);
	/* A stop must have no period: the field is reserved. */
	p.in.period_ns = sim_chance(64);
	p.invalid = p.in.flags || p.in.period_ns || is_invalid_id(f->os, p.in.id);
	return p;
}

static bool is_invalid_start(const struct oracle_session *os, const struct twheel_op *in)
{
	return in->flags & ~TWHEEL_START_ABS || in->reserved || in->period_ns > KTIME_MAX ||
	       in->expires_ns > KTIME_MAX || is_invalid_id(os, in->id);
}

static struct planned plan_start(struct user_file *f, bool batch)
{
	struct planned p = plan(f, TWHEEL_OP_START);
	struct twheel_op *in = &p.in;

	in->expires_ns = scenario_delay();
	in->period_ns = some_period();
	in->reserved = sim_chance(64);
	if (sim_chance(4)) {
		in->flags |= TWHEEL_START_ABS;
		in->expires_ns += sim.now + ahead() - sim_below(2000);
		in->expires_ns = min_t(u64, in->expires_ns, KTIME_MAX);
	}
	if (sim_chance(32))
		in->flags |= 2U << sim_below(31);
	if (sim_chance(64))
		in->period_ns = 1ULL << 63;
	if (batch && in->id & TWHEEL_ID_KERNEL) {
		/* The id that the kernel would choose is not known before the batch returns. */
		in->id = any_id();
		in->flags |= 1U << 31;
		p.own = NULL;
	} else if (in->id & TWHEEL_ID_KERNEL && (in->id == TWHEEL_ID_ANY || sim_chance(3))) {
		/*
		 * Let the kernel choose an id. It may choose the old id again, whose timer may
		 * still be pending, so forget that timer's start.
		 */
		in->id = TWHEEL_ID_ANY;
		p.own->id = TWHEEL_ID_ANY;
		p.own->start = NULL;
	}
	p.invalid = is_invalid_start(f->os, in);
	p.t = oracle_new_start(f->os, p.own, in);
	in->user_data = oracle_data(p.t);
	return p;
}

/* Check the result of a planned call. @id: id returned by the kernel. */
static void judge(struct oracle_session *os, const struct planned *p, u64 id, long ret,
		  const struct oracle_call_of *call)
{
	if ((ret == -EINVAL) != p->invalid && ret != -EFAULT)
		sim_fail("a start or stop returns %ld, and is %svalid", ret,
			 p->invalid ? "in" : "");
	if (!p->t) {
		CALL_CHECK("a stop", ret, 1, EINVAL, ENOENT);
		if (!p->invalid)
			oracle_stop_done(os, p->own, call, ret);
		return;
	}
	CALL_CHECK("a start", ret, 2, EINVAL, ENOENT, ENOSPC, ENOMEM, EFAULT);
	if (ret == -ENOSPC && !user_limits && os->max_timers > 64)
		sim_fail("ENOSPC, and there is no limit");
	oracle_start_done(p->t, id, call, ret);
}

void call_start(struct user_file *f)
{
	struct twheel_start *args = arguments(sizeof(*args));
	struct oracle_session *os = f->os;
	struct oracle_call_of call = oracle_calls(os);
	struct planned p = plan_start(f, false);
	long ret;

	*args = (struct twheel_start) {
		.id		= p.in.id,
		.expires_ns	= p.in.expires_ns,
		.period_ns	= p.in.period_ns,
		.user_data	= p.in.user_data,
		.flags		= p.in.flags,
		.reserved	= p.in.reserved,
	};
	sim_note("session %u: start %#llx, in %llu, period %llu, flags %u, data %llx", os->nr,
		 p.in.id, p.in.expires_ns, p.in.period_ns, p.in.flags, p.in.user_data);
	ret = user_ioctl(f->file, TWHEEL_IOC_START, args);
	sim_note("session %u: started %#llx: %ld", os->nr, args->id, ret);
	if (is_refused(os, "a start", ret))
		return;
	is_fault(ret, args, sizeof(*args));
	judge(os, &p, args->id, ret, &call);
}

static void call_stop(struct user_file *f)
{
	struct twheel_stop *args = arguments(sizeof(*args));
	struct oracle_session *os = f->os;
	struct oracle_call_of call = oracle_calls(os);
	struct planned p = plan_stop(f);
	long ret;

	*args = (struct twheel_stop) {
		.id		= p.in.id,
		.flags		= p.in.flags,
		.reserved	= p.in.period_ns,
	};
	sim_note("session %u: stop %#llx, flags %u", os->nr, p.in.id, p.in.flags);
	ret = user_ioctl(f->file, TWHEEL_IOC_STOP, args);
	sim_note("session %u: stopped %#llx: %ld", os->nr, p.in.id, ret);
	if (is_refused(os, "a stop", ret))
		return;
	if (!is_fault(ret, args, sizeof(*args)))
		judge(os, &p, p.in.id, ret, &call);
}

static void call_submit(struct user_file *f)
{
	struct oracle_session *os = f->os;
	u32 i, size = sizeof(struct twheel_op);
	u32 count = 1 + sim_below(sim_chance(4) ? BATCH : 6), failed = 0;
	struct twheel_submit *args = arguments(sizeof(*args));
	char *ops = array(count * size, !sim_chance(16));
	struct planned planned[BATCH];
	struct oracle_call_of call = oracle_calls(os);
	long ret;

	memset(ops, 0, count * size);
	for (i = 0; i < count; i++) {
		planned[i] = sim_chance(3) ? plan_stop(f) : plan_start(f, true);
		if (sim_chance(32)) {
			planned[i].in.opcode = 7;
			planned[i].invalid = true;
		}
		memcpy(ops + i * size, &planned[i].in, sizeof(struct twheel_op));
	}
	*args = (struct twheel_submit) {
		.ops		= (unsigned long)ops,
		.count		= count,
		.op_size	= size,
	};
	try_other_size(f, TWHEEL_IOC_SUBMIT, args, &args->op_size);
	sim_note("session %u: submit %u", os->nr, count);
	ret = user_ioctl(f->file, TWHEEL_IOC_SUBMIT, args);
	sim_note("session %u: submitted %ld, failed %u", os->nr, ret,
		 args->failed);
	if (is_refused(os, "a batch", ret))
		ret = 0;
	else
		CALL_CHECK("SUBMIT", ret, count, EFAULT, ENOMEM);
	oracle_check_memory(&call, ret);
	if (ret == -ENOMEM) {
		ret = 0;
	} else if (ret == -EFAULT) {
		if (user_all_come(args, sizeof(*args)))
			is_fault(ret, ops, count * size);
		os->fuzzy = true;
		ret = 0;
	} else if (os->changeable && ret < count && !user_current()->signal &&
		   sim_allocs_failed == call.failed &&
		   user_all_come(ops, count * size)) {
		sim_fail("SUBMIT ends after %ld", ret);
	}
	for (i = 0; i < count; i++) {
		const struct twheel_op *op = (void *)(ops + i * size);
		const struct planned *p = &planned[i];

		if (i < ret)
			judge(os, p, op->id, op->result, &call);
		else if (p->t)
			oracle_start_done(p->t, p->in.id, &call, -EINVAL);
		failed += i < ret && op->result < 0;
	}
	if (ret > 0 && failed != args->failed && !os->fuzzy)
		sim_fail("%u operations have failed, not %u", failed, args->failed);
}

static void call_get(struct user_file *f)
{
	struct oracle_session *os = f->os;
	struct oracle_id *own = own_id(f);
	struct twheel_entry *entry = arguments(sizeof(*entry));
	struct oracle_call_of call = oracle_calls(os);
	long ret;

	if (!own->start)
		return;
	entry->id = own->id;
	ret = user_ioctl(f->file, TWHEEL_IOC_GET, entry);
	CALL_CHECK("GET", ret, 0, EINVAL, ENOENT, EFAULT);
	if (ret == -EINVAL && own->id < os->max_timers)
		sim_fail("GET finds an id invalid");
	if (!is_fault(ret, entry, sizeof(*entry)))
		oracle_got(os, own, entry, &call, ret);
}

/* Words. */

/* Returns whether a run in progress may have asked for a word of @s before now. */
static bool may_be_asked(const struct twheel_session *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		if (s->wheel->bases[cpu]->lock.owner || s->wheel->bases[cpu]->running)
			return true;
	return s->lock.owner;
}

static void store(struct user_file *f, u32 nr, u64 word)
{
	u64 *to = user_word(&f->map, nr);

	if (!to)
		return;
	if (word != TWHEEL_WORD_STOP)
		word = min_t(u64, word, ORACLE_WORD_MAX);
	WRITE_ONCE(*to, word);
	/* The place behind the last word is no timer's word. */
	if (nr < f->os->shared_ids)
		oracle_stored(&f->os->ids[self()][nr > 42], sim.now, sim.now, word,
			      may_be_asked(f->os->s));
}

static u64 some_word(const struct oracle_session *os)
{
	u64 now = sim.now + os->offset;

	switch (sim_below(8)) {
	case 0:
		return TWHEEL_WORD_STOP;
	case 1:
		return TWHEEL_WORD_NONE;
	case 2:
		return now - sim_below(1000000);
	default:
		return now + scenario_delay();
	}
}

/* Store many words for a timer, just when it is due. */
static void store_many(struct user_file *f, u32 nr)
{
	const struct oracle_start *t = f->os->ids[self()][nr > 42].start;
	u64 due, other = sim_chance(3) ? TWHEEL_WORD_STOP : TWHEEL_WORD_NONE;
	u32 i;

	if (!t || t->low > sim.now + scenario_ticks(20))
		return;
	due = scenario_ticks(max_t(u64, t->low, sim.now) / scenario_ticks(1) + 1);
	sim_note("session %u: many stores of word %u at %llu", f->os->nr, nr, due);
	sim_sleep(due - sim.now - min_t(u64, due - sim.now, 500));
	for (i = 0; i < 60 && sim.now < due + 3000; i++)
		store(f, nr, i & 1 ? sim.now + f->os->offset + scenario_ticks(2) : other);
}

static void call_store(struct user_file *f)
{
	struct oracle_session *os = f->os;
	u32 nr = self() + (sim_chance(2) ? 43 : 0);

	if (!f->map.file || !os->shared_ids)
		return;
	if (sim_chance(8))
		nr = os->shared_ids;
	else if (nr >= os->shared_ids)
		return;
	if (nr < os->shared_ids && !sim_chance(4)) {
		store_many(f, nr);
		return;
	}
	store(f, nr, some_word(os));
	sim_note("session %u: a word %u", os->nr, nr);
}

void call_map(struct user_file *f, const struct user_file *mine)
{
	u32 nr = mine->os->shared_ids;
	struct user_mapping map;
	int ret;

	if (f->map.file && sim_chance(2)) {
		map = f->map;
		f->map.file = NULL;
		user_munmap(&map);
		return;
	}
	ret = user_mmap(&map, mine->file, nr ?: 1, !sim_chance(4));
	if (ret != (nr ? 0 : -ENODEV))
		sim_fail("mmap returns %d", ret);
	if (ret)
		return;
	/* Another task mapped the words first, or the descriptor has another file by now. */
	if (f->map.file || f->file != mine->file || !(map.vma.vm_flags & VM_WRITE))
		user_munmap(&map);
	else
		f->map = map;
}

/* Reading. */

static long take_events(struct user_file *f, struct iov_iter *to, const char *buf,
			bool nowait)
{
	struct kiocb iocb = { .ki_filp = f->file, .ki_flags = nowait ? IOCB_NOWAIT : 0 };
	struct oracle_session *os = f->os;
	struct oracle_call_of call = oracle_calls(os);
	u32 size = sizeof(struct twheel_event), i;
	long ret;

	user_current()->reads = os;
	ret = f->file->f_op->read_iter(&iocb, to);
	user_current()->reads = NULL;
	sim_note("session %u: read %ld", os->nr, ret);
	if (ret > 0 && ret % size)
		sim_fail("read returns %ld", ret);
	for (i = 0; ret > 0 && i < ret / size; i++) {
		struct twheel_event event;

		memcpy(&event, buf + i * size, sizeof(event));
		sim_note("session %u: event %#llx data %llx of %llu at %llu, missed %llu, flags %u",
			 os->nr, event.id, event.user_data, event.deadline_ns,
			 event.expired_ns, event.overruns, event.flags);
		oracle_event(os, &event, &call);
	}
	return ret;
}

static void call_read(struct user_file *f)
{
	u32 count = sim_below(sim_chance(4) ? EVENTS : 3) + !sim_chance(32);
	size_t size = count * sizeof(struct twheel_event), part = size;
	bool nowait = !self() || sim_chance(2) || !oracle_has_pending(f->os);
	struct iov_iter to;
	char *buf;
	long ret;

	user_pages_back(self());
	buf = array(size, false);
	iov_iter_ubuf(&to, ITER_DEST, buf, size);
	/* Sometimes make two buffers of it, one after the other. */
	if (size && sim_chance(4)) {
		part = sim_below(size);
		to.ubuf = NULL;
		to.segments[0].size = part;
		to.segments[1] = (struct user_segment){ buf + part, size - part };
	}
	ret = take_events(f, &to, buf, nowait);
	CALL_CHECK("read", ret, size, EINVAL, EAGAIN, ERESTARTSYS, EFAULT);
	if ((ret == -EINVAL) != !count)
		sim_fail("read of %u events returns %ld", count, ret);
	if (ret == -EAGAIN && !nowait)
		sim_fail("a read that waits returns EAGAIN");
	if (ret == -ERESTARTSYS && !user_current()->signal)
		sim_fail("a read ends for no signal");
	is_fault(ret, buf, size);
}

static void call_poll(struct user_file *f)
{
	bool wait = self() && sim_chance(2) && oracle_has_pending(f->os);
	poll_table table;
	__poll_t ret = f->file->f_op->poll(f->file, wait ? &table : NULL);

	if (wait) {
		while (!ret && !user_current()->signal) {
			sim_wait(&table.waiter.woken);
			table.waiter.woken = false;
			ret = f->file->f_op->poll(f->file, NULL);
		}
		user_wait_end(&table.waiter);
	}
	sim_note("session %u: poll returns %#x", f->os->nr, ret);
}

/* Listing. */

/* List timers, or drain them if @seen is NULL. @seen: how often each id of the task was listed. */
static long do_entries(struct user_file *f, u64 *cursor, u32 *seen,
		       const struct oracle_call_of *call)
{
	struct oracle_session *os = f->os;
	bool drains = !seen;
	u32 size = sizeof(struct twheel_entry);
	u32 count = 1 + sim_below(ENTRIES), i, k;
	struct twheel_list *args = arguments(sizeof(*args));
	char *entries = array(count * size, drains && !sim_chance(16));
	long ret;

	*args = (struct twheel_list) {
		.entries	= (unsigned long)entries,
		.cursor		= *cursor,
		.count		= count,
		.entry_size	= size,
		.flags		= drains * TWHEEL_LIST_DRAIN,
	};
	try_other_size(f, TWHEEL_IOC_LIST, args, &args->entry_size);
	ret = user_ioctl(f->file, TWHEEL_IOC_LIST, args);
	sim_note("session %u: %s %ld", os->nr, drains ? "drained" : "listed", ret);
	if (drains && ret != -EFAULT && is_refused(os, "a drain", ret))
		return 0;
	CALL_CHECK("LIST", ret, count, EFAULT);
	if (ret == -EFAULT) {
		if (user_all_come(args, sizeof(*args)))
			is_fault(ret, entries, count * size);
		os->fuzzy |= drains;
		return ret;
	}
	for (i = 0; i < ret; i++) {
		const struct twheel_entry *entry = (void *)(entries + i * size);

		oracle_entry(os, entry, call, drains);
		for (k = 0; seen && k < ORACLE_OWN; k++) {
			const struct oracle_start *t = os->ids[self()][k].start;

			seen[k] += t && entry->user_data == oracle_data(t);
		}
	}
	*cursor = args->cursor;
	return ret;
}

static void call_list(struct user_file *f)
{
	struct oracle_session *os = f->os;
	struct oracle_call_of call = oracle_calls(os);
	u32 seen[ORACLE_OWN] = {}, k;
	u64 cursor = 0;
	long ret;

	do {
		ret = do_entries(f, &cursor, seen, &call);
	} while (ret > 0);
	for (k = 0; k < ORACLE_OWN; k++) {
		const struct oracle_start *t = os->ids[self()][k].start;

		if (seen[k] > 1)
			sim_fail("a timer is listed twice");
		if (!ret && !seen[k] && t && oracle_surely_pending(t, &call))
			sim_fail("a pending timer is not listed");
	}
}

static long drain(struct user_file *f)
{
	struct oracle_session *os = f->os;
	struct oracle_call_of call = oracle_calls(os);
	u64 cursor = 0;
	long ret;

	os->drains++;
	do {
		ret = do_entries(f, &cursor, NULL, &call);
	} while (ret > 0);
	os->drains--;
	os->drained_at = oracle_calls(os).began;
	return ret;
}

static void call_stats(struct user_file *f)
{
	struct twheel_stats *stats = arguments(sizeof(*stats));
	long ret = user_ioctl(f->file, TWHEEL_IOC_STATS, stats);

	CALL_CHECK("STATS", ret, 0, EFAULT);
	if (!is_fault(ret, stats, sizeof(*stats)))
		oracle_stats(f->os, stats);
}

static void call_info(struct user_file *f)
{
	struct twheel_info *info = arguments(sizeof(*info));
	bool begun = f->os->counted.started;
	struct twheel_config config;
	long ret;

	ret = user_ioctl(f->file, TWHEEL_IOC_INFO, info);
	CALL_CHECK("INFO", ret, 0, EFAULT);
	if (ret)
		return;
	if (info->max_timers != f->os->max_timers ||
	    info->event_size != TWHEEL_EVENT_SIZE_V1 ||
	    info->shared_ids != f->os->shared_ids)
		sim_fail("INFO says something else than SETUP");
	/* The wheel of a session that started a timer does not change any more. */
	twheel_get_config(f->os->s->wheel, &config);
	if (begun && (info->scheme != config.scheme || info->mode != config.mode ||
		      info->slots != config.slots || info->tick_ns != config.tick_ns ||
		      info->clock != config.clock))
		sim_fail("INFO says something else than the wheel");
}

/* Setting up. */

static void fill_setup(struct oracle_session *os, struct twheel_setup *in)
{
	static const u32 words[] = { 0, 4, 46, 520 };

	*in = (struct twheel_setup) {
		.shared_ids	= words[sim_below(ARRAY_SIZE(words))],
		.max_timers	= sim_chance(4) ? 6 + sim_below(60) : 0,
		.event_size	= sim_chance(4) ? TWHEEL_EVENT_SIZE_V1 : sim_chance(24) * 56,
	};
	if (in->max_timers && in->shared_ids > in->max_timers)
		in->shared_ids = 4;
	in->reserved[sim_below(3)] = sim_chance(32);
	in->reserved2 = sim_chance(32);
	if (!sim_chance(3))
		return;
	in->flags = TWHEEL_SETUP_PRIVATE;
	/* The oracle has one clock, which the default wheel uses, too. */
	in->clock = scenario.config.clock;
	in->tick_ns = sim_chance(2) ? 0 :
				      scenario_ticks(1) + 100000 * sim_below(3);
	if (sim_chance(8))
		in->tick_ns = 50000;
}

/*
 * Fill in a SETUP that chooses another wheel and keeps the other settings, because other tasks may
 * be about to start timers.
 */
static bool fill_again(struct oracle_session *os, struct twheel_setup *in)
{
	u64 limit = os->max_timers == 1U << 22 ? 0 : os->max_timers;

	*in = (struct twheel_setup) {
		.flags		= sim_below(2) ? TWHEEL_SETUP_PRIVATE : 0,
		.max_timers	= limit,
		.shared_ids	= os->shared_ids,
	};
	in->clock = in->flags ? scenario.config.clock : 0;
	return os->offset == ahead() || !os->shared_ids;
}

/*
 * Check that a SETUP chose the wheel that it asked for. No other task knows the session. A wheel
 * with a shorter tick than that of the default wheel needs CAP_SYS_NICE.
 */
static void judge_wheel(const struct oracle_session *os, const struct twheel_setup *in, long ret)
{
	const struct twheel_session_wheel *ref = os->s->wheel_ref;
	bool forbidden = !os->s->nice && in->tick_ns && in->tick_ns < scenario_ticks(1);

	if (forbidden ? !ret : ret == -EPERM)
		sim_fail("SETUP with a tick of %llu ns returns %ld", in->tick_ns, ret);
	if (ret)
		return;
	if (!in->flags != !ref)
		sim_fail("SETUP with flags %u, and %s private wheel", in->flags, ref ? "a" : "no");
	if (ref && (strcmp(ref->config.name, "private") ||
		    ref->config.tick_ns != (in->tick_ns ?: scenario_ticks(1))))
		sim_fail("SETUP with a tick of %llu ns: the %s wheel ticks each %llu ns",
			 in->tick_ns, ref->config.name, ref->config.tick_ns);
}

void call_setup(struct user_file *f, bool first)
{
	struct oracle_session *os = f->os;
	struct twheel_setup *args = arguments(sizeof(*args)), in;
	struct oracle_call_of call = oracle_calls(os);
	bool begun = os->counted.started;
	long ret;

	if (!first && !begun && !fill_again(os, &in))
		return;
	if (first || begun)
		fill_setup(os, &in);
	*args = in;
	ret = user_ioctl(f->file, TWHEEL_IOC_SETUP, args);
	sim_note("session %u: SETUP of wheel %u: %ld", os->nr, in.flags, ret);
	if (is_refused(os, "SETUP", ret))
		return;
	CALL_CHECK("SETUP", ret, 0, EINVAL, EPERM, EBUSY, ENOSPC, ENOMEM, EFAULT);
	oracle_check_memory(&call, ret);
	if (!ret && (in.reserved[0] | in.reserved[1] | in.reserved[2] | in.reserved2 ||
		     (in.event_size && in.event_size != TWHEEL_EVENT_SIZE_V1)))
		sim_fail("SETUP of what is reserved");
	if (begun && !ret)
		sim_fail("SETUP after the first start");
	if (first)
		judge_wheel(os, &in, ret);
	if (ret || !first)
		return;
	os->max_timers = in.max_timers ?: 1U << 22;
	os->shared_ids = in.shared_ids;
	os->offset = ahead();
}

/* Drain a session and read all events. */
void call_empty(struct user_file *f)
{
	struct oracle_session *os = f->os;
	struct iov_iter to;
	char *buf = user_memory(0, ARRAY);
	size_t size = EVENTS * sizeof(struct twheel_event);

	user_pages_back(0);
	if (os->changeable && drain(f) < 0)
		sim_fail("the last drain fails");
	do {
		iov_iter_ubuf(&to, ITER_DEST, buf, size);
	} while (take_events(f, &to, buf, true) > 0);
}

static void call_setup_again(struct user_file *f)
{
	call_setup(f, false);
}

static void call_drain(struct user_file *f)
{
	drain(f);
}

static void call_show(struct user_file *f)
{
	f->file->f_op->show_fdinfo(NULL, f->file);
}

/* The calls that tasks make, and how often. */
static const struct {
	u32 share;
	void (*call)(struct user_file *f);
} calls[] = {
	{ 20, call_start },
	{ 12, call_read },
	{ 8, call_stop },
	{ 6, call_store },
	{ 4, call_get },
	{ 4, call_submit },
	{ 2, call_poll },
	{ 2, call_list },
	{ 1, call_drain },
	{ 1, call_stats },
	{ 1, call_info },
	{ 1, call_setup_again },
	{ 1, call_show },
};

void call_any(struct user_file *f)
{
	u32 below = sim_below(63), i;

	if (!f->os->counted.started && sim_chance(4))
		call_setup(f, false);
	else if (f->os->shared_ids && sim_chance(8))
		call_store(f);
	for (i = 0; below >= calls[i].share; i++)
		below -= calls[i].share;
	calls[i].call(f);
}
