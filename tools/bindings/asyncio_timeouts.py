# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
asyncio_timeouts: idle timeouts of connections, pushed back by stores

Three connections send something now and then. One of them falls silent and one is
closed. The third goes on until the end. The argument is a timeout in ms.
"""
import asyncio
import sys
import time

import twheel

TIMEOUT_NS = int((sys.argv[1:] or [300])[0]) * twheel.MS
CONNECTIONS = 3


class Timeouts:
    """One session for all connections of an event loop."""

    def __init__(self, loop, on_idle):
        self.twheel = twheel.Twheel(shared_ids=CONNECTIONS)
        self.on_idle = on_idle
        loop.add_reader(self.twheel.fileno(), self.expired)

    def expired(self):
        for event in self.twheel.read():
            self.on_idle(event.id)

    def opened(self, connection):
        self.twheel.start(connection, TIMEOUT_NS)

    def heard_of(self, connection):
        self.twheel.refresh(connection, time.monotonic_ns() + TIMEOUT_NS)

    def closed(self, connection):
        self.twheel.stop_by_store(connection)


async def main():
    idle = []
    timeouts = Timeouts(asyncio.get_running_loop(), idle.append)
    for connection in range(CONNECTIONS):
        timeouts.opened(connection)
    timeouts.closed(2)
    beats = 0
    while not idle:
        timeouts.heard_of(0)
        beats += 1
        await asyncio.sleep(TIMEOUT_NS / 15 / twheel.SECOND)
    print(f"connection {idle[0]} is idle after {beats} messages of connection 0")


asyncio.run(main())
