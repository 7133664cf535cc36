// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_timer, in a BPF program that a program calls once a step
 *
 * Documents: bpf-helpers(7): bpf_timer_init() and bpf_timer_set_callback() once for each timer,
 * which is in a map, bpf_timer_start() for start and refresh, bpf_timer_cancel(); bpf_loop(), and
 * bpf_ringbuf_output() for what has expired. BPF_PROG_TYPE_SYSCALL runs by BPF_PROG_TEST_RUN.
 * Timers are hrtimers that expire in a softirq.
 */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../compared/replay.h"
#include "../compared/trace.h"
#include "bpf_timer.h"
#include "bpf_timer.skel.h"

static struct bpf_timer_bpf *bpf;
static struct ring_buffer *ring;
static uint32_t nr;

static int note_expired(void *unused, void *data, size_t size)
{
	(void)unused;
	(void)size;
	replay_expired(*(uint32_t *)data);
	return 0;
}

static void open_program(unsigned int connections)
{
	bpf = bpf_timer_bpf__open();
	if (!bpf || bpf_map__set_max_entries(bpf->maps.connections, connections) ||
	    bpf_timer_bpf__load(bpf))
		fail("the BPF program");
	ring = ring_buffer__new(bpf_map__fd(bpf->maps.expired), note_expired, NULL, NULL);
	if (!ring)
		fail("ring_buffer__new");
}

static void flush(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &nr, .ctx_size_in = sizeof(nr));

	if (!nr)
		return;
	if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.carry_out), &options))
		fail("bpf_prog_test_run_opts");
	errno = EINVAL;
	if (options.retval)
		fail("an operation");
	nr = 0;
}

static void request(enum trace_op op, unsigned int connection, uint64_t deadline_ns)
{
	bpf->bss->requests[nr++] = (struct bpf_request) { deadline_ns, connection, op };
	if (nr == BPF_REQUESTS)
		flush();
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	request(TRACE_OPEN, connection, deadline_ns);
}

static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	request(TRACE_BEAT, connection, deadline_ns);
}

static void stop(unsigned int connection)
{
	request(TRACE_CLOSE, connection, 0);
}

static void take(void)
{
	if (ring_buffer__consume(ring) < 0)
		fail("ring_buffer__consume");
}

static void loop(void)
{
	replay_by_epoll(ring_buffer__epoll_fd(ring), take);
}

const struct adapter adapter = {
	.open		= open_program,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.flush		= flush,
	.loop		= loop,
};
