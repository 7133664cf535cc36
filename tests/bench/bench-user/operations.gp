# SPDX-License-Identifier: GPL-2.0
#
# user-operations.svg: what each operation costs against the timers pending

load '../../tests/bench/bench-user/style.gnuplot'
set terminal svg size 960,800 font 'sans,12' background 'white'
set output 'user-operations.svg'
set logscale xy
set xlabel 'pending timers'
set ylabel 'instructions per timer'
set format y "10^{%T}"
set format x '10^{%T}'
unset mxtics
unset mytics
set xrange [700:1500000]
set yrange [50:1e8]

set multiplot layout 2,2
do for [op in 'create arm refresh stop'] {
	set title op
	plot pick('icount', 'timerfd', op, 'uniform', 1) using 8:10 with linespoints @timerfd title 'timerfd', \
	     pick('icount', 'posix', op, 'uniform', 1) using 8:10 with linespoints @posix title 'POSIX timer', \
	     pick('icount', 'io_uring', op, 'uniform', 16) using 8:10 with linespoints @io_uring title 'io\_uring, 16 a call', \
	     pick('icount', 'libevent', op, 'uniform', 1) using 8:10 with linespoints @libevent title 'libevent', \
	     pick('icount', 'libuv', op, 'uniform', 1) using 8:10 with linespoints @libuv title 'libuv', \
	     pick('icount', 'twheel', op, 'uniform', 1) using 8:10 with linespoints @single title 'twheel, single', \
	     pick('icount', 'twheel', op, 'uniform', 256) using 8:10 with linespoints @twheel title 'twheel, 256 a call'
	unset key
}
unset multiplot
