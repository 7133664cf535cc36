# SPDX-License-Identifier: GPL-2.0
#
# operations.svg: what the calls of the interface cost in instructions

load '../../tests/bench/style.gnuplot'
set terminal svg size 960,720 font 'sans,12' background 'white'
set output 'operations.svg'
set logscale x
set xlabel 'pending timers'
set ylabel 'instructions'
set format x '10^{%T}'
set yrange [0:700]

set multiplot layout 2,2
do for [op in 'start_at restart refresh stop'] {
	set title op noenhanced
	plot icount('hier', op) using 8:10 with linespoints @hier title 'twheel hier', \
	     icount('hashed', op) using 8:10 with linespoints @hashed title 'twheel hashed', \
	     icount('timer_list', op) using 8:10 with linespoints @timer_list title 'timer_list' noenhanced, \
	     icount('hrtimer', op) using 8:10 with linespoints @hrtimer title 'hrtimer'
}
unset multiplot
