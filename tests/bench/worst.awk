# SPDX-License-Identifier: GPL-2.0
#
# worst.awk -v new=RELEASE -v out=PREFIX worst.csv: the tables of Documentation/performance.rst, in PREFIX*.csv.
# A tick runs in a softirq, but that of an hrtimer in hard interrupt context.

function key(kernel, impl, operation, load) { return kernel SUBSEP impl SUBSEP operation SUBSEP load }

function cell(kernel, impl, operation, load,   v) {
	v = value[key(kernel, impl, operation, load)]
	if (operation == "softirq_max" && value[key(kernel, impl, "irqoff_max", load)] > v)
		v = value[key(kernel, impl, "irqoff_max", load)]
	v /= operation == "last" ? 1e6 : 1e3
	return sprintf(v < 10 ? "%.1f" : "%.0f", v)
}

function table(name, operation,   i, j, file) {
	file = out name ".csv"
	print "timers,deadline,slot,refreshed,far deadline,far slot" >file
	for (i = 1; i <= nrows; i++) {
		split(rows[i], part, " ")
		if (!(key(part[1], part[2], operation, loads[1]) in value))
			continue
		printf "\"%s\"", names[i] >file
		for (j = 1; j <= nloads; j++)
			printf ",%s", cell(part[1], part[2], operation, loads[j]) >file
		print "" >file
	}
}

function row(kernel, impl, name) {
	rows[++nrows] = kernel " " impl
	names[nrows] = name
}

BEGIN {
	nloads = split("deadline slot refreshed far_deadline far_slot", loads, " ")
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
	table("irqs-off", "irqoff_max")
	table("tick", "softirq_max")
	table("last", "last")
}
