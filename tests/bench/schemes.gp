# SPDX-License-Identifier: GPL-2.0
#
# schemes.svg: the comparison of Varghese and Lauck, redrawn: all seven schemes and Lawn,
# each in a facility with a lock and an hrtimer, in instructions

load '../../tests/bench/style.gnuplot'
set terminal svg size 1120,680 font 'sans,12' background 'white'
set output 'schemes.svg'
set logscale xy
set xlabel 'pending timers'
set ylabel 'instructions'
set format x '10^{%T}'
set key outside right top

set multiplot layout 2,2
do for [op in 'start_at stop tick_empty expire_restart'] {
	set title op noenhanced
	plot icount('list', op) using 8:10 with linespoints @list title '1 list', \
	     icount('sorted_list', op) using 8:10 with linespoints @sorted_list title '2 sorted list', \
	     icount('heap', op) using 8:10 with linespoints @heap title '3 heap', \
	     icount('plain', op) using 8:10 with linespoints @plain title '4 plain wheel', \
	     icount('hashed_sorted', op) using 8:10 with linespoints @hashed_sorted title '5 hashed, sorted', \
	     icount('hashed', op) using 8:10 with linespoints @hashed title '6 hashed', \
	     icount('hier', op) using 8:10 with linespoints @hier title '7 hierarchical', \
	     icount('lawn', op) using 8:10 with linespoints @lawn title 'lawn'
}
unset multiplot
