// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_timer: the part in the kernel, see bpf_timer.c
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf_timer.h"
#include "../compared/trace.h"

#define CLOCK_MONOTONIC	1
/* Newer than Debian's headers. */
#ifndef BPF_F_TIMER_ABS
#define BPF_F_TIMER_ABS	1
#endif

struct connection {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);		/* as many as there are connections */
	__type(key, __u32);
	__type(value, struct connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} expired SEC(".maps");

struct bpf_request requests[BPF_REQUESTS];

static int expire(void *map, __u32 *nr, struct connection *connection)
{
	bpf_ringbuf_output(&expired, nr, sizeof(*nr), 0);
	return 0;
}

static long operate(__u32 i, __u32 *failed)
{
	struct bpf_request *request = &requests[i % BPF_REQUESTS];
	struct connection *connection = bpf_map_lookup_elem(&connections, &request->connection);

	if (!connection)
		return 1;
	if (request->op == TRACE_CLOSE) {
		*failed |= bpf_timer_cancel(&connection->timer) < 0;
		return 0;
	}
	if (request->op == TRACE_OPEN) {
		*failed |= bpf_timer_init(&connection->timer, &connections, CLOCK_MONOTONIC) ||
			   bpf_timer_set_callback(&connection->timer, expire);
	}
	*failed |= !!bpf_timer_start(&connection->timer, request->deadline_ns, BPF_F_TIMER_ABS);
	return 0;
}

SEC("syscall")
int carry_out(__u32 *nr)
{
	__u32 failed = 0;

	if (bpf_loop(*nr, operate, &failed, 0) != *nr)
		return 1;
	return failed;
}

char _license[] SEC("license") = "GPL";
