# SPDX-License-Identifier: GPL-2.0
#
# um.svg: the operations in ns, in a user-mode kernel

load '../../tests/bench/style.gnuplot'
set terminal svg size 1120,680 font 'sans,12' background 'white'
set output 'um.svg'
set logscale x
set xlabel 'pending timers'
set ylabel 'ns'
set format x '10^{%T}'
um(impl, op) = some('kernel', 'um', impl, op, 'uniform')

set multiplot layout 2,3
do for [op in 'start start_at stop refresh restart expire_restart'] {
	set title op noenhanced
	set yrange [0:(op eq 'stop' ? 250 : 500)]
	plot um('hier', op) using 8:10 with linespoints @hier title 'twheel', \
	     um('timer_list', op) using 8:10 with linespoints @timer_list title 'timer_list' noenhanced, \
	     um('hrtimer', op) using 8:10 with linespoints @hrtimer title 'hrtimer'
}
unset multiplot
