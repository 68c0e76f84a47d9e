"""PubMed is listed, fetched and followed over HTTP as its servers really answer."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    Malformed,
    QuotaExhausted,
    Refused,
    SourceError,
    Unreachable,
)
from workers.ingest.connectors.base import Ask, Page
from workers.ingest.connectors.eutils import esearch
from workers.ingest.connectors.pubmed import BATCH, PUBMED


@pytest.fixture
def pubmed(clock: Clock) -> Eutils:
    return Eutils(clock)


@pytest.fixture
def web(pubmed: Eutils) -> Iterator[FakeWeb]:
    with FakeWeb(pubmed) as web:
        yield web


@pytest.fixture
def client(web: FakeWeb, source_client: MakeClient) -> SourceClient:
    return source_client("pubmed", web, contact="made-up@nowhere.invalid")


def _ask(clock: Clock, query: str = "sleep", since: datetime | None = None) -> Ask:
    return Ask(query, since, clock())


def _pages(client: SourceClient, ask: Ask) -> list[Page]:
    """All pages of a refresh; what is kept between two goes through JSON as in PostgreSQL, which
    sorts the names of an object."""
    pages = [PUBMED.page(client, ask, None)]
    while pages[-1].next is not None:
        kept = json.loads(json.dumps(pages[-1].next, sort_keys=True))
        pages.append(PUBMED.page(client, ask, kept))
        assert len(pages) < 2_000
    return pages


def _records(pages: Sequence[Page]) -> list[SourceRecord]:
    return [
        record
        for page in pages
        for payload in page.payloads
        for record in PUBMED.parse(payload.content).records
    ]


def _keys(pages: Sequence[Page]) -> list[str]:
    return sorted(record.key for record in _records(pages))


def _asked(web: FakeWeb, program: str) -> list[Request]:
    return [request for request in web.requests if request.path.endswith(program)]


def _fill(pubmed: Eutils, pmids: Sequence[int], **fields: Any) -> None:
    for pmid in pmids:
        pubmed.put(pmid, title=f"A made-up sleep {pmid}.", **fields)


# a refresh


def test_a_first_refresh_brings_all_that_matches_and_nothing_else(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, 6))
    pubmed.put(99, title="Something else.")
    pages = _pages(client, _ask(clock))
    assert _keys(pages) == [f"pmid:{pmid}" for pmid in range(1, 6)]
    assert (pages[0].total, pages[-1].total, pages[-1].next) == (5, 5, None)
    assert [request.path.rpartition("/")[2] for request in web.requests] == [
        "esearch.fcgi",
        "efetch.fcgi",
    ]
    assert "mindate" not in web.requests[0].params


def test_every_request_says_who_asks_and_with_which_key(
    pubmed: Eutils, web: FakeWeb, source_client: MakeClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    _pages(source_client("pubmed", web, key="secret", contact="a@b.invalid"), _ask(clock))
    assert len(web.requests) == 2
    for request in web.requests:
        asked = request.params
        assert (asked["tool"], asked["email"], asked["api_key"]) == (
            "attest",
            "a@b.invalid",
            "secret",
        )


def test_nobody_is_named_who_did_not_give_an_address(
    pubmed: Eutils, web: FakeWeb, source_client: MakeClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    PUBMED.page(source_client("pubmed", web), _ask(clock), None)
    assert not {"email", "api_key"} & set(web.requests[0].params)


def test_records_are_fetched_200_at_a_time_and_long_lists_are_posted(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(10_000_001, 10_000_451))
    pages = _pages(client, _ask(clock))
    assert len(_keys(pages)) == 450
    fetched = _asked(web, "efetch.fcgi")
    assert [len(request.params["id"].split(",")) for request in fetched] == [200, 200, 50]
    assert [request.method for request in fetched] == ["POST", "POST", "GET"]
    assert all(len(page.payloads) <= 1 for page in pages)
    assert [page.total for page in pages] == [450] * 4


def test_a_long_query_is_posted(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    query = " OR ".join(["sleep"] * 300)
    assert _keys(_pages(client, _ask(clock, query))) == ["pmid:1"]
    assert web.requests[0].method == "POST"


def test_an_empty_result_is_one_page(client: SourceClient, pubmed: Eutils, clock: Clock) -> None:
    _fill(pubmed, [1])
    (page,) = _pages(client, _ask(clock, "sleep NOT sleep"))
    assert (page.payloads, page.next, page.total, page.complete) == ((), None, 0, True)


def test_a_later_refresh_brings_what_is_new_and_what_was_revised(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, 6))
    clock.advance(hours=24 * 10)
    since = clock() - timedelta(days=2)
    pubmed.change(2, status="In-Process")
    _fill(pubmed, [7])
    # entered now, but not revised since long: such records exist after a move between databases
    _fill(pubmed, [8], mdat=(clock() - timedelta(days=90)).date())
    pages = _pages(client, _ask(clock, since=since))
    assert _keys(pages) == ["pmid:2", "pmid:7", "pmid:8"]
    dates = [
        (request.params["datetype"], request.params["mindate"], request.params["maxdate"])
        for request in _asked(web, "esearch.fcgi")
    ]
    assert dates == [("mdat", "2026/03/10", "2026/03/12"), ("edat", "2026/03/10", "2026/03/12")]
    assert len(_asked(web, "efetch.fcgi")) == 1
    assert pages[-1].total == 3


def test_both_ends_of_a_range_of_days_belong_to_it(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    since = clock()
    for pmid in range(1, 5):
        _fill(pubmed, [pmid])
        clock.advance(hours=24)
    until = clock() - timedelta(days=2)
    assert _keys(_pages(client, Ask("sleep", since, until))) == ["pmid:1", "pmid:2", "pmid:3"]
    assert _keys(_pages(client, Ask("sleep", since + timedelta(days=1), until))) == [
        "pmid:2",
        "pmid:3",
    ]


def test_a_quiet_week_is_no_record_and_no_error(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    clock.advance(hours=24 * 30)
    pages = _pages(client, _ask(clock, since=clock() - timedelta(days=7)))
    assert _records(pages) == []
    assert (len(pages), pages[-1].total) == (2, 0)


def test_a_retraction_comes_with_the_next_refresh(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    before = _records(_pages(client, _ask(clock)))
    clock.advance(hours=24 * 5)
    pubmed.retract(1, notice=2)
    article, *others = _records(_pages(client, _ask(clock, since=clock() - timedelta(days=1))))
    assert not others  # the notice does not speak of sleep
    assert before[0].notices == ()
    (notice,) = article.notices
    assert (notice.kind, notice.notice_id, notice.stated_on) == (
        "retraction",
        "pmid:2",
        clock().date(),
    )
    (found,) = _records([PUBMED.fetch(client, ["pmid:2"])])
    assert (found.publication_type, found.notices) == ("Retraction of Publication", ())


# long lists


def _spread(pubmed: Eutils, clock: Clock, count: int, days: int) -> None:
    """`count` records, entered over `days` days before now."""
    today = clock().date()
    for pmid in range(1, count + 1):
        day = today - timedelta(days=pmid % days)
        _fill(pubmed, [pmid], edat=day, mdat=day, published=day)


@pytest.mark.parametrize("since_days", [None, 40])
def test_a_list_too_long_is_cut_by_days_and_nothing_is_lost(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock, since_days: int | None
) -> None:
    pubmed.listed_at_most = 30
    _spread(pubmed, clock, 250, 40)
    since = None if since_days is None else clock() - timedelta(days=since_days)
    pages = _pages(client, _ask(clock, since=since))
    assert sorted(set(_keys(pages))) == sorted(f"pmid:{pmid}" for pmid in range(1, 251))
    assert pages[-1].total is not None
    assert all("retstart" not in request.params for request in web.requests)


def test_a_day_too_full_is_cut_by_other_dates(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    pubmed.listed_at_most = 30
    _spread(pubmed, clock, 100, 40)
    for pmid in range(1, 101):
        pubmed.change(pmid, mdat=clock().date())
    # entered on one day as well
    for pmid in range(1, 41):
        pubmed.change(pmid, edat=clock().date(), mdat=clock().date())
    pages = _pages(client, _ask(clock, since=clock() - timedelta(days=1)))
    assert sorted(set(_keys(pages))) == sorted(f"pmid:{pmid}" for pmid in range(1, 101))


def test_records_that_no_date_tells_apart_need_a_narrower_query(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    today = clock().date()
    for pmid in range(1, 9_101):
        pubmed.put(pmid, title="A made-up sleep.", edat=today, mdat=today, published=today)
    with pytest.raises(InvalidQuery, match="narrow the query"):
        _pages(client, _ask(clock, since=clock()))


def test_fewer_ids_than_counted_are_never_taken_for_all(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    today = clock().date()
    pubmed.listed_at_most = 5
    for pmid in range(1, 10):
        _fill(pubmed, [pmid], edat=today, mdat=today, published=today)
    with pytest.raises(Malformed, match="more records than it lists"):
        _pages(client, _ask(clock))


def test_ten_thousand_records_are_listed_in_ranges_below_the_limit(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _spread(pubmed, clock, 10_050, 300)
    ask = _ask(clock)
    page = PUBMED.page(client, ask, None)
    assert page.total == 10_050
    listed: set[str] = set()
    while page.next is not None and len(listed) < 10_050:
        listed |= set(page.next["ids"])
        # as if all that is listed were fetched already
        page = PUBMED.page(client, ask, {**page.next, "ids": [], "full": False})
    listed |= set((page.next or {"ids": []})["ids"])
    assert len(listed) == 10_050
    assert len(_asked(web, "esearch.fcgi")) < 40


def test_lists_that_do_not_fit_together_are_fetched_one_after_the_other(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    today = clock().date()
    past = today - timedelta(days=100)
    _fill(pubmed, range(1, 21), edat=today, mdat=past)
    _fill(pubmed, range(21, 41), edat=today, mdat=today)
    _fill(pubmed, range(41, 9_001), edat=past, mdat=today)
    ask = _ask(clock, since=clock())
    revised = PUBMED.page(client, ask, None)
    assert revised.next is not None
    put_off = PUBMED.page(client, ask, revised.next)
    assert put_off.next is not None
    assert len(put_off.next["ids"]) == 8_980
    # as if all but one were fetched
    left = {**put_off.next, "ids": put_off.next["ids"][:1]}
    rest = [PUBMED.page(client, ask, left)]
    while rest[-1].next is not None:
        rest.append(PUBMED.page(client, ask, rest[-1].next))
    assert [bool(page.payloads) for page in rest] == [True, False, True]
    assert {f"pmid:{pmid}" for pmid in range(1, 41)} <= set(_keys(rest))
    assert [request.params["datetype"] for request in _asked(web, "esearch.fcgi")] == [
        "mdat",
        "edat",
        "edat",
    ]


def test_a_count_that_changes_between_two_pages_loses_no_record(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    pubmed.listed_at_most = 30
    _spread(pubmed, clock, 120, 40)
    numbers = iter(range(1, 200))

    def disturb() -> None:
        """Before each search a new record appears, and one that was there disappears."""
        number = next(numbers)
        day = clock().date() - timedelta(days=number * 7 % 40)
        _fill(pubmed, [1_000 + number], edat=day, mdat=day, published=day)
        pubmed.citations.pop(number * 3, None)

    pubmed.before_search = disturb
    pages = _pages(client, _ask(clock))
    lasting = {f"pmid:{pmid}" for pmid in pubmed.citations if pmid < 1_000}
    assert len(lasting) < 120
    assert lasting <= set(_keys(pages))


def _missing(pages: Sequence[Page]) -> list[str | None]:
    """The records on which there is a word that they did not come."""
    parsed = [PUBMED.parse(payload.content) for page in pages for payload in page.payloads]
    return [problem.source_id for one in parsed for problem in one.problems]


def test_a_record_that_is_left_out_once_is_asked_for_again(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, 6))
    pubmed.withheld = {2: 1, 4: 1}
    pages = _pages(client, _ask(clock))
    assert _keys(pages) == [f"pmid:{pmid}" for pmid in range(1, 6)]
    assert [request.params["id"] for request in _asked(web, "efetch.fcgi")] == ["5,4,3,2,1", "4,2"]
    assert _missing(pages) == []
    assert pages[-1].marks == {}


def test_a_record_that_is_listed_and_not_given_is_told_and_asked_for_until_it_comes(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, 6))
    pubmed.withheld = {2: 4}
    began = clock()
    pages = _pages(client, _ask(clock))
    assert _keys(pages) == [f"pmid:{pmid}" for pmid in (1, 3, 4, 5)]
    assert _missing(pages) == ["pmid:2"]
    clock.advance(hours=24 * 30)
    later = Ask("sleep", began + timedelta(days=20), clock(), pages[-1].marks)
    pages = _pages(client, later)
    assert (_keys(pages), _missing(pages)) == ([], ["pmid:2"])
    pages = _pages(client, Ask("sleep", later.since, clock(), pages[-1].marks))
    assert (_keys(pages), _missing(pages)) == (["pmid:2"], [])
    pages = _pages(client, Ask("sleep", later.since, clock(), pages[-1].marks))
    assert (_keys(pages), _missing(pages)) == ([], [])


@pytest.mark.parametrize("count", [2, BATCH + 1])
def test_a_list_of_which_no_record_is_given_is_malformed(
    count: int, pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, count + 1))
    pubmed.withheld = dict.fromkeys(range(1, count + 1), 9)
    with pytest.raises(Malformed, match="gives none of them"):
        _pages(client, _ask(clock))


def test_a_place_in_a_list_of_another_version_begins_again(
    client: SourceClient, clock: Clock
) -> None:
    for kept in (
        {},
        {"todo": "all", "ids": [], "done": 0},
        {"todo": [], "ids": [1], "done": 0},
        {"todo": [{"mdat": 1}], "ids": [], "done": 0},
        {"todo": [[["mdat", "2026-02-30", "2026-03-01"]]], "ids": [], "done": 0},
        {"todo": [[["day", "2026-02-20", "2026-03-01"]]], "ids": [], "done": 0},
    ):
        with pytest.raises(CursorExpired):
            PUBMED.page(client, _ask(clock), kept)


# queries


@pytest.mark.parametrize(
    ("query", "spelling"),
    [
        ("  sleep   AND dreams ", "sleep AND dreams"),
        ('"deep sleep"[tiab] NOT (mouse OR rat)', '"deep sleep"[tiab] NOT (mouse OR rat)'),
        ('"a ( b"[ti]', '"a ( b"[ti]'),
        ("β-blocker[mh]", "β-blocker[mh]"),
    ],
)
def test_a_query_has_one_spelling(query: str, spelling: str) -> None:
    assert PUBMED.check_query(query) == spelling


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "blank"),
        (" \t ", "blank"),
        ("x" * 4_001, "4,000"),
        ("sleep\x00", "control"),
        ("sleep\nwake", "control"),
        ('deep "sleep', "quotation"),
        ("(sleep", "does not close it"),
        ("sleep)", "not open"),
        ("sleep[tiab", "does not close it"),
        ("([sleep)]", "not open"),
    ],
)
def test_a_query_that_cannot_work_is_refused_with_what_to_write(query: str, reason: str) -> None:
    with pytest.raises(InvalidQuery, match=reason):
        PUBMED.check_query(query)


def test_records_asked_for_by_number_are_fetched_without_a_search_and_a_missing_one_hides_none(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1, 2])
    for query, found in [("1[uid] OR 7[UID] OR 2[uid]", [1, 2]), ("7[uid] OR 8[uid]", [])]:
        pages = _pages(client, _ask(clock, query))
        assert _keys(pages) == [f"pmid:{pmid}" for pmid in found]
        said = [PUBMED.parse(one.content).problems for page in pages for one in page.payloads]
        assert "pmid:7" in [problem.source_id for problems in said for problem in problems]
    assert _asked(web, "esearch.fcgi") == []


def test_a_phrase_that_pubmed_would_drop_is_an_invalid_query(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, range(1, 4))
    with pytest.raises(InvalidQuery, match=r"'p\.e1317q': it drops such words") as caught:
        PUBMED.page(client, _ask(clock, "sleep AND p.E1317Q"), None)
    assert "everything else" in str(caught.value)
    with pytest.raises(InvalidQuery, match=r"no search field 'mood'"):
        PUBMED.page(client, _ask(clock, "sleep[mood]"), None)


# what goes wrong


def _error(client: SourceClient, clock: Clock) -> SourceError:
    with pytest.raises(SourceError) as caught:
        _pages(client, _ask(clock))
    assert "\n" not in str(caught.value)
    return caught.value


def test_too_many_requests_are_waited_for(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    pubmed.rate_limited = [429, 429]
    assert _keys(_pages(client, _ask(clock))) == ["pmid:1"]
    assert len(web.requests) == 4


@pytest.mark.parametrize("answers", [[200], [429, 200]])
def test_too_many_requests_can_be_said_with_status_200(
    pubmed: Eutils, client: SourceClient, clock: Clock, answers: list[int]
) -> None:
    pubmed.rate_limited = answers
    error = _error(client, clock)
    assert isinstance(error, QuotaExhausted)
    assert error.seconds > 0


def test_records_too_can_be_answered_by_the_rate_limit(
    pubmed: Eutils, client: SourceClient, clock: Clock
) -> None:
    pubmed.rate_limited = [200]
    with pytest.raises(QuotaExhausted):
        PUBMED.fetch(client, ["pmid:1"])


def test_a_bad_key_is_refused_and_not_repeated(
    pubmed: Eutils, web: FakeWeb, source_client: MakeClient, clock: Clock
) -> None:
    pubmed.bad_keys = {"wrong-key"}
    error = _error(source_client("pubmed", web, key="wrong-key"), clock)
    assert isinstance(error, Refused)
    assert "wrong-key" not in str(error)


@pytest.mark.parametrize("raw_newline", [False, True])
def test_an_error_within_200_is_malformed_even_with_a_raw_line_end(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, raw_newline: bool
) -> None:
    pubmed.raw_newline = raw_newline

    def from_behind(request: Request) -> Reply:
        return pubmed.answer(
            Request(**{**vars(request), "params": {**request.params, "retstart": "9999"}})
        )

    web.fault = from_behind
    with pytest.raises(Malformed, match="answers with an error"):
        esearch(client, "sleep", None, strict=True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>maintenance</html>",
        b"[]",
        b"null",
        b'{"esearchresult": []}',
        b'{"esearchresult": {"count": "many", "idlist": []}}',
        b'{"esearchresult": {"count": "1"}}',
        b'{"esearchresult": {"count": "1", "idlist": {"1": 2}}}',
        b'{"esearchresult": {"count": "1", "idlist": ["one"]}}',
        b'{"esearchresult": {"count": "1", "idlist": [{}]}}',
        b'{"error": "something else"}',
        b'{"error": {"deep": 1}, "esearchresult": null}',
        b'{"esearchresult": {"count": "3", "idlist": ["1", "2"',
    ],
)
def test_a_list_of_another_shape_is_malformed(
    web: FakeWeb, client: SourceClient, clock: Clock, body: bytes
) -> None:
    web.fault = lambda request: Reply(200, body)
    assert isinstance(_error(client, clock), Malformed)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<eFetchResult><ERROR>Empty id list</ERROR></eFetchResult>",
        b"<html>maintenance</html>",
        b"<PubmedArticleSet><PubmedArticle>",
        b'{"error": "something else"}',
    ],
)
def test_records_that_are_cut_or_something_else_are_malformed(
    web: FakeWeb, client: SourceClient, body: bytes
) -> None:
    web.fault = lambda request: Reply(200, body)
    with pytest.raises(Malformed):
        PUBMED.fetch(client, ["pmid:1"])


def test_a_cut_answer_is_asked_for_again(
    pubmed: Eutils, web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    _fill(pubmed, [1])
    cut: list[Request] = []

    def once(request: Request) -> Reply | None:
        if "efetch" not in request.path or cut:
            return None
        cut.append(request)
        whole = pubmed.answer(request)
        return Reply(200, whole.body, cut=len(whole.body) // 2)

    web.fault = once
    assert _keys(_pages(client, _ask(clock))) == ["pmid:1"]


def test_an_overload_that_does_not_end_is_unreachable(
    web: FakeWeb, client: SourceClient, clock: Clock
) -> None:
    web.fault = lambda request: Reply(502, b"bad gateway")
    assert isinstance(_error(client, clock), Unreachable)


# single records


def test_records_are_fetched_by_their_keys_and_unknown_ones_are_missing(
    pubmed: Eutils, client: SourceClient
) -> None:
    _fill(pubmed, [1, 2, 3])
    pubmed.delete(3)
    page = PUBMED.fetch(client, ["pmid:1", "pmid:2", "pmid:3", "pmid:77"])
    assert _keys([page]) == ["pmid:1", "pmid:2"]
    assert page.next is None
    assert _keys([PUBMED.fetch(client, ["pmid:77"])]) == []
    assert PUBMED.parse(pubmed.update_file()).gone == ["pmid:3"]


def test_nothing_is_asked_for_no_keys(web: FakeWeb, client: SourceClient) -> None:
    assert PUBMED.fetch(client, []).payloads == ()
    assert not web.requests


@pytest.mark.parametrize("keys", [["pmcid:pmc1"], ["pmid:x"], ["pmid:1"] * (BATCH + 1)])
def test_other_keys_are_a_mistake_of_the_caller(client: SourceClient, keys: list[str]) -> None:
    with pytest.raises(ValueError, match="at most 200 keys"):
        PUBMED.fetch(client, keys)


def test_records_with_all_quirks_are_read(pubmed: Eutils, client: SourceClient) -> None:
    pubmed.put(
        1,
        abstract=(("RESULTS", "", "CO<sub>2</sub> fell."),),
        pub_date="<MedlineDate>2025 Nov-Dec</MedlineDate>",
    )
    pubmed.put(2, abstract=(), authors=("*Made-Up Group",), links=(("ExpressionOfConcernIn", 9),))
    pubmed.put(3, doi="10.5555/x", registries=(("ClinicalTrials.gov", "NCT 12"),))
    pubmed.put(4, xml="<PubmedArticle><MedlineCitation/></PubmedArticle>")
    (payload,) = PUBMED.fetch(client, [f"pmid:{pmid}" for pmid in range(1, 5)]).payloads
    parsed = PUBMED.parse(payload.content)
    first, second, third = parsed.records
    assert (first.text, first.published_precision) == ("## RESULTS\n\nCO2 fell.", "month")
    assert second.authors == ("Made-Up Group",)
    assert [notice.kind for notice in second.notices] == ["expression_of_concern"]
    assert third.identifiers.doi == "10.5555/x"
    assert [(doubt.kind, doubt.value) for doubt in parsed.doubts] == [("nct_id", "NCT 12")]
    assert len(parsed.problems) == 1
    assert "sleep" not in payload.name
