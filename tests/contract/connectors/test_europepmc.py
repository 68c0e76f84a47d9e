"""The Europe PMC connector speaks the protocol that the service really has (WIRE 4 and 10)."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.europepmc import EuropePmc
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused, Unreachable
from workers.ingest.connectors import europepmc
from workers.ingest.connectors.base import Ask, Page
from workers.ingest.connectors.europepmc import EUROPEPMC
from workers.ingest.parsers.base import Parsed


@pytest.fixture
def fake(clock: Clock) -> EuropePmc:
    return EuropePmc(clock)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(europepmc, "PAGE_SIZE", 2)


def _ask(clock: Clock, query: str = "made-up", since: datetime | None = None) -> Ask:
    return Ask(EUROPEPMC.check_query(query), since, clock())


def _pages(client: SourceClient, ask: Ask) -> list[Page]:
    """All pages of a refresh; what is kept between two of them is JSON."""
    pages = [EUROPEPMC.page(client, ask, None)]
    while pages[-1].next is not None:
        assert len(pages) < 50
        pages.append(EUROPEPMC.page(client, ask, json.loads(json.dumps(pages[-1].next))))
    return pages


def _read(pages: Sequence[Page]) -> Parsed:
    parsed = Parsed()
    for page in pages:
        for payload in page.payloads:
            parsed.add(EUROPEPMC.parse(payload.content))
    return parsed


def _keys(records: Sequence[SourceRecord]) -> list[str]:
    return [record.key for record in records]


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("ending", ["missing", "repeated", "empty"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_every_record_comes_once_however_the_listing_ends(
    ending: Literal["missing", "repeated", "empty"],
    count: int,
    fake: EuropePmc,
    clock: Clock,
    source_client: MakeClient,
) -> None:
    fake.ending = ending
    for number in range(count):
        fake.put(str(91 + number))
    with FakeWeb(fake) as web:
        pages = _pages(source_client("europepmc", web), _ask(clock))
    assert _keys(_read(pages).records) == [f"pmid:{91 + number}" for number in range(count)]
    assert pages[0].total == count
    assert all(page.complete for page in pages)


def test_a_refresh_sees_only_what_changed_and_counts_in_whole_days(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91")
    fake.put("92")
    clock.advance(hours=24 * 5)
    fake.change("92", title="A made-up article, changed late in the evening.")
    since = clock() + timedelta(hours=6)
    clock.advance(hours=24)
    with FakeWeb(fake) as web:
        client = source_client("europepmc", web)
        assert _keys(_read(_pages(client, _ask(clock, since=since))).records) == ["pmid:92"]
        query = web.requests[0].params["query"]
    assert query == "(made-up) AND UPDATE_DATE:[2026-03-07 TO 2026-03-08]"


def test_alternatives_of_a_query_stay_together_behind_the_date(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91", title="Alpha.")
    fake.put("92", title="Beta.")
    clock.advance(hours=24 * 5)
    fake.change("92", title="Beta again.")
    with FakeWeb(fake) as web:
        ask = _ask(clock, "Alpha OR Beta", since=clock())
        assert _keys(_read(_pages(source_client("europepmc", web), ask)).records) == ["pmid:92"]


def test_long_queries_are_posted(fake: EuropePmc, clock: Clock, source_client: MakeClient) -> None:
    fake.put("91")
    query = " OR ".join(["made-up", *(f"word{number}" for number in range(200))])
    with FakeWeb(fake) as web:
        pages = _pages(source_client("europepmc", web), _ask(clock, query))
        assert {request.method for request in web.requests} == {"POST"}
    assert _keys(_read(pages).records) == ["pmid:91"]


@pytest.mark.usefixtures("small_pages")
def test_open_full_texts_follow_their_page(
    fake: EuropePmc,
    clock: Clock,
    source_client: MakeClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(europepmc, "FULL_TEXTS_A_STEP", 1)
    for number in (91, 92, 93):
        fake.put(str(number), pmcid=f"PMC{number}")
        fake.put_full_text(f"PMC{number}", f"Invented words of {number}.")
    fake.put("94", pmcid="PMC94", inEPMC="Y")
    with FakeWeb(fake) as web:
        pages = _pages(source_client("europepmc", web), _ask(clock))
        asked = [request.path.rsplit("/webservices/rest/")[1] for request in web.requests]
    assert asked == [
        "search",
        "PMC91/fullTextXML",
        "PMC92/fullTextXML",
        "search",
        "PMC93/fullTextXML",
    ]
    keys = _keys(_read(pages).records)
    assert sorted(keys) == sorted(
        [f"pmid:{number}" for number in (91, 92, 93, 94)]
        + [f"europepmc:fulltext:PMC{number}" for number in (91, 92, 93)]
    )


def test_the_full_text_of_a_retracted_article_is_retracted_as_well(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91", pmcid="PMC91")
    fake.put_full_text("PMC91", "Invented words.")
    links = [{"type": "Retraction in", "source": "MED", "id": "80"}]
    with FakeWeb(fake) as web:
        client = source_client("europepmc", web)
        assert [one.notices for one in _read(_pages(client, _ask(clock))).records] == [(), ()]
        fake.change("91", commentCorrectionList={"commentCorrection": links})
        followed = _read(_pages(client, _ask(clock))).records
        fetched = _read([EUROPEPMC.fetch(client, ["europepmc:fulltext:PMC91"])]).records
    assert _keys(followed) == ["pmid:91", "europepmc:fulltext:PMC91"]
    assert _keys(fetched) == ["europepmc:fulltext:PMC91"]
    for record in followed + fetched:
        assert [(one.kind, one.notice_id) for one in record.notices] == [("retraction", "pmid:80")]
        assert "envelope" not in record.text


def test_a_full_text_that_is_not_there_after_all_is_simply_none(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91", pmcid="PMC91", inEPMC="Y", isOpenAccess="Y")
    with FakeWeb(fake) as web:
        pages = _pages(source_client("europepmc", web), _ask(clock))
    parsed = _read(pages)
    assert _keys(parsed.records) == ["pmid:91"]
    assert not parsed.problems
    assert pages[-1].complete


def test_a_full_text_that_is_too_large_is_a_problem_of_its_own(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91", pmcid="PMC91")
    fake.put_full_text("PMC91", "Invented words. " * 5000)
    with FakeWeb(fake) as web:
        client = source_client("europepmc", web, max_bytes=20_000)
        parsed = _read(_pages(client, _ask(clock)))
    assert _keys(parsed.records) == ["pmid:91"]
    assert [problem.source_id for problem in parsed.problems] == ["europepmc:fulltext:PMC91"]


def test_a_full_text_that_is_not_well_formed_is_a_problem_of_its_own(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91", pmcid="PMC91")
    fake.put_full_text("PMC91", "Invented words.")
    fake.full_texts["PMC91"] = b"<article><front>&nbsp;broken"
    with FakeWeb(fake) as web:
        parsed = _read(_pages(source_client("europepmc", web), _ask(clock)))
    assert _keys(parsed.records) == ["pmid:91"]
    assert [problem.source_id for problem in parsed.problems] == ["europepmc:fulltext:PMC91"]
    assert parsed.unseen == ["preprint:fulltext:PMC91"]


def test_a_query_that_europe_pmc_refuses_inside_a_200_is_invalid(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web, pytest.raises(InvalidQuery, match="No search criteria"):
        EUROPEPMC.page(source_client("europepmc", web), Ask("", None, clock()), None)


def test_another_error_inside_a_200_is_a_refusal(
    fake: EuropePmc,
    clock: Clock,
    source_client: MakeClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(europepmc, "PAGE_SIZE", 1001)
    with FakeWeb(fake) as web, pytest.raises(Refused, match="404"):
        EUROPEPMC.page(source_client("europepmc", web), _ask(clock), None)


def test_an_answer_without_results_is_malformed(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.silent.add("odd~query")
    with FakeWeb(fake) as web, pytest.raises(Malformed):
        EUROPEPMC.page(source_client("europepmc", web), _ask(clock, "odd~query"), None)


@pytest.mark.usefixtures("small_pages")
def test_a_listing_that_leads_back_to_its_beginning_ends(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    for number in range(5):
        fake.put(str(91 + number))
    fake.circles = True
    with FakeWeb(fake) as web, pytest.raises(Malformed, match="circles"):
        _pages(source_client("europepmc", web), _ask(clock))


@pytest.mark.usefixtures("small_pages")
def test_a_listing_that_ends_before_its_count_was_not_really_looked_at(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    for number in (91, 92, 93):
        fake.put(str(number), pmcid=f"PMC{number}")
    fake.put_full_text("PMC93", "Invented words.")
    fake.missing_hits = 1
    with FakeWeb(fake) as web:
        pages = _pages(source_client("europepmc", web), _ask(clock))
    assert [page.complete for page in pages] == [True, False, False]


def test_maintenance_is_waited_for(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91")
    with FakeWeb(fake) as web:
        web.fault = lambda request: (
            Reply(503, b"This API is temporarily unavailable due to maintenance.")
            if len(web.requests) < 3
            else None
        )
        pages = _pages(source_client("europepmc", web), _ask(clock))
    assert _keys(_read(pages).records) == ["pmid:91"]


def test_maintenance_without_end_leaves_the_source_unreachable(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.maintenance = True
    with FakeWeb(fake) as web, pytest.raises(Unreachable):
        EUROPEPMC.page(source_client("europepmc", web), _ask(clock), None)


def test_an_answer_that_is_cut_is_never_taken_for_a_whole_one(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91")

    def cut(request: Request) -> Reply:
        whole = fake.answer(request)
        return Reply(200, whole.body, whole.headers, cut=len(whole.body) // 2)

    with FakeWeb(fake) as web:
        web.fault = cut
        with pytest.raises(Unreachable):
            EUROPEPMC.page(source_client("europepmc", web), _ask(clock), None)


def test_documents_are_fetched_by_the_keys_that_the_parser_gives(
    fake: EuropePmc, source_client: MakeClient
) -> None:
    fake.put("91", doi="10.5555/decoy")
    fake.put("92", pmcid="PMC92")
    fake.put("PMC93", "PMC")
    fake.put("PPR94", "PPR", doi="10.5555/made(up)94")
    fake.put("IND95", "AGR")
    fake.put_full_text("PMC92", "Invented words.")
    keys = [
        "pmid:91",
        "pmcid:pmc93",
        "preprint:ppr:PPR94",
        "europepmc:agr:IND95",
        "europepmc:fulltext:PMC92",
    ]
    with FakeWeb(fake) as web:
        client = source_client("europepmc", web)
        page = EUROPEPMC.fetch(client, keys)
        by_doi = EUROPEPMC.fetch(client, ["doi:10.5555/made(up)94"])
    assert sorted(_keys(_read([page]).records)) == sorted(keys)
    assert page.next is None
    assert _keys(_read([by_doi]).records) == ["preprint:ppr:PPR94"]


def test_a_document_that_is_gone_is_missing_in_the_answer(
    fake: EuropePmc, source_client: MakeClient
) -> None:
    fake.put("91")
    fake.put("92")
    fake.delete("92")
    with FakeWeb(fake) as web:
        page = EUROPEPMC.fetch(
            source_client("europepmc", web), ["pmid:91", "pmid:92", "europepmc:fulltext:PMC92"]
        )
    parsed = _read([page])
    assert _keys(parsed.records) == ["pmid:91"]
    assert not parsed.problems


def test_a_key_that_cannot_be_asked_for_is_a_problem_and_not_missing(
    fake: EuropePmc, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        keys = ["document:title:made up", 'doi:10.5555/"', "europepmc:title:x y"]
        page = EUROPEPMC.fetch(source_client("europepmc", web), keys)
        assert not web.requests
    assert [problem.source_id for problem in _read([page]).problems] == keys


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("  olaparib  breast  cancer ", "olaparib breast cancer"),
        ('TITLE:"breast (cancer" AND (olaparib OR talazoparib)',) * 2,
        ("NOT SRC:PPR",) * 2,
        ("EXT_ID:90000001 AND SRC:MED",) * 2,
    ],
)
def test_a_query_has_one_spelling(written: str, query: str) -> None:
    assert EUROPEPMC.check_query(written) == query


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (" \n", "blank"),
        ("x" * 4_001, "4,000"),
        ("a\x00b", "control"),
        ('"breast cancer', "does not close it"),
        ("(a OR b", "does not close it"),
        ("a) OR (b", "not open"),
        ("a AND", "AND needs a term"),
        ("OR a", "OR needs a term"),
        ('EXT_ID:"90000001"', "without quotes"),
        ("cancer sort_date:y", "leave out sort_date"),
    ],
)
def test_a_query_that_cannot_work_says_what_to_write(query: str, message: str) -> None:
    with pytest.raises(InvalidQuery, match=message):
        EUROPEPMC.check_query(query)


def test_a_continuation_of_another_source_is_refused(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web, pytest.raises(Malformed):
        EUROPEPMC.page(source_client("europepmc", web), _ask(clock), {"page": 2})


def test_the_fake_knows_that_a_quoted_id_finds_nothing(
    fake: EuropePmc, clock: Clock, source_client: MakeClient
) -> None:
    fake.put("91")
    with FakeWeb(fake) as web:
        ask = Ask('EXT_ID:"91"', None, datetime(2026, 3, 2, tzinfo=UTC))
        assert EUROPEPMC.page(source_client("europepmc", web), ask, None).total == 0
