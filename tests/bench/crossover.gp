# SPDX-License-Identifier: GPL-2.0
#
# crossover.svg: what a timer costs from start to expiry with schemes 6 and 7,
# against its interval; points measured, lines the paper's prediction with the
# constants that tests/bench/crossover.awk has fitted

load '../../tests/bench/style.gnuplot'
load 'crossover.fit'
set terminal svg size 960,440 font 'sans,12' background 'white'
set output 'crossover.svg'
set logscale xy
set xlabel 'mean interval T, ticks'
set ylabel 'instructions per timer'
set format x '10^{%T}'
set xrange [50:400000]
set yrange [50:20000]

cell(impl, slots, n) = sprintf("< awk -F, '$2 == \"icount\" && $3 == \"%s\" && $4 == %d && $6 == %s' crossover.csv", impl, slots, n)
six(slots, t) = base6_icount + index6_icount * t / slots
seven(moves) = base7_icount + migrate7_icount * moves / 100

set multiplot layout 1,2
do for [n in sprintf('1000 %d', most_icount)] {
	set title sprintf('%s timers', n)
	plot cell('hashed', 256, n) using 5:7 with points lc rgb '#2980b9' pt 4 title '6 hashed, M = 256', \
	     six(256, x) with lines lc rgb '#2980b9' dt 2 notitle, \
	     cell('hashed', 4096, n) using 5:7 with points lc rgb '#2980b9' pt 6 title 'M = 4096', \
	     six(4096, x) with lines lc rgb '#2980b9' dt 3 notitle, \
	     cell('hashed', 65536, n) using 5:7 with points lc rgb '#2980b9' pt 8 title 'M = 65536', \
	     six(65536, x) with lines lc rgb '#2980b9' dt 4 notitle, \
	     cell('hier', 0, n) using 5:7 with points lc rgb '#c0392b' pt 7 title '7 hierarchical', \
	     cell('hier', 0, n) using 5:(seven($9)) with lines lc rgb '#c0392b' dt 2 notitle
}
unset multiplot
