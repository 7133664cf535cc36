// SPDX-License-Identifier: GPL-2.0 OR MIT
/* An echo server that closes connections after 30 s of silence: server PORT [SILENCE_MS] */
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <twheel_timer.h>

struct connection {
	struct twheel_timer idle;
	int fd;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void on_idle(struct twheel_timer *timer)
{
	struct connection *c = twheel_timer_container(timer, struct connection, idle);

	close(c->fd);
	free(c);
}

int main(int argc, char **argv)
{
	uint64_t now = now_ms(), next, silence = argc > 2 ? atoi(argv[2]) : 30000;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
	int server = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	struct twheel_timers *wheel = twheel_timers_new(now);
	char data[4096];

	if (bind(server, (void *)&address, sizeof(address)) || listen(server, 100))
		return 1;
	epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event);
	for (;;) {
		next = twheel_timers_next(wheel);
		next = next > now ? next - now : 0;
		int ready = epoll_wait(epoll, &event, 1, next < INT_MAX ? (int)next : -1);
		struct connection *c = event.data.ptr;

		now = now_ms();
		if (ready == 1 && !c) {
			c = calloc(1, sizeof(*c));
			c->fd = accept(server, NULL, NULL);
			c->idle.fn = on_idle;
			event.data.ptr = c;
			epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
			twheel_timer_start(wheel, &c->idle, now + 1 + silence);
		} else if (ready == 1) {
			ssize_t size = read(c->fd, data, sizeof(data));

			if (size > 0 && write(c->fd, data, size) == size) {
				twheel_timer_push(wheel, &c->idle, now + 1 + silence);
			} else {
				twheel_timer_stop(wheel, &c->idle);
				on_idle(&c->idle);
			}
		}
		twheel_timers_advance(wheel, now, UINT_MAX);
	}
}
