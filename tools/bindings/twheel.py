# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
Timers by the million through one file descriptor: libtwheel for Python

    with twheel.Twheel() as t:
        t.start(7, 5 * twheel.SECOND, user_data=42)
        for event in t.wait():
            print(event.id, event.user_data)

This file and libtwheel.so.1 are all that it takes. All times are nanoseconds, a
deadline is one of time.monotonic_ns(). A call that fails raises OSError with the
errno that libtwheel(3) gives it. t.fileno() is for select and asyncio:

    loop.add_reader(t.fileno(), lambda: handle(t.read()))
"""
import collections
import ctypes
import os
import weakref

MS = 1_000_000
SECOND = 1_000_000_000

ID_ANY = 2**64 - 1
WORD_NONE = 0
WORD_STOP = 2**64 - 1
START_ABS = 1
START_REPLACE = 2
SCHEME_HIER, SCHEME_HASHED = 0, 1
MODE_PERIODIC, MODE_TICKLESS = 0, 1
STATE_PENDING, STATE_EXPIRED = 1, 2
EVENT_PERIODIC = 1

_SETUP_PRIVATE = 1


def _structure(name, fields):
    """A structure of <linux/twheel.h>; a field is 64 bits long if not in capitals."""
    return type(name, (ctypes.Structure,), {"_fields_": [
        (field.lower(), ctypes.c_uint32 if field.isupper() else ctypes.c_uint64)
        for field in fields.split()]})


_Setup = _structure("_Setup", "FLAGS SCHEME MODE SLOTS tick_ns max_timers EVENT_SIZE SHARED_IDS")
_Info = _structure("_Info", "ABI_VERSION SCHEME features tick_ns max_timers max_interval_ns "
                   "MODE SLOTS MAX_BATCH EVENT_SIZE SHARED_IDS RESERVED")
_Event = _structure("_Event", "id user_data deadline_ns expired_ns overruns FLAGS RESERVED")
_Entry = _structure("_Entry", "id user_data deadline_ns remaining_ns period_ns STATE RESERVED")
_Stats = _structure("_Stats", "started restarted stopped expired pending rearmed delivered "
                    "replaced withdrawn unread overruns wakeups carried stopped_by_store")


class _Op(ctypes.Structure):
    _fields_ = [("opcode", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("id", ctypes.c_uint64), ("expires_ns", ctypes.c_uint64),
                ("period_ns", ctypes.c_uint64), ("user_data", ctypes.c_uint64),
                ("result", ctypes.c_int32), ("reserved", ctypes.c_uint32)]


Event = collections.namedtuple("Event", "id user_data deadline_ns expired_ns overruns flags")
Entry = collections.namedtuple("Entry", "id user_data deadline_ns remaining_ns period_ns state")
Info = collections.namedtuple("Info", [name for name, _ in _Info._fields_ if name != "reserved"])
Stats = collections.namedtuple("Stats", [name for name, _ in _Stats._fields_])
Op = collections.namedtuple("Op", "opcode id result")

_lib = ctypes.CDLL("libtwheel.so.1")
_u32, _u64, _i64, _ptr = ctypes.c_uint, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
_CANNOT_FAIL = ("close", "fd", "refresh", "stop_by_store", "word", "batch_free",
                  "batch_failed", "batch_op")


def _check(result, function, _arguments):
    if result < 0:
        raise OSError(-result, os.strerror(-result), function.__name__)
    return result


def _function(name, *arguments, result=ctypes.c_int):
    function = getattr(_lib, "twheel_" + name)
    function.argtypes = arguments
    function.restype = result
    if name not in _CANNOT_FAIL:
        function.errcheck = _check
    return function


_open = _function("open", _ptr, _ptr)
_close = _function("close", _ptr, result=None)
_fd = _function("fd", _ptr)
_start = _function("start", _ptr, _u64, _u64, _u64)
_start_at = _function("start_at", _ptr, _u64, _u64, _u64)
_start_periodic = _function("start_periodic", _ptr, _u64, _u64, _u64, _u64)
_start_flags = _function("start_flags", _ptr, _ptr, _u64, _u64, _u64, ctypes.c_uint32)
_stop = _function("stop", _ptr, _u64)
_withdraw = _function("withdraw", _ptr, _u64)
_refresh = _function("refresh", _ptr, _u64, _u64, result=None)
_stop_by_store = _function("stop_by_store", _ptr, _u64, result=None)
_word = _function("word", _ptr, _u64, result=_u64)
_read = _function("read", _ptr, _ptr, _u32)
_wait = _function("wait", _ptr, _ptr, _u32, _i64)
_get = _function("get", _ptr, _u64, _ptr)
_list = _function("list", _ptr, _ptr, _u32, _ptr)
_drain = _function("drain", _ptr, _ptr, _u32, _ptr)
_info = _function("info", _ptr, _ptr)
_stats = _function("stats", _ptr, _ptr)
_batch_new = _function("batch_new", _ptr, _u32, _ptr)
_batch_free = _function("batch_free", _ptr, result=None)
_batch_start_flags = _function("batch_start_flags", _ptr, _u64, _u64, _u64, _u64,
                               ctypes.c_uint32)
_batch_stop = _function("batch_stop", _ptr, _u64)
_batch_withdraw = _function("batch_withdraw", _ptr, _u64)
_batch_flush = _function("batch_flush", _ptr)
_batch_failed = _function("batch_failed", _ptr, result=_u32)
_batch_op = _function("batch_op", _ptr, _u32, result=ctypes.POINTER(_Op))


def _tuple(kind, structure):
    return kind(*(getattr(structure, name) for name in kind._fields))


class Twheel:
    """A session. What the arguments mean is said of struct twheel_setup."""

    def __init__(self, *, shared_ids=0, max_timers=0, private=False, scheme=SCHEME_HIER,
                 mode=MODE_PERIODIC, slots=0, tick_ns=0):
        setup = _Setup(flags=_SETUP_PRIVATE if private else 0, scheme=scheme, mode=mode,
                       slots=slots, tick_ns=tick_ns, max_timers=max_timers,
                       shared_ids=shared_ids)
        handle = ctypes.c_void_p()
        _open(ctypes.byref(handle), ctypes.byref(setup))
        self._t = handle.value
        self._close = weakref.finalize(self, _close, handle.value)
        self._shared_ids = shared_ids

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    @property
    def _open_t(self):
        if not self._close.alive:
            raise ValueError("the session is closed")
        return self._t

    def close(self):
        """Stop all timers."""
        self._close()

    def fileno(self):
        """The descriptor, which is readable when events are unread."""
        return _fd(self._open_t)

    def start(self, timer, delay_ns, user_data=0):
        """Start a timer, or restart it. True if it was pending."""
        return bool(_start(self._open_t, timer, delay_ns, user_data))

    def start_at(self, timer, deadline_ns, user_data=0):
        """The same with a deadline."""
        return bool(_start_at(self._open_t, timer, deadline_ns, user_data))

    def start_periodic(self, timer, delay_ns, period_ns, user_data=0):
        """The same, and it goes on when its event is read."""
        return bool(_start_periodic(self._open_t, timer, delay_ns, period_ns, user_data))

    def start_any(self, delay_ns, user_data=0):
        """Start a timer, and return the id that the kernel chose."""
        return self.start_flags(ID_ANY, delay_ns, 0, user_data, 0)[0]

    def start_flags(self, timer, expires_ns, period_ns=0, user_data=0, flags=0):
        """Start a timer with START_ABS, START_REPLACE: its id, True if it was pending."""
        timer = ctypes.c_uint64(timer)
        pending = _start_flags(self._open_t, ctypes.byref(timer), expires_ns, period_ns,
                               user_data, flags)
        return timer.value, bool(pending)

    def stop(self, timer):
        """Stop a pending timer."""
        _stop(self._open_t, timer)

    def withdraw(self, timer):
        """Stop a timer, or withdraw its unread event: True then."""
        return bool(_withdraw(self._open_t, timer))

    def _with_word(self, timer):
        if not 0 <= timer < self._shared_ids:
            raise IndexError("timer without a word")
        return self._open_t

    def refresh(self, timer, deadline_ns):
        """Push a timer back by a store, without a system call."""
        _refresh(self._with_word(timer), timer, deadline_ns)

    def stop_by_store(self, timer):
        """Stop a timer by a store."""
        _stop_by_store(self._with_word(timer), timer)

    def word(self, timer):
        """What was stored last."""
        return _word(self._with_word(timer), timer)

    def read(self, count=64):
        """A list of the next events, empty if there are none."""
        events = (_Event * count)()
        return [_tuple(Event, event)
                for event in events[:_read(self._open_t, events, count)]]

    def wait(self, timeout_ns=-1, count=64):
        """The same, after at most that time."""
        events = (_Event * count)()
        return [_tuple(Event, event)
                for event in events[:_wait(self._open_t, events, count, timeout_ns)]]

    def get(self, timer):
        """Look at a timer: None if it is neither pending nor its event unread."""
        entry = _Entry()
        try:
            _get(self._open_t, timer, ctypes.byref(entry))
        except FileNotFoundError:
            return None
        return _tuple(Entry, entry)

    def _walk(self, function):
        entries = (_Entry * 64)()
        cursor = ctypes.c_uint64(0)
        while count := function(self._open_t, entries, 64, ctypes.byref(cursor)):
            for entry in entries[:count]:
                yield _tuple(Entry, entry)

    def list(self):
        """The timers, one after the other."""
        return self._walk(_list)

    def drain(self):
        """Stop all pending timers, and return them."""
        return list(self._walk(_drain))

    def info(self):
        """What the module can do, and the wheel and limits of the session."""
        info = _Info()
        _info(self._open_t, ctypes.byref(info))
        return _tuple(Info, info)

    def stats(self):
        """The counters of the session."""
        stats = _Stats()
        _stats(self._open_t, ctypes.byref(stats))
        return _tuple(Stats, stats)

    def batch(self, size=64):
        """Operations that are submitted together."""
        return Batch(self, size)


class Batch:
    """
    Operations that are submitted when there are enough of them, at flush(), and at
    the end of a "with" block.

    What adds an operation returns the results if that has filled the batch, as
    flush() does, and else an empty list.
    """

    def __init__(self, twheel, size):
        handle = ctypes.c_void_p()
        _batch_new(twheel._open_t, size, ctypes.byref(handle))
        self._twheel = twheel
        self._batch = handle
        self._free = weakref.finalize(self, _batch_free, handle.value)

    def __enter__(self):
        return self

    def __exit__(self, exception, *_more):
        if not exception:
            self.flush()

    def _results(self, count):
        ops = (_batch_op(self._batch, i).contents for i in range(count))
        return [Op(op.opcode, op.id, op.result) for op in ops]

    def start(self, timer, delay_ns, user_data=0):
        """Add what Twheel.start() does."""
        return self.start_flags(timer, delay_ns, 0, user_data, 0)

    def start_at(self, timer, deadline_ns, user_data=0):
        """Add what Twheel.start_at() does."""
        return self.start_flags(timer, deadline_ns, 0, user_data, START_ABS)

    def start_flags(self, timer, expires_ns, period_ns=0, user_data=0, flags=0):
        """Add what Twheel.start_flags() does."""
        self._twheel._open_t
        return self._results(_batch_start_flags(self._batch, timer, expires_ns,
                                                period_ns, user_data, flags))

    def stop(self, timer):
        """Add what Twheel.stop() does."""
        self._twheel._open_t
        return self._results(_batch_stop(self._batch, timer))

    def withdraw(self, timer):
        """Add what Twheel.withdraw() does."""
        self._twheel._open_t
        return self._results(_batch_withdraw(self._batch, timer))

    def flush(self):
        """Submit what waits: a list with an id and a result for each."""
        self._twheel._open_t
        return self._results(_batch_flush(self._batch))

    def failed(self):
        """How many operations of the last submission failed."""
        return _batch_failed(self._batch)
