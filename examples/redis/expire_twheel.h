/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls that server.c and db.c of Redis make, and one of expire.c
 */
#ifndef EXPIRE_TWHEEL_H
#define EXPIRE_TWHEEL_H

#include "server.h"

void expireTwheelInit(void);
void expireTwheelExpire(void);
void expireTwheelStart(void);
void expireTwheelSet(dict *d, dictEntry *de, long long when);
int expireTwheelDelete(dict *d, const void *key);
int activeExpireCycleTryExpire(redisDb *db, dictEntry *de, long long now);

#endif /* EXPIRE_TWHEEL_H */
