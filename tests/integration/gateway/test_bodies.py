"""What is on its way in, in sum: bounded for all and for each owner, and given back in any case."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Message

from api_gateway.app import ROUTES
from api_gateway.backpressure.bodies import (
    LARGE_BYTES,
    MIB,
    SMALL_BYTES,
    Body,
    BodyLimit,
    BodyTooLarge,
    InFlight,
    NoRoom,
)
from api_gateway.extractions.schemas import MAX_DOCUMENT_CHARS
from api_gateway.notes.schemas import MAX_NOTE_CHARS

ESCAPED = 12
"""Bytes of a character that JSON writes as two surrogates."""


def _body(in_flight: InFlight, parts: Sequence[bytes], owner: str = "", **more: Any) -> Body:
    """A body that comes in these parts."""
    left = list(parts)

    async def receive() -> Message:
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    scope = {
        "method": "POST",
        "path": "/big",
        "headers": more.get("headers", []),
        "state": {"caller": SimpleNamespace(owner=owner)} if owner else {},
    }
    places = {("POST", "/big"): BodyLimit(None)}
    return Body(scope, receive, places=places, largest=4 * MIB, seconds=60, in_flight=in_flight)


def test_bodies_of_one_owner_leave_room_for_another() -> None:
    async def run() -> None:
        in_flight, part = InFlight(4 * MIB), [b"x" * MIB] * 9
        bodies = [_body(in_flight, part, "ward-1") for _ in range(4)]
        for one in bodies * 2:
            await one.receive()
        with pytest.raises(NoRoom, match="your large bodies"):
            await bodies[0].receive()
        other = _body(in_flight, part, "ward-2")
        for _ in range(3):
            await other.receive()
        with pytest.raises(NoRoom, match="other large bodies"):
            await _body(in_flight, [b"x" * (3 * MIB), b""], "ward-3").receive()
        for one in [*bodies, other]:
            one.release()
            one.release()
        assert in_flight.bytes == 0

    asyncio.run(run())


def test_who_finds_no_room_is_told_when_to_come_again() -> None:
    found = NoRoom("your")
    assert (found.status_code, found.kind) == (429, "overloaded")
    assert (found.headers or {})["Retry-After"] == "2"
    assert "send it again in 2 seconds" in found.detail


def test_a_small_body_finds_room_however_much_is_on_its_way() -> None:
    async def run() -> None:
        in_flight = InFlight(MIB)
        in_flight.take("ward-1", 2 * MIB)
        in_flight.take("ward-2", MIB)
        for owner in ("ward-1", "ward-3"):
            await _body(in_flight, [b"x" * SMALL_BYTES], owner).receive()

    asyncio.run(run())


def test_large_bodies_are_worked_on_one_after_the_other() -> None:
    async def run() -> None:
        in_flight = InFlight(4 * MIB)
        first, second = (_body(in_flight, [b"x" * (LARGE_BYTES + 1)]) for _ in range(2))
        small = _body(in_flight, [b"x" * LARGE_BYTES])
        await first.receive()
        waiting = asyncio.create_task(second.receive())
        await small.receive()
        await asyncio.sleep(0.01)
        assert not waiting.done()
        first.release()
        await waiting
        second.release()
        assert in_flight.bytes == LARGE_BYTES - SMALL_BYTES

    asyncio.run(run())


def test_a_large_body_that_waits_in_vain_is_refused_and_holds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api_gateway.backpressure.bodies.TURN_SECONDS", 0.01)

    async def run() -> None:
        in_flight = InFlight(4 * MIB)
        first, second = (_body(in_flight, [b"x" * MIB]) for _ in range(2))
        await first.receive()
        with pytest.raises(NoRoom):
            await second.receive()
        second.release()
        first.release()
        third = _body(in_flight, [b"x" * MIB])
        await third.receive()
        third.release()
        assert in_flight.bytes == 0

    asyncio.run(run())


def test_what_announces_too_much_is_refused_before_any_of_it_is_awaited() -> None:
    async def run() -> None:
        headers = [(b"content-length", b"%d" % (4 * MIB + 1))]
        with pytest.raises(BodyTooLarge, match="up to 4194304 bytes"):
            await _body(InFlight(4 * MIB), [], headers=headers).receive()

    asyncio.run(run())


def test_the_longest_text_that_a_route_takes_fits_its_body_however_it_is_written() -> None:
    found = {
        place: limit
        for routes in ROUTES
        for place, limit in getattr(routes, "BODY_LIMITS", {}).items()
    }
    note, document = found["POST", "/v1/notes"], found["POST", "/v1/extractions"]
    assert note.most is not None
    assert document.json is not None
    assert note.most > MAX_NOTE_CHARS * ESCAPED
    assert document.json > MAX_DOCUMENT_CHARS * ESCAPED
