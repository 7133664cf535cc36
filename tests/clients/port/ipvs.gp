# SPDX-License-Identifier: GPL-2.0
#
# ipvs.svg: the longest stall while connections of IPVS time out. The figures are those
# of "tests/clients/port/run ipvs 1000 ... 1000000":
#
#	gnuplot tests/clients/port/ipvs.gp

load 'tests/bench/style.gnuplot'
set datafile separator whitespace
set terminal svg size 720,420 font 'sans,12' background 'white'
set output 'Documentation/plots/ipvs.svg'

# connections, timer_list, twheel: microseconds
$stall << END
1000	367	55
3000	1267	101
10000	4367	101
30000	13241	143
100000	41162	143
300000	91520	679
1000000	142009	715
END

set xlabel 'UDP connections that are refreshed once, and then silent'
set ylabel 'longest time without a program'
set logscale xy
set format x '%.0s%c'
set ytics ('10 us' 10, '100 us' 100, '1 ms' 1000, '10 ms' 10000, '100 ms' 100000, '1 s' 1000000)
set yrange [10:2000000]
set key top left
plot $stall using 1:2 with linespoints @stock title 'timer\_list', \
     '' using 1:3 with linespoints @twheel title 'twheel'
