# SPDX-License-Identifier: GPL-2.0
#
# Definitions of all plots. Each *.gp loads this file, and tests/bench/run calls gnuplot in
# build/bench/. pick() is an input that has the matching rows of kernel.csv.

set datafile separator ','
set grid back lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set key top left reverse Left samplen 2

hier = 'lc rgb "#c0392b" lw 2.5 pt 7 ps 0.6'
hashed = 'lc rgb "#2980b9" lw 2 pt 5 ps 0.6'
hashed_sorted = 'lc rgb "#8e44ad" lw 1.5 pt 9 ps 0.6'
timer_list = 'lc rgb "#27ae60" lw 2 pt 13 ps 0.7'
hrtimer = 'lc rgb "#e67e22" lw 2 pt 11 ps 0.6'
heap = 'lc rgb "#7f8c8d" lw 2 pt 2 ps 0.6'
plain = 'lc rgb "#16a085" lw 1.5 pt 4 ps 0.6'
twheel = hier
stock = hashed

pick(suite, mode, impl, op, dist) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 == \"%s\" && $4 == \"%s\" && $5 == \"%s\"' kernel.csv", suite, mode, impl, op, dist)
# Like pick(), but a figure that was not measured is NaN, so that the plot does not end with an
# error.
some(suite, mode, impl, op, dist) = pick(suite, mode, impl, op, dist)." | grep . || echo ,,,,,,,1000,,NaN"
icount(impl, op) = some('kernel', 'icount', impl, op, 'uniform')
native(impl, op) = some('native', 'wall', impl, op, 'uniform')
