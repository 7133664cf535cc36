# SPDX-License-Identifier: GPL-2.0
#
# Whether counted instructions repeat: compares the rows that two runs share.
# tick_max is left out because it is a single tick.

FNR == NR {
	if ($2 == "icount")
		first[$3, $4, $5, $8] = $10
	next
}

($3, $4, $5, $8) in first && $4 != "tick_max" && $10 > 0 {
	off = first[$3, $4, $5, $8] / $10 - 1
	if (off < 0)
		off = -off
	if (off >= worst) {
		worst = off
		where = $3 " " $4 " " $8
	}
	rows++
}

END {
	printf "Repeated: %d counts of instructions, worst difference %.2f %% (%s)  <= 1 %%  %s\n",
	       rows, 100 * worst, where, rows && worst <= 0.01 ? "PASS" : "MISS"
}
