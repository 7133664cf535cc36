# SPDX-License-Identifier: GPL-2.0
"""
The Python binding: each method with its errors, in TAP
"""
import asyncio
import ctypes
import errno
import multiprocessing
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import twheel
import twheel.aio

HOUR = 3600 * twheel.SECOND
TOO_LONG = 2**63


# A library of before 1.0 has sessions of the device only.
IS_OLD = not hasattr(ctypes.CDLL("libtwheel.so.1"), "twheel_open_flags")


def fails_with(number, function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        assert error.errno == number, error
    else:
        raise AssertionError(f"no error, {errno.errorcode[number]} expected")


def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind}")


def wait_unread(t, count):
    while t.stats().unread != count:
        time.sleep(0.001)


def test_sessions():
    with twheel.Twheel(shared_ids=8, max_timers=100, private=True, tick_ns=2 * twheel.MS) as t:
        info = t.info()
        assert (info.abi_version, info.mode, info.tick_ns, info.max_timers, info.shared_ids) == \
            (1, twheel.MODE_PERIODIC, 2 * twheel.MS, 100, 8), info
        number = t.fileno()
        os.fstat(number)
    fails_with(errno.EBADF, os.fstat, number)
    for call in t.fileno, t.read, t.stats:
        raises(ValueError, call)
    t.close()
    if info.clock:
        # Neither a library nor a module of before 1.0.
        asked = os.environ.get("TWHEEL_BACKEND") == "process"
        with twheel.Twheel(private=True, clock=twheel.CLOCK_BOOTTIME, wake_ns=twheel.MS) as t:
            info = t.info()
            assert (info.clock, info.wake_ns) == (time.CLOCK_BOOTTIME, twheel.MS), info
            assert bool(info.features & twheel.FEATURE_PROCESS) is asked
    fails_with(errno.EINVAL, lambda: twheel.Twheel(tick_ns=1))
    assert "TWHEEL_BACKEND" in raises(OSError, lambda: twheel.Twheel(tick_ns=1))
    assert re.fullmatch(r"\d+\.\d+\.\d+", twheel.__version__)


def test_forgotten_sessions_are_closed():
    t = twheel.Twheel(shared_ids=8)
    number = t.fileno()
    batch = t.batch()
    del t, batch
    fails_with(errno.EBADF, os.fstat, number)


def test_numbers_are_not_cut_off():
    for setup in {"shared_ids": 2**32 + 1}, {"max_timers": -1}, {"tick_ns": 2**64}:
        raises(ValueError, lambda: twheel.Twheel(**setup))
    with twheel.Twheel(shared_ids=8) as t:
        for call in t.stop, t.withdraw, t.get, t.batch().stop, t.batch, t.read:
            raises(ValueError, call, 2**64)
            raises(ValueError, call, -1)
        for arguments in (-1, HOUR), (2**64, HOUR), (3, -1), (3, HOUR, 2**64):
            for call in t.start, t.start_flags, t.batch().start:
                raises(ValueError, call, *arguments)
        for value in "7", None, 7.5:
            raises(TypeError, t.start, value, HOUR)
        raises(TypeError, t.start, 3, "soon")
        assert t.stats().started == 0


def test_times_may_be_floats():
    with twheel.Twheel() as t:
        t.start(3, 1.5e12)
        assert 1.4e12 < t.get(3).remaining_ns <= 1.5e12
        assert t.wait(0.5e6) == []
        for delay in -1.0, float("nan"), float("inf"):
            raises(ValueError, t.start, 4, delay)


def test_the_module():
    script = "import twheel; twheel.aio.AsyncTwheel().close()"
    subprocess.run([sys.executable, "-c", script], cwd=os.path.dirname(__file__), check=True)


def test_a_signal_does_not_end_a_wait():
    """PEP 475: an exception of the handler does."""
    came = []
    before = signal.signal(signal.SIGALRM, lambda *_: came.append(1))
    with twheel.Twheel() as t:
        for timeout in None, -1, 3600 * twheel.SECOND:
            came.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            t.start(1, 50 * twheel.MS)
            event, = t.wait(timeout)
            assert event.id == 1 and came
        begin = time.monotonic_ns()
        assert t.wait(50 * twheel.MS) == []
        assert time.monotonic_ns() - begin >= 50 * twheel.MS
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, lambda *_: 1 // 0)
        raises(ZeroDivisionError, lambda: (signal.setitimer(signal.ITIMER_REAL, 0.05), t.wait()))
    signal.signal(signal.SIGALRM, before)


def test_children_of_a_program_with_threads():
    """multiprocessing forks while a thread uses the session, and the child collects it."""
    if IS_OLD:
        return  # such a child hangs
    over = threading.Event()

    def uses_it():
        timer = 0
        while not over.is_set():
            timer += 1
            t.start_flags(timer % 1000, (1 + timer % 7) * twheel.MS, 0, 0, twheel.START_REPLACE)
            t.read()

    with twheel.Twheel() as t:
        thread = threading.Thread(target=uses_it)
        thread.start()
        try:
            for _ in range(200):
                child = multiprocessing.get_context("fork").Process(target=t.close)
                child.start()
                child.join(60)
                assert child.exitcode == 0, child
        finally:
            over.set()
            thread.join()


def test_timers():
    with twheel.Twheel() as t:
        assert t.start(3, HOUR, 33) is False
        assert t.start_flags(3, time.monotonic_ns() + HOUR, 0, 34, twheel.START_ABS) == (3, True)
        entry = t.get(3)
        assert (entry.user_data, entry.state) == (34, twheel.STATE_PENDING), entry
        t.stop(3)
        assert t.get(3) is None
        fails_with(errno.ENOENT, t.stop, 3)
        assert "twheel_stop: no such timer is pending" in raises(KeyError, t.stop, 3)
        fails_with(errno.EINVAL, t.start, 3, TOO_LONG)
        fails_with(errno.EINVAL, t.start, twheel.ID_ANY, HOUR)
        timer, _ = t.start_flags(twheel.ID_ANY, 0, 0, 44)
        wait_unread(t, 1)
        fails_with(errno.EALREADY, t.start, timer, HOUR)
        assert t.start_flags(timer, 0, 0, 45, twheel.START_REPLACE) == (timer, False)
        wait_unread(t, 1)
        assert t.withdraw(timer) is True
        assert t.read() == []
        assert (t.stats().replaced, t.stats().withdrawn) == (1, 1)
        for timer in range(200):
            t.start(timer, HOUR, 2 * timer)
        assert [(entry.id, entry.user_data) for entry in t.list()] == [(i, 2 * i) for i in range(200)]


def test_events():
    with twheel.Twheel() as t:
        assert t.wait(0) == []
        t.start_flags(3, 0, twheel.MS, 33)
        assert select.select([t], [], [], 60)[0] == [t]
        event, = t.read()
        assert (event.id, event.user_data, event.flags) == (3, 33, twheel.EVENT_PERIODIC), event
        assert event.deadline_ns <= event.expired_ns <= time.monotonic_ns()
        assert t.wait()[0].id == 3
        fails_with(errno.EINVAL, t.read, 0)
        stats = t.stats()
        assert len(stats.lateness) == twheel.STATS_LATENESS
        if t.info().clock:
            assert sum(stats.lateness) == stats.delivered == 2, stats


def test_words():
    deadline = time.monotonic_ns() + HOUR
    with twheel.Twheel(shared_ids=600) as t:
        words = t.words
        assert (len(words), words.itemsize, words.readonly) == (600, 8, False)
        t.start(3, HOUR)
        assert deadline <= words[3] <= time.monotonic_ns() + HOUR
        t.stop(3)
        if t.info().clock:
            # A read of an older module does not look at words.
            t.start(3, 0)
            wait_unread(t, 1)
            words[3] = deadline
            assert t.read() == []
            assert t.get(3).deadline_ns == deadline
        if IS_OLD:
            fails_with(errno.ENOSYS, t.push, 3, deadline - 1)
        else:
            t.start(3, HOUR)
            t.push(3, deadline - 1)
            assert t.get(3).deadline_ns == words[3] == deadline - 1
        t.stop_by_store(599)
        assert words[599] == twheel.WORD_STOP
        for timer in -1, 600:
            raises(IndexError, t.stop_by_store, timer)
        raises(IndexError, lambda: words[600])
        number, some = t.fileno(), words[512:]
    raises(ValueError, lambda: words[0])
    some[0] = 5
    os.fstat(number)
    del some
    fails_with(errno.EBADF, os.fstat, number)
    with twheel.Twheel() as t:
        raises(IndexError, t.stop_by_store, 0)


def test_watches():
    """They take the module. In the process, and with an older library, nothing is started."""
    with twheel.Twheel() as t, socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as peer:
        peer.connect(server.getsockname())
        fd = server.accept()[0]
        with fd:
            if IS_OLD or not t.info().features & twheel.FEATURE_IDLE:
                raises(OSError, t.start_idle, 5, fd.fileno(), 0)
                assert t.stats().started == 0
                return
            t.start_idle(5, fd.fileno(), 0, 7)
            event, = t.wait()
            assert (event.id, event.user_data, event.flags) == (5, 7, 0)


def test_batches():
    with twheel.Twheel() as t:
        with t.batch(3) as batch:
            assert batch.start(1, HOUR) == []
            assert batch.stop(2) == []
            assert [op.result for op in batch.withdraw(1)] == [0, -errno.ENOENT, 0]
            batch.start_flags(4, time.monotonic_ns() + HOUR, flags=twheel.START_ABS)
        assert t.get(4)
        batch = t.batch()
        batch.start_flags(twheel.ID_ANY, HOUR)
        assert t.get(batch.flush()[0].id)
        fails_with(errno.EINVAL, t.batch, 0)


def test_asyncio():
    async def all_of_it():
        with twheel.aio.AsyncTwheel() as t:
            patient, other = [asyncio.create_task(t.events()) for _ in range(2)]
            await asyncio.sleep(0)
            patient.cancel()
            t.start(1, 0, 11)
            event, = await other
            assert (event.id, event.user_data) == (1, 11)
            assert patient.cancelled()
            t.start(2, 0)
            t.start(3, 0)
            wait_unread(t, 2)
            ids = []
            async for event in t:
                ids.append(event.id)
                if len(ids) == 1:
                    assert t.withdraw(5 - event.id)
                    asyncio.get_running_loop().call_later(0.01, t.close)
            return ids
    assert len(asyncio.run(all_of_it())) == 1


def test_asyncio_loops():
    """One after the other, as a test suite has them. A wait may have been given up."""
    async def one(timer, timeout=None):
        if timer:
            t.start(timer, 10 * twheel.MS)
        try:
            return [event.id for event in await asyncio.wait_for(t.events(), timeout)]
        except asyncio.TimeoutError:
            return []

    with twheel.aio.AsyncTwheel() as t:
        assert asyncio.run(one(1)) == [1]
        assert asyncio.run(one(0, 0.05)) == []
        assert asyncio.run(one(2)) == [2]
        assert asyncio.run(one(0, 0.05)) == []
    t = twheel.aio.AsyncTwheel()
    number = t.fileno()
    loop = asyncio.new_event_loop()
    task = loop.create_task(t.events())
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    t.close()
    fails_with(errno.EBADF, os.fstat, number)
    # A task that never ends is of no interest here.
    task._log_destroy_pending = False


def test_asyncio_example():
    """On a machine that stands still for so long the other connection is idle, too."""
    script = os.path.join(os.path.dirname(__file__), "asyncio_timeouts.py")
    for patience in 1, 4, 16:
        said = subprocess.run([sys.executable, script, str(300 * patience)],
                              capture_output=True, text=True, check=True).stdout
        if said.startswith("connection 1 is idle after "):
            return
    raise AssertionError(said)


def main():
    tests = [(name[5:], test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print(f"TAP version 13\n1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception:
            failed = 1
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
            print(f"not ok {number} - {name}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
