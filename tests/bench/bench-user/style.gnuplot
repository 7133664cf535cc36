# SPDX-License-Identifier: GPL-2.0
#
# Shared by the plots. Each *.gp loads it, and tests/bench/bench-user/run has gnuplot
# run in build/bench/. pick() turns the matching rows of user.csv into an input.
# A row that was not measured must not end the plot.

set datafile separator ','
set grid back lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set key top left reverse Left samplen 2
set terminal svg size 960,480 font 'sans,12' background 'white'

twheel = 'lc rgb "#c0392b" lw 2.5 pt 7 ps 0.6'
single = 'lc rgb "#c0392b" lw 1.5 dt 2 pt 6 ps 0.6'
timerfd = 'lc rgb "#2980b9" lw 2 pt 5 ps 0.6'
posix = 'lc rgb "#27ae60" lw 2 pt 13 ps 0.7'
io_uring = 'lc rgb "#8e44ad" lw 2 pt 9 ps 0.6'
libevent = 'lc rgb "#e67e22" lw 2 pt 11 ps 0.6'
libuv = 'lc rgb "#7f8c8d" lw 2 pt 2 ps 0.6'

rows(test) = sprintf("< awk -F, '%s' user.csv | grep . || echo ,,,,,1,,1000,,NaN", test)
pick(mode, impl, op, dist, batch) = rows(sprintf('$2 == "%s" && $3 == "%s" && $4 == "%s" && $5 == "%s" && $6 == %d', mode, impl, op, dist, batch))
# against the batch, at 100,000 timers
at(mode, impl, op, dist) = rows(sprintf('$2 == "%s" && $3 == "%s" && $4 == "%s" && $5 == "%s" && $8 == 100000', mode, impl, op, dist))
