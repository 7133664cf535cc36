#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
bases.py TOP DIR: draw into DIR which lock guards what, locks.svg, and the life of a
timer across CPUs, life.svg.  A name in code that the sources in TOP no longer have is
an error.  conf.py calls it for each build.
"""
import glob
import re
import sys

from wheel import INK, LEFT, NEXT, NOW, PALE, WIDTH, Drawing

WHITE = "#ffffff"

# The locks, from the outermost to the innermost: the name in the sources, a remark, and
# the data that the lock protects.
NESTED = [
    [("struct twheel_expiry_lock", "PREEMPT_RT: a few sleeping locks of a base",
      ["no data: one is held while callbacks run,", "and lends a waiter's priority to them"])],
    [("struct twheel_session", "a session's spinlock, softirqs off",
      ["one open file: its timers by id, their states,", "its events and counters"]),
     ("lock_of()", "a raw spinlock, one of 64 by the work's address",
      ["a work: its timer and its work item", "as one"])],
    [("struct twheel_base", "a raw spinlock, interrupts off; never two at a time",
      ["one CPU of a wheel: slots, clock, counters,", "hrtimer, and each timer whose base points here"])],
]
# Locks that no other one is taken under.
ALONE = [
    ("wheels_lock", ["the list of", "sessions' wheels"]),
    ("users_lock", ["users, and what", "each of them has"]),
    ("wheels", ["the xarray of wheels", "by number"]),
    ("sessions", ["the xarray of sessions", "by number"]),
]
# Shared without a lock.
UNLOCKED = [
    ("timer->base", "which base's lock: read it, lock, look again"),
    ("base->running", "the timer whose callback runs: written under the lock, read without it"),
    ("node.link.next", "is a timer pending? The wheel leaves it as it is while it moves the timer"),
    ("struct twheel_throttle", "the runtime of a CPU: only its ticks touch it, one after the other"),
    ("struct twheel_session_end", "wake-ups that a run owes: one for each CPU, as the runtime"),
    ("session->words", "deadlines that a program stores: each look reads a word once"),
    ("xa_find()", "from a wheel or session to the next, for /proc/twheel: RCU"),
]


def check_names(top):
    """The pictures go with the sources, or are not drawn."""
    text = ""
    for path in sorted(glob.glob(f"{top}/core/*.[ch]") + glob.glob(f"{top}/session/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            text += f.read()
    for name in [lock[0] for lock in sum(NESTED, []) + ALONE + UNLOCKED]:
        if not re.search(rf"\b{re.split('->|[.]', name)[-1].rstrip('()')}\b", text):
            sys.exit(f"{__file__}: no {name} in the sources")


def locks_figure():
    """Locks that nest from the top down, then the ones that are alone, then what needs none."""
    row, top, gap = 88, 32, 10
    drawing = Drawing(top + row * len(NESTED) + 128 + 22 * len(UNLOCKED))

    def box(x, y, width, height, lines):
        drawing.rect(x, y, width, height, PALE)
        for i, line in enumerate(lines):
            drawing.text(x + 10, y + 18 + 16 * i, line, "start", INK if i else NOW)

    drawing.text(gap, top - 12, "Taken from the top down: inside a lock only locks of lower rows are taken", "start")
    for i, locks in enumerate(NESTED):
        width = (WIDTH - gap) / len(locks) - gap
        for j, (name, kind, guards) in enumerate(locks):
            box(gap + j * (width + gap), top + row * i, width, row - gap, [name, kind] + guards)
    y = top + row * len(NESTED) + 26
    drawing.text(gap, y - 10, "Taken alone, for a few instructions; no memory is allocated under them", "start")
    width = (WIDTH - gap) / len(ALONE) - gap
    for i, (name, guards) in enumerate(ALONE):
        box(gap + i * (width + gap), y, width, 58, [name] + guards)
    y += 58 + 26
    drawing.text(gap, y, "Shared without a lock", "start")
    for i, (name, how) in enumerate(UNLOCKED):
        drawing.text(2 * gap, y + 22 * (i + 1), name, "start", NOW)
        drawing.text(220, y + 22 * (i + 1), how, "start")
    return drawing


def life_figure():
    """One timer on the bases of two CPUs. The text beside it has the same numbers."""
    lanes = {"base of CPU 0": 40, "moving": 90, "base of CPU 1": 140}
    names = list(lanes)
    height = 26
    # Lane, begin and end in hundredths, state.
    spans = [(0, 0, 10, "idle"), (0, 10, 34, "pending"), (1, 34, 39, ""), (2, 39, 54, "pending"),
             (2, 54, 68, "callback"), (2, 68, 78, "pending"), (2, 78, 87, "idle"), (1, 87, 92, ""),
             (0, 92, 101, "pending")]
    # Where a number of the text stands, above a lane or below it, and whose step it is.
    steps = [(0, 0, "CPU 0"), (10, 0, "CPU 0"), (22, 0, "CPU 1"), (34, 0, "CPU 0"), (54, 2, "CPU 1"),
             (61, 2, "CPU 0"), (78, 2, "CPU 0"), (87, 2, "CPU 0")]
    colours = {"idle": WHITE, "pending": PALE, "callback": NEXT, "": NOW}
    drawing = Drawing(210)

    def x_of(hundredths):
        return LEFT + (WIDTH - LEFT - 20) * hundredths / 101

    for name, y in lanes.items():
        drawing.text(LEFT - 10, y + 17, name, "end")
        drawing.rect(LEFT, y + height / 2, WIDTH - LEFT - 20, 0.1, INK)
    for i, (lane, begin, end, state) in enumerate(spans):
        y = lanes[names[lane]]
        drawing.rect(x_of(begin), y, x_of(end) - x_of(begin), height, colours[state])
        drawing.text((x_of(begin) + x_of(end)) / 2, y + 17, state)
        if i and spans[i - 1][0] != lane:
            before = lanes[names[spans[i - 1][0]]]
            top, bottom = min(y, before) + height, max(y, before)
            drawing.rect(x_of(begin), top, 0.1, bottom - top, INK)
    for i, (at, lane, caller) in enumerate(steps):
        y = lanes[names[lane]]
        up = lane == 0
        drawing.rect(x_of(at), y - 6 if up else y + height, 0.1, 6, INK)
        drawing.text(x_of(at), y - 22 if up else y + height + 20, str(i + 1), fill=NOW)
        drawing.text(x_of(at), y - 10 if up else y + height + 34, caller)
    return drawing


def main(top, directory):
    check_names(top)
    locks_figure().write(f"{directory}/locks.svg")
    life_figure().write(f"{directory}/life.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
