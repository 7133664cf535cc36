// SPDX-License-Identifier: GPL-2.0
/*
 * timewait CONNECTIONS: open and close TCP connections over loopback, one after the other. The end
 * that closes first stays in TIME-WAIT for a minute.
 *
 * watch.h measures how late these sockets expire.
 */

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "watch.h"

#define TIMEWAIT	(60 * SECOND)
/*
 * Number of ports of one source address. The kernel has 28,000 ports, and finds a free one by
 * trying, which is slow when most are in use.
 */
#define PORTS		5000

static struct sockaddr_in local(unsigned int host, unsigned int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + host)};
}

static void set(const char *option, unsigned int value)
{
	FILE *f = fopen(option, "w");

	if (!f || fprintf(f, "%u", value) < 0 || fclose(f))
		err(1, "%s", option);
}

static int listener(void)
{
	struct sockaddr_in at = local(0, 80);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8))
		err(1, "port 80");
	return fd;
}

static void connect_and_close(int fd, unsigned int n)
{
	struct sockaddr_in from = local(1 + n / PORTS, 0), to = local(0, 80);
	int client = socket(AF_INET, SOCK_STREAM, 0), server, on = 1;

	/* Let connect() choose the port, because several addresses may use the same port. */
	if (client < 0 ||
	    setsockopt(client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) ||
	    bind(client, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(client, (struct sockaddr *)&to, sizeof(to)))
		err(1, "connection %u", n);
	server = accept(fd, NULL, NULL);
	if (server < 0)
		err(1, "accept");
	close(client);
	started[n] = now_ns();
	close(server);
}

/* Returns the number of sockets in TIME-WAIT. */
static unsigned int sockets_left(void)
{
	FILE *f = fopen("/proc/net/sockstat", "r");
	unsigned int left;
	char line[256];

	if (!f)
		err(1, "/proc/net/sockstat");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "TCP: inuse %*d orphan %*d tw %u", &left) == 1) {
			fclose(f);
			return left;
		}
	}
	errx(1, "no tw in /proc/net/sockstat");
}

int main(int argc, char **argv)
{
	unsigned int n;
	__u64 begin;
	int fd;

	if (argc != 2)
		errx(2, "usage: timewait CONNECTIONS");
	connections = strtoul(argv[1], NULL, 10);
	timeout = TIMEWAIT;
	started = calloc(connections, sizeof(*started));
	if (!connections || !started)
		errx(2, "%s connections", argv[1]);
	set("/proc/sys/net/ipv4/tcp_max_tw_buckets", connections + 1);
	/* Otherwise a new connection may take the port of a socket in TIME-WAIT, and end it. */
	set("/proc/sys/net/ipv4/tcp_tw_reuse", 0);
	fd = listener();
	begin = now_ns();
	for (n = 0; n < connections; n++)
		connect_and_close(fd, n);
	begin = now_ns() - begin;
	watch(sockets_left);
	printf("connections=%u create_ns=%llu ", connections, begin / connections);
	report();
	return 0;
}
