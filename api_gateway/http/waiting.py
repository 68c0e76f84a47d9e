"""Long polls: the state of a subject once it is finished, or after the wait."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from api_gateway.auth.holding import Holder
from api_gateway.state import Gateway

R = TypeVar("R")


async def settled(
    gateway: Gateway,
    caller: Holder,
    subject: UUID,
    read: Callable[[], Awaitable[R]],
    finished: Callable[[R], bool],
    wait: float,
) -> R:
    """The result of `read` once it is `finished`, or after `wait` seconds; woken, not polled.

    Raises:
        Refused: 401 if the caller's key ended meanwhile.
    """
    deadline = time.monotonic() + wait
    with (
        gateway.notices.subscribe(str(subject)) as woken,
        gateway.holding.waiting(caller, woken) as held,
    ):
        while True:
            woken.clear()  # before the read, so that a notice in between is not lost
            held.require()
            state = await read()
            left = deadline - time.monotonic()
            if finished(state) or left <= 0 or gateway.notices.closing:
                return state
            await heard(woken, left)  # after a timeout read once more: a claim sends no notice


async def heard(woken: asyncio.Event, seconds: float) -> None:
    """Wait for a notice, for at most `seconds`."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await woken.wait()
