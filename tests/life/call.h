/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of steps share: see call.c
 */
#ifndef CALL_H
#define CALL_H

#include <unistd.h>

#include "life.h"

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define IS_VIRTUAL	(self.plan->kind->virtual)
#define IS_ALONE	(self.plan->kind->threads == 1)
/* The clock stands still, and no other thread has done anything since this step began. */
#define IS_EXACT	(IS_VIRTUAL && !self.disturbed)

/* Fail unless @ret is a number from 0 to @most, or one of the errors behind @most. */
#define CHECK(what, ret, most, ...)					\
	call_check_result(what, ret, most, (const int []){ __VA_ARGS__, 0 })

/* Returns the index of a session, for messages. */
static inline int call_nr_of(const struct session *s)
{
	return s - life->sessions;
}

/* call.c */
void call_check_result(const char *what, long ret, long most, const int *errors);
struct oracle_call_of call_begin(struct session *s);
void *call_put(const struct step *step, void *from, size_t size);
void call_take(const struct step *step, void *to, const void *from, size_t size);
bool call_in_bad_memory(const struct step *step);
bool call_is_fault(const struct step *step, long ret);
struct oracle_id *call_own_id(struct session *s, const struct step *step);
bool call_is_invalid_id(const struct oracle_session *os, u64 id);
bool call_has_word(const struct oracle_session *os, u64 id);

/* call_start.c */
void call_start(struct session *s, const struct step *step);
void call_stop(struct session *s, const struct step *step);
unsigned int call_submit(struct session *s, const struct step *step, unsigned int left);
unsigned int call_batch(struct session *s, const struct step *step, unsigned int left);
void call_push(struct session *s, const struct step *step);
void call_store(struct session *s, const struct step *step);

/* call_event.c */
long call_read(struct session *s, const struct step *step);
u64 call_pause_of(const struct step *step);
void call_wait(struct session *s, const struct step *step);
void call_poll(struct session *s, const struct step *step);

/* call_state.c */
void call_get(struct session *s, const struct step *step);
void call_list(struct session *s, const struct step *step, bool drains);
void call_stats(struct session *s, const struct step *step);
void call_info(struct session *s, const struct step *step);
void call_setup(struct session *s);

/* call_misuse.c */
void call_wrong(struct session *s, const struct step *step);
void call_spoilt(const struct step *step);
void call_swarm(const struct step *step);
void call_fork(struct session *s, const struct step *step);
void call_look(struct session *s, const struct step *step);

#endif /* CALL_H */
