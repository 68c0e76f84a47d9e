"""How large a body may be, how long it may take, and how much there may be in it to read.

Everything is measured while it comes, and what is too much is refused before anybody parses or
decodes it. A body is read by one thread that serves everybody, and what is made of it takes several
times its bytes: so the bytes of all bodies together are bounded (`InFlight`), and large ones are
worked on one after the other.
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
"""Ours: what a body may have where nothing else is said, and what of each is never too much."""
LARGE_BYTES = 256 * KIB
"""Ours: of the largest that are worked on beside each other each of the gateway's threads may have
one, and none takes more than a few MB; the text of a note or of a clinical document is smaller."""
TURN_SECONDS = 30.0
"""Ours: a large body takes half a second, and there is room for a few only."""
RETRY_SECONDS = 2
"""Ours: in which the bodies that are in the way have been worked on, or refused."""
MOST_PIECES = Most(strings=20_000, marks=100_000, depth=64)
"""Ours: of one JSON body. A record with thousands of authors has fewer; nothing that is taken here
is nested more than ten deep."""


@dataclass(frozen=True)
class BodyLimit:
    """Bytes that a body may have, and one of JSON; None: what the gateway allows at most."""

    most: int | None = SMALL_BYTES
    json: int | None = None


Places = Mapping[tuple[str, str], BodyLimit]
"""Limits by the method and the template of the path."""


class BodyTooLarge(Problem):
    """More bytes than this path takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"the body may have up to {limit} bytes here: send less, or split it")


class BodyTooFull(Problem):
    """JSON of more pieces than anything that is sent here has."""

    def __init__(self) -> None:
        super().__init__(
            413,
            f"a JSON body may have up to {MOST_PIECES.strings} names and strings, and "
            f"{MOST_PIECES.marks} values in all: send less, or split it",
        )


class BodyTooDeep(Problem):
    """JSON of more brackets in brackets than anything that is sent here has."""

    def __init__(self) -> None:
        super().__init__(
            400, f"a JSON body may be nested up to {MOST_PIECES.depth} deep: send it flatter"
        )


class BodyTooSlow(Problem):
    """The body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        # What is still on its way would be taken for the next request: the connection ends here.
        headers = {"Connection": "close"}
        super().__init__(
            408,
            f"the body must arrive within {seconds:g} seconds here: send less, or try again",
            headers=headers,
        )


class NoRoom(Problem):
    """Too many large bodies at once."""

    def __init__(self, whose: str) -> None:
        super().__init__(
            429,
            f"{whose} large bodies are being read already, which is as many as there is room for: "
            f"nothing was kept of this one, send it again in {RETRY_SECONDS} seconds",
            kind="overloaded",
            headers={"Retry-After": str(RETRY_SECONDS)},
        )


class InFlight:
    """Bytes of bodies that are received or worked on, of all and of each owner. Lives in one event
    loop.

    Args:
        largest: bytes that one body may have. There is room for three of them, and no owner gets
            more than two, so that nobody can keep all others out.
    """

    def __init__(self, largest: int) -> None:
        self._most, self._share = 3 * largest, 2 * largest
        self._held: Counter[str] = Counter()
        self._turn = asyncio.Lock()

    @property
    def bytes(self) -> int:
        """Held now."""
        return self._held.total()

    def take(self, owner: str, count: int) -> None:
        """Hold so many bytes more.

        Raises:
            NoRoom: there is no room for them.
        """
        if self._held[owner] + count > self._share:
            raise NoRoom("your")
        if self.bytes + count > self._most:
            raise NoRoom("other")
        self._held[owner] += count

    def give_back(self, owner: str, count: int) -> None:
        """Hold so many bytes less."""
        self._held[owner] -= count
        if self._held[owner] <= 0:
            del self._held[owner]

    async def wait_for_turn(self) -> None:
        """Wait until no other large body is worked on.

        Raises:
            NoRoom: that took too long.
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
    """The body of one request on its way in: `receive` in place of the server's.

    The errors surface where the body is read. What is still on its way is thrown away by the
    server, so that the client can read the answer.

    Args:
        places: limits of paths that take more, or less, than is usual.
        largest: bytes that the gateway allows at most.
        seconds: within which it must have arrived, counted from its request's headers.
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
        """The next part.

        Raises:
            BodyTooLarge: it has, or will have, more bytes than may be.
            BodyTooFull: it is JSON of too many pieces.
            BodyTooDeep: it is JSON that is nested too deeply.
            BodyTooSlow: it has taken longer than it may.
            NoRoom: there are too many large bodies at once.
        """
        limit = self._begin() if self._limit is None else self._limit
        if self._complete:  # what comes now is the client that goes away
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
        """Find what may come, now that it is known which route reads it."""
        headers = Headers(scope=self._scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_json = kind == "application/json" or kind.endswith("+json")
        route: object = self._scope.get("route")
        path = str(getattr(route, "path", self._scope["path"]))
        found = self._places.get((str(self._scope["method"]), path), BodyLimit())
        most = found.json if is_json and found.json is not None else found.most
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
        """Nothing is held of it any more."""
        if self._held:
            self._in_flight.give_back(self._owner, self._held)
            self._held = 0
        if self._has_turn:
            self._in_flight.end_turn()
            self._has_turn = False
