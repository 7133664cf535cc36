#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
wheel.py HEADER DIR: draw the hierarchical wheel into DIR, levels.svg and windows.svg,
from the constants in twheel_hier.h.  conf.py calls it for each build.
"""
import re
import sys

WIDTH = 760
LEFT = 110
INK, PALE, NOW, NEXT = "#333333", "#dce6f0", "#1f5f99", "#e08a1e"


def constants(header):
    """Bits and ring of a level, and how many levels."""
    text = open(header, encoding="utf-8").read()

    def value(name):
        match = re.search(rf"^#define {name}\s+(.+)$", text, re.M)
        if not match:
            sys.exit(f"{header}: no {name}")
        return match.group(1)

    bits = int(value("TWHEEL_HIER_BITS"))
    windows = re.fullmatch(r"\((\d+) \* TWHEEL_HIER_WINDOW\)", value("TWHEEL_HIER_RING"))
    levels = re.fullmatch(r"DIV_ROUND_UP\((\d+), TWHEEL_HIER_BITS\)", value("TWHEEL_HIER_LEVELS"))
    if not windows or int(windows.group(1)) != 2 or not levels:
        sys.exit(f"{header}: not the wheel that {__file__} draws")
    return bits, -(-int(levels.group(1)) // bits)


class Drawing:
    def __init__(self, height):
        self.height = height
        self.parts = []

    def rect(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" '
                          f'fill="{fill}" stroke="{INK}" stroke-width="0.5"/>')

    def area(self, points, fill):
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{corners}" fill="{fill}" fill-opacity="0.25"/>')

    def dot(self, x, y):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{INK}"/>')

    def text(self, x, y, words, anchor="middle", fill=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{words}</text>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                    f'width="{WIDTH}" height="{self.height}" font-family="sans-serif" font-size="12">\n'
                    f'<rect width="{WIDTH}" height="{self.height}" fill="white"/>\n')
            f.write("\n".join(self.parts) + "\n</svg>\n")


def duration(ticks):
    """So many ticks of 1 ms."""
    for unit, length in (("years", 31557600000), ("days", 86400000), ("hours", 3600000), ("s", 1000)):
        if ticks >= length:
            number = ticks / length
            if number >= 1e6:
                return f"{number / 1e6:.0f} million {unit}"
            return f"{number:,.1f} {unit}" if number < 10 else f"{number:,.0f} {unit}"
    return f"{ticks} ms"


def levels_figure(bits, levels):
    """How far ahead each level has timers, on a logarithmic axis."""
    row, top = 26, 16
    drawing = Drawing(top + row * levels + 44)

    def x_of(exponent):
        return LEFT + (WIDTH - LEFT - 20) * exponent / (bits * levels)

    for level in range(levels):
        y = top + row * level
        # A level that the one below does not do for, up to the end of its next window.
        first, last = bits * level, min(bits * (level + 1) + 1, bits * levels)
        drawing.text(LEFT - 10, y + 14, f"level {level}", "end")
        drawing.rect(x_of(first), y, x_of(last) - x_of(first), 20, PALE)
        anchor, x = ("start", x_of(last) + 8) if level < levels / 2 else ("end", x_of(first) - 8)
        drawing.text(x, y + 14, f"slots of {duration(1 << bits * level)}", anchor)
    bottom = top + row * levels
    for level in range(levels + 1):
        drawing.rect(x_of(bits * level), bottom, 0.1, 5, INK)
        drawing.text(x_of(bits * level), bottom + 18, "1" if not level else f"2^{bits * level}")
    drawing.text((LEFT + WIDTH) / 2, bottom + 36, "ticks from now to the deadline (a slot at a tick of 1 ms)")
    return drawing


def windows_figure(bits, clock=70700, timer=71000, shown=3):
    """The two windows of the lowest levels, and what moves down at tick @clock."""
    window, row, top, height = 1 << bits, 92, 26, 30
    span = (WIDTH - LEFT - 20) / 2
    drawing = Drawing(top + row * (shown - 1) + height + 10)
    below = []

    def x_of(level, slot):
        first = (clock >> bits * (level + 1)) * window
        return LEFT + span * (slot - first) / window

    for level in range(shown):
        y = top + row * (shown - 1 - level)
        shift = bits * level
        now = clock >> shift
        first = (now // window) * window
        if below:
            corners = [(x_of(level, now + 1), y + height), (x_of(level, now + 2) + 2, y + height)]
            drawing.area(corners + below, NEXT)
        for i, name in enumerate(("current window", "next window")):
            begin = (first + i * window) << shift
            drawing.rect(LEFT + i * span, y, span, height, PALE)
            drawing.text(LEFT + (i + 0.5) * span, y - 5,
                         f"{name}: ticks {begin:,} to {begin + (window << shift) - 1:,}")
        drawing.rect(x_of(level, now), y, max(span / window, 2), height, NOW)
        if level:
            drawing.rect(x_of(level, now + 1), y, max(span / window, 2), height, NEXT)
        drawing.text(LEFT - 10, y + 14, f"level {level}", "end")
        drawing.text(LEFT - 10, y + 28, f"slots of {1 << shift:,}", "end")
        drawing.text(x_of(level, now + 2) + 6, y + 20,
                     f"slot {now:,}, then {now + 1:,}" if level else f"now: tick {clock:,}", "start")
        below = [(LEFT + 2 * span, y), (LEFT + span, y)]
    y = top + row * (shown - 1)
    drawing.dot(x_of(0, timer), y + height / 2)
    drawing.text(x_of(0, timer) + 8, y + 20, f"timer of tick {timer:,}", "start")
    return drawing


def main(header, directory):
    bits, levels = constants(header)
    levels_figure(bits, levels).write(f"{directory}/levels.svg")
    windows_figure(bits).write(f"{directory}/windows.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
