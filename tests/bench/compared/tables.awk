# SPDX-License-Identifier: GPL-2.0
#
# tables.awk [-v plot=FILE] compared-figures.csv: the tables of Documentation/compared.rst, in the
# form of reStructuredText. The best comes first, by 100,000 connections, or as many as there are.
# The plot's columns go to FILE, in the same order.

function grouped(n,	text, tail) {
	text = sprintf("%d", n < 0 ? n - 0.5 : n + 0.5)
	for (tail = ""; length(text) > 3; text = substr(text, 1, length(text) - 3))
		tail = "," substr(text, length(text) - 2) tail
	return text tail
}

function cell(kernel, way, column,	name, unit, key, part) {
	split(column, part, "/")
	name = part[1]
	unit = part[2]
	if (part[3])
		kernel = part[3]
	key = kernel "," way "," name
	if (!(key in figure))
		return "\\-"
	if (unit == "us")
		return sprintf(figure[key] < 9950 ? "%.1f" : "%.0f", figure[key] / 1000)
	return grouped(figure[key])
}

function rank(way,	n, i, sizes) {
	n = split("100000 10000 1000", sizes, " ")
	for (i = 1; i <= n; i++)
		if (("stock," way ",life-" sizes[i]) in figure)
			return i * 1e12 + figure["stock," way ",life-" sizes[i]]
	return 1e15
}

function rule(	i, k) {
	for (i = 1; i <= columns; i++) {
		for (k = 0; k < width[i]; k++)
			printf "="
		printf i < columns ? "  " : "\n"
	}
}

# What compared.gp shows: the row, whose timers, who has them, the label, and NaN for what there is
# not. A plot wants something in each of its parts, which some parts of the benchmark do not have.
function columns_of_plot(	i, k, n, names) {
	n = split("life-1000 mixed-100000 life-100000 expire-100000 busy-p99", names, " ")
	for (k = 1; k <= n; k++)
		if (!(names[k] in known))
			return
	for (i = 1; i <= ways; i++) {
		printf "%d|%d|%s|%s", i, order[i] ~ /twheel|^process|^embedded/ ? 2 : where[order[i]] != "process",
		       where[order[i]] == "module" ? "module" : "program", label[order[i]] >plot
		for (k = 1; k <= n; k++)
			printf "|%s", ("stock," order[i] "," names[k]) in figure ? figure["stock," order[i] "," names[k]] : "NaN" >plot
		print "" >plot
	}
}

# table TITLE HEADINGS COLUMNS: headings and columns are separated by "|".
function table(title, headings, names,	n, i, k, text, head, column, rows) {
	columns = split("way|" headings, head, "|")
	split(names, column, "|")
	for (i = 1; i <= columns; i++)
		width[i] = length(head[i])
	rows = 0
	for (k = 1; k <= ways; k++) {
		filled = 0
		for (i = 2; i <= columns; i++)
			if (cell("stock", order[k], column[i - 1]) != "\\-" &&
			    (title !~ /newest/ || column[i - 1] ~ /new/))
				filled = 1
		if (!filled)
			continue
		rows++
		text_of[rows, 1] = label[order[k]]
		for (i = 2; i <= columns; i++)
			text_of[rows, i] = cell("stock", order[k], column[i - 1])
		for (i = 1; i <= columns; i++)
			if (length(text_of[rows, i]) > width[i])
				width[i] = length(text_of[rows, i])
	}
	if (!rows)
		return
	print title "\n"
	rule()
	for (i = 1; i <= columns; i++)
		printf "%-*s%s", width[i], head[i], i < columns ? "  " : "\n"
	rule()
	for (k = 1; k <= rows; k++)
		for (i = 1; i <= columns; i++)
			printf "%-*s%s", i < columns ? width[i] : 0, text_of[k, i], i < columns ? "  " : "\n"
	rule()
	print ""
}

{
	figure[$1 "," $2 "," $5] = $6
	if ($1 == "stock")
		known[$5] = 1
	if (!($2 in label))
		order[++ways] = $2
	where[$2] = $3
	label[$2] = $4
	gsub(/:/, ",", label[$2])
}

END {
	for (i = 1; i <= ways; i++)
		place[i] = rank(order[i])
	for (j = 2; j <= ways; j++)
		for (k = j; k > 1 && place[k] < place[k - 1]; k--) {
			t = place[k]; place[k] = place[k - 1]; place[k - 1] = t
			t = order[k]; order[k] = order[k - 1]; order[k - 1] = t
		}
	table("Instructions of program and kernel for a connection with ten heartbeats:",
	      "1,000|10,000|100,000|1,000,000|100,000 expire",
	      "life-1000/n|life-10000/n|life-100000/n|life-1000000/n|expire-100000/n")
	table("The same with timeouts from a distribution:",
	      "1,000|10,000|100,000|1,000,000",
	      "mixed-1000/n|mixed-10000/n|mixed-100000/n|mixed-1000000/n")
	table("Instructions of the kernel's timers, on 6.12 and on the newest:",
	      "1,000|newest|10,000|newest",
	      "life-1000/n|life-1000/n/new|life-10000/n|life-10000/n/new")
	table("Wake-ups for a thousand connections, and bytes for a pending timer:",
	      "1,000|100,000|bytes", "wakeups-1000/n|wakeups-100000/n|memory-100000/n")
	table("Lateness in us, 10,000 connections:",
	      "quiet p50|p99|worst|early|busy p50|p99|worst",
	      "quiet-p50/us|quiet-p99/us|quiet-worst/us|quiet-earliest/us|busy-p50/us|busy-p99/us|busy-worst/us")
	table("Interrupts off, and another program stalled, at most, in us, 10,000 connections:",
	      "interrupts off|stall", "irqs_off/us|stall/us")
	if (plot)
		columns_of_plot()
}
