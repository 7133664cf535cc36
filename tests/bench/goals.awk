# SPDX-License-Identifier: GPL-2.0
#
# How kernel.csv and native-pairs.rows meet the goals: the worst of all sizes and
# distributions, and where that is. MISS is an answer, not an error.

function mark(ok) {
	if (!ok)
		missed++
	return ok ? "PASS" : "MISS"
}

function result(what, figure, limit, sign, where) {
	printf "  %-52s %*.*f %s %-7s %s   %s\n", what, 8, figure < 0.01 ? 5 : 3, figure, sign, limit,
	       mark(sign == "<=" ? figure <= limit + 0 : figure >= limit + 0), where
}

# The worst ratio of @impl to @other in a part of the benchmark.
function worst(suite, mode, op, impl, other, size,   key, k, ratio) {
	figure = 0
	where = ""
	for (key in value) {
		split(key, k, SUBSEP)
		if (k[1] != suite || k[2] != mode || k[3] != impl || k[4] != op ||
		    (size && k[6] != size))
			continue
		if (!value[suite, mode, other, op, k[5], k[6]])
			continue
		ratio = value[key] / value[suite, mode, other, op, k[5], k[6]]
		if (ratio > figure) {
			figure = ratio
			where = k[5] ", " k[6]
		}
	}
	return figure
}

# hier's worst figure of one operation.
function worst_of(op,   key, k) {
	figure = 0
	for (key in value) {
		split(key, k, SUBSEP)
		if (k[1] == "kernel" && k[2] == "icount" && k[3] == "hier" && k[4] == op && value[key] > figure) {
			figure = value[key]
			where = k[5] ", " k[6]
		}
	}
	return figure
}

# A callback that uses twheel_again_at(), against one that uses mod_timer().
function again(limit_few, limit,   key, k, ratio, most, few, at, fewat) {
	for (key in value) {
		split(key, k, SUBSEP)
		if (k[1] != "kernel" || k[2] != "icount" || k[3] != "hier" || k[4] != "expire_again")
			continue
		if (!value[k[1], k[2], "timer_list", "expire_restart", k[5], k[6]])
			continue
		ratio = value[key] / value[k[1], k[2], "timer_list", "expire_restart", k[5], k[6]]
		if (ratio > most) {
			most = ratio
			at = k[5] ", " k[6]
		}
		if (ratio > few && k[5] == "uniform" && k[6] >= 1000 && k[6] <= 100000) {
			few = ratio
			fewat = k[6]
		}
	}
	if (few)
		result("expire_again / timer_list's restart, 1 k to 100 k", few, limit_few, "<=", fewat)
	if (most)
		result("expire_again / timer_list's restart", most, limit, "<=", at)
}

function against_timer_list(op, limit, first) {
	if (worst("kernel", "icount", op, "hier", "timer_list"))
		result(op " / timer_list's (first goal " first ")", figure, limit, "<=", where)
}

# The largest ratio of the figure at @large to that at @small.
function growth(op, small, large, limit,   key, k, ratio, most) {
	for (key in value) {
		split(key, k, SUBSEP)
		if (k[1] != "kernel" || k[2] != "icount" || k[3] != "hier" ||
		    k[4] != op || k[6] != large || !value[k[1], k[2], k[3], op, k[5], small])
			continue
		ratio = value[key] / value[k[1], k[2], k[3], op, k[5], small]
		if (ratio > most) {
			most = ratio
			where = k[5]
		}
	}
	if (most)
		result(op " at " large " / at " small, most, limit, "<=", where)
}

function native(op, impl, dist) {
	return value["native", "wall", impl, op, dist, 1000000]
}

# The largest of hier's figures for one operation.
function native_goals(   d, dists, n, ratio, most, tick, tickat, at) {
	if (worst("native", "wall", "expire_restart", "hier", "heap", 1000000))
		result("expire_restart / heap's, 1 M timers", figure, "0.50", "<=", where)
	if (worst("native", "wall", "expire_restart", "hier", "hashed", 1000000))
		result("expire_restart / hashed wheel's, 1 M timers", figure, "1.30", "<=", where)
	n = split("uniform exponential idle", dists, " ")
	for (d = 1; d <= n; d++) {
		if (!native("refresh", "hier", dists[d]))
			continue
		ratio = native("refresh", "hier", dists[d]) / (native("start", "hier", dists[d]) + native("stop", "hier", dists[d]))
		if (ratio > most) {
			most = ratio
			at = dists[d]
		}
		if (native("tick_max", "hier", dists[d]) > tick) {
			tick = native("tick_max", "hier", dists[d])
			tickat = dists[d]
		}
	}
	if (most) {
		result("refresh / (stop + start), 1 M timers", most, "0.50", "<=", at)
		result("slowest tick (99.99 %), ms, 1 M timers", tick / 1e6, "0.20", "<=", tickat)
	}
}

function burst(op, impl, dist) {
	return value["kernel", "icount", impl, op, dist, 1000000]
}

# The worst of @impl's figures over all loads, with its load in @worstload.
function worst_load(op, impl,   d, n, dists, most) {
	n = split("one_tick outer_slot far_tick", dists, " ")
	most = 0
	for (d = 1; d <= n; d++)
		if (burst(op, impl, dists[d]) > most) {
			most = burst(op, impl, dists[d])
			worstload = dists[d]
		}
	return most
}

# hier's figure of one operation against another one's at @size, uniform.
function native_ratio(op, impl, size, limit) {
	ours = value["native", "wall", "hier", op, "uniform", size]
	theirs = value["native", "wall", impl, op, "uniform", size]
	if (ours && theirs)
		result(op " / " impl "'s, " size " timers", ours / theirs, limit, "<=", "uniform")
}

# The median of the ratios of native-pairs.rows.
function paired(op, limit,   n, i, j, ratio, sorted) {
	n = pairs[op]
	if (!n)
		return
	for (i = 1; i <= n; i++) {
		ratio = pair[op, i]
		for (j = i; j > 1 && sorted[j - 1] > ratio; j--)
			sorted[j] = sorted[j - 1]
		sorted[j] = ratio
	}
	result(op " / before's, 1000000 timers", sorted[int((n + 1) / 2)], limit, "<=",
	       sprintf("%.3f to %.3f", sorted[1], sorted[n]))
}

function native_slowest(op, limit,   ns) {
	ns = native(op, "hier", "uniform")
	if (ns)
		result(op ", ms, 1 M timers", ns / 1e6, limit, "<=", "uniform")
}

function speed_goals(   i, n, sizes) {
	n = split("1000 10000 100000 1000000 4000000", sizes, " ")
	for (i = 1; i <= n; i++)
		native_ratio("expire_restart", "hashed", sizes[i], sizes[i] < 1000000 ? "1.00" : "0.45")
	paired("refresh_often", "1.10")
	paired("start", "1.10")
	paired("stop", "1.05")
	paired("refresh", "1.05")
	paired("restart", "0.95")
	if (native("next", "hier", "uniform"))
		result("next, ns", native("next", "hier", "uniform"), "20", "<=", "uniform")
	native_slowest("tick_slowest", "0.05")
	native_slowest("storm_slowest", "0.20")
	native_slowest("storm_spread_slowest", "0.20")
	native_slowest("level1_slowest", "0.20")
	native_slowest("level2_slowest", "0.20")
	native_slowest("deadline_slowest", "0.20")
	if (empty)
		result("empty tick, instructions", empty, "45", "<=", "1000")
}

# timer_list's figures for a million timers due in one jiffy. TIMER_IRQSAFE
# ones, such as those of delayed_work, keep interrupts off. The others keep
# softirqs busy.
function bounded_goals(   ours, theirs) {
	theirs = burst("irqoff_max", "timer_list_irqsafe", "one_tick")
	ours = worst_load("irqoff_max", "hier")
	if (theirs && ours)
		result("interrupts off / timer_list's, 1 M due", ours / theirs, "0.02", "<=", worstload)
	theirs = burst("softirq_max", "timer_list", "one_tick")
	if (theirs && ours)
		result("interrupts off / timer_list's softirq, 1 M due", ours / theirs, "0.02", "<=", worstload)
	ours = worst_load("softirq_max", "hier")
	if (theirs && ours)
		result("longest softirq / timer_list's, 1 M due", ours / theirs, "0.02", "<=", worstload)
	ours = worst_load("run_max", "hier")
	if (ours)
		result("most timers expired in one softirq", ours, "1024", "<=", worstload)
}

# Each process prints the rows of one wheel, then those of the other.
FNR != NR {
	if ($3 == "hier")
		own[$4] = $10
	else
		pair[$4, ++pairs[$4]] = own[$4] / $10
	next
}
NR > 1 && $9 == "ns" { value[$1, $2, $3, $4, $5, $8] = $10 }
NR > 1 && $9 == "timers" { value[$1, $2, $3, $4, $5, $8] = $10 }
NR > 1 && $9 == "instructions" { empty = $10 }

END {
	printf "\nGoals: the hierarchical wheel, worst case\n"
	printf "Instructions\n"
	against_timer_list("start_at", "0.61", "0.65")
	against_timer_list("restart", "0.60", "0.70")
	against_timer_list("refresh", "0.30", "0.40")
	if (worst_of("refresh_same"))
		result("refresh_same", figure, "90", "<=", where)
	against_timer_list("stop", "0.60", "0.80")
	against_timer_list("start", "0.80", "0.90")
	against_timer_list("expire_restart", "0.95", "none")
	again("0.75", "0.75")
	small = 1000
	large = (("kernel", "icount", "hier", "start", "uniform", 1000000) in value) ? 1000000 : 100000
	growth("start", small, large, "1.02")
	growth("start_at", small, large, "1.02")
	growth("restart", small, large, "1.02")
	growth("refresh", small, large, "1.02")
	growth("stop", small, large, "1.02")
	growth("tick_empty", small, large, "1.00")
	bounded_goals()
	printf "Native\n"
	native_goals()
	speed_goals()
	printf "%d missed\n", missed
}
