/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of other users
 *
 * Users 1000 and up are strangers: they have no capabilities, and each of them tries to take as
 * much as it can get. The case itself runs as root.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

#define DEVICE		"/dev/twheel"
#define STRANGER	1000

/* Ids that a stranger has in a user namespace. */
#define FIRST_ID	100000
#define NR_IDS		65536

/**
 * struct stranger - a process of another user
 * @pid: the process
 * @apart: the process is in its own user namespace, and waits for ids
 * @has_ids: ids are mapped for it
 * @ready: the function returned, and the process waits
 * @go_on: semaphore that lets the process end
 * @result: result of the function
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
