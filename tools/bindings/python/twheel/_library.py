# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
libtwheel by ctypes: the functions of <twheel.h>

A function that fails raises OSError. A number that its C type does not hold is a
ValueError: ctypes alone would cut it off.
"""
import ctypes
import errno
import functools
import math
import os
from typing import Any, Callable

from . import _abi


class Op(ctypes.Structure):
    """As in version 1: the library made it, and may be older than this file."""
    _fields_ = [("opcode", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("id", ctypes.c_uint64), ("expires_ns", ctypes.c_uint64),
                ("period_ns", ctypes.c_uint64), ("user_data", ctypes.c_uint64),
                ("result", ctypes.c_int32), ("fd", ctypes.c_int32)]


class Head(ctypes.Structure):
    """What programs see of struct twheel."""
    _fields_ = [("fd", ctypes.c_int), ("shared_ids", ctypes.c_uint32),
                ("words", ctypes.c_void_p)]


def checked(kind: Any, **values: int) -> Any:
    """A structure with these values in it."""
    structure = kind(**values)
    for name, value in values.items():
        if getattr(structure, name) != value:
            raise ValueError(f"{name} cannot be {value}")
    return structure


def chosen(timer: int) -> Any:
    """Room for the id that a start chooses."""
    room = (ctypes.c_uint64 * 1)()
    memoryview(room).cast("B").cast("Q")[0] = timer
    return room


def events(count: int) -> Any:
    """Room for events."""
    if not 0 <= count < 2**32:
        raise ValueError(f"{count} events are too many")
    return (_abi._Event * count)()


def _number(kind: Any, least: int, most: int, is_time: bool = False) -> Any:
    """A ctypes integer that is checked as an argument. A time is rounded up: it is never early."""
    def from_param(value: float) -> Any:
        if not least <= value <= most:
            raise ValueError(f"{value} is not in the range from {least} to {most}")
        return kind(math.ceil(value) if is_time else value)
    return type(kind.__name__, (), {"from_param": staticmethod(from_param)})


_u32 = _number(ctypes.c_uint32, 0, 2**32 - 1)
_u64 = _number(ctypes.c_uint64, 0, 2**64 - 1)
_time = _number(ctypes.c_uint64, 0, 2**64 - 1, True)
_i32 = _number(ctypes.c_int32, -2**31, 2**31 - 1)
_timeout = _number(ctypes.c_int64, -2**63, 2**63 - 1, True)
_ptr, _size = ctypes.c_void_p, ctypes.c_size_t

_OPEN = {errno.ENOENT: "No such device. Is the module loaded? Try: modprobe twheel, or "
                       "TWHEEL_BACKEND=process",
         errno.EACCES: "Permission denied. Be root, or in the group twheel, or try "
                       "TWHEEL_BACKEND=process",
         errno.EINVAL: "Invalid argument, or TWHEEL_BACKEND is neither kernel nor process"}
_TIMER = {errno.ENOENT: "no such timer is pending",
          errno.EALREADY: "the event of the timer is unread"}


# Flags of twheel_open_flags().
OPEN_KERNEL, OPEN_PROCESS, OPEN_ONE_THREAD = 1, 2, 4


class NoTimer(OSError, KeyError):
    """There is no such timer: it was stopped, or its event was read, or it never was."""
    __str__ = OSError.__str__


def _check(result: int, function: Any, _arguments: Any) -> int:
    if result < 0:
        if "open" in function.__name__:
            raise OSError(-result, _OPEN.get(-result, os.strerror(-result)), "/dev/twheel")
        why = _TIMER.get(-result, os.strerror(-result))
        kind = NoTimer if result == -errno.ENOENT else OSError
        raise kind(-result, f"{function.__name__}: {why}")
    return result


try:
    _lib = ctypes.CDLL("libtwheel.so.1")
except OSError as _error:
    raise ImportError("libtwheel.so.1 is not installed. Try: apt install libtwheel1, or "
                      f"make tools_install in the sources of twheel ({_error})") from None


def _missing(*_arguments: Any) -> int:
    raise OSError(errno.ENOSYS, "libtwheel.so.1 is older than this function")


def _function(name: str, *arguments: Any) -> Any:
    function: Any = getattr(_lib, "twheel_" + name, None)
    if function is None:
        return _missing
    function.argtypes = arguments
    function.errcheck = _check

    @functools.wraps(function, assigned=())
    def call(*values: Any) -> Any:
        try:
            return function(*values)
        except ctypes.ArgumentError:
            # It hides which error that was.
            for kind, value in zip(arguments, values):
                kind.from_param(value)
            raise
    return call


def _procedure(name: str, *arguments: Any, result: Any = None) -> Any:
    """A function that cannot fail."""
    function = getattr(_lib, "twheel_" + name)
    function.argtypes = arguments
    function.restype = result
    return function


def _command(number: int, structure: Any) -> Callable[[int, Any], Any]:
    """
    A function that hands such a structure to the session. The command says how long it
    is here, as the library's may be longer, and the kernel's too.
    """
    command = number | ctypes.sizeof(structure) << 16
    return lambda t, argument: _ioctl(t, command, ctypes.byref(argument))


_open_sized = _function("open_sized", _ptr, _ptr, _size, _size)
_open_flags = _function("open_flags_sized", _ptr, _ptr, _size, _size, ctypes.c_uint)


def open_session(pointer: Any, setup: Any, setup_size: int, event_size: int, flags: int) -> None:
    """With flags only if there are some: an older library has no function for them."""
    if flags:
        _open_flags(pointer, setup, setup_size, event_size, flags)
    else:
        _open_sized(pointer, setup, setup_size, event_size)


close = _procedure("close", _ptr)
start = _function("start", _ptr, _u64, _time, _u64)
start_at = _function("start_at", _ptr, _u64, _time, _u64)
start_flags = _function("start_flags", _ptr, _ptr, _time, _time, _u64, _u32)
start_idle = _function("start_idle", _ptr, _ptr, _i32, _time, _u64, _u32)
restart = _function("restart", _ptr, _u64, _time, _u64)
push = _function("push", _ptr, _u64, _time, _u64)
stop = _function("stop", _ptr, _u64)
withdraw = _function("withdraw", _ptr, _u64)
read = _function("read", _ptr, _ptr, _u32)
wait = _function("wait", _ptr, _ptr, _u32, _timeout)
_ioctl = _function("command", _ptr, ctypes.c_ulong, _ptr)
info = _command(_abi.IOC_INFO, _abi._Info)
get = _command(_abi.IOC_GET, _abi._Entry)
list_timers = _command(_abi.IOC_LIST, _abi._List)
stats = _command(_abi.IOC_STATS, _abi._Stats)
batch_new = _function("batch_new", _ptr, _u32, _ptr)
batch_free = _procedure("batch_free", _ptr)
batch_start_flags = _function("batch_start_flags", _ptr, _u64, _time, _time, _u64, _u32)
batch_stop = _function("batch_stop", _ptr, _u64)
batch_withdraw = _function("batch_withdraw", _ptr, _u64)
batch_flush = _function("batch_flush", _ptr)
batch_failed = _procedure("batch_failed", _ptr, result=ctypes.c_uint)
batch_op = _procedure("batch_op", _ptr, ctypes.c_uint, result=ctypes.POINTER(Op))
