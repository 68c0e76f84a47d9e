"""What the one HTTP client promises, over real loopback HTTP with the faults of real sources."""

import contextlib
import gzip
import logging
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import sqlalchemy as sa

from store.rate_limits import RateLimits
from store.settings import Settings
from tests.contract.connectors.conftest import MakeClient, MemoryLimiter
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply, Request
from workers.ingest.http.client import SourceClient
from workers.ingest.http.factory import client_for
from workers.ingest.http.wire import Wire, shared_wire
from workers.ingest.source_errors import (
    InvalidQuery,
    Malformed,
    NotAllowed,
    QuotaExhausted,
    Refused,
    SourceError,
    TooLarge,
    Unreachable,
)

EUTILS = "https://eutils.ncbi.nlm.nih.gov"
PMC = "https://pmc.ncbi.nlm.nih.gov"
KEY = "k3y0fN0b0dy/5ecret+=="
CONTACT = "somebody@example.org"


class Site:
    """Answers as it is told: `replies` by path, one after the other, the last one for ever."""

    def __init__(self, origin: str, clock: Clock) -> None:
        self.origin = origin
        self.clock = clock
        self.replies: dict[str, list[Reply]] = {}
        self.asked_at: list[datetime] = []

    def answer(self, request: Request) -> Reply:
        self.asked_at.append(self.clock())
        replies = self.replies.get(request.path, [Reply(200, b"hello")])
        return replies.pop(0) if len(replies) > 1 else replies[0]


@pytest.fixture
def eutils(clock: Clock) -> Site:
    return Site(EUTILS, clock)


@pytest.fixture
def pmc(clock: Clock) -> Site:
    return Site(PMC, clock)


@pytest.fixture
def web(eutils: Site, pmc: Site) -> Iterator[FakeWeb]:
    with FakeWeb(eutils, pmc) as running:
        yield running


@pytest.fixture
def client(source_client: MakeClient, web: FakeWeb) -> SourceClient:
    return source_client("pubmed", web)


@contextlib.contextmanager
def raw_server(speak: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[int]]]:
    """A server that reads one request a connection, then does `speak`; gives its base URL and the
    ports it was called from."""
    listening = socket.create_server(("127.0.0.1", 0))
    callers: list[int] = []
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                caller, address = listening.accept()
            except OSError:
                return
            callers.append(address[1])
            with caller, contextlib.suppress(OSError):
                caller.recv(65536)
                speak(caller)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", callers
    finally:
        done.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def says(data: bytes) -> Callable[[socket.socket], None]:
    return lambda caller: caller.sendall(data)


def drips(first: bytes) -> Callable[[socket.socket], None]:
    """Sends `first`, then one byte every 20 ms until the other side has gone."""

    def speak(caller: socket.socket) -> None:
        caller.sendall(first)
        while True:
            caller.sendall(b"a")
            time.sleep(0.02)

    return speak


# --- asking ---------------------------------------------------------------------------------------


def test_an_answer_comes_with_status_lower_case_headers_and_bytes(
    client: SourceClient, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(200, b"\x00body", {"X-Total": "5", "ETag": '"a"'})]
    answer = client.get(f"{EUTILS}/x")
    assert (answer.status, answer.content) == (200, b"\x00body")
    assert (answer.headers["x-total"], answer.headers["etag"]) == ("5", '"a"')


def test_params_replace_the_query_of_the_address_and_none_leaves_it(
    client: SourceClient, web: FakeWeb
) -> None:
    client.get(f"{EUTILS}/x?a=1", {"term": "a AND [b]", "n": 2})
    client.get(f"{EUTILS}/x?a=1&skip=%3D2")
    client.get(f"{EUTILS}/x?a=1", {})
    assert [request.params for request in web.requests] == [
        {"term": "a AND [b]", "n": "2"},
        {"a": "1", "skip": "=2"},
        {},
    ]


def test_a_form_is_posted(client: SourceClient, web: FakeWeb) -> None:
    client.post(f"{EUTILS}/x", {"id": "1,2", "retmode": "xml"})
    (request,) = web.requests
    assert (request.method, request.params) == ("POST", {"id": "1,2", "retmode": "xml"})


def test_a_source_learns_our_name_and_the_address_given_for_it_and_no_cookie(
    source_client: MakeClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(200, b"", {"Set-Cookie": "track=me; Path=/"})]
    client = source_client("pubmed", web, contact=CONTACT)
    client.get(f"{EUTILS}/x")
    client.get(f"{EUTILS}/x")
    source_client("pubmed", web).get(f"{EUTILS}/x")
    agents = [request.headers["user-agent"] for request in web.requests]
    assert agents[0].startswith("attest/")
    assert agents[1].endswith(f"(+mailto:{CONTACT})")
    assert "@" not in agents[2]
    assert not any("cookie" in request.headers for request in web.requests)


def test_a_connection_is_kept_for_the_next_request(
    source_client: MakeClient, web: FakeWeb
) -> None:
    def twice(caller: socket.socket) -> None:
        for _ in range(3):
            caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
            caller.recv(65536)

    with raw_server(twice) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base})
        assert [client.get(f"{EUTILS}/x").content for _ in range(3)] == [b"a"] * 3
        assert len(callers) == 1


def test_a_status_that_is_accepted_is_given_and_any_other_2xx_is_malformed(
    client: SourceClient, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(404, b"none")]
    eutils.replies["/y"] = [Reply(304, b"")]
    eutils.replies["/z"] = [Reply(202, b"")]
    assert client.get(f"{EUTILS}/x", accept=(200, 404)).status == 404
    assert client.get(f"{EUTILS}/y", accept=(200, 304)).status == 304
    with pytest.raises(Malformed, match="answered 202 Accepted"):
        client.get(f"{EUTILS}/z")


def test_half_a_character_in_a_query_and_a_line_break_in_a_header_are_not_sent(
    client: SourceClient, web: FakeWeb
) -> None:
    with pytest.raises(InvalidQuery, match="half a character"):
        client.get(f"{EUTILS}/x", {"term": "a\ud800"})
    with pytest.raises(InvalidQuery, match="half a character"):
        client.post(f"{EUTILS}/x", {"term": "\udfff"})
    with pytest.raises(Malformed, match="If-None-Match"):
        client.get(f"{EUTILS}/x", headers={"If-None-Match": 'a"\r\nHost: b'})
    assert web.requests == []


# --- the allow-list -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://eutils.ncbi.nlm.nih.gov/x",
        "file:///etc/passwd",
        "https://example.org/x",
        "https://eutils.ncbi.nlm.nih.gov:8443/x",
        "https://eutils.ncbi.nlm.nih.gov./x",
        "https://eutils.ncbi.nlm.nih.gov.example.org/x",
        "https://eutils.ncbi.nlm.nih.gov@example.org/x",
        "https://me:pass@eutils.ncbi.nlm.nih.gov/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://2130706433/x",
        "https://0x7f.1/x",
        "/x",
        "",
        "https://",
        "https://[/x",
    ],
)
def test_an_address_outside_the_allow_list_is_not_asked(
    client: SourceClient, web: FakeWeb, url: str
) -> None:
    with pytest.raises(NotAllowed):
        client.get(url)
    assert web.requests == []


def test_a_redirect_inside_the_allow_list_is_followed(
    client: SourceClient, web: FakeWeb, eutils: Site, pmc: Site
) -> None:
    eutils.replies["/a/old"] = [Reply(301, b"", {"Location": "new?x=1"})]
    eutils.replies["/a/new"] = [Reply(302, b"", {"Location": "/top"})]
    eutils.replies["/top"] = [Reply(307, b"", {"Location": f"{PMC}/there"})]
    pmc.replies["/there"] = [Reply(308, b"", {"Location": f"{web.mirrors[PMC]}/end?y=2"})]
    pmc.replies["/end"] = [Reply(200, b"arrived")]
    assert client.get(f"{EUTILS}/a/old").content == b"arrived"
    assert [(request.origin, request.path, request.params) for request in web.requests] == [
        (EUTILS, "/a/old", {}),
        (EUTILS, "/a/new", {"x": "1"}),
        (EUTILS, "/top", {}),
        (PMC, "/there", {}),
        (PMC, "/end", {"y": "2"}),
    ]


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("http://169.254.169.254/latest/meta-data?token=t0ken", "169.254.169.254 is a bare IP"),
        ("//169.254.169.254/latest", "169.254.169.254 is a bare IP"),
        ("http://127.0.0.1:1/x", "127.0.0.1 is a bare IP"),
        ("https://example.org/path?q=1", "example.org is not among the places"),
        ("http://eutils.ncbi.nlm.nih.gov/x", "eutils.ncbi.nlm.nih.gov is not asked without https"),
        ("file:///etc/passwd", "is not asked without https"),
        ("https://user:word@eutils.ncbi.nlm.nih.gov/", "carries a name or a password"),
        ("https://[", "redirects to no address at all"),
    ],
)
def test_a_redirect_out_of_the_allow_list_is_refused_and_names_the_host_only(
    client: SourceClient, web: FakeWeb, eutils: Site, location: str, named: str
) -> None:
    eutils.replies["/x"] = [Reply(302, b"", {"Location": location})]
    with pytest.raises(NotAllowed, match=named) as caught:
        client.get(f"{EUTILS}/x")
    text = str(caught.value)
    assert not [word for word in ("t0ken", "latest", "path", "passwd", "word@") if word in text]
    assert len(web.requests) == 1


def test_a_redirect_that_never_ends_is_refused(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(301, b"", {"Location": "/x"})]
    with pytest.raises(Refused, match="redirects more than 5 times"):
        client.get(f"{EUTILS}/x")
    assert len(web.requests) == 6


def test_a_redirect_without_a_place_is_refused(client: SourceClient, eutils: Site) -> None:
    eutils.replies["/x"] = [Reply(302, b"")]
    with pytest.raises(Refused, match="answered 302 Found"):
        client.get(f"{EUTILS}/x")


def test_a_key_in_a_header_does_not_follow_to_another_origin(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(302, b"", {"Location": "/y"})]
    eutils.replies["/y"] = [Reply(302, b"", {"Location": f"{PMC}/z"})]
    client.get(f"{EUTILS}/x", headers={"Authorization": "Bearer b", "X-Other": "o"})
    assert [request.headers.get("authorization") for request in web.requests] == [
        "Bearer b",
        "Bearer b",
        None,
    ]
    assert web.requests[2].headers["x-other"] == "o"


def test_a_form_is_sent_again_after_307_and_not_after_303(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(307, b"", {"Location": "/y"})]
    eutils.replies["/y"] = [Reply(303, b"", {"Location": "/z"})]
    client.post(f"{EUTILS}/x", {"id": "1"})
    assert [(request.method, request.body) for request in web.requests] == [
        ("POST", b"id=1"),
        ("POST", b"id=1"),
        ("GET", b""),
    ]


# --- tries ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Reply(503, b"maintenance"),
        Reply(500, b""),
        Reply(408, b""),
        Reply(429, b'{"error":"API rate limit exceeded"}'),
        DROPPED,
        Reply(200, b"only a part of it", cut=4),
        Reply(200, gzip.compress(b"whole" * 100)[:-9], {"Content-Encoding": "gzip"}),
        Reply(200, b"no gzip at all", {"Content-Encoding": "gzip"}),
    ],
    ids=["503", "500", "408", "429", "dropped", "cut", "gzip cut", "no gzip"],
)
def test_what_passes_by_itself_is_asked_again(
    client: SourceClient, web: FakeWeb, eutils: Site, clock: Clock, fault: Reply
) -> None:
    eutils.replies["/x"] = [fault, fault, Reply(200, b"whole")]
    began = clock()
    assert client.get(f"{EUTILS}/x").content == b"whole"
    assert len(web.requests) == 3
    assert 1.5 <= (clock() - began).total_seconds() <= 5, "one second, then two, give or take"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Reply(503, b"the words of an error page"), "answered 503 Service Unavailable, 4 times"),
        (Reply(599, b""), "answered 599, 4 times"),
        (DROPPED, "broke off in the middle, or does not speak HTTP, 4 times"),
        (Reply(200, b"only a part", cut=4), "broke off in the middle"),
        (Reply(200, b"?", {"Content-Encoding": "gzip"}), "its compression is broken"),
        (Reply(200, b"?", {"Content-Encoding": "br"}), "in a way that was not asked for"),
    ],
)
def test_after_four_tries_a_source_is_unreachable(
    client: SourceClient, web: FakeWeb, eutils: Site, fault: Reply, why: str
) -> None:
    eutils.replies["/x"] = [fault]
    with pytest.raises(Unreachable, match=why) as caught:
        client.get(f"{EUTILS}/x")
    assert str(caught.value).startswith("PubMed: eutils.ncbi.nlm.nih.gov ")
    assert "words" not in str(caught.value)
    assert len(web.requests) == 4


def test_nobody_listens_there(source_client: MakeClient, web: FakeWeb) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = source_client("pubmed", web, mirrors={EUTILS: f"http://127.0.0.1:{port}"})
    with pytest.raises(Unreachable, match="could not be reached, 4 times"):
        client.get(f"{EUTILS}/x")


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_and_all_others_wait_as_well(
    client: SourceClient,
    source_client: MakeClient,
    web: FakeWeb,
    eutils: Site,
    clock: Clock,
    limiter: MemoryLimiter,
    form: str,
) -> None:
    began = clock()
    after = "20" if form == "seconds" else format_datetime(began + timedelta(seconds=20), True)
    eutils.replies["/x"] = [Reply(429, b"", {"Retry-After": after}), Reply(200, b"ok")]
    held: list[datetime] = []

    def sleep(seconds: float) -> None:
        held.append(limiter.next_at["eutils.ncbi.nlm.nih.gov"])
        clock.sleep(seconds)

    assert source_client("pubmed", web, sleep=sleep).get(f"{EUTILS}/x").content == b"ok"
    assert (eutils.asked_at[1] - began).total_seconds() == pytest.approx(20)
    assert held == [began + timedelta(seconds=20)]


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_that_is_too_long_ends_the_call_and_holds_the_host_for_everybody(
    client: SourceClient,
    source_client: MakeClient,
    web: FakeWeb,
    eutils: Site,
    clock: Clock,
    status: int,
) -> None:
    eutils.replies["/x"] = [Reply(status, b"", {"Retry-After": "53578"}), Reply(200, b"ok")]
    with pytest.raises(QuotaExhausted, match="asks for a pause of 53578 s") as caught:
        client.get(f"{EUTILS}/x")
    assert caught.value.seconds == 53578
    with pytest.raises(QuotaExhausted, match="is left alone for another") as caught:
        source_client("pubmed", web).get(f"{EUTILS}/x")
    assert caught.value.seconds > 3000
    assert len(web.requests) == 1


def test_pauses_that_come_to_more_than_a_minute_together_are_too_long(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(503, b"", {"Retry-After": "25"})]
    with pytest.raises(QuotaExhausted) as caught:
        client.get(f"{EUTILS}/x")
    assert (caught.value.seconds, len(web.requests)) == (25, 3)


def test_a_source_that_says_429_to_all_tries_is_left_alone(
    client: SourceClient, web: FakeWeb, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(429, b"")]
    with pytest.raises(QuotaExhausted, match="429 Too Many Requests, 4 times") as caught:
        client.get(f"{EUTILS}/x")
    assert (caught.value.seconds, len(web.requests)) == (300, 4)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(400, b'{"error":"API key invalid"}'), "400 Bad Request: API key invalid"),
        (
            Reply(403, b'{"error":{"code":"API_KEY_INVALID","message":"An invalid\\n key"}}'),
            "403 Forbidden: An invalid key",
        ),
        (Reply(401, b"<html>Words of a page</html>"), "answered 401 Unauthorized"),
        (Reply(404, b'{"error":{"code":"NOT_FOUND"}}'), "answered 404 Not Found"),
        (Reply(410, b'["error"]'), "answered 410 Gone"),
        (Reply(400, b"[" * 60_000), "answered 400 Bad Request"),
        (Reply(400, b'{"error":"%s"}' % (b"no " * 40_000)), "answered 400 Bad Request"),
        (Reply(400, b'{"error":"cut off', cut=5), "answered 400 Bad Request"),
        (Reply(499, b'{"error":"%s"}' % (b"x" * 500)), f"answered 499: {'x' * 200}"),
    ],
)
def test_what_a_source_refuses_is_not_asked_again_and_its_body_is_not_repeated(
    client: SourceClient, web: FakeWeb, eutils: Site, reply: Reply, text: str
) -> None:
    eutils.replies["/x"] = [reply]
    with pytest.raises(Refused) as caught:
        client.get(f"{EUTILS}/x")
    assert str(caught.value).endswith(text)
    assert "\n" not in str(caught.value)
    assert len(web.requests) == 1


def test_a_reason_does_not_repeat_the_words_of_the_query(
    client: SourceClient, eutils: Site
) -> None:
    eutils.replies["/x"] = [Reply(400, b'{"error":"Cannot parse Zebrafish AND (gout near end"}')]
    with pytest.raises(Refused, match=r"Cannot parse … AND \(… near end"):
        client.get(f"{EUTILS}/x", {"term": "zebrafish AND (gout"})
    with pytest.raises(Refused, match=r"Cannot parse … AND \(… near end"):
        client.post(f"{EUTILS}/x", {"term": "zebrafish AND (gout"})


# --- size and time --------------------------------------------------------------------------------


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
        assert len(callers) == 1


def test_all_tries_of_a_call_share_one_deadline(source_client: MakeClient, web: FakeWeb) -> None:
    def slow(caller: socket.socket) -> None:
        time.sleep(0.25)

    with raw_server(slow) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base}, deadline_seconds=0.4)
        with pytest.raises(Unreachable, match=r"did not finish within 0\.4 s, 2 times"):
            client.get(f"{EUTILS}/x")
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
    ids=["huge header", "ssh", "bytes", "status", "two lengths", "chunks", "minus", "nothing"],
)
def test_what_is_not_http_is_unreachable(
    source_client: MakeClient, web: FakeWeb, data: bytes
) -> None:
    with raw_server(says(data)) as (base, callers):
        client = source_client("pubmed", web, mirrors={EUTILS: base})
        with pytest.raises(Unreachable, match="4 times"):
            client.get(f"{EUTILS}/x")
        assert len(callers) == 4


# --- turns ----------------------------------------------------------------------------------------


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
    with pytest.raises(QuotaExhausted) as caught:
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


# --- secrets --------------------------------------------------------------------------------------


def _faults(web: FakeWeb) -> dict[str, Reply]:
    echo = f'{{"error":"bad \\"{KEY}\\" of {CONTACT}","api-key":"{KEY}"}}'.encode()
    return {
        "bad request": Reply(400, echo),
        "forbidden": Reply(403, echo),
        "busy": Reply(503, echo),
        "limited": Reply(429, echo),
        "quota": Reply(429, echo, {"Retry-After": "9999"}),
        "dropped": DROPPED,
        "cut": Reply(200, echo, cut=5),
        "too large": Reply(200, echo * 100),
        "no gzip": Reply(200, echo, {"Content-Encoding": "gzip"}),
        "not allowed": Reply(302, b"", {"Location": f"https://example.org/?api_key={KEY}"}),
        "host": Reply(302, b"", {"Location": f"https://{CONTACT.replace('@', '.')}/{KEY}"}),
        "userinfo": Reply(302, b"", {"Location": f"https://{KEY}:{CONTACT}@example.org/"}),
        "unreadable": Reply(302, b"", {"Location": f"https://[{KEY}"}),
        "loop": Reply(302, b"", {"Location": f"/x?api_key={KEY}"}),
        "accepted": Reply(202, echo),
    }


@pytest.mark.parametrize("fault", _faults(FakeWeb()).keys() if False else [
    "bad request", "forbidden", "busy", "limited", "quota", "dropped", "cut", "too large",
    "no gzip", "not allowed", "host", "userinfo", "unreadable", "loop", "accepted",
])
def test_no_error_and_no_log_line_holds_a_key_or_the_address(
    source_client: MakeClient,
    web: FakeWeb,
    eutils: Site,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    pass
