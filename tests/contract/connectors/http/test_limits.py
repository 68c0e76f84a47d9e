"""Sizes, times and turns: no source can fill the memory, hold a worker or be asked too fast."""

import gzip
import socket
import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa

from store.sources.rate_limits import RateLimits
from tests.contract.connectors.conftest import MakeClient, MemoryLimiter
from tests.contract.connectors.http.servers import EUTILS, KEY, PMC, Site, drips, raw_server, says
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import (
    NotOurTurn,
    QuotaExhausted,
    TooLarge,
    Unreachable,
)


def bomb(size: int) -> bytes:
    return gzip.compress(bytes(size), 9)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, bytes(1001)),
        Reply(200, bomb(1001), {"Content-Encoding": "gzip"}),
        Reply(200, bomb(30_000_000)[:900], {"Content-Encoding": "gzip"}),
        Reply(200, gzip.compress(b"") * 60, {"Content-Encoding": "gzip"}),
    ],
    ids=["plain", "after decompression", "bomb", "before decompression"],
)
def test_more_bytes_than_the_limit_are_not_read(
    client: SourceClient, web: FakeWeb, eutils: Site, reply: Reply
) -> None:
    eutils.replies["/x"] = [reply]
    with pytest.raises(TooLarge, match="larger than 1,000 bytes"):
        client.get(f"{EUTILS}/x", max_bytes=1000)
    assert len(web.requests) == 1


def test_a_body_that_fits_the_limit_exactly_is_read(client: SourceClient, eutils: Site) -> None:
    eutils.replies["/x"] = [
        Reply(200, bytes(1000)),
        Reply(200, bomb(1000), {"Content-Encoding": "gzip"}),
        Reply(200, bomb(400) + bomb(600), {"Content-Encoding": "gzip"}),
        Reply(200, b"", {"Content-Encoding": "gzip"}),
    ]
    sizes = [len(client.get(f"{EUTILS}/x", max_bytes=1000).content) for _ in range(4)]
    assert sizes == [1000, 1000, 1000, 0]


def test_an_endless_body_without_a_length_ends_at_the_limit(
    source_client: MakeClient, web: FakeWeb
) -> None:
    def flood(caller: socket.socket) -> None:
        caller.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            caller.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")

    with raw_server(flood) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base}, max_bytes=1_000_000)
        with pytest.raises(TooLarge, match="larger than 1,000,000 bytes"):
            client.get(f"{EUTILS}/x")
        assert len(callers) == 1


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Long: ",
        b"",
    ],
    ids=["body", "body without length", "headers", "status line"],
)
def test_an_answer_that_drips_ends_at_the_deadline_and_is_not_asked_for_again(
    source_client: MakeClient, web: FakeWeb, first: bytes
) -> None:
    with raw_server(drips(first)) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base}, deadline_seconds=0.4)
        with pytest.raises(Unreachable, match=r"did not finish within 0\.4 s"):
            client.get(f"{EUTILS}/x")
        assert len(callers) <= 1


def test_all_tries_of_a_call_share_one_deadline(source_client: MakeClient, web: FakeWeb) -> None:
    def hangs_up_once_and_then_says_nothing(_: socket.socket) -> None:
        if len(callers) > 1:
            over.wait(60)

    over = threading.Event()
    with raw_server(hangs_up_once_and_then_says_nothing) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base}, deadline_seconds=2.0)
        with pytest.raises(Unreachable, match=r"did not finish within 2 s, 2 times"):
            client.get(f"{EUTILS}/x")
        over.set()
        assert len(callers) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nX-Huge: " + b"a" * 300_000 + b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\xff\x00\xff" * 500 + b"\r\n\r\n",
        b"HTTP/1.1 999999 No\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"",
    ],
    ids=[
        "huge header",
        "ssh",
        "bytes",
        "status",
        "two lengths",
        "chunks",
        "minus",
        "nothing",
    ],
)
def test_what_is_not_http_is_unreachable(
    source_client: MakeClient, web: FakeWeb, data: bytes
) -> None:
    with raw_server(says(data)) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base})
        with pytest.raises(Unreachable, match="4 times"):
            client.get(f"{EUTILS}/x")
        assert len(callers) == 4


@pytest.mark.parametrize(("key", "apart"), [("", 1 / 3), (KEY, 1 / 10)])
def test_requests_keep_the_rate_of_the_source_with_and_without_a_key(
    source_client: MakeClient, web: FakeWeb, eutils: Site, key: str, apart: float
) -> None:
    one, other = (source_client("pubmed", web, key=key) for _ in range(2))
    for _ in range(5):
        one.get(f"{EUTILS}/x")
        other.get(f"{EUTILS}/x")
    steps = zip(eutils.asked_at, eutils.asked_at[1:], strict=False)
    assert [(b - a).total_seconds() for a, b in steps] == [pytest.approx(apart, abs=1e-4)] * 9


def test_each_host_has_its_own_turns(client: SourceClient, web: FakeWeb, clock: Clock) -> None:
    began = clock()
    client.get(f"{EUTILS}/x")
    client.get(f"{PMC}/x")
    assert clock() == began


def test_a_turn_that_is_too_far_away_is_not_waited_for(
    client: SourceClient, web: FakeWeb, clock: Clock, limiter: MemoryLimiter
) -> None:
    limiter.next_at["eutils.ncbi.nlm.nih.gov"] = clock() + timedelta(seconds=31)
    with pytest.raises(NotOurTurn) as caught:
        client.get(f"{EUTILS}/x")
    assert caught.value.seconds == pytest.approx(31)
    clock.advance(seconds=2)
    assert client.get(f"{EUTILS}/x").content == b"hello"
    assert clock() == limiter.next_at["eutils.ncbi.nlm.nih.gov"] - timedelta(seconds=1 / 3)


def test_turns_are_shared_through_postgresql(
    source_client: MakeClient, web: FakeWeb, eutils: Site, engine: sa.Engine, clock: Clock
) -> None:
    eutils.replies["/busy"] = [Reply(503, b"", {"Retry-After": "3600"})]
    one, other = (source_client("pubmed", web, limiter=RateLimits(engine)) for _ in range(2))
    for _ in range(3):
        one.get(f"{EUTILS}/x")
        other.get(f"{EUTILS}/x")
    steps = zip(eutils.asked_at, eutils.asked_at[1:], strict=False)
    assert [(b - a).total_seconds() for a, b in steps] == [pytest.approx(1 / 3, abs=1e-4)] * 5
    with pytest.raises(QuotaExhausted):
        one.get(f"{EUTILS}/busy")
    with pytest.raises(QuotaExhausted):
        other.get(f"{EUTILS}/x")
    clock.advance(hours=1)
    assert other.get(f"{EUTILS}/x").status == 200
