# SPDX-License-Identifier: GPL-2.0
#
# Tables of user.csv for the terminal: for each mode and operation the
# implementations and their batches against the number of timers

function number(v) {
	if (v == "")
		return "-"
	if (v >= 1000000)
		return sprintf("%.1fM", v / 1000000)
	return v < 100 ? sprintf("%.1f", v) : sprintf("%.0f", v)
}

function size(n) {
	return n >= 1000000 ? n / 1000000 "M" : n / 1000 "k"
}

function remember(list, n, key) {
	if (!(key in seen)) {
		seen[key] = 1
		list[n++] = substr(key, index(key, ":") + 1)
	}
	return n
}

function line(mode, op, impl, batch,   i, found, text, v) {
	for (i = 0; i < nsizes; i++) {
		v = value[mode, op, impl, batch, sizes[i]]
		if (v != "")
			found = 1
		text = text sprintf("%10s", number(v))
	}
	if (!found)
		return
	printf "  %-16s %-15s %6s%s\n", op == lastop ? "" : op, impl, batch, text
	lastop = op
}

function header(title, what,   i) {
	printf "\n%s\n  %-16s %-15s %6s", title, what, "", "batch"
	for (i = 0; i < nsizes; i++)
		printf "%10s", size(sizes[i])
	printf "   timers\n"
	lastop = ""
}

function table(mode, title, list, n,   o, i, b) {
	header(title, "operation")
	for (o = 0; o < n; o++)
		for (i = 0; i < nimpls; i++)
			for (b = 0; b < nbatches; b++)
				line(mode, list[o], impls[i], batches[b])
}

function calls(   i, b, o, text, found) {
	printf "\nSystem calls per timer\n  %-15s %6s", "", "batch"
	for (o = 0; o < ncalls; o++)
		printf "%10s", callops[o]
	printf "\n"
	for (i = 0; i < nimpls; i++)
		for (b = 0; b < nbatches; b++) {
			text = ""
			found = 0
			for (o = 0; o < ncalls; o++) {
				v = value["calls", callops[o], impls[i], batches[b], 0]
				if (v != "")
					found = 1
				text = text sprintf("%10s", v == "" ? "-" : sprintf("%.3f", v))
			}
			if (found)
				printf "  %-15s %6s%s\n", impls[i], batches[b], text
		}
}

BEGIN {
	nimpls = split("none twheel twheel-shared twheel-socket process process-shared process-threads libevent libuv glib heap timerfd posix io_uring", list, " ")
	for (i = 0; i < nimpls; i++)
		impls[i] = list[i + 1]
	nbatches = split("1 16 256 4096", list, " ")
	for (i = 0; i < nbatches; i++)
		batches[i] = list[i + 1]
	split("", list)
	n = split("create arm refresh stop", list, " ")
	for (i = 1; i <= n; i++)
		ops[nops++] = list[i]
	ops[nops++] = "expire, collect"
	ops[nops++] = "expire, whole"
	n = split("0 1 10 100", list, " ")
	for (i = 1; i <= n; i++)
		ops[nops++] = "timeout, " list[i]
	n = split("least median most", list, " ")
	for (i = 1; i <= n; i++)
		ops[nops++] = "message, " list[i]
	ncalls = split("create arm refresh stop expire", list, " ")
	for (i = 0; i < ncalls; i++)
		callops[i] = list[i + 1]
	nmem = split("slabinfo meminfo process", list, " ")
	for (i = 0; i < nmem; i++)
		memory[i] = list[i + 1]
}

NR > 1 && $9 == "ns" {
	nsizes = remember(sizes, nsizes, "size:" $8)
	op = $4 == "expire" || $4 == "timeout" || $4 == "message" ? $4 ", " $5 : $4
	value[$2, op, $3, $6, $8] = $10
	has[$2] = 1
}
NR > 1 && $4 == "memory" && $2 == "icount" { value["memory", $5, $3, 1, $8] = $10 }
NR > 1 && $4 == "syscalls" { value["calls", $5, $3, $6, 0] = $10 }

END {
	# sizes in order
	for (i = 0; i < nsizes; i++)
		for (k = i + 1; k < nsizes; k++)
			if (sizes[k] + 0 < sizes[i] + 0) {
				t = sizes[i]
				sizes[i] = sizes[k]
				sizes[k] = t
			}
	if (has["icount"])
		table("icount", "Instructions per timer, counted in the guest", ops, nops)
	if (has["wall"])
		table("wall", "By the clock in the guest, ns per timer (multi-threaded TCG)", ops, nops)
	table("memory", "Memory per pending timer, bytes", memory, nmem)
	calls()
	printf "\n"
}
