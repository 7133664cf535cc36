# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
Sessions for asyncio

    async with twheel.aio.AsyncTwheel(shared_ids=1000) as t:
        t.start(7, 5 * twheel.SECOND)
        async for event in t:
            print(event.id)
"""
from __future__ import annotations

import asyncio
import os

from . import Event, Twheel

__all__ = ["AsyncTwheel"]


class AsyncTwheel(Twheel):
    """
    A Twheel for the tasks of one event loop at a time. close() ends "async for".

    A task that is cancelled while it waits loses no event.
    """
    _readable: asyncio.Future[None] | None = None
    _watcher = _taken = 0

    def close(self) -> None:
        self._wake()
        super().close()

    def _wake(self) -> None:
        readable, self._readable = self._readable, None
        # A closed loop has no readers, and its tasks do not continue. After fork() the child must
        # not remove the reader: its loop shares an epoll(7) descriptor with the parent's loop, so
        # it would remove the reader of the parent.
        if readable and not readable.get_loop().is_closed() and self._watcher == os.getpid():
            readable.get_loop().remove_reader(self.fileno())
            readable.set_result(None)

    async def events(self, count: int = 64) -> list[Event]:
        """Wait for events, and return at most count."""
        loop = asyncio.get_running_loop()
        # Let other tasks run after 64 events, even if more events are unread.
        if self._taken >= 64:
            self._taken = 0
            await asyncio.sleep(0)
        while not (events := self.read(count)):
            if self._readable and self._readable.get_loop() is not loop:
                self._wake()
            if not self._readable:
                self._readable, self._watcher = loop.create_future(), os.getpid()
                loop.add_reader(self.fileno(), self._wake)
            # Other tasks continue to wait for the future if this task is cancelled.
            await asyncio.shield(self._readable)
        self._taken += len(events)
        return events

    async def __aenter__(self) -> AsyncTwheel:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncTwheel:
        return self

    async def __anext__(self) -> Event:
        # One event at a time, because an event that was read can no longer be withdrawn.
        try:
            return (await self.events(1))[0]
        except ValueError:
            raise StopAsyncIteration from None
