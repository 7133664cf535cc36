// SPDX-License-Identifier: GPL-2.0
/*
 * demo.c - runs the server and its client and says what happened
 *
 * usage: demo [CONNECTIONS [SECONDS [TIMEOUT_MS]]]
 *
 * Without a number of CONNECTIONS, or with 0, the client finds one that the machine
 * carries. The verdict is the first line; with VERBOSE=1 in the environment all that
 * is known follows. With HEARTBEAT=socket there it is the server whose timers know
 * themselves when a socket is idle, and else that which stores deadlines.
 *
 * Ends with status 0 only if all promises were kept: no connection closed
 * before its time, none missed, none forgotten. On a machine that is too slow
 * for so many connections it says that, and ends with TOO_SLOW.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <linux/twheel.h>
#include <unistd.h>

#define CONNECTIONS	"0"
#define SECONDS		"9"
#define TIMEOUT_MS	"2000"
#define MAX_VALUES	64
#define MAX_SECONDS	256
#define TOO_SLOW	4

typedef unsigned long long u64;

static struct {
	char name[32];
	u64 number;
} values[MAX_VALUES];
static unsigned int nr_values;
static unsigned int progress[MAX_SECONDS][6], nr_seconds;
static bool by_socket;

static u64 value(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_values; i++) {
		if (!strcmp(values[i].name, name))
			return values[i].number;
	}
	errx(1, "no %s: the server or the client has failed", name);
}

/* Lines of "name value", and lines of "progress". */
static void take_line(const char *line)
{
	unsigned int at[6];

	if (sscanf(line, "progress %u %u %u %u %u %u", &at[0], &at[1], &at[2],
		   &at[3], &at[4], &at[5]) == 6) {
		if (nr_seconds < MAX_SECONDS)
			memcpy(progress[nr_seconds++], at, sizeof(at));
		return;
	}
	if (nr_values < MAX_VALUES &&
	    sscanf(line, "%31s %llu", values[nr_values].name,
		   &values[nr_values].number) == 2)
		nr_values++;
}

static void take_lines(FILE *file)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		take_line(line);
}

/* A program of this directory, with pipes to its input and from its output. */
struct child {
	pid_t pid;
	int input;
	FILE *output;
};

struct arguments {
	const char *a, *b, *c, *d;
};

static void exec_child(int input, int output, const char *name,
		       const struct arguments *arguments)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 32];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(1, "/proc/self/exe");
	snprintf(path, sizeof(path), "%s/%s", dirname(self), name);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	execl(path, name, arguments->a, arguments->b, arguments->c,
	      arguments->d, NULL);
	err(1, "%s", path);
}

static struct child run_child(const char *name,
			      const struct arguments *arguments)
{
	int input[2], output[2];
	struct child child;

	if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC))
		err(1, "pipe");
	child.pid = fork();
	if (!child.pid)
		exec_child(input[0], output[1], name, arguments);
	if (child.pid < 0)
		err(1, "fork");
	close(input[0]);
	close(output[1]);
	child.input = input[1];
	child.output = fdopen(output[0], "r");
	return child;
}

static void end_child(struct child *child)
{
	int status;

	close(child->input);
	take_lines(child->output);
	if (waitpid(child->pid, &status, 0) != child->pid || status)
		errx(1, "the server or the client has failed");
}

static struct child run_server(const char *timeout_ms, char *port)
{
	struct arguments arguments = { .a = "0", .b = timeout_ms };
	struct child server = run_child(by_socket ? "server_socket" : "server",
					&arguments);

	if (fscanf(server.output, "port %15s", port) != 1)
		errx(1, "the server does not listen");
	return server;
}

static void print_wheel(void)
{
	static const char * const schemes[] = {
		"hierarchical wheel", "hashed wheel",
	};
	static const char * const modes[] = { "periodic", "tickless" };
	int fd = value("in_process") ? -1 : open("/dev/twheel", O_RDWR);
	struct twheel_info info;

	if (value("in_process")) {
		printf("The wheel: in the server's process\n\n");
		return;
	}
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_INFO, &info))
		err(1, "/dev/twheel");
	close(fd);
	printf("The wheel: %s, %s, tick %llu us", schemes[info.scheme % 2],
	       modes[info.mode % 2], info.tick_ns / 1000);
	if (info.slots)
		printf(", %u slots", info.slots);
	printf("\n\n");
}

static void print_progress(void)
{
	const unsigned int *at;
	unsigned int i;

	printf("    time     open   heartbeats       silent    closed by    closed by\n");
	printf("                          sent       so far       server    themselves\n");
	for (i = 0; i < nr_seconds; i++) {
		at = progress[i];
		printf("  %4u s %8u %12u %12u %12u %12u\n", at[0], at[1],
		       at[2], at[3], at[4], at[5]);
	}
	printf("\n");
}

static void print_number(const char *name, u64 number, const char *remark)
{
	printf("  %-22s %9llu   %s\n", name, number, remark);
}

static void print_late(const char *name, const char *key, const char *remark)
{
	double tick = value("tick_ns");
	char p50[32], p99[32], max[32];

	snprintf(p50, sizeof(p50), "%s_p50_ns", key);
	snprintf(p99, sizeof(p99), "%s_p99_ns", key);
	snprintf(max, sizeof(max), "%s_max_ns", key);
	printf("  %-22s %9.2f %9.2f %9.2f   %s\n", name, value(p50) / tick,
	       value(p99) / tick, value(max) / tick, remark);
}

/* Each connection stores its first deadline as well. */
static u64 refreshes(void)
{
	return value("stores") - value("opened");
}

static void print_lateness(void)
{
	printf("\nHow late, in ticks            p50       p99       max\n");
	print_late("expired", "expiry", "after the deadline");
	print_late("delivered", "delivery", "in the server's hands");
}

static void print_refreshes(void)
{
	double seconds = value("c_ns") / 1e9;

	print_number("refreshes", refreshes(),
		     "stores into memory, without a system call");
	print_number("  per second", refreshes() / seconds,
		     "as many as the clients asked for");
	print_number("  ns each", value("ns_per_store"),
		     "most of it for a look at the clock");
}

/* A server with timers of sockets sees an end of file in any case. */
static u64 timed_out(void)
{
	return value(by_socket ? "c_closed_by_server" : "closed_by_timeout");
}

static u64 closed_by_peer(void)
{
	return value("closed_by_peer") - (by_socket ? timed_out() : 0);
}

static void print_report(void)
{
	printf("What the server saw\n");
	print_number("opened", value("opened"), "");
	print_number("heartbeats", value("heartbeats"), by_socket ?
		     "for which nothing was done" :
		     "each pushed its timer back with one store");
	print_number("closed by timeout", timed_out(), "");
	print_number("closed by peer", closed_by_peer(), "");
	printf("\nWhat was promised\n");
	if (!by_socket)
		print_number("early", value("early"),
			     "closed before the timeout was over, by the server's clock");
	print_number("wrongly closed", value("c_wrong"),
		     "closed though it had spoken, by the client's clock");
	print_number("missed", value("c_missed"), "silent, but not closed");
	if (!by_socket)
		print_lateness();
	printf("\nWhat the timers cost\n");
	if (!by_socket)
		print_refreshes();
	print_number("system calls", by_socket ? value("starts") :
		     value("started") + value("stopped"), by_socket ?
		     "START for each connection" :
		     "START for a new or a late one, STOP for one that closes");
	print_number("carried on", value("carried"), by_socket ?
		     "by the kernel, when the socket had received something" :
		     "by the kernel, when it found a later deadline stored");
	printf("\n");
}

static bool expect(bool kept, const char *what)
{
	if (!kept)
		printf("BROKEN: %s\n", what);
	return kept;
}

static bool promises_kept(void)
{
	u64 connections = value("c_opened");
	u64 timeouts = timed_out();
	bool kept = true;

	kept &= expect(!value("early"), "a timer was early");
	kept &= expect(!value("c_wrong"), "a talking client was closed");
	kept &= expect(!value("c_missed"), "a silent client was not closed");
	kept &= expect(by_socket || !value("events_left"), "a timer is left");
	kept &= expect(value("opened") == connections,
		       "the server has not seen each connection");
	kept &= expect(closed_by_peer() + timeouts == connections,
		       "not every connection was closed");
	kept &= expect(timeouts >= value("c_closed_by_server"),
		       "more were closed than timed out");
	kept &= expect(value("starts") == value("started") + value("restarted") &&
		       (by_socket ? value("starts") == connections : !value("restarted")),
		       "a heartbeat took a system call");
	kept &= expect(value("carried"), "no timer was carried on");
	return kept;
}

/*
 * Connections that the machine was too slow for. To the server they were
 * silent, and it was right to close them; but that is not what the client had
 * in mind. Either it found them closed, or closed them itself meanwhile.
 */
static u64 too_late(void)
{
	return value("c_late") + value("c_wanted") - value("c_opened") +
	       timed_out() - value("c_closed_by_server");
}

static void print_verdict(bool kept, const char *timeout_ms)
{
	printf("demo: %s: %llu early, %llu missed, ", kept ? "PASS" : "FAIL",
	       value("early") + value("c_wrong"), value("c_missed"));
	if (by_socket)
		printf("nothing done for %llu heartbeats, one descriptor\n",
		       value("heartbeats"));
	else
		printf("%llu stores instead of system calls, one descriptor\n",
		       refreshes());
	printf("  %llu connections, each with an idle timeout of %s ms in %s;\n"
	       "  %llu were silent for so long and were closed, %llu closed themselves\n",
	       value("c_opened"), timeout_ms,
	       value("in_process") ? "the server's process" : "/dev/twheel",
	       timed_out(), closed_by_peer());
}

static void print_slow(u64 late, const char *timeout_ms)
{
	printf("  %llu of them could not be opened, or got nothing to the server for %s ms\n"
	       "  though they had something to say: this machine is slow, or has other work.\n"
	       "  The server was right to close these. CONNECTIONS=%llu may be few enough\n",
	       late, timeout_ms, value("c_wanted") / 4 + 1);
}

/*
 * The kernel's lines when the server has dealt with all that the client has
 * left, and still runs; to be printed later.
 */
static void read_proc(char *text, size_t size)
{
	int patience = 50;
	FILE *file;

	do {
		usleep(100000);
		file = fopen("/proc/twheel", "r");
		if (!file)
			return;
		text[fread(text, 1, size - 1, file)] = '\0';
		fclose(file);
	} while (!strstr(text, "\npending 0\n") && patience--);
}

static void print_proc(char *text)
{
	char *line;

	if (value("in_process"))
		return;
	printf("/proc/twheel, just before the server ended\n");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("  %s\n", line);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *connections = argc > 1 ? argv[1] : CONNECTIONS;
	const char *seconds = argc > 2 ? argv[2] : SECONDS;
	const char *timeout_ms = argc > 3 ? argv[3] : TIMEOUT_MS;
	const char *verbose = getenv("VERBOSE");
	const char *heartbeat = getenv("HEARTBEAT");
	struct arguments arguments;
	struct child server, client;
	static char proc[65536];
	char port[16];
	bool kept;
	u64 late;

	by_socket = heartbeat && !strcmp(heartbeat, "socket");
	if (heartbeat && *heartbeat && !by_socket && strcmp(heartbeat, "word"))
		errx(2, "HEARTBEAT is word or socket");
	server = run_server(timeout_ms, port);
	arguments = (struct arguments){ port, connections, seconds, timeout_ms };
	client = run_child("client", &arguments);
	end_child(&client);
	read_proc(proc, sizeof(proc));
	end_child(&server);
	kept = promises_kept();
	late = too_late();
	print_verdict(kept, timeout_ms);
	if (late)
		print_slow(late, timeout_ms);
	if (verbose && *verbose) {
		printf("\n");
		print_wheel();
		print_progress();
		print_report();
		print_proc(proc);
	}
	if (!kept)
		return 1;
	return late ? TOO_SLOW : 0;
}
