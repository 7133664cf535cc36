// SPDX-License-Identifier: GPL-2.0
/*
 * busy TIMERS [words]: timeouts of connections, until it is killed
 *
 * Each connection says something every 4 s, now and then. That pushes its timeout
 * of 8 s back, with "words" by a store, else by an operation in a batch. A
 * connection that was silent for 8 s is followed by another one, and so is one
 * that ends by itself.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <twheel.h>

#include "../api/selftests/user.h"

#define TIMEOUT		(8 * SECOND)
#define ROUND		(10 * MS)
/* Of all connections, in one round. */
#define SPEAK(timers)	((timers) / 400)
#define END(timers)	((timers) / 10000)
#define BATCH		256

static __u64 seed = 1;
static unsigned int timers;
static struct twheel *wheel;
static struct twheel_batch *batch;

static __u64 any(void)
{
	return random_number(&seed) % timers;
}

static void ok(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

static void init(bool words)
{
	struct twheel_setup setup = { .shared_ids = words ? timers : 0 };
	unsigned int i;

	ok(twheel_open(&wheel, &setup), "open");
	ok(twheel_batch_new(wheel, BATCH, &batch), "batch");
	for (i = 0; i < timers; i++)
		ok(twheel_batch_start(batch, i, TIMEOUT / timers * i, i), "start");
	ok(twheel_batch_flush(batch), "start");
}

/* A start of one whose event is unread fails, and is done by its event. */
static void speak(bool words)
{
	unsigned int i;

	for (i = 0; i < SPEAK(timers); i++) {
		if (words)
			twheel_refresh(wheel, any(), twheel_now() + TIMEOUT);
		else
			ok(twheel_batch_start(batch, any(), TIMEOUT, 0), "restart");
	}
	ok(twheel_batch_flush(batch), "restart");
}

static void end(void)
{
	unsigned int i;
	__u64 id;

	for (i = 0; i < END(timers); i++) {
		id = any();
		twheel_withdraw(wheel, id);
		ok(twheel_start(wheel, id, TIMEOUT, id), "start");
	}
}

static void silent(void)
{
	struct twheel_event events[BATCH];
	int count, i;

	do {
		count = twheel_read(wheel, events, BATCH);
		ok(count, "read");
		for (i = 0; i < count; i++)
			ok(twheel_start(wheel, events[i].id, TIMEOUT, 0), "start");
	} while (count == BATCH);
}

int main(int argc, char **argv)
{
	bool words = argc > 2 && !strcmp(argv[2], "words");

	timers = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	if (timers < BATCH)
		errx(2, "usage: busy TIMERS [words]");
	init(words);
	for (;;) {
		speak(words);
		end();
		silent();
		usleep(ROUND / US);
	}
}
