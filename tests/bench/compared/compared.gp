# SPDX-License-Identifier: GPL-2.0
#
# compared.svg: which one to take. A point further left is better; the best of each part, for a
# program and for a module, is in its title. tables.awk writes compared.plot.

set terminal svg size 1120,600 font 'sans,11' background 'white'
set output 'compared.svg'
set datafile separator '|'
set border 3 lc rgb '#666666'
set tics nomirror
set grid xtics back lc rgb '#dddddd'
set logscale x
set format x '10^{%T}'
set xtics offset 0,0.2
unset mxtics
unset key
rows = int(system('wc -l <compared.plot'))
set ytics noenhanced
set yrange [rows + 0.7:0.3]
set palette maxcolors 3 defined (0 '#7f8c8d', 1 '#2980b9', 2 '#c0392b')
set cbrange [0:2]
unset colorbox
set bmargin at screen 0.16
set tmargin at screen 0.84
set label 1 at screen 0.015, screen 0.035 'grey: timers in the process; blue: timers of the kernel; red: twheel. Further left is better.' tc rgb '#444444'

best(who, column) = system(sprintf("grep '|%s|' compared.plot | grep -v '^\\([^|]*|\\)\\{%d\\}NaN' | sort -t'|' -g -k%d | head -n 1 | cut -d'|' -f4 | sed 's/,.*//; s/_/\\\\_/'", who, column - 1, column))
titles = "few:\n1,000 connections|many:\n100,000, many timeouts|refreshed often:\n100,000, one timeout|expiring often:\nno heartbeats|a busy loop:\n99 of 100 are on time by"
title(i) = system(sprintf("printf '%%s' '%s' | tr '\\n' '#' | cut -d'|' -f%d | tr '#' '\\n'", titles, i))
wide = 0.159
left(i) = 0.2 + (i - 1) * (wide + 0.003)

set multiplot
do for [i = 1:5] {
	set lmargin at screen left(i)
	set rmargin at screen left(i) + wide - 0.027
	set title title(i)."\n{/:Bold ".best('program', i + 4)."}\nin a module:{/:Bold  ".best('module', i + 4)."}" font ',10'
	set xlabel i < 5 ? 'instructions' : 'microseconds' offset 0,0.4
	scale = i < 5 ? 1 : 1000.0
	if (i == 1) {
		plot 'compared.plot' using (column(i + 4) / scale):1:2:ytic(4) with points pt 7 ps 0.9 lc palette
	} else {
		set format y ''
		plot 'compared.plot' using (column(i + 4) / scale):1:2 with points pt 7 ps 0.9 lc palette
	}
	unset label 1
}
unset multiplot
