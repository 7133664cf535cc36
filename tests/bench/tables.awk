# SPDX-License-Identifier: GPL-2.0
#
# Tables of kernel.csv for the terminal: for each suite, mode and operation the
# implementations against the number of timers, uniform intervals.

function number(v) {
	if (v == "")
		return "-"
	return v < 100 ? sprintf("%.1f", v) : sprintf("%.0f", v)
}

function header(suite, mode,   i) {
	if (suite == "native")
		printf "\nNative, ns (caches as they are on this machine)\n"
	else if (mode == "icount")
		printf "\nInstructions, counted in the guest\n"
	else
		printf "\nBy the clock in the guest, one CPU, ns (multi-threaded TCG)\n"
	printf "%-15s %-14s", "operation", "pending:"
	for (i = 0; i < nsizes; i++)
		if (has[suite, mode, sizes[i]])
			printf "%12d", sizes[i]
	printf "\n"
}

function line(suite, mode, op, impl,   i, found, text) {
	for (i = 0; i < nsizes; i++) {
		if (!has[suite, mode, sizes[i]])
			continue
		if ((suite, mode, op, impl, sizes[i]) in value)
			found = 1
		text = text sprintf("%12s", number(value[suite, mode, op, impl, sizes[i]]))
	}
	if (!found)
		return
	printf "%-15s %-14s%s\n", op == lastop ? "" : op, impl, text
	lastop = op
}

function table(suite, mode,   o, i) {
	header(suite, mode)
	for (o = 0; o < nops; o++)
		for (i = 0; i < nimpls; i++)
			line(suite, mode, ops[o], impls[i])
}

BEGIN {
	nimpls = split("hier hashed hashed_sorted timer_list hrtimer heap plain sorted_list list", list, " ")
	for (i = 0; i < nimpls; i++)
		impls[i] = list[i + 1]
}

NR > 1 && $5 == "uniform" && $9 == "ns" {
	value[$1, $2, $4, $3, $8] = $10
	has[$1, $2, $8] = 1
	part[$1, $2] = 1
	if (!($4 in seen)) {
		seen[$4] = 1
		ops[nops++] = $4
	}
	if (!($8 in size)) {
		size[$8] = 1
		for (i = nsizes++; i > 0 && sizes[i - 1] + 0 > $8 + 0; i--)
			sizes[i] = sizes[i - 1]
		sizes[i] = $8
	}
}

NR > 1 && $9 == "per_s" {
	rate[$3, $8, $7] = $10
	pair[$3, $8] = 1
}

END {
	if (("kernel", "icount") in part)
		table("kernel", "icount")
	if (("native", "wall") in part)
		table("native", "wall")
	if (("kernel", "wall") in part)
		table("kernel", "wall")
	printf "\nStarts and stops of each CPU's own timers, million per second\n"
	printf "%-14s %10s %10s %10s %8s\n", "", "pending", "1 CPU", "2 CPUs", "ratio"
	for (i = 0; i < nimpls; i++)
		for (s = 0; s < nsizes; s++) {
			one = rate[impls[i], sizes[s], 1]
			two = rate[impls[i], sizes[s], 2]
			if (one && two)
				printf "%-14s %10d %10.2f %10.2f %8.2f\n", impls[i],
				       sizes[s], one / 1e6, two / 1e6, two / one
		}
}
