"""Limits of request bodies: bytes, time to arrive, and the number of JSON pieces.

A body is measured while it arrives, and an excessive one is refused before it is parsed or decoded.
One thread reads the bodies of all requests, and a parsed body takes several times its bytes: so the
bytes of all bodies together are bounded (`InFlight`), and large ones are processed one after the
other.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from api_gateway.problems import Problem
from store.core.json_pieces import Most, Pieces, TooDeep, TooFull

KIB, MIB = 1024, 1024 * 1024
SMALL_BYTES = 64 * KIB
"""Our choice: the default limit of a body; `InFlight` does not count these first bytes of each."""
LARGE_BYTES = 256 * KIB
"""Our choice: bodies up to this size are processed in parallel. Each of the gateway's threads may
have one, and none takes more than a few MB; a note or a clinical document is smaller."""
TURN_SECONDS = 30.0
"""Our choice: a large body takes half a second, and there is room for only a few."""
RETRY_SECONDS = 2
"""Our choice: by then the bodies being read have been processed or refused."""
MOST_PIECES = Most(strings=20_000, marks=100_000, depth=64)
"""Our choice, for one JSON body. A record with thousands of authors has fewer pieces; no accepted
body is nested more than ten deep."""


@dataclass(frozen=True)
class BodyLimit:
    """The most bytes of a body, and of a JSON body. `most=None` means the gateway's maximum,
    `json=None` the same as `most`."""

    most: int | None = SMALL_BYTES
    json: int | None = None


Places = Mapping[tuple[str, str], BodyLimit]
"""Limits by method and path template."""


class BodyTooLarge(Problem):
    """The body has more bytes than this path accepts."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"the body may have up to {limit} bytes here: send less, or split it")


class BodyTooFull(Problem):
    """The JSON body has more pieces than any valid request."""

    def __init__(self) -> None:
        super().__init__(
            413,
            f"a JSON body may have up to {MOST_PIECES.strings} names and strings, and "
            f"{MOST_PIECES.marks} values in all: send less, or split it",
        )


class BodyTooDeep(Problem):
    """The JSON body is nested more deeply than any valid request."""

    def __init__(self) -> None:
        super().__init__(
            400, f"a JSON body may be nested up to {MOST_PIECES.depth} deep: send it flatter"
        )


class BodyTooSlow(Problem):
    """The body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        # The rest of the body would be read as the next request, so the connection is closed.
        headers = {"Connection": "close"}
        super().__init__(
            408,
            f"the body must arrive within {seconds:g} seconds here: send less, or try again",
            headers=headers,
        )


class NoRoom(Problem):
    """Too many large bodies are read at once."""

    def __init__(self, whose: str) -> None:
        super().__init__(
            429,
            f"{whose} large bodies are being read already, which is as many as there is room for: "
            f"nothing was kept of this one, send it again in {RETRY_SECONDS} seconds",
            kind="overloaded",
            headers={"Retry-After": str(RETRY_SECONDS)},
        )


class InFlight:
    """The bytes of bodies being received or processed, in total and per owner. Lives in one event
    loop.

    Args:
        largest: the most bytes of one body. There is room for three such bodies, and for at most
            two of one owner, so that nobody can keep all others out.
    """

    def __init__(self, largest: int) -> None:
        self._most, self._share = 3 * largest, 2 * largest
        self._held: Counter[str] = Counter()
        self._turn = asyncio.Lock()

    @property
    def bytes(self) -> int:
        """The bytes held now."""
        return self._held.total()

    def take(self, owner: str, count: int) -> None:
        """Hold `count` more bytes for an owner.

        Raises:
            NoRoom: there is no room for them.
        """
        if self._held[owner] + count > self._share:
            raise NoRoom("your")
        if self.bytes + count > self._most:
            raise NoRoom("other")
        self._held[owner] += count

    def give_back(self, owner: str, count: int) -> None:
        """Hold `count` fewer bytes for an owner."""
        self._held[owner] -= count
        if self._held[owner] <= 0:
            del self._held[owner]

    async def wait_for_turn(self) -> None:
        """Wait until no other large body is processed.

        Raises:
            NoRoom: the wait exceeded `TURN_SECONDS`.
        """
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise NoRoom("other") from None

    def end_turn(self) -> None:
        """Let the next large body have its turn."""
        self._turn.release()


class Body:
    """The incoming body of one request, whose `receive` replaces the server's.

    Errors are raised where the body is read. The server discards the rest of the body, so that the
    client can read the response.

    Args:
        places: the limits of paths that accept more, or less, than the default.
        largest: the most bytes that the gateway allows.
        seconds: the time in which the body must arrive, counted from the headers.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        *,
        places: Places,
        largest: int,
        seconds: float,
        in_flight: InFlight,
    ) -> None:
        self._scope, self._receive = scope, receive
        self._places, self._largest, self._seconds = places, largest, seconds
        self._in_flight = in_flight
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._limit: int | None = None
        self._pieces: Pieces | None = None
        self._received = self._held = 0
        self._owner = ""
        self._complete = self._has_turn = False

    async def receive(self) -> Message:
        """The next part of the body.

        Raises:
            BodyTooLarge: the body has, or announces, too many bytes.
            BodyTooFull: it is JSON with too many pieces.
            BodyTooDeep: it is JSON that is nested too deeply.
            BodyTooSlow: it did not arrive in time.
            NoRoom: there are too many large bodies at once.
        """
        limit = self._begin() if self._limit is None else self._limit
        if self._complete:  # the next message says that the client disconnects
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise BodyTooSlow(self._seconds) from None
        self._complete = not message.get("more_body", False)
        if message["type"] == "http.request":
            self._look_at(message.get("body", b""), limit)
            if self._complete and self._received > LARGE_BYTES:
                await self._in_flight.wait_for_turn()
                self._has_turn = True
        return message

    def _begin(self) -> int:
        """Set and return the limit in bytes, now that the route is known.

        Raises:
            BodyTooLarge: the `Content-Length` header announces more.
        """
        headers = Headers(scope=self._scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_json = kind == "application/json" or kind.endswith("+json")
        route: object = self._scope.get("route")
        path = str(getattr(route, "path", self._scope["path"]))
        body_limit = self._places.get((str(self._scope["method"]), path), BodyLimit())
        most = body_limit.json if is_json and body_limit.json is not None else body_limit.most
        self._limit = self._largest if most is None else min(most, self._largest)
        self._owner = getattr(self._scope["state"].get("caller"), "owner", "")
        self._pieces = Pieces(MOST_PIECES) if is_json else None
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > self._limit:
            raise BodyTooLarge(self._limit)
        return self._limit

    def _look_at(self, part: bytes, limit: int) -> None:
        self._received += len(part)
        if self._received > limit:
            raise BodyTooLarge(limit)
        if self._pieces is not None:
            try:
                self._pieces.add(part)
            except TooFull:
                raise BodyTooFull from None
            except TooDeep:
                raise BodyTooDeep from None
        more = max(0, self._received - SMALL_BYTES) - self._held
        if more > 0:
            self._in_flight.take(self._owner, more)
            self._held += more

    def release(self) -> None:
        """Give back the bytes and the turn that the body holds."""
        if self._held:
            self._in_flight.give_back(self._owner, self._held)
            self._held = 0
        if self._has_turn:
            self._in_flight.end_turn()
            self._has_turn = False
