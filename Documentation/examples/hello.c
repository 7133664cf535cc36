// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <twheel.h>

int main(void)
{
	struct twheel_event event;
	struct twheel *t;

	if (twheel_open(&t, NULL) < 0)
		return 1;
	twheel_start(t, 7, 1500000000, 42);	/* id 7, in 1.5 s, user_data 42 */
	twheel_start(t, 7, 2000000000, 42);	/* refreshed: 2 s from now */
	if (twheel_wait(t, &event, 1, -1) == 1)
		printf("timer %d (user_data %d) expired, %d us late\n", (int)event.id, (int)event.user_data,
		       (int)((event.expired_ns - event.deadline_ns) / 1000));
	twheel_close(t);
	return 0;
}
