# SPDX-License-Identifier: GPL-2.0
#
# user-memory.svg: memory per pending timer, 100,000 of them

load '../../tests/bench/bench-user/style.gnuplot'
set output 'user-memory.svg'
set style data histogram
set style histogram rowstacked
set style fill solid 0.8 noborder
set boxwidth 0.6
set yrange [0:*]
set ylabel 'bytes per timer'
set xtics noenhanced
set key top right
of(source) = sprintf("< for i in twheel timerfd posix io_uring libevent libuv; do awk -F, -v i=$i '$2 == \"icount\" && $3 == i && $4 == \"memory\" && $5 == \"%s\" && $8 == 100000 {print i \",\" ($10 > 0 ? $10 : 0); f = 1} END {if (!f) print i \",NaN\"}' user.csv; done", source)
plot of('slabinfo') using 2:xtic(1) lc rgb '#c0392b' title 'kernel (slabinfo)', \
     of('process') using 2 lc rgb '#e67e22' title 'process'
