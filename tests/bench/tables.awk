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
	else
		printf "\nInstructions, counted in the guest\n"
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
function bounded_table(   i, o) {
	if (!nloaded)
		return
	printf "\nOne million timers due at once, thousand instructions (run_max: timers)\n%-38s", ""
	for (i = 0; i < nloaded; i++)
		printf "   %s", loaded[i]
	printf "\n"
	for (o = 0; o < nloads; o++) {
		printf "%-38s", loads[o]
		for (i = 0; i < nloaded; i++)
			printf "%*s", length(loaded[i]) + 3, bounded_cell(loads[o], loaded[i])
		printf "\n"
	}
}

function bounded_cell(load, impl) {
	if (!((load, impl) in bounded))
		return "-"
	return number(bounded[load, impl] / (load ~ /run_max/ ? 1 : 1000))
}

BEGIN {
	nloads = nloaded = nops = nsizes = 0
	nimpls = split("hier hashed hashed_sorted timer_list hrtimer heap plain lawn sorted_list list", list, " ")
	for (i = 0; i < nimpls; i++)
		impls[i] = list[i + 1]
}

NR > 1 && $4 ~ /^(irqoff_max|softirq_max|run_max)$/ {
	load = $4 ", " $5
	bounded[load, $3] = $10
	if (!loadseen[load]++)
		loads[nloads++] = load
	if (!implseen[$3]++)
		loaded[nloaded++] = $3
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

END {
	if (("kernel", "icount") in part)
		table("kernel", "icount")
	if (("native", "wall") in part)
		table("native", "wall")
	bounded_table()
}
