# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
Timers by the million through one file descriptor: libtwheel for Python

    with twheel.Twheel() as t:
        t.start(7, 5 * twheel.SECOND, user_data=42)
        for event in t.wait():
            print(event.id, event.user_data)

The methods are the functions of <twheel.h>. Times are in nanoseconds, and may be floats. A
deadline is a time of time.monotonic_ns(), or of the clock of the session. A call that fails
raises OSError, and for an id without a timer NoTimer, which is an OSError and a KeyError. An
argument of a wrong type raises TypeError, and a number out of range ValueError. The module
twheel.aio has sessions for asyncio.
"""
from __future__ import annotations

import ctypes
import math
import os
import select
import time
import weakref
from typing import Any, Callable, List, NamedTuple, TypeVar

from . import _abi, _library
from ._abi import *
from ._library import NoTimer as NoTimer

__version__ = "@version@"
__all__ = ["MS", "SECOND", "Batch", "NoTimer", "Op", "Twheel"]
__all__ += _abi.__all__

MS = 1_000_000
SECOND = 1_000_000_000


class Op(NamedTuple):
    """An operation of a batch. Its result is 0 or more, or a negative errno."""
    opcode: int
    id: int
    result: int


_T = TypeVar("_T")
_os: Any = os    # mypy 1.0 does not know eventfd


def _tuple(kind: Callable[..., _T], structure: Any) -> _T:
    fields = (getattr(structure, name) for name in kind.__annotations__)
    return kind(*[tuple(field) if isinstance(field, ctypes.Array) else field for field in fields])


class Twheel:
    """
    A session. The arguments are the fields of struct twheel_setup.

    words[timer] = deadline_ns moves a timer to a later deadline without a system call, and
    words[timer] = WORD_STOP stops it. Timers with ids below shared_ids have a word. A slice
    of words keeps the session open.
    """
    words: memoryview

    def __init__(self, *, shared_ids: int = 0, max_timers: int = 0, private: bool = False,
                 tick_ns: int = 0, clock: int = 0):
        u32, u64 = _library.u32.from_param, _library.u64.from_param
        session = _library.Session(_abi._Setup(
            flags=SETUP_PRIVATE if private else 0, tick_ns=u64(tick_ns),
            max_timers=u64(max_timers), shared_ids=u32(shared_ids), clock=u32(clock)))
        self._session: _library.Session | None = session
        # An eventfd that close() makes readable, so that wait() ends. A child inherits it, and must
        # not end waits of its parent.
        self._closed, self._pid = _os.eventfd(0), os.getpid()
        weakref.finalize(self, os.close, self._closed).atexit = False
        words: Any = ((ctypes.c_uint64 * shared_ids).from_address(session.head.words) if shared_ids
                      else (ctypes.c_uint64 * 1)())
        words.session = session
        self.words = memoryview(words).cast("B").cast("Q")[:shared_ids]

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @property
    def _t(self) -> _library.Session:
        session = self._session
        if not session:
            raise ValueError("the session is closed")
        return session

    def close(self) -> None:
        """
        Stop all timers, and end calls of wait().

        The session is closed when calls that other threads have begun have returned.
        """
        self._session = None
        if self._pid == os.getpid():
            _os.eventfd_write(self._closed, 1)
        self.words.release()

    def fileno(self) -> int:
        """Return the descriptor, which is readable when events are unread."""
        return int(self._t.head.fd)

    def start(self, timer: int, delay_ns: float, user_data: int = 0) -> int:
        """Start or restart a timer. Return 1 if it was pending, 2 if its unread event is withdrawn, else 0."""
        return _library.start(self._t, timer, delay_ns, user_data)

    def start_flags(self, timer: int, expires_ns: float, period_ns: float = 0, user_data: int = 0,
                    flags: int = 0) -> tuple[int, int]:
        """Start a timer with START_ABS, a period or ID_ANY. Return its id, and what start() returns."""
        chosen = _library.u64.from_param(timer)
        result = _library.start_flags(self._t, ctypes.byref(chosen), expires_ns, period_ns, user_data, flags)
        return chosen.value, result

    def push(self, timer: int, deadline_ns: float, user_data: int = 0) -> None:
        """Move a timer to another deadline, by a store unless the deadline is earlier than its word."""
        _library.push(self._t, timer, deadline_ns, user_data)

    def stop(self, timer: int) -> int:
        """Stop a timer. Return 0 if it was pending, 1 if its unread event is withdrawn."""
        return _library.stop(self._t, timer)

    def read(self, count: int = 64) -> List[Event]:
        """Return the unread events, at most count."""
        events = (_abi._Event * _library.u32.from_param(count).value)()
        got = _library.read(self._t, events, count)
        return [_tuple(Event, event) for event in events[:got]]

    def wait(self, timeout_ns: float | None = None, count: int = 64) -> List[Event]:
        """
        Wait up to timeout_ns for events, and read them.

        A timeout that is None or negative has no end. The wait may last 1 ms longer. It raises
        ValueError if another thread calls close().
        """
        end = math.inf if timeout_ns is None or timeout_ns < 0 else time.monotonic_ns() + timeout_ns
        session, poll = self._t, select.poll()
        poll.register(session.head.fd, select.POLLIN)
        poll.register(self._closed, select.POLLIN)
        while not (events := self.read(count)) and (left := end - time.monotonic_ns()) > 0:
            poll.poll(math.ceil(min(left / MS, 2**31 - 1)))
        return events

    def _query(self, kind: Callable[..., _T], number: int, structure: Any) -> _T:
        _library.command(self._t, number, structure)
        return _tuple(kind, structure)

    def get(self, timer: int) -> Entry | None:
        """Return a timer, or None if it is not pending and has no unread event."""
        try:
            return self._query(Entry, _abi.IOC_GET, _abi._Entry(id=_library.u64.from_param(timer)))
        except NoTimer:
            return None

    def list(self) -> List[Entry]:
        """Return all timers that are pending, or whose events are unread."""
        timers, entries = [], (_abi._Entry * 64)()
        place = _abi._List(entries=ctypes.addressof(entries), count=64,
                           entry_size=ctypes.sizeof(_abi._Entry))
        while count := _library.command(self._t, _abi.IOC_LIST, place):
            timers += [_tuple(Entry, entry) for entry in entries[:count]]
        return timers

    def info(self) -> Info:
        """Return the features, the wheel and the limits of the session."""
        return self._query(Info, _abi.IOC_INFO, _abi._Info())

    def stats(self) -> Stats:
        """Return the counters of the session."""
        return self._query(Stats, _abi.IOC_STATS, _abi._Stats())

    def batch(self, size: int = 64) -> Batch:
        """Return an empty batch, which submits itself when it has size operations."""
        return Batch(self, size)


class Batch:
    """
    Operations that are submitted together, when the batch is full, by flush(), and at the
    end of a "with" block.

    A call that submits the batch, because the batch is full or by flush(), returns all
    operations with their results. Other calls return an empty list.
    """

    def __init__(self, twheel: Twheel, size: int):
        self._twheel, self._batch = twheel, ctypes.c_void_p()
        _library.batch_new(twheel._t, size, ctypes.byref(self._batch))
        weakref.finalize(self, _library.batch_free, self._batch).atexit = False

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, exception: object, *_more: object) -> None:
        if not exception:
            self.flush()

    def _add(self, function: Callable[..., int], *arguments: float) -> List[Op]:
        session = self._twheel._t
        count = function(self._batch, *arguments)
        # Keep the session until the function has returned: another thread may have called close().
        del session
        ops = (_library.batch_op(self._batch, i).contents for i in range(count))
        return [Op(op.opcode, op.id, op.result) for op in ops]

    def start(self, timer: int, delay_ns: float, user_data: int = 0) -> List[Op]:
        """Add a start, see Twheel.start(). The delay begins when the batch is submitted."""
        return self.start_flags(timer, delay_ns, 0, user_data, 0)

    def start_flags(self, timer: int, expires_ns: float, period_ns: float = 0, user_data: int = 0,
                    flags: int = 0) -> List[Op]:
        """Add a start with flags, see Twheel.start_flags()."""
        return self._add(_library.batch_start_flags, timer, expires_ns, period_ns, user_data, flags)

    def stop(self, timer: int) -> List[Op]:
        """Add a stop, see Twheel.stop()."""
        return self._add(_library.batch_stop, timer)

    def flush(self) -> List[Op]:
        """Submit the operations that were added. Return their results."""
        return self._add(_library.batch_flush)
