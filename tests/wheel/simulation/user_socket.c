// SPDX-License-Identifier: GPL-2.0
/*
 * session/source.c: no timer has a socket
 */
#include "session/timer.h"

struct sock *twheel_session_hold_sock(struct twheel_session *s, int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

void twheel_session_put_sock(struct twheel_session *s, struct sock *sk)
{
}

void twheel_session_watch(struct twheel_utimer *ut, struct sock *sk, u64 idle_ns)
{
}

ktime_t twheel_session_deadline_of(struct twheel_session *s, struct twheel_utimer *ut,
				   ktime_t due)
{
	return due;
}
