# SPDX-License-Identifier: GPL-2.0
#
# Schemes 6 and 7: the measured cost of a timer from start to expiry against the
# mean interval T, beside the paper's prediction
#
#	scheme 6	base + c_index * T / M
#	scheme 7	base + c_migrate * moves
#
# The constants are a least squares fit of relative errors. It uses the
# measurements with the most timers in which every tick has an expiry, n > T.
# Beyond that the model is too simple. Scheme 6 here passes a slot without a
# look at its timers if it knows that none of them is due. With many ticks to
# one expiry, the fixed cost of a tick outweighs the timers. (The cost of a tick
# with an empty wheel has already been subtracted.)
#
# Writes what the plot needs to @fitfile.

function fit(n, x, y,   i, w, s, sx, sy, sxx, sxy, d) {
	for (i = 0; i < n; i++) {
		w = 1 / (y[i] * y[i])
		s += w
		sx += w * x[i]
		sy += w * y[i]
		sxx += w * x[i] * x[i]
		sxy += w * x[i] * y[i]
	}
	d = s * sxx - sx * sx
	slope = d ? (s * sxy - sx * sy) / d : 0
	base = s ? (sy - slope * sx) / s : 0
}

function fit_all(mode,   key, k, n6, n7, x6, y6, x7, y7) {
	n6 = n7 = 0
	for (key in cost) {
		split(key, k, SUBSEP)
		if (k[1] != mode || k[5] != most[mode] ||
		    k[4] + 0 > k[5] + 0 || cost[key] <= 0)
			continue
		if (k[2] == "hashed") {
			x6[n6] = k[4] / k[3]
			y6[n6++] = cost[key]
		} else {
			x7[n7] = moves[key] / 100
			y7[n7++] = cost[key]
		}
	}
	fit(n6, x6, y6)
	base6[mode] = base; index6[mode] = slope
	fit(n7, x7, y7)
	base7[mode] = base; migrate7[mode] = slope
}

function predict6(mode, slots, interval) {
	return base6[mode] + index6[mode] * interval / slots
}

function predict7(mode, interval, pending) {
	return base7[mode] + migrate7[mode] * moves[mode, "hier", 0, interval, pending] / 100
}

function cell(measured, predicted, with) {
	if (with)
		printf "%8d (%6d)", measured, predicted
	else
		printf "%17d", measured
}

function row(mode, interval, pending, with,   s, best, name, c) {
	best = cost[mode, "hier", 0, interval, pending]
	name = "hier"
	printf "%9d %6.2f", interval, moves[mode, "hier", 0, interval, pending] / 100
	cell(best, predict7(mode, interval, pending), with)
	for (s = 1; s <= nslots; s++) {
		c = cost[mode, "hashed", slotlist[s], interval, pending]
		cell(c, predict6(mode, slotlist[s], interval), with)
		if (c < best) {
			best = c
			name = "hashed, M " slotlist[s]
		}
	}
	printf "  %s\n", name
}

function table(mode, pending, with,   t, s) {
	printf "\nSchemes 6 and 7, %s, %d timers: %s a timer%s\n",
	       mode, pending, unit[mode], with ? " (in brackets the paper's prediction)" : ""
	printf "%9s %6s %16s", "T, ticks", "moves", "hier"
	for (s = 1; s <= nslots; s++)
		printf "%17s", "hashed, M " slotlist[s]
	printf "  cheapest\n"
	for (t = 0; t < nintervals; t++)
		if ((mode, "hier", 0, intervals[t], pending) in cost)
			row(mode, intervals[t], pending, with)
}

function words(mode,   moved) {
	printf "A look at a timer of a later round costs c_index = %.1f %s, a move down a level c_migrate = %.1f.\n",
	       index6[mode], unit[mode], migrate7[mode]
	moved = (base7[mode] + migrate7[mode] - base6[mode]) / index6[mode]
	if (moved > 0)
		printf "With one move scheme 7 costs what scheme 6 does at T = %.1f M; scheme 6 is cheaper while it has more slots than that.\n", moved
}

NR > 1 {
	cost[$2, $3, $4, $5, $6] = $7
	moves[$2, $3, $4, $5, $6] = $9
	modes[$2] = 1
	if ($6 + 0 > most[$2] + 0)
		most[$2] = $6
	if (!($5 in seen)) {
		seen[$5] = 1
		intervals[nintervals++] = $5
	}
}

END {
	nslots = split("256 4096 65536", slotlist, " ")
	unit["icount"] = "instructions"
	unit["wall"] = "ns"
	for (mode in modes) {
		fit_all(mode)
		table(mode, 1000, 0)
		table(mode, most[mode], 1)
		words(mode)
		printf "base6_%s=%.3f\nindex6_%s=%.3f\nbase7_%s=%.3f\nmigrate7_%s=%.3f\nmost_%s=%d\n",
		       mode, base6[mode], mode, index6[mode], mode, base7[mode],
		       mode, migrate7[mode], mode, most[mode] >fitfile
	}
}
