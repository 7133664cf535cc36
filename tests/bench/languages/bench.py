# SPDX-License-Identifier: GPL-2.0
"""bench.py TIMERS ROUNDS: print what a refresh of one of TIMERS pending timers takes, in ns of CPU time, in CSV"""
import asyncio
import random
import sys
import time

import twheel

TIMERS, ROUNDS = map(int, sys.argv[1:])
HOUR_NS = 3600 * twheel.SECOND


def never():
    pass


async def main():
    loop, ids = asyncio.get_running_loop(), list(range(TIMERS))
    random.Random(1).shuffle(ids)
    session = twheel.Twheel(shared_ids=TIMERS)
    handles = [loop.call_later(3600, never) for _ in ids]
    for i in ids:
        session.start(i, HOUR_NS)

    def own():
        for i in ids:
            handles[i].cancel()
            handles[i] = loop.call_later(3600, never)

    def start():
        for i in ids:
            session.start(i, HOUR_NS)

    def push():
        for i in ids:
            session.push(i, time.monotonic_ns() + HOUR_NS)

    def word():
        words = session.words
        for i in ids:
            words[i] = time.monotonic_ns() + HOUR_NS

    total = dict.fromkeys(("own", "start", "push", "word"), 0)
    for turn in range(-1, ROUNDS):
        for refresh in own, start, push, word:
            begin = time.process_time_ns()
            refresh()
            if refresh is own:
                # The loop removes cancelled timers from its heap when it runs, so run it once.
                await asyncio.sleep(0)
            if turn >= 0:
                total[refresh.__name__] += time.process_time_ns() - begin
    print("Python", "``call_later()``", *(took // TIMERS // ROUNDS for took in total.values()), sep=",")


asyncio.run(main())
