# SPDX-License-Identifier: GPL-2.0 OR MIT
"""
libtwheel by ctypes: the functions of <twheel.h>

A function that fails raises OSError. A number that its C type cannot hold raises
ValueError, where ctypes would truncate it.
"""
import ctypes
import errno
import importlib.machinery
import math
import os
import weakref
from typing import Any, Callable

from . import _abi


class Head(ctypes.Structure):
    """The public fields of struct twheel."""
    _fields_ = [("fd", ctypes.c_int), ("shared_ids", ctypes.c_uint32), ("words", ctypes.c_void_p)]


class Session:
    """
    An open session, for the first argument of functions.

    The session is closed when nothing refers to it: no Twheel, no view of the words, and no
    call, whose arguments refer to it until it returns.
    """

    def __init__(self, setup: Any):
        pointer = ctypes.c_void_p()
        _open_sized(ctypes.byref(pointer), ctypes.byref(setup), ctypes.sizeof(setup), ctypes.sizeof(_abi._Event))
        self._as_parameter_ = pointer
        weakref.finalize(self, _close, pointer).atexit = False
        self.head = Head.from_address(pointer.value or 0)


def _number(kind: Any, bits: int, is_time: bool = False) -> Any:
    """Return an argument type that checks its range. It rounds times up, so that no timer is early."""
    def from_param(value: float) -> Any:
        if not 0 <= value < 2**bits:
            raise ValueError(f"{value} is not in the range from 0 to {2**bits - 1}")
        return kind(math.ceil(value) if is_time else value)
    return type(kind.__name__, (), {"from_param": staticmethod(from_param)})


u32 = _number(ctypes.c_uint32, 32)
u64 = _number(ctypes.c_uint64, 64)
_time = _number(ctypes.c_uint64, 64, True)
_ptr, _size = ctypes.c_void_p, ctypes.c_size_t


class NoTimer(OSError, KeyError):
    """No timer has this id: it was stopped, its event was read, or it was never started."""
    __str__ = OSError.__str__


def _check(result: int, function: Any, _arguments: Any) -> int:
    if result >= 0:
        return result
    if function.__name__ == "twheel_open_sized":
        advice = "Check its arguments, TWHEEL_BACKEND, the module and the group twheel"
        raise OSError(-result, f"{os.strerror(-result)}. {advice}", "/dev/twheel")
    if result == -errno.ENOENT:
        raise NoTimer(errno.ENOENT, f"{function.__name__}: no such timer is pending")
    raise OSError(-result, f"{function.__name__}: {os.strerror(-result)}")


def _load() -> ctypes.CDLL:
    """Return the library that was compiled with this package, or else that of the system."""
    here = os.path.dirname(os.path.abspath(__file__))
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        own = os.path.join(here, "_libtwheel" + suffix)
        if os.path.exists(own):
            return ctypes.CDLL(own)
    try:
        return ctypes.CDLL("libtwheel.so.1")
    except OSError as error:
        raise ImportError("libtwheel.so.1 is not installed. Try: apt install libtwheel1, or "
                          f"make tools_install in the sources of twheel ({error})") from None


_lib = _load()


def _function(name: str, *kinds: Any) -> Callable[..., int]:
    function: Any = getattr(_lib, "twheel_" + name)
    function.errcheck = _check

    def call(*values: Any) -> int:
        # Convert here: with argtypes, ctypes would turn an exception into a ctypes.ArgumentError.
        return int(function(*[kind.from_param(value) for kind, value in zip(kinds, values)]))
    return call


def _procedure(name: str, *kinds: Any, result: Any = None) -> Any:
    """Return a function that cannot fail."""
    function = getattr(_lib, "twheel_" + name)
    function.argtypes, function.restype = kinds, result
    return function


def command(session: Session, number: int, structure: Any) -> int:
    """
    Call an ioctl.

    The command contains the size of the structure here. The structures of the library and of
    the kernel may be larger.
    """
    return _command(session, number | ctypes.sizeof(structure) << 16, ctypes.byref(structure))


_command = _function("command", _ptr, ctypes.c_ulong, _ptr)
_open_sized = _function("open_sized", _ptr, _ptr, _size, _size)
_close = _procedure("close", _ptr)
start = _function("start", _ptr, u64, _time, u64)
start_flags = _function("start_flags", _ptr, _ptr, _time, _time, u64, u32)
push = _function("push", _ptr, u64, _time, u64)
stop = _function("stop", _ptr, u64)
read = _function("read", _ptr, _ptr, u32)
batch_new = _function("batch_new", _ptr, u32, _ptr)
batch_free = _procedure("batch_free", _ptr)
batch_start_flags = _function("batch_start_flags", _ptr, u64, _time, _time, u64, u32)
batch_stop = _function("batch_stop", _ptr, u64)
batch_flush = _function("batch_flush", _ptr)
batch_op = _procedure("batch_op", _ptr, ctypes.c_uint, result=ctypes.POINTER(_abi._Op))
