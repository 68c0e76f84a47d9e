"""DailyMed: labels by name, what changed since, homonyms left out, deleted labels told."""

from datetime import UTC, datetime

import pytest

from tests.contract.connectors.conftest import MakeClient
from tests.fakes.dailymed import DailyMed
from tests.fakes.web import Clock, FakeWeb, Reply, Request
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Unreachable
from workers.ingest.connectors.base import Ask, Continuation, Page
from workers.ingest.connectors.dailymed import DAILYMED, LABELS_A_STEP
from workers.ingest.parsers.base import Parsed


def set_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def ask(query: str, clock: Clock, since: datetime | None = None) -> Ask:
    return Ask(DAILYMED.check_query(query), since, clock())


def pages(client: SourceClient, wanted: Ask) -> list[Page]:
    found: list[Page] = []
    continuation: Continuation | None = None
    while not found or continuation is not None:
        found.append(DAILYMED.page(client, wanted, continuation))
        continuation = found[-1].next
        assert len(found) < 50, "the listing never ends"
    return found


def read(found: list[Page]) -> Parsed:
    parsed = Parsed()
    for page in found:
        for payload in page.payloads:
            parsed.add(DAILYMED.parse(payload.content))
    return parsed


def test_a_search_by_name_brings_the_labels(clock: Clock, source_client: MakeClient) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Testovax")
    fake.put(set_id(2), "Other", substance="testovax sodium")
    fake.put(set_id(3), "Elsewhere")
    with FakeWeb(fake) as web:
        found = pages(source_client("dailymed", web), ask("Testovax", clock))
    assert found[0].total == 2
    parsed = read(found)
    assert {record.identifiers.set_id for record in parsed.records} == {set_id(1), set_id(2)}
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})


def test_a_label_that_is_not_well_formed_is_a_problem_of_its_own(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    for number in (1, 2):
        fake.put(set_id(number), "Testovax")
    with FakeWeb(fake) as web:
        client = source_client("dailymed", web)
        web.fault = lambda request: (
            Reply(200, b"<document>&nbsp;broken") if set_id(2) in request.path else None
        )
        for found in (
            pages(client, ask("Testovax", clock)),
            [DAILYMED.fetch(client, [f"set_id:{set_id(number)}" for number in (1, 2)])],
        ):
            parsed = read(found)
            assert [record.identifiers.set_id for record in parsed.records] == [set_id(1)]
            assert [one.source_id for one in parsed.problems] == [f"set_id:{set_id(2)}"]


def test_labels_that_come_slowly_take_more_steps(clock: Clock, source_client: MakeClient) -> None:
    fake = DailyMed(clock)
    keys = [f"set_id:{set_id(number)}" for number in (1, 2, 3)]
    for number in (1, 2, 3):
        fake.put(set_id(number), "Testovax")
    with FakeWeb(fake) as web:
        client = source_client("dailymed", web)

        def slowly(request: Request) -> None:
            if request.path.endswith(".xml"):
                clock.advance(seconds=40)

        web.fault = slowly
        found = pages(client, ask("Testovax", clock))
        fetched = DAILYMED.fetch(client, keys)
    assert [len(page.payloads) for page in found] == [2, 1]
    assert len(read(found).records) == 3
    assert (len(fetched.payloads), list(fetched.left_over)) == (2, keys[2:])


def test_a_name_inside_a_word_or_of_the_labeler_is_no_hit(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Siliq", substance="brodalumab")
    fake.put(set_id(2), "G-11", substance="Cercis siliquastrum whole")
    fake.put(set_id(3), "Aspirin", labeler="Siliq Trading, Inc.")
    with FakeWeb(fake) as web:
        parsed = read(pages(source_client("dailymed", web), ask("SILIQ", clock)))
    assert [record.key for record in parsed.records] == [f"set_id:{set_id(1)}"]


def test_only_labels_published_since_then_come_day_included(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Testovax old")
    clock.advance(hours=24)
    since = clock()
    fake.put(set_id(2), "Testovax new")
    clock.advance(hours=48)
    fake.change(set_id(2), "It is made up otherwise now.")
    with FakeWeb(fake) as web:
        parsed = read(pages(source_client("dailymed", web), ask("testovax", clock, since)))
    (record,) = parsed.records
    assert record.facts["spl_version"] == 2
    assert "It is made up otherwise now." in record.text


def test_a_step_fetches_ten_labels_and_the_listing_ends_at_the_string_null(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.largest_page = 15
    for number in range(1, 34):
        fake.put(set_id(number), "Testovax")
    with FakeWeb(fake) as web:
        found = pages(source_client("dailymed", web), ask("testovax", clock))
        listings = [request for request in web.requests if request.path.endswith("spls.json")]
    assert [len(page.payloads) for page in found] == [10, 5, 10, 5, 3]
    assert max(len(page.payloads) for page in found) == LABELS_A_STEP
    assert [request.params["page"] for request in listings] == ["1", "2", "3"]
    assert len(read(found).records) == 33


def test_an_exact_number_of_pages_and_no_hit_at_all_end_too(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    with FakeWeb(fake) as web:
        client = source_client("dailymed", web)
        (page,) = pages(client, ask("testovax", clock))
        assert (page.payloads, page.total) == ((), 0)
        fake.put(set_id(1), "Testovax")
        late = {"page": 7, "labels": []}
        assert DAILYMED.page(client, ask("testovax", clock), late) == Page((), None, 1)


def test_by_set_id_and_by_rxcui(clock: Clock, source_client: MakeClient) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Testovax", rxcui="12345")
    fake.put(set_id(2), "Other")
    with FakeWeb(fake) as web:
        client = source_client("dailymed", web)
        (by_set,) = read(pages(client, ask(f"setid:{set_id(2)}", clock))).records
        (by_rxcui,) = read(pages(client, ask("RxCUI: 12345", clock))).records
    assert by_set.identifiers.set_id == set_id(2)
    assert by_rxcui.identifiers.set_id == set_id(1)


def test_a_label_deleted_between_listing_and_fetch_is_gone(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Testovax")
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(404, b"no") if ".xml" in request.path else None
        parsed = read(pages(source_client("dailymed", web), ask("testovax", clock)))
    assert parsed.gone == [f"set_id:{set_id(1)}"]
    assert not parsed.records


def test_fetching_by_key_leaves_out_what_does_not_exist(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.put(set_id(1), "Testovax")
    keys = [f"set_id:{set_id(1)}", f"set_id:{set_id(2)}", "set_id:../../etc", "pmid:1"]
    with FakeWeb(fake) as web:
        page = DAILYMED.fetch(source_client("dailymed", web), keys)
        assert len(web.requests) == 2
    assert [record.key for record in read([page]).records] == keys[:1]


def test_a_row_without_a_set_id_is_told_and_its_neighbour_survives(
    clock: Clock, source_client: MakeClient
) -> None:
    fake = DailyMed(clock)
    fake.put("no-such-form", "Testovax")
    fake.put(set_id(2), "Testovax")
    with FakeWeb(fake) as web:
        parsed = read(pages(source_client("dailymed", web), ask("testovax", clock)))
    assert len(parsed.records) == 1
    (problem,) = parsed.problems
    assert "set id" in problem.reason


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 5}', b'{"metadata": {}}', b""])
def test_a_listing_that_is_none_is_malformed(
    body: bytes, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(DailyMed(clock)) as web:
        web.fault = lambda request: Reply(200, body)
        with pytest.raises(Malformed):
            DAILYMED.page(source_client("dailymed", web), ask("testovax", clock), None)


def test_an_outage_is_told_as_one(clock: Clock, source_client: MakeClient) -> None:
    with FakeWeb(DailyMed(clock)) as web:
        web.fault = lambda request: Reply(503, b"maintenance")
        with pytest.raises(Unreachable):
            DAILYMED.page(source_client("dailymed", web), ask("testovax", clock), None)


@pytest.mark.parametrize(
    ("query", "spelling"),
    [
        ("  Humira   PEN ", "humira pen"),
        ("SETID:1A550C33-456A-4833-814E-8591AEA7C688", None),
        ("rxcui: 1657979", "rxcui:1657979"),
    ],
)
def test_a_query_has_one_spelling(query: str, spelling: str | None) -> None:
    assert DAILYMED.check_query(query) == (spelling or query.lower())


@pytest.mark.parametrize("query", ["", "  ", "123", "setid:5", "rxcui:x", "a\x00b", "x" * 300])
def test_a_query_that_cannot_work_is_refused(query: str) -> None:
    with pytest.raises(InvalidQuery):
        DAILYMED.check_query(query)


def test_a_continuation_of_another_connector_is_refused(
    clock: Clock, source_client: MakeClient
) -> None:
    wanted = Ask("testovax", datetime(2026, 1, 1, tzinfo=UTC), clock())
    with FakeWeb(DailyMed(clock)) as web, pytest.raises(Malformed):
        DAILYMED.page(source_client("dailymed", web), wanted, {"cursor": "x"})
