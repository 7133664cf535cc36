# SPDX-License-Identifier: GPL-2.0
#
# How user.csv meets the goals, in instructions with 100,000 timers pending
#
# Like is compared with like: arming with arming by timerfd_settime(). In
# brackets is the same against a refresh, timerfd_settime() of a random pending
# timer. MISS is an answer, not an error.

function mark(ok) {
	if (!ok)
		missed++
	return ok ? "PASS" : "MISS"
}

function result(what, figure, limit, more) {
	if (figure == "")
		printf "  %-52s %8s\n", what, "not measured"
	else
		printf "  %-52s %8.3f <= %-6s %s   %s\n", what, figure, limit, mark(figure <= limit + 0), more
}

function of(impl, op, dist, batch, size) {
	return value["icount", impl, op, dist, batch, size]
}

function ratio(a, b) {
	return a == "" || b == "" ? "" : a / b
}

function against_settime(op, batch, limit,   mine, theirs) {
	mine = of("twheel", op, "uniform", batch, N)
	theirs = of("timerfd", op, "uniform", 1, N)
	result((batch == 1 ? "single " : "batches of " batch ", ") op " / timerfd_settime", ratio(mine, theirs), limit,
	       sprintf("%.0f / %.0f  [%.3f]", mine, theirs, ratio(mine, of("timerfd", "refresh", "uniform", 1, N))))
}

function collecting(batch, limit, what,   mine, theirs) {
	mine = of("twheel", "expire", "collect", 256, N)
	theirs = of("timerfd", "expire", "collect", batch, N)
	result("an expiry, reads of 256 / " what, ratio(mine, theirs), limit, sprintf("%.0f / %.0f", mine, theirs))
}

function flat(op, batch, limit,   key, k, v, least, most) {
	for (key in value) {
		split(key, k, SUBSEP)
		if (k[1] != "icount" || k[2] != "twheel" || k[3] != op || k[5] != batch)
			continue
		v = value[key]
		if (least == "" || v < least)
			least = v
		if (v > most)
			most = v
		if (k[6] > largest)
			largest = k[6]
	}
	result(op " in batches of " batch ", 1,000 to " largest " timers", ratio(most, least), limit, sprintf("%.1f to %.1f", least, most))
}

# The session in the process beside libevent, which is a call in the process, too. A
# program reads many events at once; a round of libevent's has all that are due.
function in_process(impl, op, dist, what,   mine, theirs) {
	mine = of(impl, op, dist, op == "expire" ? 256 : 1, N)
	theirs = of("libevent", op, dist, op == "expire" ? 4096 : 1, N)
	result("in the process, " what " / libevent", ratio(mine, theirs), "0.50", sprintf("%.0f / %.0f", mine, theirs))
}

# On one machine, in turns.
function beside_the_wheel(impl, what,   mine, bare) {
	mine = value["native", impl, "expire_restart", "uniform", 1, 1000000]
	bare = value["native", "hier", "expire_restart", "uniform", 1, 1000000]
	result("expiry and restart at 1 M, " what " / the bare wheel", ratio(mine, bare), "1.15", sprintf("%.0f / %.0f ns", mine, bare))
}

function bytes(source) {
	result("four million timers, bytes each by " source, worst[source], 96, "")
}

NR > 1 && $9 == "ns" { value[$2, $3, $4, $5, $6, $8] = $10 + 0 }
NR > 1 && $4 == "memory" && $8 == 4000000 && $10 + 0 > worst[$5] + 0 { worst[$5] = $10 }

END {
	N = 100000
	printf "Goals: instructions, 100,000 timers pending\n"
	against_settime("arm", 256, "0.10")
	against_settime("refresh", 256, "0.10")
	against_settime("stop", 256, "0.10")
	against_settime("arm", 1, "0.50")
	against_settime("refresh", 1, "0.50")
	against_settime("stop", 1, "0.50")
	collecting(1, "0.10", "epoll_wait and read each")
	collecting(256, "0.10", "epoll_wait of 256, read each")
	flat("refresh", 256, "1.05")
	flat("refresh", 1, "1.05")
	in_process("process", "arm", "uniform", "arm")
	in_process("process", "refresh", "uniform", "refresh")
	in_process("process", "stop", "uniform", "stop")
	in_process("process", "expire", "whole", "expiry")
	in_process("process", "timeout", 0, "timeout, never pushed back")
	in_process("process", "timeout", 10, "timeout, 10 refreshes")
	in_process("process-shared", "refresh", "uniform", "refresh by word")
	in_process("process-shared", "stop", "uniform", "stop by word")
	in_process("process-shared", "timeout", 10, "timeout, 10 refreshes by word")
	result("in the process, ten heartbeats by words, all of it", of("process-shared", "timeout", 10, 1, N), 300, "")
	beside_the_wheel("process", "the process")
	beside_the_wheel("process-large-pages", "with large pages")
	printf "Memory\n"
	bytes("slabinfo")
	bytes("meminfo")
	printf "%d missed\n", missed
}
