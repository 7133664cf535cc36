// SPDX-License-Identifier: GPL-2.0
/* heartbeat: idle timeouts of three connections, refreshed by stores. */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/twheel.h>

#define CONNECTIONS	3
#define TIMEOUT_NS	200000000ULL
#define HEARTBEATS	10

static __u64 *words;		/* a deadline for each connection */
static unsigned int idle, closed;
static int wheel;

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Store a word at once: a 32-bit program must not store its halves separately. */
static void store(unsigned int id, __u64 word)
{
	__atomic_store_n(&words[id], word, __ATOMIC_RELAXED);
}

static __u64 load(unsigned int id)
{
	return __atomic_load_n(&words[id], __ATOMIC_RELAXED);
}

static void start(unsigned int id, __u64 deadline)
{
	struct twheel_start start = {
		.id = id,
		.expires_ns = deadline,
		.flags = TWHEEL_START_ABS,
	};

	if (ioctl(wheel, TWHEEL_IOC_START, &start) < 0)
		err(1, "TWHEEL_IOC_START");
}

/* Store first: the word may contain the deadline of an earlier connection. */
static void opened(unsigned int id)
{
	__u64 deadline = now_ns() + TIMEOUT_NS;

	store(id, deadline);
	start(id, deadline);
}

static void heartbeat(unsigned int id)
{
	store(id, now_ns() + TIMEOUT_NS);
}

static void peer_closed(unsigned int id)
{
	store(id, TWHEEL_WORD_STOP);
	closed++;
}

/* Count an idle connection, unless it stored a deadline after the timer expired. */
static void expired(const struct twheel_event *event)
{
	__u64 word = load(event->id);

	if (word == TWHEEL_WORD_STOP)
		return;
	if (word > event->expired_ns)
		start(event->id, word);
	else
		idle++;
}

static void read_events(void)
{
	struct twheel_event events[CONNECTIONS];
	ssize_t got = read(wheel, events, sizeof(events));
	ssize_t i;

	for (i = 0; i < got / (ssize_t)sizeof(events[0]); i++)
		expired(&events[i]);
}

int main(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };
	unsigned int id, beats = 0;

	wheel = open("/dev/twheel", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (wheel < 0 || ioctl(wheel, TWHEEL_IOC_SETUP, &setup))
		err(1, "/dev/twheel");
	words = mmap(NULL, CONNECTIONS * sizeof(words[0]),
		     PROT_READ | PROT_WRITE, MAP_SHARED, wheel, 0);
	if (words == MAP_FAILED)
		err(1, "mmap");
	for (id = 0; id < CONNECTIONS; id++)
		opened(id);
	peer_closed(2);
	while (idle < 2) {
		struct pollfd pollfd = { .fd = wheel, .events = POLLIN };

		if (beats < HEARTBEATS) {
			heartbeat(0);
			beats++;
		}
		poll(&pollfd, 1, 20);
		read_events();
	}
	printf("%u heartbeats, %u idle, %u closed\n", beats, idle, closed);
	return 0;
}
