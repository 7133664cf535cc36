# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
libtwheel by ctypes: the functions of <twheel.h>

A function that fails raises OSError. A number that its C type cannot hold raises
ValueError, where ctypes would truncate it.
"""
import ctypes
import errno
import math
import os
from typing import Any, Callable

from . import _abi


class Op(ctypes.Structure):
    """As in version 1, because the library may be older than this file."""
    _fields_ = [("opcode", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("id", ctypes.c_uint64), ("expires_ns", ctypes.c_uint64),
                ("period_ns", ctypes.c_uint64), ("user_data", ctypes.c_uint64),
                ("result", ctypes.c_int32), ("fd", ctypes.c_int32)]


class Head(ctypes.Structure):
    """The public fields of struct twheel."""
    _fields_ = [("fd", ctypes.c_int), ("shared_ids", ctypes.c_uint32),
                ("words", ctypes.c_void_p)]


def checked(kind: Any, **values: int) -> Any:
    """Return a structure with these values."""
    structure = kind(**values)
    for name, value in values.items():
        if getattr(structure, name) != value:
            raise ValueError(f"{name} cannot be {value}")
    return structure


def _number(kind: Any, least: int, most: int, is_time: bool = False) -> Any:
    """Return a type of argument with a range. Times are rounded up, so that no timer is early."""
    def from_param(value: float) -> Any:
        if not least <= value <= most:
            raise ValueError(f"{value} is not in the range from {least} to {most}")
        return kind(math.ceil(value) if is_time else value)
    return type(kind.__name__, (), {"from_param": staticmethod(from_param)})


u32 = _number(ctypes.c_uint32, 0, 2**32 - 1)
u64 = _number(ctypes.c_uint64, 0, 2**64 - 1)
_time = _number(ctypes.c_uint64, 0, 2**64 - 1, True)
_i32 = _number(ctypes.c_int32, -2**31, 2**31 - 1)
_timeout = _number(ctypes.c_int64, -2**63, 2**63 - 1, True)
_ptr, _size = ctypes.c_void_p, ctypes.c_size_t

_ERRORS = {errno.ENOENT: "no such timer is pending",
           errno.EALREADY: "the event of the timer is unread"}


class NoTimer(OSError, KeyError):
    """No timer has this id: it was stopped, its event was read, or it was never started."""
    __str__ = OSError.__str__


def _check(result: int, function: Any, _arguments: Any) -> int:
    if result >= 0:
        return result
    if function.__name__ == "twheel_open_sized":
        advice = "Check its arguments, TWHEEL_BACKEND, the module and the group twheel"
        raise OSError(-result, f"{os.strerror(-result)}. {advice}", "/dev/twheel")
    kind = NoTimer if result == -errno.ENOENT else OSError
    raise kind(-result, f"{function.__name__}: {_ERRORS.get(-result, os.strerror(-result))}")


try:
    _lib = ctypes.CDLL("libtwheel.so.1")
except OSError as _error:
    raise ImportError("libtwheel.so.1 is not installed. Try: apt install libtwheel1, or "
                      f"make tools_install in the sources of twheel ({_error})") from None


def _missing(*_arguments: Any) -> int:
    raise OSError(errno.ENOSYS, "libtwheel.so.1 is older than this function")


def _function(name: str, *arguments: Any) -> Callable[..., int]:
    function: Any = getattr(_lib, "twheel_" + name, None)
    if function is None:
        return _missing
    function.argtypes = arguments
    function.errcheck = _check

    def call(*values: Any) -> Any:
        try:
            return function(*values)
        except ctypes.ArgumentError:
            # ctypes.ArgumentError hides the original exception: raise that.
            for kind, value in zip(arguments, values):
                kind.from_param(value)
            raise
    return call


def _procedure(name: str, *arguments: Any, result: Any = None) -> Any:
    """Return a function that cannot fail."""
    function = getattr(_lib, "twheel_" + name)
    function.argtypes = arguments
    function.restype = result
    return function


def command(t: int, number: int, structure: Any) -> int:
    """Call an ioctl. The command contains the size of the structure here. Others may be larger."""
    return _command(t, number | ctypes.sizeof(structure) << 16, ctypes.byref(structure))


_command = _function("command", _ptr, ctypes.c_ulong, _ptr)
open_sized = _function("open_sized", _ptr, _ptr, _size, _size)
close = _procedure("close", _ptr)
start = _function("start", _ptr, u64, _time, u64)
start_flags = _function("start_flags", _ptr, _ptr, _time, _time, u64, u32)
start_idle = _function("start_idle", _ptr, _ptr, _i32, _time, u64, u32)
push = _function("push", _ptr, u64, _time, u64)
stop = _function("stop", _ptr, u64)
withdraw = _function("withdraw", _ptr, u64)
read = _function("read", _ptr, _ptr, u32)
wait = _function("wait", _ptr, _ptr, u32, _timeout)
batch_new = _function("batch_new", _ptr, u32, _ptr)
batch_free = _procedure("batch_free", _ptr)
batch_start_flags = _function("batch_start_flags", _ptr, u64, _time, _time, u64, u32)
batch_stop = _function("batch_stop", _ptr, u64)
batch_withdraw = _function("batch_withdraw", _ptr, u64)
batch_flush = _function("batch_flush", _ptr)
batch_op = _procedure("batch_op", _ptr, ctypes.c_uint, result=ctypes.POINTER(Op))
