"""Perplexity over real HTTP: what is sent, what is kept, and every way in which it fails."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from threading import Event
from typing import Any

import pytest

from knowledge.answering.policy import retrieval_policy
from knowledge.feeds.sources import connector_policies, service_policy
from tests.contract.connectors.conftest import MemoryLimiter
from tests.fakes.perplexity import Perplexity, error
from tests.fakes.web import DROPPED, Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import (
    Malformed,
    QuotaExhausted,
    Refused,
    SourceError,
    TooLarge,
    Unreachable,
)
from workers.http.transport import Wire
from workers.retrieve.outside import outside_question
from workers.retrieve.outside_leads import Lead
from workers.retrieve.perplexity import Answer, search

KEY = "made-up-key-4711"
ASKED = outside_question({"diseases": ["atrial_fibrillation"], "decisions": ["anticoagulation"]})
FOUND = [
    "https://pubmed.ncbi.nlm.nih.gov/101/",
    "https://example.org/a-blog",
    "https://clinicaltrials.gov/study/NCT90000001",
    "https://pubmed.ncbi.nlm.nih.gov/101/?utm_source=perplexity",
]


@dataclass
class World:
    """A client with a key, in front of the fake service."""

    service: Perplexity
    web: FakeWeb
    clock: Clock
    wire: Wire
    limiter: MemoryLimiter

    def search(self, key: str = KEY) -> Answer:
        assert ASKED is not None
        client = SourceClient(
            service_policy("perplexity"),
            self.limiter,
            self.wire,
            key=key,
            mirrors=self.web.mirrors,
            tries=1,
            deadline_seconds=2,
            now=self.clock,
            sleep=self.clock.sleep,
        )
        return search(client, ASKED)

    def fail(self, reply: Reply) -> SourceError:
        """The error that comes of this reply; it tells neither the key nor what was asked."""
        self.web.fault = lambda _: reply
        with pytest.raises(SourceError) as caught:
            self.search()
        assert caught.value.__cause__ is caught.value.__context__ is None
        for secret in (KEY, "atrial", "anticoagulation", "Made-up"):
            assert secret not in f"{caught.value} {caught.value!r}"
        return caught.value


@pytest.fixture
def world() -> Iterator[World]:
    service, wire = Perplexity({KEY}), Wire()
    service.found = FOUND
    with FakeWeb(service) as web:
        yield World(service, web, Clock(datetime(2026, 3, 2, tzinfo=UTC)), wire, MemoryLimiter())
    wire.close()


def test_of_an_answer_identifiers_a_count_and_the_cost_are_kept_and_no_word(world: World) -> None:
    answer = world.search()
    assert answer.leads == [Lead("pmid", "101"), Lead("nct_id", "NCT90000001")]
    assert answer.dropped == 1
    assert answer.cost_usd == Decimal("0.00612")
    assert "ade-up" not in repr(answer)
    assert "example.org" not in repr(answer)


def test_invariant_11_the_request_holds_our_sentence_and_nothing_of_a_question(
    world: World,
) -> None:
    world.search()
    (body,) = world.service.asked
    assert body["messages"] == [{"role": "user", "content": ASKED}]
    assert body["model"] == retrieval_policy().outside.model
    assert body["search_domain_filter"] == list(retrieval_policy().outside.domains)
    (request,) = world.web.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in request.raw_path


@pytest.mark.parametrize("gone", [{"citations"}, {"search_results"}])
def test_either_list_of_links_may_be_missing(world: World, gone: set[str]) -> None:
    world.service.without = gone
    assert len(world.search().leads) == 2


def test_without_any_links_there_are_no_leads_whatever_the_text_claims(world: World) -> None:
    world.service.without = {"citations", "search_results", "usage"}
    assert world.search() == Answer([], 0, None)


@pytest.mark.parametrize("cost", [None, "0.1", True, -1, [1]])
def test_a_cost_that_is_not_told_is_unknown_and_not_zero(world: World, cost: Any) -> None:
    world.service.cost = cost
    assert world.search().cost_usd is None


def test_no_more_leads_are_taken_than_the_policy_says(world: World) -> None:
    most = retrieval_policy().outside.most_leads
    world.service.found = [f"https://pubmed.ncbi.nlm.nih.gov/{n}/" for n in range(1, most + 4)]
    answer = world.search()
    assert [lead.value for lead in answer.leads] == [str(n) for n in range(1, most + 1)]
    assert answer.dropped == 3


def body(**changes: Any) -> Reply:
    value = {"choices": [], "citations": [], **changes}
    return Reply(200, json.dumps(value).encode())


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(401, "invalid_api_key", f"Invalid key {KEY}"), Refused),
        (error(400, "bad_request", f"cannot answer: {ASKED}"), Refused),
        (Reply(422, b'{"detail": [{"msg": "atrial"}]}'), Refused),
        (error(429, "rate_limit", f"too many of {KEY}"), QuotaExhausted),
        (Reply(429, b"", {"Retry-After": "3600"}), QuotaExhausted),
        (error(503, "overloaded", f"{ASKED}"), Unreachable),
        (DROPPED, Unreachable),
        (Reply(200, b'{"choices": []}', cut=3), Unreachable),
        (Reply(200, b"<html>Made-up</html>"), Malformed),
        (Reply(200, b"[" * 100_000), Malformed),
        (Reply(200, b'["atrial"]'), Malformed),
        (Reply(200, b'{"citations": []}'), Malformed),
        (body(error={"message": f"{ASKED} {KEY}"}), Malformed),
        (body(citations={"1": "atrial"}), Malformed),
        (body(search_results="atrial"), Malformed),
        (Reply(204, b""), Malformed),
        (Reply(200, b" " * (1024 * 1024 + 1)), TooLarge),
        (Reply(302, b"", {"Location": "https://example.org/"}), SourceError),
    ],
)
def test_every_failure_has_a_kind_and_tells_neither_key_nor_question(
    world: World, reply: Reply, kind: type[SourceError]
) -> None:
    assert isinstance(world.fail(reply), kind)
    assert len(world.web.requests) == 1, "somebody waits: it is asked once"


def test_a_service_that_is_silent_is_given_up_in_time(world: World) -> None:
    released = Event()

    def silent(_: Request) -> Reply:
        released.wait(10)
        return body()

    world.web.fault = silent
    with pytest.raises(Unreachable):
        world.search()
    released.set()


@pytest.mark.parametrize("odd", [None, 7, {"url": 7}, {"title": "no url"}, "", "http://["])
def test_a_link_that_is_none_is_dropped_with_the_count(world: World, odd: Any) -> None:
    world.web.fault = lambda _: body(search_results=[odd, {"url": FOUND[0]}])
    answer = world.search()
    assert answer.leads == [Lead("pmid", "101")]
    assert answer.dropped == 1


def test_a_wrong_key_is_refused_and_not_repeated(world: World) -> None:
    with pytest.raises(Refused) as caught:
        world.search("another-key-0815")
    assert "401" in str(caught.value)
    assert "0815" not in str(caught.value)


def test_nothing_of_it_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world.search()
    world.fail(error(503, "overloaded", f"{ASKED} {KEY}"))
    for secret in (KEY, "atrial", "Made-up"):
        assert secret not in caplog.text


def test_it_is_no_source_that_could_be_followed() -> None:
    assert "perplexity" not in connector_policies()
    with pytest.raises(LookupError):
        service_policy("pubmed")
