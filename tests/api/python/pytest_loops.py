# SPDX-License-Identifier: GPL-2.0
"""
A session under pytest-asyncio, which has an event loop for each test
"""
import asyncio

import pytest
import pytest_asyncio

import twheel.aio

OF_THE_MODULE = twheel.aio.AsyncTwheel()


@pytest.fixture(scope="module")
def shared():
    with twheel.aio.AsyncTwheel() as t:
        yield t


@pytest_asyncio.fixture
async def own():
    with twheel.aio.AsyncTwheel() as t:
        yield t


@pytest.mark.asyncio
@pytest.mark.parametrize("number", range(3))
async def test_sessions(shared, own, number):
    for t in shared, own, OF_THE_MODULE:
        t.start(number, 5 * twheel.MS)
        assert [event.id for event in await t.events()] == [number]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(t.events(), 0.02)
