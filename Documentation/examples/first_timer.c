// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/twheel.h>

int main(void)
{
	struct twheel_start start = {
		.id = 7,			/* any number */
		.expires_ns = 1500000000,	/* 1.5 s from now */
		.user_data = 42,
	};
	struct twheel_event event;
	int fd = open("/dev/twheel", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TWHEEL_IOC_START, &start) < 0 ||
	    read(fd, &event, sizeof(event)) != sizeof(event)) {
		perror("/dev/twheel");
		return 1;
	}
	printf("timer %d (user_data %d) expired, %d us late\n",
	       (int)event.id, (int)event.user_data,
	       (int)((event.expired_ns - event.deadline_ns) / 1000));
	return 0;
}
