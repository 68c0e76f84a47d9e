"""How large a body may be, how long it may take, and how much there may be in it to read.

A body is read by one thread that serves everybody. JSON of many small values takes a hundred times
as long to read, and to complain about, as one long text of as many bytes: it is measured while it
comes, and refused before anybody reads it.
"""

import asyncio

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from api_gateway.problems import Problem

MOST_STRINGS = 20_000
"""Ours: names and strings of one JSON body. A record with thousands of authors has fewer."""
MOST_MARKS = 2_000_000
"""Ours: commas and opened brackets, in its texts too; 32 MB of English have half a million."""


class BodyTooLarge(Problem):
    """More bytes than this path takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"the body may have up to {limit} bytes here")


class BodyTooFull(Problem):
    """JSON of more pieces than anything that is sent here has."""

    def __init__(self) -> None:
        super().__init__(
            413, f"a JSON body may have up to {MOST_STRINGS} names and strings, and few others"
        )


class BodyTooSlow(Problem):
    """The body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        # What is still on its way would be taken for the next request: the connection ends here.
        headers = {"Connection": "close"}
        super().__init__(
            408, f"the body must arrive within {seconds:g} seconds here", headers=headers
        )


class _Pieces:
    """Counts what is in a JSON body, as it comes. Escaped quotation marks belong to a text."""

    def __init__(self) -> None:
        self._quotes = self._marks = 0

    def add(self, part: bytes) -> None:
        """Raises BodyTooFull once there are too many."""
        self._quotes += part.count(b'"') - part.count(b'\\"')
        self._marks += part.count(b",") + part.count(b"[") + part.count(b"{")
        if self._quotes > 2 * MOST_STRINGS or self._marks > MOST_MARKS:
            raise BodyTooFull


def limited_body(scope: Scope, receive: Receive, limit: int, seconds: float) -> Receive:
    """`receive`, raising BodyTooLarge as soon as the body is known to exceed `limit` bytes,
    BodyTooFull where it is JSON of too many pieces, and BodyTooSlow once it has taken longer than
    `seconds`.

    The error surfaces where the body is read. What is still on its way is thrown away by the
    server, so that the client can read the answer.
    """
    headers = Headers(scope=scope)
    announced = headers.get("content-length", "")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    pieces = _Pieces() if kind == "application/json" or kind.endswith("+json") else None
    received = 0
    deadline = asyncio.get_running_loop().time() + seconds
    complete = False

    async def receive_limited() -> Message:
        nonlocal received, complete
        if announced.isdecimal() and int(announced[:20]) > limit:
            raise BodyTooLarge(limit)
        if complete:  # what comes now is the client that goes away
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow(seconds) from None
        complete = not message.get("more_body", False)
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLarge(limit)
            if pieces is not None:
                pieces.add(message.get("body", b""))
        return message

    return receive_limited
