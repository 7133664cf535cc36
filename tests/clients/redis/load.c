// SPDX-License-Identifier: GPL-2.0
/*
 * load.c - keys with a TTL in Redis, and the times at which the server reports their expiry
 *
 * usage: load NAME=VALUE...
 *
 *   late_us=N			end with status 1 if a key expires later than that
 *   seconds=60			length of the run
 *   keys=N			keys whose TTLs are spread over the run
 *   sessions=N ttl_ms=5000	keys that are refreshed twice within their TTL. One of a hundred
 *				falls silent within the first third of the run
 *   cases=1			a key for each way to get a TTL
 *   fill=N			other keys, which live for long, so that the server's samples
 *				hardly find the keys above
 *   then=COMMAND		command to send when the keys of cases=1 are set
 *
 * The server must have "notify-keyspace-events Ex". Prints lines of a name and a value.
 * The status is 1 if a key expires before its time or, with late_us, not at all.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

#include "../load.h"

#define PORT		6379
#define REPLIES_AWAITED	256
#define CASE_MS		700
#define NR_WAYS		25

static unsigned long late_us = ~0UL, seconds = 60, keys, sessions,
		     ttl_ms = 5000, cases, fill;
static const char *then;

static FILE *commands, *replies;
static int events;
static unsigned int awaited;

static u64 *session_ms;		/* deadline of each session */
static u64 *lateness;
static unsigned int nr_late, nr_due, nr_early, nr_unknown;

static u64 wall_ms(void)
{
	return clock_ns(CLOCK_REALTIME) / MS;
}

/* ----- the server ----- */

static void take_replies(void)
{
	char line[256] = "";

	fflush(commands);
	for (; awaited; awaited--) {
		if (!fgets(line, sizeof(line), replies))
			errx(1, "the server has gone");
		if (*line == '-')
			errx(1, "the server says %s", line);
	}
}

/* Send an inline command, whose reply is one line. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(commands, format, arguments);
	va_end(arguments);
	fputs("\r\n", commands);
	if (++awaited == REPLIES_AWAITED)
		take_replies();
}

static void connect_both(void)
{
	static const char subscribe[] = "PSUBSCRIBE __keyevent@*__:expired\r\n";
	int fd = reach(PORT);
	char answer[256];

	commands = fdopen(fd, "w");
	replies = fdopen(dup(fd), "r");
	events = reach(PORT);
	if (write(events, subscribe, sizeof(subscribe) - 1) < 0 ||
	    read(events, answer, sizeof(answer)) <= 0)
		err(1, "subscribe");
}

/* ----- what has expired ----- */

/* Judge an expiry. A key's name ends in "@" and its deadline, a session is "s:" and a number. */
static void expired(const char *name)
{
	u64 now = clock_ns(CLOCK_REALTIME), due;
	const char *at = strchr(name, '@');

	if (at) {
		due = strtoull(at + 1, NULL, 10);
	} else if (!strncmp(name, "s:", 2)) {
		due = session_ms[strtoul(name + 2, NULL, 10)];
	} else {
		nr_unknown++;
		return;
	}
	if (now <= due * MS)
		nr_early++;
	else
		lateness[nr_late++] = now - due * MS;
	if (cases && at)
		printf("%.*s_us %llu\n", (int)(at - name), name, (now - due * MS) / 1000);
}

/* Read the messages about expired keys. A message has nine lines, and the last line is the key. */
static void take_events(void)
{
	static char buffer[65536];
	static unsigned int used, line;
	char *begin = buffer, *end;
	ssize_t got = recv(events, buffer + used, sizeof(buffer) - used, MSG_DONTWAIT);

	if (!got)
		errx(1, "the server has gone");
	if (got > 0)
		used += got;
	while ((end = memchr(begin, '\n', used - (begin - buffer)))) {
		end[-1] = '\0';
		if (++line == 9) {
			expired(begin);
			line = 0;
		}
		begin = end + 1;
	}
	used -= begin - buffer;
	memmove(buffer, begin, used);
}

static void take_events_until(u64 ms)
{
	struct pollfd pollfd = { .fd = events, .events = POLLIN };
	u64 now;

	while ((now = wall_ms()) < ms) {
		if (poll(&pollfd, 1, ms - now) > 0)
			take_events();
	}
}

/* ----- keys whose TTLs are spread ----- */

static u64 first_ms;

static u64 due_of(unsigned long i)
{
	return first_ms + seconds * 1000 * i / keys;
}

/* Set all keys. The first key is due 2 s after the time that this takes: 10 ms for 100 keys. */
static void set_keys(void)
{
	unsigned long i;

	first_ms = wall_ms() + 2000 + keys / 10;
	for (i = 0; i < keys; i++)
		say("SET k%lu@%llu value PXAT %llu", i, due_of(i), due_of(i));
	take_replies();
	nr_due += keys;
}

/* Take the events of all keys, with time for a stock server to find the last key. */
static void run_keys(void)
{
	unsigned int nr;

	set_keys();
	take_events_until(first_ms);
	nr = nr_late;
	take_events_until(first_ms + seconds * 1000);
	printf("expired_in_time %u\n", nr_late - nr);
	take_events_until(wall_ms() + 30000);
}

/* ----- sessions ----- */

static bool is_silent(unsigned long i)
{
	return i % 100 == 50;
}

static void run_sessions(void)
{
	unsigned long i, turn = 0;
	u64 begin, now;

	session_ms = calloc(sessions, sizeof(*session_ms));
	for (i = 0; i < sessions; i++) {
		session_ms[i] = wall_ms() + ttl_ms;
		say("SET s:%lu value PXAT %llu", i, session_ms[i]);
	}
	take_replies();
	begin = wall_ms();
	while ((now = wall_ms()) < begin + seconds * 1000) {
		for (; turn < (now - begin) * sessions * 2 / ttl_ms; turn++) {
			i = turn % sessions;
			if (is_silent(i) && (now - begin) * 3 > seconds * 1000 * i / sessions)
				continue;
			session_ms[i] = now + ttl_ms;
			say("PEXPIREAT s:%lu %llu", i, session_ms[i]);
		}
		take_replies();
		take_events_until(now + 10);
	}
	for (i = 0; i < sessions; i++)
		nr_due += session_ms[i] < now;
	printf("sessions_expired %u\n", nr_late);
}

/* ----- all ways to get a TTL ----- */

#define RESTORE	"redis.call('restore',KEYS[2],ARGV[1],redis.call('dump',KEYS[1]),'ABSTTL')"

/* Names and commands of the ways. % stands for a key in database 0, and # for its deadline. */
static const char * const ways[NR_WAYS][2] = {
	{ "set", "SET % v PXAT #" },
	{ "setex", "SETEX % 100 v\nPEXPIREAT % #" },
	{ "later", "SET % v PX 50\nPEXPIREAT % #" },
	{ "later_twice", "SET % v PX 50\nPEXPIRE % 60\nPEXPIREAT % #" },
	{ "sooner", "SET % v EX 100\nPEXPIREAT % #" },
	{ "later_and_sooner", "SET % v PX 50\nEXPIRE % 100\nPEXPIREAT % #" },
	{ "overwritten", "SET % v PX 50\nSET % w PXAT #" },
	{ "overwritten_sooner", "SET % v EX 100\nSET % w PXAT #" },
	{ "keepttl", "SET % v PXAT #\nSET % w KEEPTTL" },
	{ "persisted", "SET % v PX 50\nPERSIST %\nPEXPIREAT % #" },
	{ "deleted", "SET % v PX 50\nDEL %\nSET % v PXAT #" },
	{ "unlinked", "SET % v EX 100\nUNLINK %\nSET % v PXAT #" },
	{ "getex", "SET % v\nEVAL \"redis.call('getex',KEYS[1],'pxat',ARGV[1])\" 1 % #" },
	{ "renamed", "SET y v PXAT #\nRENAME y %" },
	{ "renamed_onto", "SET % w PX 50\nSET y v PXAT #\nRENAME y %" },
	{ "copied", "SET y v PXAT #\nCOPY y %\nDEL y" },
	{ "copied_onto", "SET % w PX 50\nSET y v PXAT #\nCOPY y % REPLACE\nDEL y" },
	{ "restored", "SET y v\nEVAL \"" RESTORE "\" 2 y % #\nDEL y" },
	{ "moved", "SELECT 1\nSET % v PXAT #\nMOVE % 0\nSELECT 0" },
	{ "swapped", "SELECT 1\nSET % v PXAT #\nSELECT 0\nSWAPDB 0 1" },
	{ "hash", "HSET % f v\nPEXPIREAT % #" },
	{ "freed_in_a_thread", "HSET % f v\nPEXPIREAT % #\nCONFIG SET lazyfree-lazy-expire yes" },
	{ "never_persisted", "SET never v PX 50\nPERSIST never" },
	{ "never_set", "SET never2 v PX 50\nSET never2 w" },
	{ "never_deleted", "SET never3 v PX 50\nDEL never3" },
};

static void say_way(const char *name, const char *lines, u64 due)
{
	char *line, *copy = strdup(lines), *rest;

	for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		for (; *line; line++) {
			if (*line == '%')
				fprintf(commands, "%s@%llu", name, due);
			else if (*line == '#')
				fprintf(commands, "%llu", due);
			else
				fputc(*line, commands);
		}
		say("%s", "");
		take_replies();
	}
	free(copy);
}

static void run_cases(void)
{
	unsigned long i;
	u64 due = wall_ms() + CASE_MS;

	for (i = 0; i < NR_WAYS; i++) {
		due += 3;
		nr_due += !!strncmp(ways[i][0], "never", 5);
		say_way(ways[i][0], ways[i][1], due);
	}
	if (then) {
		say("%s", then);
		take_replies();
	}
	if (wall_ms() > due - NR_WAYS * 3)
		errx(1, "the server takes longer than %u ms", CASE_MS);
	take_events_until(due + 3000);
}

/* ----- the report ----- */

static bool report(void)
{
	unsigned int missed = nr_due > nr_late + nr_early ? nr_due - nr_late - nr_early : 0;

	printf("due %u\nexpired %u\nearly %u\nmissed %u\nunknown %u\n", nr_due, nr_late, nr_early,
	       missed, nr_unknown);
	print_times("late", lateness, nr_late);
	return !nr_early && !nr_unknown && (!missed || late_us == ~0UL) &&
	       (!nr_late || lateness[nr_late - 1] <= late_us * US);
}

int main(int argc, char **argv)
{
	static const struct argument known[] = {
		{ "late_us", &late_us, NULL },
		{ "seconds", &seconds, NULL }, { "keys", &keys, NULL },
		{ "sessions", &sessions, NULL }, { "ttl_ms", &ttl_ms, NULL },
		{ "cases", &cases, NULL }, { "fill", &fill, NULL }, { "then", NULL, &then },
		{ NULL, NULL, NULL },
	};
	unsigned long i;

	take_arguments(argc, argv, known);
	lateness = calloc(keys + sessions + 1000, sizeof(*lateness));
	connect_both();
	for (i = 0; i < fill; i++)
		say("SET f%lu value EX 100000", i);
	take_replies();
	if (keys)
		run_keys();
	if (sessions)
		run_sessions();
	if (cases)
		run_cases();
	return report() ? 0 : 1;
}
