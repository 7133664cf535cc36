/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of other users
 *
 * Users 1000 and up are strangers: without capabilities, and each of them wants
 * all that there is. The case itself is root.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

#define DEVICE		"/dev/twheel"
#define STRANGER	1000

/* More ids of a stranger, in a user namespace. */
#define FIRST_ID	100000
#define NR_IDS		65536

/**
 * struct stranger - another user's process
 * @pid: the process
 * @apart: the process is in its own user namespace, and waits for ids
 * @has_ids: ids are mapped for it
 * @ready: the work is done, and the process waits
 * @go_on: semaphore to end it
 * @result: its report of the work
 */
struct stranger {
	pid_t pid;
	bool apart;
	bool has_ids;
	bool ready;
	sem_t go_on;
	long long result;
};

void drop_rights(uid_t uid);
void die_with_parent(void);
struct stranger *stranger_send(uid_t uid, long long (*fn)(void));
void stranger_wait(struct stranger *stranger);
struct stranger *stranger_send_with_ids(uid_t uid, long long (*fn)(void));
struct stranger *stranger_begin(uid_t uid, long long (*fn)(void));
void stranger_end(struct stranger *stranger);
long long as_stranger(uid_t uid, long long (*fn)(void));

#endif /* STRANGER_H */
