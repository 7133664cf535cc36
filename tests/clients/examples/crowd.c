// SPDX-License-Identifier: GPL-2.0
/*
 * crowd PORT PID: check that the server PID survives its clients
 *
 * One client sends as much as it can and reads nothing, a second one sends a byte each second, and
 * 5,000 others connect at once, more than the server has descriptors for. During this, the server
 * must sleep between its events, and the first two clients must stay connected. When the crowd has
 * left, the server must accept a client again.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CROWD	5000
#define SECONDS	3
#define SAMPLES	20		/* in one second */

static struct sockaddr_in address = { .sin_family = AF_INET };

static int connects(int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (fd < 0 || (connect(fd, (void *)&address, sizeof(address)) && errno != EINPROGRESS))
		err(1, "connect");
	return fd;
}

/*
 * Send as much as the socket takes, but no more than 4 MiB: the socket of a server that reads
 * everything would never be full.
 */
static void shout(int fd)
{
	static char data[65536];
	int i;

	for (i = 0; i < 64; i++)
		if (send(fd, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
		    errno != EAGAIN)
			err(1, "the connection of a client that never reads");
}

static int is_asleep(const char *pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		err(1, "%s", path);
	fclose(file);
	return state == 'S';
}

int main(int argc, char **argv)
{
	static int fds[CROWD];
	struct rlimit limit;
	int deaf, slow, i, second, asleep = 0;

	if (argc != 3)
		errx(2, "usage: crowd PORT PID");
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = CROWD + 100;
	if (limit.rlim_max < limit.rlim_cur)
		limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "RLIMIT_NOFILE");
	address.sin_port = htons(atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	deaf = connects(0);
	slow = connects(0);
	for (i = 0; i < CROWD; i++)
		fds[i] = connects(SOCK_NONBLOCK);
	for (second = 0; second < SECONDS; second++) {
		shout(deaf);
		if (send(slow, "!", 1, MSG_NOSIGNAL) != 1)
			err(1, "the connection of a slow client");
		for (i = 0; i < SAMPLES; i++) {
			usleep(1000000 / SAMPLES);
			asleep += is_asleep(argv[2]);
		}
	}
	for (i = 0; i < CROWD; i++)
		close(fds[i]);
	/* A server that never waits would not be asleep in any sample. */
	if (asleep < SAMPLES / 4)
		errx(1, "the server was asleep in %d of %d samples", asleep, SECONDS * SAMPLES);
	shout(connects(0));
	printf("the server stands a crowd\n");
	return 0;
}
