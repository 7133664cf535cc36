/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of expire_twheel.c that server.c and db.c of Redis call, and a function of expire.c
 * of Redis that expire_twheel.c calls
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
