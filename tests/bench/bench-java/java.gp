# SPDX-License-Identifier: GPL-2.0
#
# java.svg: what timers of Java cost their callers, and how late they are

set datafile separator ','
set terminal svg size 960,400 font 'sans,12' background 'white'
set output 'java.svg'
set grid back lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set key top left reverse Left samplen 2
set logscale xy
set xrange [700:1500000]
set xtics ('1 k' 1000, '100 k' 100000, '1 M' 1000000)
set xlabel 'timeouts'
rows(way, figure) = sprintf("< grep '^process,%s,[0-9]*,%s,' java.csv", way, figure)

set multiplot layout 1,2
set title 'pushing a timeout back'
set ylabel 'ns of the caller'
set yrange [5:10000]
plot rows('HashedWheelTimer-100ms', 'refresh ns') using 3:5 with linespoints lc rgb '#2980b9' lw 2 pt 5 ps 0.6 title 'HashedWheelTimer, 100 ms', \
     rows('HashedWheelTimer-1ms', 'refresh ns') using 3:5 with linespoints lc rgb '#27ae60' lw 2 pt 13 ps 0.7 title 'HashedWheelTimer, 1 ms', \
     rows('ScheduledThreadPoolExecutor', 'refresh ns') using 3:5 with linespoints lc rgb '#7f8c8d' lw 2 pt 2 ps 0.6 title 'ScheduledThreadPoolExecutor', \
     rows('TwheelTimer', 'refresh ns') using 3:5 with linespoints lc rgb '#c0392b' lw 2.5 pt 7 ps 0.6 title 'TwheelTimer', \
     rows('TwheelTimer', 'refresh at ns') using 3:5 with linespoints lc rgb '#c0392b' lw 2 dt 2 pt 6 ps 0.6 title 'TwheelTimer, refreshAt()'
set title 'half of the timeouts are later than this'
set ylabel 'microseconds'
set yrange [100:10000000]
plot rows('HashedWheelTimer-100ms', 'p50 us') using 3:5 with linespoints lc rgb '#2980b9' lw 2 pt 5 ps 0.6 title 'HashedWheelTimer, 100 ms', \
     rows('HashedWheelTimer-1ms', 'p50 us') using 3:5 with linespoints lc rgb '#27ae60' lw 2 pt 13 ps 0.7 title 'HashedWheelTimer, 1 ms', \
     rows('ScheduledThreadPoolExecutor', 'p50 us') using 3:5 with linespoints lc rgb '#7f8c8d' lw 2 pt 2 ps 0.6 title 'ScheduledThreadPoolExecutor', \
     rows('TwheelTimer', 'p50 us') using 3:5 with linespoints lc rgb '#c0392b' lw 2.5 pt 7 ps 0.6 title 'TwheelTimer'
unset multiplot
