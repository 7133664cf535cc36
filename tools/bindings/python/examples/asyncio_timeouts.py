# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
asyncio_timeouts: idle timeouts of connections, pushed back by stores

Of three connections, number 0 sends messages until the end, number 1 is silent, and number 2
is closed. The argument is the idle timeout in ms.
"""
import asyncio
import sys
import time

import twheel.aio

TIMEOUT_NS = int((sys.argv[1:] or [300])[0]) * twheel.MS
CONNECTIONS = 3


async def talk(timers):
    """Connection 0: each message pushes its timeout back."""
    beats = 0
    try:
        while True:
            timers.words[0] = time.monotonic_ns() + TIMEOUT_NS
            beats += 1
            await asyncio.sleep(TIMEOUT_NS / 15 / twheel.SECOND)
    except asyncio.CancelledError:
        return beats


async def main():
    with twheel.aio.AsyncTwheel(shared_ids=CONNECTIONS) as timers:
        for connection in range(CONNECTIONS):
            timers.start(connection, TIMEOUT_NS)
        timers.words[2] = twheel.WORD_STOP
        talking = asyncio.create_task(talk(timers))
        async for event in timers:
            break
        talking.cancel()
        print(f"connection {event.id} is idle after {await talking} messages of connection 0")


asyncio.run(main())
