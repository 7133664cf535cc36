// SPDX-License-Identifier: GPL-2.0
/* library: heartbeat.c with libtwheel. */
#include <stdio.h>
#include <string.h>
#include <twheel.h>

#define CONNECTIONS	3
#define TIMEOUT_NS	200000000ULL
#define HEARTBEATS	10

int main(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };
	struct twheel_event events[CONNECTIONS];
	unsigned int id, beats = 0, idle = 0;
	struct twheel *t;
	int ret;

	ret = twheel_open(&t, &setup);
	if (ret) {
		fprintf(stderr, "/dev/twheel: %s\n", strerror(-ret));
		return 1;
	}
	for (id = 0; id < CONNECTIONS; id++)
		twheel_start(t, id, TIMEOUT_NS, id);
	twheel_stop_by_store(t, 2);
	while (idle < 2) {
		if (beats < HEARTBEATS) {
			twheel_refresh(t, 0, twheel_now() + TIMEOUT_NS);
			beats++;
		}
		ret = twheel_wait(t, events, CONNECTIONS, 20000000);
		if (ret > 0)
			idle += ret;
	}
	printf("%u heartbeats, %u idle\n", beats, idle);
	twheel_close(t);
	return 0;
}
