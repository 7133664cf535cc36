# SPDX-License-Identifier: GPL-2.0
"""
Test of the Python binding: each method with its errors. Prints TAP.
"""
import asyncio
import errno
import gc
import multiprocessing
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
import traceback

import twheel
import twheel.aio

HOUR = 3600 * twheel.SECOND
TOO_LONG = 2**63
MANY = 10000


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


def start_due(t, count):
    """Start timers 1 to count, and wait until their events are unread."""
    for timer in range(1, count + 1):
        t.start(timer, 0)
    wait_unread(t, count)


def in_process():
    """Return True if sessions are in the process: TWHEEL_BACKEND asks for it, or this user cannot open the device."""
    asked = os.environ.get("TWHEEL_BACKEND")
    return asked == "process" if asked else not os.access("/dev/twheel", os.R_OK | os.W_OK)


def test_sessions():
    with twheel.Twheel(shared_ids=8, max_timers=100, private=True, tick_ns=2 * twheel.MS,
                       clock=twheel.CLOCK_BOOTTIME) as t:
        info = t.info()
        assert (info.abi_version, info.mode, info.tick_ns, info.max_timers, info.shared_ids, info.clock) == \
            (1, twheel.MODE_PERIODIC, 2 * twheel.MS, 100, 8, time.CLOCK_BOOTTIME), info
        assert bool(info.features & twheel.FEATURE_PROCESS) is in_process()
    fails_with(errno.EINVAL, lambda: twheel.Twheel(tick_ns=1))
    assert "TWHEEL_BACKEND" in raises(OSError, lambda: twheel.Twheel(tick_ns=1))
    assert re.fullmatch(r"\d+\.\d+\.\d+", twheel.__version__)


def test_names():
    """Check that "import *" imports the public names of the module, and no others."""
    names = {}
    exec("from twheel import *", names)
    assert {"Twheel", "Event", "NoTimer", "START_ABS", "SECOND"} <= set(names), names
    assert not {"os", "ctypes", "annotations", "_abi"} & set(names), names


def test_object_dropped():
    t = twheel.Twheel(shared_ids=8)
    number = t.fileno()
    batch = t.batch()
    before = len(os.listdir("/proc/self/fd"))
    del t, batch
    fails_with(errno.EBADF, os.fstat, number)
    assert len(os.listdir("/proc/self/fd")) == before - 2


def calls_of(t, batch):
    """Return each call that uses the session."""
    return [t.fileno, t.read, t.wait, t.list, t.info, t.stats, t.batch, batch.flush, lambda: t.get(1), lambda: t.stop(1),
            lambda: t.push(1, HOUR), lambda: t.start(1, HOUR), lambda: t.start_flags(1, HOUR),
            lambda: batch.start(1, HOUR), lambda: batch.stop(1)]


def test_use_after_close():
    with twheel.Twheel() as t:
        batch = t.batch(1)
        t.start(1, HOUR)
        number = t.fileno()
        os.fstat(number)
    fails_with(errno.EBADF, os.fstat, number)
    for call in calls_of(t, batch):
        assert raises(ValueError, call) == "the session is closed"
    t.close()


def test_close_during_a_wait():
    """A close() ends the wait() of other threads, with the error of a closed session."""
    t = twheel.Twheel()
    ended = []
    threads = [threading.Thread(target=lambda: ended.append(raises(ValueError, t.wait, timeout)), daemon=True)
               for timeout in (None, None, HOUR, HOUR)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    number = t.fileno()
    t.close()
    for thread in threads:
        thread.join(60)
    assert ended == 4 * ["the session is closed"], ended
    fails_with(errno.EBADF, os.fstat, number)


def test_close_during_any_call():
    """A close() during a call of the library frees the session only after the call."""
    library = twheel._library
    functions = {name: function for name, function in vars(library).items()
                 if isinstance(function, type(wait_unread)) and not name.startswith("_")}

    def closes_first(function):
        def call(*arguments):
            entered.append(function)
            t.close()
            os.fstat(number)
            return function(*arguments)
        return call

    entered = []
    for index in range(1, len(calls_of(twheel.Twheel(), twheel.Twheel().batch()))):
        t = twheel.Twheel()
        t.start(1, 0)
        wait_unread(t, 1)
        number = t.fileno()
        call = calls_of(t, t.batch(1))[index]
        for name, function in functions.items():
            setattr(library, name, closes_first(function))
        try:
            call()
        except (ValueError, twheel.NoTimer):
            pass
        finally:
            vars(library).update(functions)
        fails_with(errno.EBADF, os.fstat, number)
    assert set(entered) == set(functions.values())


def test_numbers_are_not_cut_off():
    for setup in {"shared_ids": 2**32 + 1}, {"max_timers": -1}, {"tick_ns": 2**64}:
        raises(ValueError, lambda: twheel.Twheel(**setup))
    with twheel.Twheel(shared_ids=8) as t:
        for call in t.stop, t.get, t.batch().stop, t.batch, t.read:
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


def test_a_signal_does_not_end_a_wait():
    """A wait continues after a signal, unless the handler raises an exception (PEP 475)."""
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
    """multiprocessing forks while a thread uses the session, and the child closes it."""
    over = threading.Event()

    def uses_it():
        timer = 0
        while not over.is_set():
            timer += 1
            t.start(timer % 1000, (1 + timer % 7) * twheel.MS)
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
            # The children share this eventfd, which wakes up a wait() of the parent when it is
            # readable. A close() in a child must not do that.
            assert not select.select([t._closed], [], [], 0)[0]
        finally:
            over.set()
            thread.join()


def test_timers():
    with twheel.Twheel() as t:
        assert t.start(3, HOUR, 33) == 0
        assert t.start_flags(3, time.monotonic_ns() + HOUR, 0, 34, twheel.START_ABS) == (3, 1)
        entry = t.get(3)
        assert (entry.user_data, entry.state) == (34, twheel.STATE_PENDING), entry
        assert t.stop(3) == 0
        assert t.get(3) is None
        fails_with(errno.ENOENT, t.stop, 3)
        assert "twheel_stop: no such timer is pending" in raises(KeyError, t.stop, 3)
        fails_with(errno.EINVAL, t.start, 3, TOO_LONG)
        fails_with(errno.EINVAL, t.start, twheel.ID_ANY, HOUR)
        timer, result = t.start_flags(twheel.ID_ANY, 0, 0, 44)
        assert result == 0
        wait_unread(t, 1)
        assert t.start(timer, HOUR) == 2
        assert (t.read(), t.stats().replaced) == ([], 1)
        t.stop(timer)
        for timer in range(200):
            t.start(timer, HOUR, 2 * timer)
        assert [(entry.id, entry.user_data) for entry in t.list()] == [(i, 2 * i) for i in range(200)]


def test_cancel_of_a_sibling():
    with twheel.Twheel() as t:
        start_due(t, 2)
        event, = t.read(1)
        assert t.stop(3 - event.id) == 1
        assert t.read() == []


def test_many_due_at_once():
    """A read() returns at most 64 events, and each event once."""
    with twheel.Twheel() as t:
        start_due(t, MANY)
        ids = []
        while select.select([t], [], [], 0)[0]:
            events = t.read()
            assert len(events) == min(64, MANY - len(ids))
            ids += [event.id for event in events]
        assert sorted(ids) == list(range(1, MANY + 1))


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
        assert sum(stats.lateness) == stats.delivered == 2, stats


def test_words():
    deadline = time.monotonic_ns() + HOUR
    with twheel.Twheel(shared_ids=600) as t:
        words = t.words
        assert (len(words), words.itemsize, words.readonly) == (600, 8, False)
        t.start(3, HOUR)
        assert deadline <= words[3] <= time.monotonic_ns() + HOUR
        t.stop(3)
        t.start(3, 0)
        wait_unread(t, 1)
        words[3] = deadline
        assert t.read() == []
        assert t.get(3).deadline_ns == deadline
        t.push(3, deadline - 1)
        assert t.get(3).deadline_ns == words[3] == deadline - 1
        t.start(599, 0)
        wait_unread(t, 1)
        words[599] = twheel.WORD_STOP
        assert t.read() == []
        raises(IndexError, lambda: words[600])
        number, some = t.fileno(), words[512:]
    raises(ValueError, lambda: words[0])
    some[0] = 5
    os.fstat(number)
    del some
    fails_with(errno.EBADF, os.fstat, number)


def test_batches():
    with twheel.Twheel() as t:
        with t.batch(3) as batch:
            assert batch.start(1, HOUR) == []
            assert batch.stop(2) == []
            assert [op.result for op in batch.stop(1)] == [0, -errno.ENOENT, 0]
            batch.start_flags(4, time.monotonic_ns() + HOUR, flags=twheel.START_ABS)
        assert t.get(4)
        batch = t.batch()
        batch.start_flags(twheel.ID_ANY, HOUR)
        assert t.get(batch.flush()[0].id)
        fails_with(errno.EINVAL, t.batch, 0)


def test_asyncio():
    async def all_of_it():
        async with twheel.aio.AsyncTwheel() as t:
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
                    assert t.stop(5 - event.id) == 1
                    asyncio.get_running_loop().call_later(0.01, t.close)
            return ids
    assert len(asyncio.run(all_of_it())) == 1


def test_asyncio_loops():
    """A session works in several loops, one after the other, even if a wait timed out in between."""
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
    # Keep asyncio from reporting that the task did not end before its loop was closed.
    task._log_destroy_pending = False


def test_asyncio_object_dropped():
    """The loop keeps a session alive only while a task waits for it."""
    async def drops(gives_up):
        t = twheel.aio.AsyncTwheel()
        t.start(1, 0)
        assert len(await t.events()) == 1
        if gives_up:
            await asyncio.wait([asyncio.create_task(t.events())], timeout=0.01)
        return t.fileno()

    for gives_up in False, True:
        number = asyncio.run(drops(gives_up))
        gc.collect()
        fails_with(errno.EBADF, os.fstat, number)


def test_asyncio_use_after_close():
    async def closed():
        t = twheel.aio.AsyncTwheel()
        waits = asyncio.create_task(t.events())
        await asyncio.sleep(0)
        t.close()
        assert [event async for event in t] == []
        for task in waits, t.events():
            try:
                await task
            except ValueError as error:
                assert str(error) == "the session is closed"
            else:
                raise AssertionError("no error")
    asyncio.run(closed())


def test_asyncio_fork_and_close():
    """A close() in a child leaves the session in the epoll(7) instance, which the parent's loop still uses."""
    async def parent():
        with twheel.aio.AsyncTwheel() as t:
            waits = asyncio.create_task(t.events())
            await asyncio.sleep(0.01)
            child = os.fork()
            if not child:
                try:
                    t.close()
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
            t.start(1, 0, 42)
            event, = await asyncio.wait_for(waits, 60)
            assert event.user_data == 42
    asyncio.run(parent())


def test_asyncio_many_due_at_once():
    """The loop runs other tasks after each 64 events."""
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def one(t):
        count = 0
        async for _ in t:
            count += 1
            if count == MANY:
                break

    async def some(t):
        count = 0
        while count < MANY:
            count += len(await t.events())

    async def all_turns(consumer):
        nonlocal turns
        with twheel.aio.AsyncTwheel() as t:
            start_due(t, MANY)
            task = asyncio.create_task(other())
            turns = 0
            await consumer(t)
            task.cancel()
        assert turns >= MANY // 64 - 1, turns

    asyncio.run(all_turns(one))
    asyncio.run(all_turns(some))


def test_asyncio_example():
    """Only connection 1 is idle. If the machine stands still, the other one is, too: try a longer timeout."""
    here = os.path.dirname(os.path.abspath(__file__))
    script, = (path for path in (f"{here}/asyncio_timeouts.py", f"{here}/../examples/asyncio_timeouts.py")
               if os.path.exists(path))
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
