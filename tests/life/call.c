// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a life: each step is a call whose result starts.c judges
 *
 * life_lock() protects the records of starts. A step holds it before and after its call, but not
 * during the call, so that calls of threads overlap. This file chooses the function for a step, and
 * has what the functions share: the memory of arguments, and the ids of threads.
 *
 *   call_start.c   starts, stops and stores, alone and in batches
 *   call_event.c   reads, waits, and the end of a session's life
 *   call_state.c   what a session says about its timers and about itself
 *   call_misuse.c  wrong calls, and what programs do at the worst moment
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "call.h"

/* Fail unless @ret is from 0 to @most, or one of the @errors, a list that 0 ends. See CHECK(). */
void call_check_result(const char *what, long ret, long most, const int *errors)
{
	if (ret >= 0 && ret <= most)
		return;
	for (; *errors; errors++)
		if (ret == -*errors)
			return;
	oracle_fail("%s returns %ld", what, ret);
}

/* Note that a call begins now. Returns what the oracle needs to know to judge the call. */
struct oracle_call_of call_begin(struct session *s)
{
	struct oracle_call_of call;

	life_lock();
	call = oracle_calls(&s->os);
	life->calls++;
	life_unlock();
	return call;
}

/* Pages for arguments, where a page that cannot be accessed follows each page that can. */

static char *pages_of[THREADS];

static char *end_of_page(bool read_only)
{
	char *pages = pages_of[self.nr];

	if (!pages) {
		pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) ||
		    mprotect(pages + 3 * PAGE, PAGE, PROT_NONE))
			abort();
		pages_of[self.nr] = pages;
	}
	return pages + (read_only ? 3 : 1) * PAGE;
}

/* Put an argument into the memory that the step chooses, and return its address for the call. */
void *call_put(const struct step *step, void *from, size_t size)
{
	char *end = end_of_page(step->place == PLACE_READ_ONLY);
	size_t here = step->place == PLACE_CUT ? size * step->how / 6 & ~7UL : size;

	switch (step->place) {
	case PLACE_STACK:
		return from;
	case PLACE_NOWHERE:
		return (void *)(uintptr_t)(step->how & 1 ? 0xffff888000001000ULL : 8);
	case PLACE_READ_ONLY:
		mprotect(end - PAGE, PAGE, PROT_READ | PROT_WRITE);
		memcpy(end - size, from, size);
		mprotect(end - PAGE, PAGE, PROT_READ);
		return end - size;
	default:
		memcpy(end - here, from, here);
		return end - here;
	}
}

/* Copy an argument back from where call_put() placed it, as far as memory is mapped there. */
void call_take(const struct step *step, void *to, const void *from, size_t size)
{
	char *end = end_of_page(step->place == PLACE_READ_ONLY);

	if (step->place == PLACE_STACK || step->place == PLACE_NOWHERE)
		return;
	memcpy(to, from, min(size, (size_t)(end - (const char *)from)));
}

bool call_in_bad_memory(const struct step *step)
{
	return step->place > PLACE_END;
}

/* Returns whether a call failed with EFAULT. Ends the test if all memory of the call is good. */
bool call_is_fault(const struct step *step, long ret)
{
	if (ret == -EFAULT && !call_in_bad_memory(step) && !step->refused)
		oracle_fail("EFAULT, and all memory is there");
	return ret == -EFAULT;
}

/* Ids. Each thread has its own ids. If there is one thread, it has the ids of all threads. */

struct oracle_id *call_own_id(struct session *s, const struct step *step)
{
	unsigned int task = IS_ALONE ? step->id / ORACLE_OWN : self.nr;

	return step->id < 25 ? &s->os.ids[task][step->id % ORACLE_OWN] : NULL;
}

bool call_is_invalid_id(const struct oracle_session *os, u64 id)
{
	return !(id & TWHEEL_ID_KERNEL) && id >= os->max_timers;
}

bool call_has_word(const struct oracle_session *os, u64 id)
{
	return id < os->shared_ids;
}

/*
 * Do a step. @left steps follow it: a step that is a batch takes the first of them as its
 * operations, and does them. Returns the number of steps that the batch took.
 */
unsigned int call_step(const struct step *step, unsigned int left)
{
	struct session *s = &life->sessions[step->session];

	switch (step->what) {
	case STEP_START:
		call_start(s, step);
		break;
	case STEP_STOP:
		call_stop(s, step);
		break;
	case STEP_SUBMIT:
		return call_submit(s, step, left);
	case STEP_BATCH:
		return call_batch(s, step, left);
	case STEP_PUSH:
		call_push(s, step);
		break;
	case STEP_STORE:
		call_store(s, step);
		break;
	case STEP_GET:
		call_get(s, step);
		break;
	case STEP_LIST:
	case STEP_DRAIN:
		call_list(s, step, step->what == STEP_DRAIN);
		break;
	case STEP_READ:
		call_read(s, step);
		break;
	case STEP_WAIT:
		call_wait(s, step);
		break;
	case STEP_POLL:
		call_poll(s, step);
		break;
	case STEP_SLEEP:
		life_note("sleep(%llu ns)", call_pause_of(step));
		host_sleep(call_pause_of(step));
		break;
	case STEP_STATS:
		call_stats(s, step);
		break;
	case STEP_INFO:
		call_info(s, step);
		break;
	case STEP_SETUP:
		call_setup(s);
		break;
	case STEP_WRONG:
		call_wrong(s, step);
		break;
	case STEP_SPOILT:
		call_spoilt(step);
		break;
	case STEP_SWARM:
		call_swarm(step);
		break;
	case STEP_FORK:
		call_fork(s, step);
		break;
	default:
		call_look(s, step);
	}
	return 0;
}
