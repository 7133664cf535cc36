# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
Timers by the million through one file descriptor: libtwheel for Python

    with twheel.Twheel() as t:
        t.start(7, 5 * twheel.SECOND, user_data=42)
        for event in t.wait():
            print(event.id, event.user_data)

The methods are the functions of <twheel.h>. Times are in nanoseconds, and may be floats. A
deadline is a time of time.monotonic_ns(), or of the clock of the session. A call that fails
raises OSError. For an id without a timer it is NoTimer, which is also a KeyError. An argument
of a wrong type raises TypeError, and a number out of range ValueError. twheel.aio is for
asyncio.
"""
from __future__ import annotations

import ctypes
import importlib
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Type, TypeVar

from . import _abi, _library
from ._abi import *
from ._library import NoTimer as NoTimer

__version__ = "@version@"

if TYPE_CHECKING:
    from . import aio as aio
else:
    def __getattr__(name: str) -> Any:
        if name == "aio":
            return importlib.import_module("twheel.aio")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

MS = 1_000_000
SECOND = 1_000_000_000


class Op(NamedTuple):
    """An operation of a batch. Its result is 0 or more, or a negative errno."""
    opcode: int
    id: int
    result: int


_T = TypeVar("_T")


def _tuple(kind: Type[_T], structure: Any) -> _T:
    fields = (getattr(structure, name) for name in kind.__annotations__)
    return kind(*[tuple(field) if isinstance(field, ctypes.Array) else field for field in fields])


class Twheel:
    """
    A session. The arguments are the fields of struct twheel_setup.

    words[timer] = deadline_ns moves a timer below shared_ids to a later deadline, without
    a system call. A slice of words keeps the session open.
    """
    words: memoryview

    def __init__(self, *, shared_ids: int = 0, max_timers: int = 0, private: bool = False,
                 scheme: int = SCHEME_HIER, slots: int = 0,
                 tick_ns: int = 0, clock: int = 0, wake_ns: int = 0):
        setup = _library.checked(_abi._Setup, scheme=scheme, slots=slots,
                                 flags=SETUP_PRIVATE if private else 0,
                                 tick_ns=tick_ns, max_timers=max_timers, shared_ids=shared_ids,
                                 clock=clock, wake_ns=wake_ns)
        pointer = ctypes.c_void_p()
        _library.open_sized(ctypes.byref(pointer), ctypes.byref(setup),
                            ctypes.sizeof(setup), ctypes.sizeof(_abi._Event))
        assert pointer.value
        self._handle = pointer.value
        head = _library.Head.from_address(self._handle)
        self._fd = head.fd
        words = ((ctypes.c_uint64 * shared_ids).from_address(head.words) if shared_ids
                 else (ctypes.c_uint64 * 1)())
        # The last view of the words closes the session, and no view outlives their memory.
        weakref.finalize(words, _library.close, self._handle).atexit = False
        self.words = memoryview(words).cast("B").cast("Q")[:shared_ids]

    def __enter__(self) -> Twheel:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @property
    def _t(self) -> int:
        if not self._handle:
            raise ValueError("the session is closed")
        return self._handle

    def close(self) -> None:
        """Stop all timers. Must not race with a call of another thread."""
        self._handle = 0
        self.words.release()

    def fileno(self) -> int:
        """Return the descriptor, which is readable when events are unread."""
        return self._t and self._fd

    def start(self, timer: int, delay_ns: float, user_data: int = 0) -> bool:
        """Start or restart a timer. Return True if it was pending."""
        return bool(_library.start(self._t, timer, delay_ns, user_data))

    def start_flags(self, timer: int, expires_ns: float, period_ns: float = 0, user_data: int = 0,
                    flags: int = 0) -> tuple[int, bool]:
        """Start a timer with START_*, a period or ID_ANY. Return its id, and True if it was pending."""
        chosen = _library.u64.from_param(timer)
        pending = _library.start_flags(self._t, ctypes.byref(chosen), expires_ns, period_ns, user_data, flags)
        return chosen.value, bool(pending)

    def start_idle(self, timer: int, fd: int, idle_ns: float, user_data: int = 0,
                   flags: int = 0) -> tuple[int, bool]:
        """Start a timer that is due when the TCP socket fd has received nothing for idle_ns."""
        chosen = _library.u64.from_param(timer)
        pending = _library.start_idle(self._t, ctypes.byref(chosen), fd, idle_ns, user_data, flags)
        return chosen.value, bool(pending)

    def push(self, timer: int, deadline_ns: float, user_data: int = 0) -> None:
        """Move a pending timer to another deadline, by a store if that is not earlier than its word."""
        _library.push(self._t, timer, deadline_ns, user_data)

    def stop(self, timer: int) -> None:
        """Stop a pending timer."""
        _library.stop(self._t, timer)

    def withdraw(self, timer: int) -> bool:
        """Stop a timer, or withdraw its unread event. Return True for an event."""
        return bool(_library.withdraw(self._t, timer))

    def stop_by_store(self, timer: int) -> None:
        """Stop a timer without an event when it is due, by a store: words[timer] = WORD_STOP."""
        if timer < 0:
            raise IndexError("timer without a word")
        self.words[timer] = WORD_STOP

    def _take(self, function: Callable[..., int], count: int, *timeout: float) -> List[Event]:
        events = (_abi._Event * _library.u32.from_param(count).value)()
        got = function(self._t, events, count, *timeout)
        return [_tuple(Event, event) for event in events[:got]]

    def read(self, count: int = 64) -> List[Event]:
        """Return the unread events, at most count."""
        return self._take(_library.read, count)

    def wait(self, timeout_ns: Optional[float] = None, count: int = 64) -> List[Event]:
        """Wait for events, for at most timeout_ns (None or negative: without end), and read them."""
        left = -1 if timeout_ns is None or timeout_ns < 0 else timeout_ns
        end = time.monotonic_ns() + left
        while True:
            try:
                return self._take(_library.wait, count, left)
            except InterruptedError:
                # The handler of the signal returned without an exception.
                left = left if left < 0 else max(end - time.monotonic_ns(), 0)

    def get(self, timer: int) -> Optional[Entry]:
        """Return a timer, or None if it is neither pending nor its event unread."""
        entry = _library.checked(_abi._Entry, id=timer)
        try:
            _library.command(self._t, _abi.IOC_GET, entry)
        except NoTimer:
            return None
        return _tuple(Entry, entry)

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
        info = _abi._Info()
        _library.command(self._t, _abi.IOC_INFO, info)
        return _tuple(Info, info)

    def stats(self) -> Stats:
        """Return the counters of the session."""
        stats = _abi._Stats()
        _library.command(self._t, _abi.IOC_STATS, stats)
        return _tuple(Stats, stats)

    def batch(self, size: int = 64) -> Batch:
        """Return an empty batch, which submits itself when it has size operations."""
        return Batch(self, size)


class Batch:
    """
    Operations that are submitted together, when the batch is full, by flush(), and at the
    end of a "with" block.

    A method that fills the batch returns the results, as flush() does. Others return an
    empty list.
    """

    def __init__(self, twheel: Twheel, size: int):
        batch = ctypes.c_void_p()
        _library.batch_new(twheel._t, size, ctypes.byref(batch))
        self._twheel = twheel
        self._handle = batch.value
        weakref.finalize(self, _library.batch_free, batch.value).atexit = False

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, exception: object, *_more: object) -> None:
        if not exception:
            self.flush()

    @property
    def _batch(self) -> Any:
        return self._twheel._t and self._handle

    def _results(self, count: int) -> List[Op]:
        ops = (_library.batch_op(self._handle, i).contents for i in range(count))
        return [Op(op.opcode, op.id, op.result) for op in ops]

    def start(self, timer: int, delay_ns: float, user_data: int = 0) -> List[Op]:
        """Add a Twheel.start(). Its delay begins when the batch is submitted."""
        return self.start_flags(timer, delay_ns, 0, user_data, 0)

    def start_flags(self, timer: int, expires_ns: float, period_ns: float = 0, user_data: int = 0,
                    flags: int = 0) -> List[Op]:
        """Add a Twheel.start_flags()."""
        return self._results(_library.batch_start_flags(self._batch, timer, expires_ns, period_ns,
                                                        user_data, flags))

    def stop(self, timer: int) -> List[Op]:
        """Add a Twheel.stop()."""
        return self._results(_library.batch_stop(self._batch, timer))

    def withdraw(self, timer: int) -> List[Op]:
        """Add a Twheel.withdraw()."""
        return self._results(_library.batch_withdraw(self._batch, timer))

    def flush(self) -> List[Op]:
        """Submit the operations that were added. Return their results."""
        return self._results(_library.batch_flush(self._batch))
