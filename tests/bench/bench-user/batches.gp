# SPDX-License-Identifier: GPL-2.0
#
# user-batches.svg: what batches gain, 100,000 timers pending

load '../../tests/bench/bench-user/style.gnuplot'
set output 'user-batches.svg'
set logscale xy
set xrange [0.8:5000]
set yrange [50:8000]
set xlabel 'operations per system call'
set ylabel 'instructions per timer'
set xtics (1, 16, 256, 4096)
figure(impl, op, dist) = system(sprintf("awk -F, '$2 == \"icount\" && $3 == \"%s\" && $4 == \"%s\" && $5 == \"%s\" && $6 == 1 && $8 == 100000 {print $10}' user.csv | grep . || echo NaN", impl, op, dist)) + 0

set multiplot layout 1,2
set title 'refresh, stop, arm'
settime = figure('timerfd', 'refresh', 'uniform')
plot settime with lines lc rgb '#2980b9' lw 2 title 'timerfd\_settime', \
     settime / 10 with lines lc rgb '#2980b9' dt 3 title 'a tenth of it', \
     at('icount', 'twheel', 'refresh', 'uniform') using 6:10 with linespoints @twheel title 'twheel: refresh', \
     at('icount', 'twheel', 'stop', 'uniform') using 6:10 with linespoints @libevent title 'stop', \
     at('icount', 'twheel', 'arm', 'uniform') using 6:10 with linespoints @libuv title 'arm'
set title 'collecting an expiry'
set xlabel 'events per system call'
plot at('icount', 'timerfd', 'expire', 'collect') using 6:10 with linespoints @timerfd title 'epoll\_wait, then read each', \
     at('icount', 'posix', 'expire', 'collect') using 6:10 with points @posix title 'sigwaitinfo', \
     at('icount', 'io_uring', 'expire', 'collect') using 6:10 with linespoints @io_uring title 'io\_uring', \
     at('icount', 'twheel', 'expire', 'collect') using 6:10 with linespoints @twheel title 'twheel: read'
unset multiplot
