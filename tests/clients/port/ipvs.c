// SPDX-License-Identifier: GPL-2.0
/*
 * ipvs CONNECTIONS SECONDS [SPREAD]: a UDP service of IPVS in a network namespace of its own,
 * as many connections, each with a timeout of SECONDS, and then silence.
 *
 * Each connection receives a packet that creates it, in a second round a packet that
 * refreshes its timer, and no other. With SPREAD there is one round, which takes as many
 * seconds, evenly, and in which each connection receives both packets. A raw socket sends
 * them, so that the source needs no address and no socket. The packets are sent to a socket
 * that is never read.
 *
 * Connections expire in the order of their refreshes. So the number of remaining connections
 * says which expired, and how late. At the same time the program wants to run every
 * 100 us, before all other tasks. The longest time for which it cannot is the longest
 * stall: no task can cause that, and timers can.
 *
 * It watches until the latest time at which a timer_list expires, whatever has expired before,
 * so that the time for which CPUs were busy is that of the same work in each kernel.
 */

#include <arpa/inet.h>
#include <err.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ip_vs.h>

#include "../../api/selftests/user.h"

#define LOCALHOST	htonl(INADDR_LOOPBACK)
#define VIRTUAL_PORT	htons(80)
#define REAL_PORT	htons(9)
/* Of one source address. */
#define PORTS		50000
/* A timer_list counts from the jiffy before. */
#define BEFORE		(50 * MS)
/* How often the program runs, and how often it counts the connections. */
#define PERIOD		(100 * US)
#define COUNT_EVERY	MS
/* A timer_list is late by an eighth of its distance at most. */
#define LATE(timeout)	((timeout) / 8 + SECOND)

static unsigned int connections;
static __u64 timeout;
/* When each connection was about to be refreshed. */
static __u64 *refreshed;

static void sleep_until(__u64 ns)
{
	struct timespec ts = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

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
		refreshed[n] = now_ns();
		send_packet(fd, n);
	}
	return now_ns() - begin;
}

/* Send both packets to each connection, evenly over the time. Returns what the second ones took. */
static __u64 send_evenly(int fd, __u64 time, __u64 *create)
{
	__u64 begin = now_ns(), took = 0;
	unsigned int n;

	for (n = 0; n < connections; n++) {
		sleep_until(begin + time / connections * n);
		*create -= now_ns();
		send_packet(fd, n);
		refreshed[n] = now_ns();
		*create += refreshed[n];
		send_packet(fd, n);
		took += now_ns() - refreshed[n];
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

/* Returns the time for which CPUs had nothing to do since the boot, of all CPUs. */
static __u64 idle_ns(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	__u64 sum = 0;
	char line[256];
	long long ns;

	if (!f)
		err(1, "/proc/timer_list");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " .idle_sleeptime : %lld", &ns) == 1)
			sum += ns;
	}
	fclose(f);
	return sum;
}

static struct {
	unsigned int left;
	__s64 stall, earliest, median, latest;
	__u64 watched, idle;
} seen;

static void note_stall(__s64 ns)
{
	if (ns > seen.stall)
		seen.stall = ns;
}

static void note_expired(unsigned int n, __u64 now)
{
	__s64 late = now - refreshed[n] - timeout;

	if (n == 0 || late < seen.earliest)
		seen.earliest = late;
	if (n == connections / 2)
		seen.median = late;
	if (late > seen.latest)
		seen.latest = late;
}

static void watch(void)
{
	__u64 end = refreshed[connections - 1] + timeout + LATE(timeout);
	__u64 now, wanted, counted;
	unsigned int expired = 0;

	sleep_until(refreshed[0] + timeout - BEFORE);
	seen.idle = idle_ns();
	seen.watched = counted = now = now_ns();
	while (now < end) {
		wanted = now + PERIOD;
		sleep_until(wanted);
		now = now_ns();
		note_stall(now - wanted);
		wanted = now;
		if (now - counted >= COUNT_EVERY) {
			seen.left = connections_left();
			counted = now;
		}
		now = now_ns();
		note_stall(now - wanted);
		while (expired < connections - seen.left)
			note_expired(expired++, now);
	}
	seen.watched = now_ns() - seen.watched;
	seen.idle = idle_ns() - seen.idle;
}

int main(int argc, char **argv)
{
	struct sched_param first = {.sched_priority = 50};
	__u64 create = 0, refresh, spread;
	int fd;

	if (argc != 3 && argc != 4)
		errx(2, "usage: ipvs CONNECTIONS SECONDS [SPREAD]");
	connections = strtoul(argv[1], NULL, 10);
	timeout = strtoul(argv[2], NULL, 10) * SECOND;
	spread = argc == 4 ? strtoul(argv[3], NULL, 10) * SECOND : 0;
	refreshed = calloc(connections, sizeof(*refreshed));
	if (!connections || !timeout || !refreshed)
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
	if (refreshed[connections - 1] >= refreshed[0] + timeout)
		errx(1, "the first has expired before the last was refreshed");
	seen.left = connections_left();
	if (seen.left != connections)
		errx(1, "%u connections instead of %u", seen.left, connections);

	/* Its sleeps are not stretched, either. */
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "SCHED_FIFO");
	watch();
	printf("connections=%u left=%u create_ns=%llu refresh_ns=%llu ",
	       connections, seen.left, create / connections, refresh / connections);
	printf("stall_us=%lld earliest_us=%lld median_us=%lld latest_us=%lld ",
	       seen.stall / 1000, seen.earliest / 1000, seen.median / 1000,
	       seen.latest / 1000);
	printf("watched_us=%llu idle_us=%llu\n", seen.watched / 1000, seen.idle / 1000);
	return 0;
}
