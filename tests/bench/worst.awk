# SPDX-License-Identifier: GPL-2.0
#
# Tables of worst.csv, as in Documentation/performance.rst. A tick runs in a softirq,
# but that of an hrtimer in hard interrupt context.

function key(kernel, impl, operation, load) { return kernel SUBSEP impl SUBSEP operation SUBSEP load }

function cell(kernel, impl, operation, load,   v) {
	v = value[key(kernel, impl, operation, load)]
	if (operation == "softirq_max" && value[key(kernel, impl, "irqoff_max", load)] > v)
		v = value[key(kernel, impl, "irqoff_max", load)]
	v /= operation == "last" ? 1e6 : 1e3
	return v < 10 ? sprintf("%.1f", v) : group(sprintf("%.0f", v))
}

function group(digits,   out) {
	while (length(digits) > 3) {
		out = "," substr(digits, length(digits) - 2) out
		digits = substr(digits, 1, length(digits) - 3)
	}
	return digits out
}

function table(title, operation,   i, j, rule, line) {
	print "\n" title "\n"
	rule = "========================"
	for (j = 1; j <= nloads; j++)
		rule = rule "  ============"
	print rule
	line = sprintf("%-24s", "timers")
	for (j = 1; j <= nloads; j++)
		line = line sprintf("  %-12s", heads[j])
	sub(/ +$/, "", line)
	print line "\n" rule
	for (i = 1; i <= nrows; i++) {
		split(rows[i], part, " ")
		if (!(key(part[1], part[2], operation, loads[1]) in value))
			continue
		line = sprintf("%-24s", names[i])
		for (j = 1; j <= nloads; j++)
			line = line sprintf("  %-12s", cell(part[1], part[2], operation, loads[j]))
		sub(/ +$/, "", line)
		print line
	}
	print rule
}

function row(kernel, impl, name) {
	rows[++nrows] = kernel " " impl
	names[nrows] = name
}

BEGIN {
	nloads = split("deadline slot refreshed far_deadline far_slot", loads, " ")
	split("deadline,slot,refreshed,far deadline,far slot", heads, ",")
	row("stock-6.12", "hier", "twheel, 6.12")
	row("stock-new", "hier", "twheel, " new)
	row("stock-6.12", "textbook", "textbook's wheel, 6.12")
	row("stock-6.12", "timer_list", "``timer_list``, 6.12")
	row("stock-new", "timer_list", "``timer_list``, " new)
	row("stock-6.12", "timer_list_irqsafe", "``TIMER_IRQSAFE``, 6.12")
	row("stock-6.12", "hrtimer", "hrtimer, 6.12")
	row("stock-new", "hrtimer", "hrtimer, " new)
}

NR > 1 { value[key($1, $2, $3, $4)] = $9 }

END {
	table("Longest time with interrupts off, thousand instructions:", "irqoff_max")
	table("Slowest tick, thousand instructions:", "softirq_max")
	table("The last timer expires after its deadline, million instructions:", "last")
}
