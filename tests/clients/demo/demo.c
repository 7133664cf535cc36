// SPDX-License-Identifier: GPL-2.0
/*
 * demo.c - runs the server and its client and says what happened
 *
 * usage: demo [CONNECTIONS [SECONDS [TIMEOUT_MS]]]
 *
 * Without a number of CONNECTIONS, or with 0, the client finds one that the machine
 * carries. The verdict is the first line. With HEARTBEAT=socket in the environment it is
 * the server whose timers know themselves when a socket is idle, and else that which
 * stores deadlines.
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
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS	"0"
#define SECONDS		"9"
#define TIMEOUT_MS	"2000"
#define MAX_VALUES	64
#define TOO_SLOW	4

typedef unsigned long long u64;

static struct {
	char name[32];
	u64 number;
} values[MAX_VALUES];
static unsigned int nr_values;
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

/* Lines of "name value". */
static void take_lines(FILE *file)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (nr_values < MAX_VALUES &&
		    sscanf(line, "%31s %llu", values[nr_values].name,
			   &values[nr_values].number) == 2)
			nr_values++;
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

/* Each connection stores its first deadline as well. */
static u64 refreshes(void)
{
	return value("stores") - value("opened");
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

int main(int argc, char **argv)
{
	const char *connections = argc > 1 ? argv[1] : CONNECTIONS;
	const char *seconds = argc > 2 ? argv[2] : SECONDS;
	const char *timeout_ms = argc > 3 ? argv[3] : TIMEOUT_MS;
	const char *heartbeat = getenv("HEARTBEAT");
	struct arguments arguments;
	struct child server, client;
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
	end_child(&server);
	kept = promises_kept();
	late = too_late();
	print_verdict(kept, timeout_ms);
	if (late)
		print_slow(late, timeout_ms);
	if (!kept)
		return 1;
	return late ? TOO_SLOW : 0;
}
