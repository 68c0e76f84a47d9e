"""What is asked again, when, and what a call comes to that had no answer."""

import gzip
import socket
from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.contract.connectors.conftest import MakeClient, MemoryLimiter
from tests.contract.connectors.http.servers import EUTILS, Site
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import (
    QuotaExhausted,
    Refused,
    Unreachable,
)


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
        (Reply(200, b"no gzip at all", {"Content-Encoding": "gzip"}), "its compression is broken"),
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
    eutils.replies["/x"] = [Reply(401, b'{"error":"no licence for t0ken-1234"}')]
    with pytest.raises(Refused, match=r"no licence for …-…$"):
        client.get(f"{EUTILS}/x", headers={"Authorization": "Bearer t0ken-1234"})
