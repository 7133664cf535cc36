# SPDX-License-Identifier: GPL-2.0
#
# real-servers.svg: mosquitto, and the loops of libevent and libuv. The figures are
# those of Documentation/real-servers.rst, lowest and highest of three runs:
#
#	gnuplot tests/clients/servers/real-servers.gp

load 'tests/bench/style.gnuplot'
set datafile separator whitespace
set terminal svg size 960,420 font 'sans,12' background 'white'
set output 'Documentation/plots/real-servers.svg'

$idle << END
100	74800	75300	84100	84400
1000	77600	77700	84200	84500
10000	103100	103300	84000	84300
END

# place, timers, instructions for a heartbeat: the highest differs by 19 at most
$loops << END
1	"own"	466
2	"lazy"	681
3	"twheel"	330
5	"own"	1350
6	"lazy"	875
7	"twheel"	348
END

set multiplot layout 1,2
set title 'mosquitto: clients that are idle'
set xlabel 'clients'
set ylabel 'instructions of the broker in a second'
set logscale x
set xrange [70:14000]
set yrange [0:125000]
set format y '%.0s%c'
set key bottom left
plot $idle using 1:2:2:3 with yerrorlines @stock title 'stock', \
     '' using 1:4:4:5 with yerrorlines @twheel title 'twheel'

unset logscale x
set title '99,000 heartbeats a second'
set xlabel 'libevent                                            libuv'
set ylabel 'instructions for a heartbeat'
set xrange [0:8]
set yrange [0:1500]
set format y '%g'
set boxwidth 0.7
set style fill solid 0.8 noborder
set xtics () scale 0
unset key
plot $loops using 1:3:xtic(2) with boxes lc rgb '#2980b9', \
     '' using 1:(strcol(2) eq 'twheel' ? $3 : NaN) with boxes lc rgb '#c0392b'
unset multiplot
