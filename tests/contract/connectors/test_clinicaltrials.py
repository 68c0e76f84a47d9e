"""The connector of ClinicalTrials.gov against the registry's behaviour, over real HTTP."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.clinicaltrials import ClinicalTrials
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    Malformed,
    Refused,
    TooLarge,
    Unreachable,
)
from workers.ingest.connectors import clinicaltrials
from workers.ingest.connectors.base import Ask, Connector, Page
from workers.ingest.connectors.clinicaltrials import CLINICALTRIALS

CONNECTOR: Connector = CLINICALTRIALS


@pytest.fixture
def registry(clock: Clock) -> ClinicalTrials:
    return ClinicalTrials(clock)


@pytest.fixture
def web(registry: ClinicalTrials) -> Iterator[FakeWeb]:
    with FakeWeb(registry) as running:
        yield running


@pytest.fixture
def client(source_client: MakeClient, web: FakeWeb) -> SourceClient:
    return source_client("clinicaltrials", web)


def _ask(clock: Clock, query: str = "imagined", **rest: Any) -> Ask:
    return Ask(CONNECTOR.check_query(query), rest.pop("since", None), clock(), **rest)


def _pages(client: SourceClient, ask: Ask) -> list[Page]:
    """All pages of a refresh; what says where to go on survives being kept as JSON."""
    pages = [CONNECTOR.page(client, ask, None)]
    while pages[-1].next is not None:
        pages.append(CONNECTOR.page(client, ask, json.loads(json.dumps(pages[-1].next))))
    return pages


def _records(*pages: Page) -> list[SourceRecord]:
    return [
        record
        for page in pages
        for payload in page.payloads
        for record in CONNECTOR.parse(payload.content).records
    ]


def _ids(*pages: Page) -> list[str]:
    return sorted(record.facts["nct_id"] for record in _records(*pages))


def _searches(web: FakeWeb) -> list[Request]:
    return [request for request in web.requests if request.path == "/api/v2/studies"]


def _fill(registry: ClinicalTrials, count: int, **fields: Any) -> list[str]:
    ids = [f"NCT{number:08d}" for number in range(1, count + 1)]
    for nct_id in ids:
        registry.put(nct_id, **fields)
    return ids


def test_a_refresh_brings_every_match_once(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    ids = _fill(registry, 230)
    registry.put("NCT99999999", conditions=("Another Disease",), title="Else")
    pages = _pages(client, _ask(clock))
    assert _ids(*pages) == ids
    assert [len(_records(page)) for page in pages] == [100, 100, 30]
    assert [page.total for page in pages] == [230, None, None]
    assert all(page.complete for page in pages)
    assert all(page.marks for page in pages)


def test_the_same_parameters_stand_on_each_page(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    _fill(registry, 150)
    _pages(client, _ask(clock, since=clock() - timedelta(days=9)))
    paged = {"countTotal", "pageSize", "pageToken"}
    first, second = [
        {name: value for name, value in request.params.items() if name not in paged}
        for request in _searches(web)
    ]
    assert first == second
    assert first["sort"] == "LastUpdatePostDate:desc"
    assert first["filter.advanced"] == "AREA[LastUpdatePostDate]RANGE[2026-02-21,MAX]"


def test_an_empty_page_with_a_token_is_not_the_end(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    ids = _fill(registry, 120)
    registry.empty_pages = 2
    pages = _pages(client, _ask(clock))
    assert [len(page.payloads) for page in pages] == [1, 0, 0, 1]
    assert _ids(*pages) == ids


def test_nothing_that_matches_is_a_complete_page(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    (page,) = _pages(client, _ask(clock))
    assert (page.payloads, page.total, page.complete) == ([], 0, True)


def test_changes_are_told_by_the_day_and_inclusive(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    registry.put("NCT00000001")
    clock.advance(hours=48)
    registry.put("NCT00000002")
    clock.advance(hours=48)
    registry.put("NCT00000003")
    since = clock() - timedelta(hours=40)  # the evening of the day of the second
    assert _ids(*_pages(client, _ask(clock, since=since))) == ["NCT00000002", "NCT00000003"]
    clock.advance(hours=24)
    registry.change("NCT00000001", statusModule={"overallStatus": "TERMINATED"})
    (record,) = _records(*_pages(client, _ask(clock, since=clock())))
    assert (record.facts["nct_id"], record.facts["status"]) == ("NCT00000001", "TERMINATED")


def test_studies_of_every_status_are_brought(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    registry.put("NCT00000001", status="WITHDRAWN")
    registry.put("NCT00000002", status="UNKNOWN")
    assert len(_records(*_pages(client, _ask(clock)))) == 2


def test_a_data_set_that_is_as_it_was_is_not_searched(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    registry.put("NCT00000001")
    (first,) = _pages(client, _ask(clock))
    web.requests.clear()
    clock.advance(hours=24)
    again = _ask(clock, since=clock() - timedelta(days=3), marks=first.marks)
    (page,) = _pages(client, again)
    assert (page.payloads, page.next, page.complete) == ((), None, True)
    assert page.marks == first.marks
    assert [request.path for request in web.requests] == ["/api/v2/version"]
    registry.change("NCT00000001", statusModule={"overallStatus": "COMPLETED"})
    assert _ids(*_pages(client, again)) == ["NCT00000001"]


def test_a_refresh_of_everything_searches_whatever_the_marks(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    registry.put("NCT00000001")
    (first,) = _pages(client, _ask(clock))
    assert _ids(*_pages(client, _ask(clock, marks=first.marks))) == ["NCT00000001"]


def test_the_marks_are_of_the_state_that_was_there_at_the_beginning(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    _fill(registry, 150)
    first = CONNECTOR.page(client, _ask(clock), None)
    clock.advance(minutes=10)
    registry.put("NCT88888888", title="Else", conditions=())
    last = CONNECTOR.page(client, _ask(clock), first.next)
    assert last.marks == first.marks


def test_a_version_in_another_form_keeps_nobody_from_searching(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    registry.put("NCT00000001")
    web.fault = lambda request: Reply(200, b"soon") if request.path.endswith("version") else None
    (page,) = _pages(client, _ask(clock, since=clock()))
    assert _ids(page) == ["NCT00000001"]
    assert page.marks == {}


def test_a_token_that_expired_begins_the_refresh_again(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    _fill(registry, 150)
    first = CONNECTOR.page(client, _ask(clock), None)
    clock.advance(hours=2)
    with pytest.raises(CursorExpired):
        CONNECTOR.page(client, _ask(clock), first.next)


def test_a_token_that_leads_back_to_itself_is_no_listing(
    client: SourceClient, web: FakeWeb, clock: Clock
) -> None:
    body = b'{"studies": [], "nextPageToken": "again"}'
    web.fault = lambda request: Reply(200, body) if request.path.endswith("studies") else None
    first = CONNECTOR.page(client, _ask(clock), None)
    with pytest.raises(Malformed):
        CONNECTOR.page(client, _ask(clock), first.next)


def test_pages_that_are_too_large_are_asked_for_in_halves(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    ids = _fill(registry, 130)
    small = 60_000

    def fault(request: Request) -> Reply | None:
        answer = registry.answer(request)
        return Reply(200, b" " * 70_000_000) if len(answer.body) > small else None

    web.fault = fault
    pages = _pages(client, _ask(clock))
    assert _ids(*pages) == ids
    assert pages[0].next is not None
    assert pages[0].next["size"] < clinicaltrials.PAGE_SIZE
    # what is learned once is kept
    assert sum(int(request.params["pageSize"]) == 100 for request in _searches(web)) == 1


def test_a_study_that_is_too_large_is_an_error(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    registry.put("NCT00000001")
    big = Reply(200, b" " * 70_000_000)
    web.fault = lambda request: big if request.path.endswith("studies") else None
    with pytest.raises(TooLarge):
        CONNECTOR.page(client, _ask(clock), None)


def test_a_query_the_registry_does_not_take_is_the_user_s_to_mend(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    refusal = Reply(400, b"Invalid value in parameter `query.term`", {"Content-Type": "text/plain"})
    web.fault = lambda request: refusal if request.path.endswith("studies") else None
    with pytest.raises(InvalidQuery, match=r"Invalid value in parameter `query\.term`"):
        CONNECTOR.page(client, _ask(clock), None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"<html>Service trouble</html>"),
        (400, b" \n<!DOCTYPE html><title>Trouble</title>"),
        (400, b""),
        (404, b"<html>Service trouble</html>"),
        (404, b"Not found"),
    ],
)
def test_trouble_that_says_nothing_of_the_query_passes(
    client: SourceClient,
    registry: ClinicalTrials,
    web: FakeWeb,
    clock: Clock,
    status: int,
    body: bytes,
) -> None:
    _fill(registry, 150)
    first = CONNECTOR.page(client, _ask(clock), None)
    trouble = Reply(status, body)
    web.fault = lambda request: trouble if request.path.endswith("studies") else None
    with pytest.raises(Unreachable):
        CONNECTOR.page(client, _ask(clock), None)
    with pytest.raises(CursorExpired if status == 404 and body[:1] != b"<" else Unreachable):
        CONNECTOR.page(client, _ask(clock), first.next)


@pytest.mark.parametrize("status", [400, 404])
def test_a_web_page_of_trouble_is_no_word_on_any_study(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock, status: int
) -> None:
    _fill(registry, 2)
    web.fault = lambda request: Reply(status, b"<html>Service trouble</html>")
    with pytest.raises(Unreachable):
        CONNECTOR.fetch(client, ["nct_id:nct00000001"])
    with pytest.raises(Unreachable):
        CONNECTOR.fetch(client, ["nct_id:nct00000001", "nct_id:nct00000002"])


def test_a_web_page_in_place_of_an_answer_is_malformed(
    client: SourceClient, web: FakeWeb, clock: Clock
) -> None:
    page = Reply(200, b"<html>Down for maintenance</html>", {"Content-Type": "text/html"})
    web.fault = lambda request: page if request.path.endswith("studies") else None
    with pytest.raises(Malformed):
        CONNECTOR.page(client, _ask(clock), None)


# Studies by id.


def test_a_watch_of_ids_asks_for_ids_and_keeps_its_filters(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    _fill(registry, 3)
    clock.advance(hours=72)
    registry.change("NCT00000002", statusModule={"overallStatus": "COMPLETED"})
    ask = _ask(clock, "nct00000001, NCT00000002", since=clock() - timedelta(hours=1))
    assert _ids(*_pages(client, ask)) == ["NCT00000002"]
    # in query.term they would have switched the filter off
    (request,) = _searches(web)
    assert request.params["filter.ids"] == "NCT00000001,NCT00000002"
    assert "query.term" not in request.params


def test_a_long_watch_of_ids_takes_several_pages(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    ids = _fill(registry, 90)
    pages = _pages(client, _ask(clock, " OR ".join(ids)))
    assert len(pages) == 3
    assert _ids(*pages) == ids
    assert pages[-1].marks


def test_fetch_brings_the_keys_that_its_parser_gives(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb, clock: Clock
) -> None:
    ids = _fill(registry, 40)
    records = _records(*_pages(client, _ask(clock)))
    web.requests.clear()
    page = CONNECTOR.fetch(client, [record.key for record in records])
    assert len(records) == CONNECTOR.fetch_limit
    assert _ids(page) == ids
    assert len(web.requests) == 1


def test_an_unknown_id_does_not_spoil_its_neighbours(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb
) -> None:
    ids = _fill(registry, 15)
    page = CONNECTOR.fetch(client, ["nct_id:nct77777777", *(f"nct_id:{i.lower()}" for i in ids)])
    assert _ids(page) == ids
    assert page.next is None


def test_an_id_that_a_batch_leaves_out_is_asked_for_alone(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb
) -> None:
    registry.unknown_ids_spoil = False
    _fill(registry, 2)
    registry.alias("NCT00000008", "NCT00000002")
    page = CONNECTOR.fetch(
        client, ["nct_id:nct00000001", "nct_id:nct00000008", "nct_id:nct77777777"]
    )
    assert _ids(page) == ["NCT00000001", "NCT00000002"]


def test_an_alias_leads_to_the_study_by_its_new_id(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb
) -> None:
    registry.put("NCT00000002")
    registry.alias("NCT00000001", "NCT00000002")
    page = CONNECTOR.fetch(client, ["nct_id:nct00000001"])
    assert [record.key for record in _records(page)] == ["nct_id:nct00000002"]
    assert any(request.path.endswith("/NCT00000002") for request in web.requests)


def test_a_deleted_study_is_missing_in_the_answer(
    client: SourceClient, registry: ClinicalTrials
) -> None:
    _fill(registry, 2)
    registry.delete("NCT00000001")
    assert _ids(CONNECTOR.fetch(client, ["nct_id:nct00000001", "nct_id:nct00000002"])) == [
        "NCT00000002"
    ]
    assert CONNECTOR.fetch(client, ["nct_id:nct00000001"]).payloads == []


def test_a_study_that_is_refused_is_not_taken_for_deleted(
    client: SourceClient, registry: ClinicalTrials, web: FakeWeb
) -> None:
    web.fault = lambda request: Reply(400, b"not today")
    with pytest.raises(Refused):
        CONNECTOR.fetch(client, ["nct_id:nct00000001"])


def test_keys_of_others_are_not_there(client: SourceClient, web: FakeWeb) -> None:
    assert CONNECTOR.fetch(client, ["pmid:1", "nct_id:x", "nct_id:"]).payloads == []
    assert web.requests == []


# Queries.


@pytest.mark.parametrize(
    ("query", "spelled"),
    [
        ("  colon   cancer ", "colon cancer"),
        ('AREA[Condition]("colon cancer") AND ctDNA', 'AREA[Condition]("colon cancer") AND ctDNA'),
        ("nct00000001", "NCT00000001"),
        ("NCT00000001,NCT00000002;nct00000001", "NCT00000001 NCT00000002"),
        ("NCT00000001 OR NCT00000002", "NCT00000001 NCT00000002"),
        ("NCT00000001 colon", "NCT00000001 colon"),
        ("NCT000000012", "NCT000000012"),
        ('"a ) b"', '"a ) b"'),
        ("Krebs für Ältere", "Krebs für Ältere"),
    ],
)
def test_a_query_has_one_spelling(query: str, spelled: str) -> None:
    assert CONNECTOR.check_query(query) == spelled
    assert CONNECTOR.check_query(spelled) == spelled


@pytest.mark.parametrize(
    "query",
    [
        "",
        " \n ",
        '"colon',
        "(colon",
        "colon)",
        "AREA[Condition",
        "(a]",
        "x" * 3000,
        " ".join(f"NCT{n:08d}" for n in range(101)),
    ],
)
def test_a_query_that_cannot_work_is_refused_at_once(query: str) -> None:
    with pytest.raises(InvalidQuery):
        CONNECTOR.check_query(query)


def test_payloads_are_named_without_the_query(
    client: SourceClient, registry: ClinicalTrials, clock: Clock
) -> None:
    registry.put("NCT00000001")
    (page,) = _pages(client, _ask(clock))
    assert [payload.name for payload in page.payloads] == ["studies"]


def test_since_is_taken_in_universal_time(client: SourceClient, web: FakeWeb, clock: Clock) -> None:
    since = datetime.fromisoformat("2026-02-01T01:00:00+05:00")
    CONNECTOR.page(client, _ask(clock, since=since), None)
    assert "RANGE[2026-01-31,MAX]" in _searches(web)[0].params["filter.advanced"]
