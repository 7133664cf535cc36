# SPDX-License-Identifier: GPL-2.0
#
# compared.svg, compared-expiry.svg: figures of all ways to keep timers. A point further left is
# better. tests/bench/data writes compared.plot. The letters are large enough for a page of 450
# pixels.

set terminal svg size 720,660 font 'sans,16' background 'white'
set datafile separator '|'
set border 3 lc rgb '#666666'
set tics nomirror
set grid xtics back lc rgb '#dddddd'
set logscale x
set format x '10^{%T}'
unset mxtics
unset key
rows = int(system('wc -l <compared.plot'))
set ytics noenhanced
set yrange [rows + 0.7:0.3]
set palette maxcolors 3 defined (0 '#7f8c8d', 1 '#2980b9', 2 '#c0392b')
set cbrange [0:2]
unset colorbox
set bmargin at screen 0.16
set tmargin at screen 0.88
left(i) = 0.5 + (i - 1) * 0.26

# Draws one of the two panels of a picture. Only the first panel has the names of the ways.
panel = "set lmargin at screen left(%d); set rmargin at screen left(%d) + 0.21; plot 'compared.plot' using (column(%d) / %d.0):1:2%s with points pt 7 ps 1.1 lc palette"

do for [picture = 1:2] {
	set output picture == 1 ? 'compared.svg' : 'compared-expiry.svg'
	set multiplot
	set label 1 at screen 0.015, screen 0.03 'grey: timers in the process; blue: of the kernel; red: twheel' tc rgb '#444444'
	set format y '%s'
	set title picture == 1 ? "few:\n1,000 connections" : "all expire:\n100,000"
	set xlabel 'instructions'
	set xtics 10
	eval(sprintf(panel, 1, 1, picture == 1 ? 4 : 6, 1, ':ytic(3)'))
	unset label 1
	set format y ''
	set title picture == 1 ? "many:\n100,000, mixed" : "a busy loop:\nlateness, p99"
	set xlabel picture == 1 ? 'instructions' : 'microseconds'
	if (picture == 2) { set xtics 100 }
	eval(sprintf(panel, 2, 2, picture == 1 ? 5 : 7, 1, ''))
	unset multiplot
}
