# SPDX-License-Identifier: GPL-2.0
#
# figures.awk -v ways=FILE compared.csv: the figures of tables and of the plot, as
# "kernel,way,where,label,figure,value"
#
#   life-N, mixed-N, expire-N	instructions of program and kernel for a connection
#   wakeups-N			wake-ups for a thousand connections, those for steps with them
#   memory-N			bytes for a pending timer, program and kernel
#   quiet-*, busy-*		lateness, ns
#   irqs_off, stall		ns
#
# What "empty" takes is subtracted from instructions and from memory. A trace has 16,000 connections at least (trace.c).

function number(connections) { return connections * int((15999 + connections) / connections) }

function put(kernel, way, figure, value) {
	printf "%s,%s,%s,%s,%s,%.1f\n", kernel, way, where[way], label[way], figure, value
}

BEGIN {
	FS = "[ \t]+"
	while ((getline <ways) > 0) {
		if ($0 !~ /^[a-z]/)
			continue
		where[$1] = $4
		way = $1
		sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "")
		gsub(/,/, ":")
		label[way] = $0
	}
	FS = ","
}

FNR > 1 && $2 in label {
	key = $1 "," $2 "," $3 "," $4
	value[key "," $5 "," $6] = $7
	if ($5 == "count" && $6 == "instructions")
		counted[key] = 1
	if (($5 == "late" || $5 == "busy") && $6 ~ /^(early|earliest|p50|p99|worst)$/)
		put($1, $2, ($5 == "late" ? "quiet" : "busy") "-" $6, $7)
	# a language with a collector counts its own
	if ($5 == "late" && $6 == "heap") {
		heap[$1 "," $2] = 1
		put($1, $2, "memory-100000", $7 / $4)
	}
	if ($5 == "probe" && $6 ~ /^(irqs_off|stall)$/)
		put($1, $2, $6, $7)
}

END {
	for (key in counted) {
		split(key, part, ",")
		name = part[3] == "one" ? "life" : part[3]
		n = number(part[4])
		put(part[1], part[2], name "-" part[4],
		    (value[key ",count,instructions"] - value[key ",empty,instructions"]) / n)
		if (name != "life")
			continue
		put(part[1], part[2], "wakeups-" part[4],
		    1000 * value[key ",count,wakeups"] / n)
		if (!((part[1] "," part[2]) in heap))
			put(part[1], part[2], "memory-" part[4],
			    (value[key ",count,memory"] - value[key ",empty,memory"]) / part[4])
	}
}
