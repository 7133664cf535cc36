# SPDX-License-Identifier: GPL-2.0
#
# Tables of kernel.csv for the terminal: for each suite, mode and operation the
# implementations against the number of timers, with uniform intervals

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
	else if (mode == "um")
		printf "\nIn a user-mode kernel, ns (caches as they are on this machine)\n"
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

# Rows of "DISTRIBUTION OPERATION", one implementation after another.
function bounded_table(mode, scale, title,   i, o, text) {
	for (i = 0; i < nloaded; i++)
		if (loaded[i, "mode"] == mode)
			text = text sprintf("%*s", length(loaded[i]) + 3, loaded[i])
	if (text == "")
		return
	printf "\n%s\n%-38s%s\n", title, "", text
	for (o = 0; o < nloads; o++) {
		if (loads[o, "mode"] != mode)
			continue
		printf "%-38s", loads[o]
		for (i = 0; i < nloaded; i++)
			if (loaded[i, "mode"] == mode)
				printf "%*s", length(loaded[i]) + 3, bounded_cell(mode, loads[o], loaded[i], scale)
		printf "\n"
	}
}

function bounded_cell(mode, load, impl, scale) {
	if (!((mode, load, impl) in bounded))
		return "-"
	if (load ~ /run_max/)
		scale = 1
	return number(bounded[mode, load, impl] / scale)
}

BEGIN {
	nloads = nloaded = nops = nsizes = 0
	nimpls = split("hier hashed hashed_sorted timer_list hrtimer heap plain lawn sorted_list list none", list, " ")
	for (i = 0; i < nimpls; i++)
		impls[i] = list[i + 1]
}

NR > 1 && $4 ~ /^(irqoff_max|softirq_max|run_max|lateness_.*)$/ {
	load = $4 ", " $5
	bounded[$2, load, $3] = $10
	if (!(($2, load) in loadseen)) {
		loadseen[$2, load] = 1
		loads[nloads, "mode"] = $2
		loads[nloads++] = load
	}
	if (!(($2, $3) in implseen)) {
		implseen[$2, $3] = 1
		loaded[nloaded, "mode"] = $2
		loaded[nloaded++] = $3
	}
	next
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
	if (("kernel", "um") in part)
		table("kernel", "um")
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
	bounded_table("icount", 1000, "One million timers due at once, thousand instructions (run_max: timers)")
	bounded_table("wall", 1000, "How late a 1 ms periodic timer is beside one million due at once, us by the clock")
}
