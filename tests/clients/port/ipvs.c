// SPDX-License-Identifier: GPL-2.0
/*
 * ipvs CONNECTIONS SECONDS [SPREAD]: open connections to a UDP service of IPVS, in a network
 * namespace of its own, each with a timeout of SECONDS, and let them time out.
 *
 * Each connection receives two packets: one that creates it, and in a second round one that
 * refreshes its timer. With SPREAD there is one round, evenly spread over SPREAD seconds, in
 * which each connection receives both packets. A raw socket sends the packets, so that their
 * sources need no address and no socket. The packets are sent to a socket that is never read.
 *
 * watch.h measures how late the connections expire.
 */

#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ip_vs.h>

#include "watch.h"

#define LOCALHOST	htonl(INADDR_LOOPBACK)
#define VIRTUAL_PORT	htons(80)
#define REAL_PORT	htons(9)
/* Number of ports of one source address. */
#define PORTS		50000

static void namespace(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct sockaddr_in here = {.sin_family = AF_INET,
		.sin_addr.s_addr = LOCALHOST, .sin_port = VIRTUAL_PORT};
	int fd, size = 1;

	if (unshare(CLONE_NEWNET))
		err(1, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		err(1, "lo");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&here, sizeof(here)))
		err(1, "port %u", ntohs(VIRTUAL_PORT));
}

static void set(int fd, int option, const void *value, socklen_t size)
{
	if (setsockopt(fd, IPPROTO_IP, option, value, size))
		err(1, "IPVS option %d", option);
}

static void service(int fd)
{
	struct ip_vs_timeout_user timeouts = {.udp_timeout = timeout / SECOND};
	struct {
		struct ip_vs_service_user service;
		struct ip_vs_dest_user dest;
	} both = {
		.service = {.protocol = IPPROTO_UDP, .addr = LOCALHOST,
			.port = VIRTUAL_PORT, .sched_name = "rr"},
		.dest = {.addr = LOCALHOST, .port = REAL_PORT,
			.conn_flags = IP_VS_CONN_F_DROUTE, .weight = 1},
	};

	set(fd, IP_VS_SO_SET_TIMEOUT, &timeouts, sizeof(timeouts));
	set(fd, IP_VS_SO_SET_ADD, &both.service, sizeof(both.service));
	set(fd, IP_VS_SO_SET_ADDDEST, &both, sizeof(both));
}

static void send_packet(int fd, unsigned int n)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_addr.s_addr = LOCALHOST};
	struct {
		struct iphdr ip;
		struct udphdr udp;
	} packet = {
		.ip = {.version = 4, .ihl = 5, .ttl = 64,
			.protocol = IPPROTO_UDP, .daddr = LOCALHOST,
			.saddr = htonl(0x0a000001 + n / PORTS)},
		.udp = {.source = htons(1024 + n % PORTS),
			.dest = VIRTUAL_PORT, .len = htons(sizeof(struct udphdr))},
	};

	if (sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&to,
		   sizeof(to)) != sizeof(packet))
		err(1, "packet %u", n);
}

/* Send a packet to each connection. Returns the time this took. */
static __u64 send_all(int fd)
{
	__u64 begin = now_ns();
	unsigned int n;

	for (n = 0; n < connections; n++) {
		started[n] = now_ns();
		send_packet(fd, n);
	}
	return now_ns() - begin;
}

/*
 * Send both packets to each connection, evenly over @time. Adds the time of the first packets to
 * @create, and returns the time of the second packets.
 */
static __u64 send_evenly(int fd, __u64 time, __u64 *create)
{
	__u64 begin = now_ns(), took = 0;
	unsigned int n;

	for (n = 0; n < connections; n++) {
		sleep_until(begin + time / connections * n);
		*create -= now_ns();
		send_packet(fd, n);
		started[n] = now_ns();
		*create += started[n];
		send_packet(fd, n);
		took += now_ns() - started[n];
	}
	return took;
}

/* Returns the number of connections of the only destination, active or not. */
static unsigned int connections_left(void)
{
	char text[4096], *line;
	unsigned int active, idle;
	FILE *f = fopen("/proc/self/net/ip_vs", "r");
	size_t size;

	if (!f)
		err(1, "/proc/self/net/ip_vs");
	size = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[size] = 0;
	line = strstr(text, "-> 7F");
	if (!line || sscanf(line, "-> %*s %*s %*d %u %u", &active, &idle) != 2)
		errx(1, "no destination in:\n%s", text);
	return active + idle;
}

int main(int argc, char **argv)
{
	__u64 create = 0, refresh, spread;
	int fd;

	if (argc != 3 && argc != 4)
		errx(2, "usage: ipvs CONNECTIONS SECONDS [SPREAD]");
	connections = strtoul(argv[1], NULL, 10);
	timeout = strtoul(argv[2], NULL, 10) * SECOND;
	spread = argc == 4 ? strtoul(argv[3], NULL, 10) * SECOND : 0;
	started = calloc(connections, sizeof(*started));
	if (!connections || !timeout || !started)
		errx(2, "%s connections of %s s", argv[1], argv[2]);
	namespace();
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		err(1, "raw socket");
	service(fd);
	if (spread) {
		refresh = send_evenly(fd, spread, &create);
	} else {
		create = send_all(fd);
		refresh = send_all(fd);
	}
	watch(connections_left);
	printf("connections=%u create_ns=%llu refresh_ns=%llu ",
	       connections, create / connections, refresh / connections);
	report();
	return 0;
}
