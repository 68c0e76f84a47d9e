"""The connectors of openFDA against the API's behaviour, over real HTTP."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.openfda import (
    OpenFda,
    made_up_application,
    made_up_label,
    made_up_recall,
    made_up_report,
)
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    Malformed,
    QuotaExhausted,
    Refused,
    TooLarge,
    Unreachable,
)
from workers.ingest.connectors.base import Ask, Connector, Page
from workers.ingest.connectors.openfda import (
    OPENFDA_DRUGSFDA,
    OPENFDA_ENFORCEMENT,
    OPENFDA_EVENT,
    OPENFDA_LABEL,
)

OPENFDA = (OPENFDA_LABEL, OPENFDA_DRUGSFDA, OPENFDA_ENFORCEMENT, OPENFDA_EVENT)
Put = Callable[[OpenFda, int, str], None]

QUERY = "imaginol"
KEY = "s3cret-k3y"


def _always(reply: Reply) -> Callable[[Request], Reply]:
    return lambda request: reply


def _put_label(api: OpenFda, number: int, day: str) -> None:
    api.put("label", made_up_label(number, day=day))


def _put_application(api: OpenFda, number: int, day: str) -> None:
    api.put("drugsfda", made_up_application(number, day=day))


def _put_recall(api: OpenFda, number: int, day: str) -> None:
    api.put("enforcement", made_up_recall(number, day=day))


RECORDS: list[tuple[Connector, Put]] = [
    (OPENFDA_LABEL, _put_label),
    (OPENFDA_DRUGSFDA, _put_application),
    (OPENFDA_ENFORCEMENT, _put_recall),
]
each_record = pytest.mark.parametrize(
    ("connector", "put"), RECORDS, ids=[connector.name for connector, _ in RECORDS]
)


@pytest.fixture
def api(clock: Clock) -> OpenFda:
    return OpenFda(clock)


@pytest.fixture
def web(api: OpenFda) -> Iterator[FakeWeb]:
    with FakeWeb(api) as running:
        yield running


@pytest.fixture
def client(source_client: MakeClient, web: FakeWeb) -> SourceClient:
    return source_client("openfda-label", web)


def _ask(clock: Clock, query: str = QUERY, **rest: Any) -> Ask:
    return Ask(query, rest.pop("since", None), clock(), **rest)


def _pages(connector: Connector, client: SourceClient, ask: Ask) -> list[Page]:
    pages = [connector.page(client, ask, None)]
    while pages[-1].next is not None:
        pages.append(connector.page(client, ask, json.loads(json.dumps(pages[-1].next))))
    return pages


def _records(connector: Connector, *pages: Page) -> list[SourceRecord]:
    return [
        record
        for page in pages
        for payload in page.payloads
        for record in connector.parse(payload.content).records
    ]


@each_record
def test_a_refresh_brings_every_match_once(
    client: SourceClient, api: OpenFda, clock: Clock, connector: Connector, put: Put
) -> None:
    for number in range(1, 231):
        put(api, number, "20260101")
    clock.advance(hours=72)
    pages = _pages(connector, client, _ask(clock))
    keys = [record.key for record in _records(connector, *pages)]
    assert len(keys) == len(set(keys)) == 230
    assert [len(_records(connector, page)) for page in pages] == [100, 100, 30]
    assert {page.total for page in pages} == {230}
    marks = {"last_updated": "2026-03-02", "whole_on": "2026-03-05"}
    assert all(page.marks == marks for page in pages)
    assert pages[-1].complete


@each_record
def test_behind_a_last_page_that_is_full_nothing_is_found(
    client: SourceClient, api: OpenFda, clock: Clock, connector: Connector, put: Put
) -> None:
    for number in range(1, 201):
        put(api, number, "20260101")
    clock.advance(hours=72)
    pages = _pages(connector, client, _ask(clock))
    assert [len(_records(connector, page)) for page in pages] == [100, 100, 0]
    assert pages[-1].marks["last_updated"] == "2026-03-02"
    assert pages[-1].complete


@each_record
def test_an_empty_result_is_a_404_and_a_complete_page(
    client: SourceClient, api: OpenFda, clock: Clock, connector: Connector, put: Put
) -> None:
    put(api, 1, "20260101")
    marks = {"last_updated": "2026-01-01", "whole_on": "2026-03-02"}
    (page,) = _pages(connector, client, _ask(clock, "nothing_like_it", marks=marks))
    assert (list(page.payloads), page.complete, page.marks) == ([], True, marks)


@each_record
def test_changes_are_told_by_the_day_of_the_record(
    client: SourceClient,
    api: OpenFda,
    web: FakeWeb,
    clock: Clock,
    connector: Connector,
    put: Put,
) -> None:
    put(api, 1, "20260210")
    put(api, 2, "20260215")
    put(api, 3, "20260216")
    put(api, 4, "30151102")
    since = clock() - timedelta(days=15)  # 15 February
    records = _records(connector, *_pages(connector, client, _ask(clock, since=since)))
    assert len(records) == 3
    (request,) = web.requests
    search = request.params["search"]
    assert search.startswith(f"({QUERY}) AND ")
    assert search.endswith(":[20260215 TO 99991231]")
    assert "+AND+" not in request.raw_path
    assert [record.published_at is None for record in records] == [False, False, True]


def test_an_or_in_the_query_does_not_escape_the_range(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    _put_label(api, 1, "20200101")
    ask = _ask(clock, "imaginol OR nothing", since=clock() - timedelta(days=15))
    assert _records(OPENFDA_LABEL, *_pages(OPENFDA_LABEL, client, ask)) == []


@each_record
def test_a_data_set_that_is_as_it_was_is_not_read_again(
    client: SourceClient,
    api: OpenFda,
    web: FakeWeb,
    clock: Clock,
    connector: Connector,
    put: Put,
) -> None:
    put(api, 1, "20260301")
    clock.advance(hours=72)
    (first,) = _pages(connector, client, _ask(clock))
    assert first.marks["last_updated"] == "2026-03-02"
    again = _ask(clock, since=clock() - timedelta(days=14), marks=first.marks)
    (page,) = _pages(connector, client, again)
    assert (list(page.payloads), page.next, page.complete) == ([], None, True)
    assert page.marks == first.marks
    assert len(_records(connector, *_pages(connector, client, _ask(clock, marks=first.marks)))) == 1
    clock.advance(hours=24)
    put(api, 2, "20260302")
    assert len(_records(connector, *_pages(connector, client, again))) == 2


@each_record
def test_a_data_set_of_today_may_be_made_again_today(
    client: SourceClient, api: OpenFda, clock: Clock, connector: Connector, put: Put
) -> None:
    put(api, 1, "20260301")
    (first,) = _pages(connector, client, _ask(clock))
    assert "last_updated" not in first.marks
    clock.advance(hours=8)
    put(api, 2, "20260302")
    again = _ask(clock, since=clock() - timedelta(days=14), marks=first.marks)
    assert len(_records(connector, *_pages(connector, client, again))) == 2


def test_the_marks_are_of_the_first_page(client: SourceClient, api: OpenFda, clock: Clock) -> None:
    for number in range(1, 151):
        _put_label(api, number, "20260101")
    clock.advance(hours=72)
    first = OPENFDA_LABEL.page(client, _ask(clock), None)
    clock.advance(hours=72)
    _put_label(api, 1, "20260102")
    last = OPENFDA_LABEL.page(client, _ask(clock), first.next)
    assert last.marks == first.marks == {"last_updated": "2026-03-02", "whole_on": "2026-03-05"}


@each_record
def test_a_record_that_is_listed_months_after_its_day_is_found_within_the_week(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock, connector: Connector, put: Put
) -> None:
    """The day is of the record's version, not of when openFDA had it: no overlap covers all."""
    put(api, 1, "20260228")
    marks = _pages(connector, client, _ask(clock))[-1].marks
    put(api, 2, "20251101")
    found = []
    for _ in range(8):
        clock.advance(hours=24)
        put(api, 1, "20260228")  # the data set is made anew every day
        ask = _ask(clock, since=clock() - timedelta(days=15), marks=marks)
        pages = _pages(connector, client, ask)
        marks = pages[-1].marks
        found.append(len(_records(connector, *pages)))
    assert found == [1, 1, 1, 1, 1, 1, 2, 1]


def test_a_whole_listing_stays_whole_on_all_its_pages(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    api.links = False
    for number in range(1, 131):
        _put_label(api, number, "20251101")
    marks = {"whole_on": "2026-02-20"}
    ask = _ask(clock, since=clock() - timedelta(days=14), marks=marks)
    pages = _pages(OPENFDA_LABEL, client, ask)
    assert [len(_records(OPENFDA_LABEL, page)) for page in pages] == [100, 30]
    assert pages[-1].marks["whole_on"] == "2026-03-02"


def test_without_links_pages_are_skipped_to(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    api.links = False
    for number in range(1, 231):
        _put_label(api, number, "20260101")
    pages = _pages(OPENFDA_LABEL, client, _ask(clock))
    assert len({record.key for record in _records(OPENFDA_LABEL, *pages)}) == 230
    assert [request.params.get("skip") for request in web.requests] == [None, "100", "200"]
    assert pages[-1].complete


def test_more_than_can_be_skipped_is_not_complete(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    _put_label(api, 1, "20260101")
    row = json.dumps(made_up_label(1)).encode()
    body = b'{"meta": {"results": {"total": 90000}}, "results": [' + row + b"]}"
    web.fault = lambda request: Reply(200, body)
    page = OPENFDA_LABEL.page(client, _ask(clock), {"skip": 25_000, "made": "2026-03-02"})
    assert (page.next, page.complete) == (None, False)


def test_a_link_that_leads_elsewhere_is_not_followed(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    _put_label(api, 1, "20260101")
    for place in ("https://evil.example/x?a=b", "https://api.fda.gov/drug/event.json?a=b", "/x?y"):
        link = {"Link": f'<{place}>; rel="next"'}
        body = b'{"meta": {}, "results": [{}]}'
        web.fault = _always(Reply(200, body, link))
        with pytest.raises(Malformed):
            OPENFDA_LABEL.page(client, _ask(clock), None)
    assert {request.origin for request in web.requests} == {"https://api.fda.gov"}
    with pytest.raises(Malformed):
        OPENFDA_LABEL.page(client, _ask(clock), {"next": "https://evil.example/x?a=b"})


def test_a_link_to_itself_is_no_listing(client: SourceClient, web: FakeWeb, clock: Clock) -> None:
    link = {"Link": '<https://api.fda.gov/drug/label.json?search_after=1>; rel="next"'}
    web.fault = lambda request: Reply(200, b'{"results": [{}]}', link)
    first = OPENFDA_LABEL.page(client, _ask(clock), None)
    with pytest.raises(Malformed):
        OPENFDA_LABEL.page(client, _ask(clock), first.next)


def test_a_link_that_no_longer_holds_begins_the_refresh_again(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    for number in range(1, 151):
        _put_label(api, number, "20260101")
    first = OPENFDA_LABEL.page(client, _ask(clock), None)
    web.fault = lambda request: Reply(400, b'{"error": {"code": "BAD_REQUEST", "message": "no"}}')
    with pytest.raises(CursorExpired):
        OPENFDA_LABEL.page(client, _ask(clock), first.next)


def test_the_key_goes_into_requests_and_nowhere_else(
    source_client: MakeClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    client = source_client("openfda-label", web, key=KEY)
    for number in range(1, 151):
        _put_label(api, number, "20260101")
    pages = _pages(OPENFDA_LABEL, client, _ask(clock))
    assert len(_records(OPENFDA_LABEL, *pages)) == 150
    assert [request.params["api_key"] for request in web.requests] == [KEY, KEY]
    assert KEY not in json.dumps([page.next for page in pages])
    assert KEY not in "".join(payload.name for page in pages for payload in page.payloads)


def test_a_wrong_key_is_the_operator_s_to_mend(
    source_client: MakeClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    api.keys = {"another"}
    with pytest.raises(Refused) as caught:
        OPENFDA_LABEL.page(source_client("openfda-label", web, key=KEY), _ask(clock), None)
    assert KEY not in str(caught.value)


def test_a_spent_day_is_told_with_its_wait(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    api.requests_left = 0
    with pytest.raises(QuotaExhausted) as caught:
        OPENFDA_LABEL.page(client, _ask(clock), None)
    assert caught.value.seconds >= 3000


def test_what_the_server_refuses_is_the_user_s_to_mend(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    with pytest.raises(InvalidQuery, match="Search not supported"):
        OPENFDA_LABEL.page(client, _ask(clock, "schön"), None)


@pytest.mark.parametrize(
    "body", [b"<html>Service trouble</html>", b"", b"[]", b'{"error": {"code": "BAD_REQUEST"}}']
)
def test_a_400_that_gives_no_reason_is_trouble_that_passes(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock, body: bytes
) -> None:
    for number in range(1, 151):
        _put_label(api, number, "20260101")
    first = OPENFDA_LABEL.page(client, _ask(clock), None)
    web.fault = _always(Reply(400, body))
    for place in (None, first.next):
        with pytest.raises(Unreachable):
            OPENFDA_LABEL.page(client, _ask(clock), place)


def test_a_500_for_bad_syntax_is_a_server_that_does_not_answer(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    with pytest.raises(Unreachable):
        OPENFDA_LABEL.page(client, _ask(clock, 'an "open phrase'), None)


def test_a_404_of_another_kind_is_not_an_empty_result(
    client: SourceClient, web: FakeWeb, clock: Clock
) -> None:
    for body in (b"<html>not here</html>", b'{"error": {"code": "OTHER"}}', b"[]"):
        web.fault = _always(Reply(404, body))
        with pytest.raises(Refused):
            OPENFDA_LABEL.page(client, _ask(clock), None)
        with pytest.raises(Refused):
            OPENFDA_LABEL.fetch(client, ["set_id:00000001-1111-4111-8111-111111111111"])


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"results": 5}', b'{"error": {}}'])
def test_a_200_without_results_is_malformed(
    client: SourceClient, web: FakeWeb, clock: Clock, body: bytes
) -> None:
    web.fault = lambda request: Reply(200, body)
    for connector in OPENFDA:
        with pytest.raises(Malformed):
            connector.page(client, _ask(clock), None)


def test_pages_that_are_too_large_are_asked_for_in_halves(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    for number in range(1, 131):
        _put_label(api, number, "20260101")

    def fault(request: Request) -> Reply | None:
        large = len(api.answer(request).body) > 40_000
        return Reply(200, b" " * 70_000_000) if large else None

    web.fault = fault
    pages = _pages(OPENFDA_LABEL, client, _ask(clock))
    assert len({record.key for record in _records(OPENFDA_LABEL, *pages)}) == 130
    sizes = [int(request.params["limit"]) for request in web.requests]
    assert sizes[0] == 100
    assert sizes.count(100) == 1


def test_a_link_whose_page_is_too_large_is_asked_for_in_halves(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    for number in range(1, 231):
        _put_label(api, number, "20260101")
    first = OPENFDA_LABEL.page(client, _ask(clock), None)
    big = Reply(200, b" " * 70_000_000)
    web.fault = lambda request: big if int(request.params["limit"]) > 30 else None
    second = OPENFDA_LABEL.page(client, _ask(clock), first.next)
    assert len(_records(OPENFDA_LABEL, second)) == 25
    web.fault = lambda request: big
    with pytest.raises(TooLarge):
        OPENFDA_LABEL.page(client, _ask(clock), second.next)


# Fetching by key.


@each_record
def test_fetch_brings_the_keys_that_its_parser_gives(
    client: SourceClient,
    api: OpenFda,
    web: FakeWeb,
    clock: Clock,
    connector: Connector,
    put: Put,
) -> None:
    for number in range(1, 61):
        put(api, number, "20260101")
    keys = [record.key for record in _records(connector, *_pages(connector, client, _ask(clock)))]
    web.requests.clear()
    wanted = keys[: connector.fetch_limit]
    page = connector.fetch(client, [*wanted, "pmid:1"])
    assert [record.key for record in _records(connector, page)] == wanted
    assert len(web.requests) == 1
    assert page.next is None


@each_record
def test_what_was_deleted_is_missing_in_the_answer(
    client: SourceClient, api: OpenFda, clock: Clock, connector: Connector, put: Put
) -> None:
    put(api, 1, "20260101")
    (record,) = _records(connector, *_pages(connector, client, _ask(clock)))
    data_set = connector.name.removeprefix("openfda-")
    api.delete(data_set, next(iter(api.records[data_set])))
    assert _records(connector, connector.fetch(client, [record.key])) == []


@each_record
def test_a_key_cannot_smuggle_a_search(
    client: SourceClient, web: FakeWeb, connector: Connector, put: Put
) -> None:
    for name in ('x" OR a:"y', "", "ü", "a b"):
        keys = [prefix + name for prefix in ("set_id:", "regulator:drugsfda:", "regulator:recall:")]
        assert connector.fetch(client, keys).payloads == []
    assert web.requests == []


def test_a_recall_that_ended_is_seen_by_fetching_it(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    _put_recall(api, 1, "20260101")
    clock.advance(hours=24)
    api.change("enforcement", "D-0001-2026", status="Terminated", termination_date="20260303")
    # its report date did not move, so no list of changes tells
    ask = _ask(clock, since=clock() - timedelta(days=14))
    assert _records(OPENFDA_ENFORCEMENT, *_pages(OPENFDA_ENFORCEMENT, client, ask)) == []
    page = OPENFDA_ENFORCEMENT.fetch(client, ["regulator:recall:D-0001-2026"])
    (record,) = _records(OPENFDA_ENFORCEMENT, page)
    assert record.facts["status"] == "Terminated"


# Adverse event reports.


def _event_ask(clock: Clock, **rest: Any) -> Ask:
    return _ask(clock, 'patient.drug.medicinalproduct:"imaginol"', **rest)


def test_a_watch_of_reports_is_one_document_of_counts(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    for number in range(1, 8):
        api.put("event", made_up_report(number, day="20250101" if number < 3 else "20260101"))
    api.put("event", made_up_report(9, name="ELSE"))
    (page,) = _pages(OPENFDA_EVENT, client, _event_ask(clock))
    (record,) = _records(OPENFDA_EVENT, page)
    assert record.key == 'regulator:faers:patient.drug.medicinalproduct:"imaginol"'
    assert record.facts["reports"] == 7
    assert (record.facts["serious"], record.facts["not_serious"]) == (4, 3)
    assert record.facts["hospitalization"] == 4
    assert "death" not in record.facts  # "Nothing to count" is a 404
    assert record.facts["reactions"] == [{"term": "Boredom", "reports": 7}]
    assert record.facts["years"] == {"2025": 2, "2026": 5}
    assert page.total == 1
    assert len(web.requests) == 10
    assert not [request for request in web.requests if {"count", "skip"} <= request.params.keys()]


def test_a_query_without_reports_has_no_document(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    (page,) = _pages(OPENFDA_EVENT, client, _event_ask(clock))
    assert (list(page.payloads), page.total, page.complete) == ([], 0, True)
    assert len(web.requests) == 1


def test_reports_are_not_counted_anew_while_the_data_set_is_the_same(
    client: SourceClient, api: OpenFda, web: FakeWeb, clock: Clock
) -> None:
    api.put("event", made_up_report(1))
    clock.advance(hours=72)
    (first,) = _pages(OPENFDA_EVENT, client, _event_ask(clock))
    web.requests.clear()
    again = _event_ask(clock, since=clock() - timedelta(days=14), marks=first.marks)
    (page,) = _pages(OPENFDA_EVENT, client, again)
    assert (list(page.payloads), page.marks) == ([], {"last_updated": "2026-03-02"})
    assert len(web.requests) == 1
    clock.advance(hours=24)
    api.put("event", made_up_report(2))
    (record,) = _records(OPENFDA_EVENT, *_pages(OPENFDA_EVENT, client, again))
    assert record.facts["reports"] == 2


def test_fetch_counts_a_query_again_and_brings_single_reports(
    client: SourceClient, api: OpenFda, clock: Clock
) -> None:
    api.put("event", made_up_report(1))
    (record,) = _records(OPENFDA_EVENT, *_pages(OPENFDA_EVENT, client, _event_ask(clock)))
    keys = [record.key, "regulator:faers:10000001", "regulator:faers:99", "pmid:1"]
    found = _records(OPENFDA_EVENT, OPENFDA_EVENT.fetch(client, keys))
    assert [each.key for each in found] == [record.key, "regulator:faers:10000001"]
    assert found[0] == record


# Queries.


@pytest.mark.parametrize(
    ("query", "spelled"),
    [
        ('  openfda.generic_name:"a  b"  ', 'openfda.generic_name:"a b"'),
        ("a:b AND (c:d OR NOT e:f)", "a:b AND (c:d OR NOT e:f)"),
        ("_exists_:openfda.brand_name", "_exists_:openfda.brand_name"),
        ("report_date:[20260101 TO 20261231]", "report_date:[20260101 TO 20261231]"),
        ('a:("b" OR "c/d:e")', 'a:("b" OR "c/d:e")'),
        ("brand*", "brand*"),
        (r'"say \"so\""', r'"say \"so\""'),
    ],
)
def test_a_query_has_one_spelling(query: str, spelled: str) -> None:
    for connector in OPENFDA:
        assert connector.check_query(query) == spelled
        assert connector.check_query(spelled) == spelled


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        '"open',
        "(a",
        "a)",
        "()",
        "a AND",
        "OR a",
        "a AND OR b",
        "a:",
        "a:b:c",
        ":a",
        "a:[1 TO",
        "a:[1 2]",
        "]",
        "a:b+AND+c:d",
        "für",
        "a~2",
        "a/b",
        "a AND NOT",
        "\\",
        "+",
        "x" * 3000,
    ],
)
def test_a_query_that_the_server_would_refuse_is_refused_at_once(query: str) -> None:
    for connector in OPENFDA:
        with pytest.raises(InvalidQuery):
            connector.check_query(query)


def test_the_query_of_a_watch_of_reports_fits_into_its_key() -> None:
    query = "x" * 950
    assert OPENFDA_LABEL.check_query(query) == query
    with pytest.raises(InvalidQuery):
        OPENFDA_EVENT.check_query(query)
