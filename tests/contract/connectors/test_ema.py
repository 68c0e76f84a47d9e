"""The EMA's file: rows that match, the whole file only when it changed, 403 with what to do."""

from collections.abc import Mapping
from typing import Any

import pytest

from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.ema import Ema
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Page
from workers.ingest.connectors.ema import EMA
from workers.ingest.parsers.ema import VETERINARY

FIRST, SECOND = "EMEA/H/C/000001", "EMEA/H/C/000002"


@pytest.fixture
def fake(clock: Clock) -> Ema:
    ema = Ema(clock)
    ema.put(FIRST, "Testovax", therapeutic_indication="Testovax treats made-up tumours of adults.")
    ema.put(SECOND, "Elsewhere", therapeutic_area_mesh="Asthma", active_substance="otherine")
    return ema


def page(client: SourceClient, query: str, marks: Mapping[str, Any] | None = None) -> Page:
    return EMA.page(client, Ask(EMA.check_query(query), None, client.now(), marks or {}), None)


def records(found: Page) -> list[SourceRecord]:
    return [record for payload in found.payloads for record in EMA.parse(payload.content).records]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("TESTOVAX", ["Testovax"]),
        ("otherine", ["Elsewhere"]),
        ("colorectal neoplasm", ["Testovax"]),
        ("adults tumours", ["Testovax"]),
        ("asthma testovax", []),
        ("umours", []),
    ],
)
def test_all_words_of_the_query_must_begin_words_of_the_row(
    query: str, names: list[str], fake: Ema, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        found = page(source_client("ema", web), query)
    assert [record.title.split(" ")[0] for record in records(found)] == names
    assert found.total == len(names)


def test_an_unchanged_file_is_not_sent_again(fake: Ema, source_client: MakeClient) -> None:
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        first = page(client, "testovax")
        again = page(client, "testovax", first.marks)
        assert again.payloads == ()
        assert again.marks == first.marks
        assert "if-none-match" in web.requests[1].headers
        assert "if-modified-since" in web.requests[1].headers


def test_not_modified_is_no_answer_to_who_has_nothing(fake: Ema, source_client: MakeClient) -> None:
    """Else a first refresh would be complete, and fresh, with nothing held."""
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(304, b"")
        with pytest.raises(Refused, match="304 Not Modified"):
            page(source_client("ema", web), "testovax")


def test_a_file_with_the_time_stamp_of_the_last_one_is_not_read_again(
    fake: Ema, source_client: MakeClient
) -> None:
    fake.forgets = True
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        first = page(client, "testovax")
        assert page(client, "testovax", first.marks).payloads == ()


def test_a_changed_row_comes_with_all_others_that_match(
    fake: Ema, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        marks = page(client, "testovax").marks
        clock.advance(hours=30)
        fake.change(FIRST, medicine_status="Withdrawn", revision_number="8")
        (record,) = records(page(client, "testovax", marks))
    assert record.facts["medicine_status"] == "Withdrawn"
    assert record.facts["revision_number"] == "8"
    assert record.notices == ()
    assert "- Medicine status: Withdrawn" in record.text


def problems(found: Page) -> list[str | None]:
    return [
        problem.source_id
        for payload in found.payloads
        for problem in EMA.parse(payload.content).problems
    ]


def test_a_row_that_left_the_file_is_told_once_and_one_that_left_the_query_still_comes(
    fake: Ema, clock: Clock, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        first = page(client, "adults")
        clock.advance(hours=1)
        fake.change(FIRST, therapeutic_indication="For made-up tumours.")
        second = page(client, "adults", first.marks)
        (record,) = records(second)
        assert "For made-up tumours." in record.text
        again = page(client, "adults", second.marks)
        clock.advance(hours=1)
        fake.delete(FIRST)
        third = page(client, "adults", again.marks)
        assert (records(third), problems(third)) == ([], [f"regulator:ema:{FIRST}"])
        clock.advance(hours=1)
        fake.change(SECOND)
        assert problems(page(client, "adults", third.marks)) == []


@pytest.mark.parametrize("forgets", [False, True])
def test_what_a_file_gave_is_remembered_while_it_is_the_same(
    fake: Ema, clock: Clock, source_client: MakeClient, forgets: bool
) -> None:
    fake.forgets = forgets
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        marks = page(client, "testovax").marks
        marks = page(client, "testovax", marks).marks
        clock.advance(hours=1)
        fake.delete(FIRST)
        assert problems(page(client, "testovax", marks)) == [f"regulator:ema:{FIRST}"]


def test_an_empty_file_is_a_fault_and_no_word_on_any_row(
    fake: Ema, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        marks = page(client, "testovax").marks
        web.fault = lambda request: Reply(200, b'{"meta": {}, "data": []}')
        found = page(client, "testovax", marks)
    assert (found.payloads, found.marks, found.complete) == ((), marks, False)


def test_columns_may_be_lists(fake: Ema, source_client: MakeClient) -> None:
    fake.change(FIRST, active_substance="madeupmab; invented acid")
    with FakeWeb(fake) as web:
        client = source_client("ema", web)
        (as_string,) = records(page(client, "testovax"))
        fake.lists = True
        (as_list,) = records(page(client, "testovax"))
    assert as_list == as_string
    assert as_list.facts["active_substances"] == ["madeupmab", "invented acid"]


def test_veterinary_medicines_are_counted_and_left_out(
    fake: Ema, source_client: MakeClient
) -> None:
    fake.put("EMEA/V/C/000003", "Testovax Vet", category="Veterinary")
    with FakeWeb(fake) as web:
        found = page(source_client("ema", web), "testovax")
    parsed = EMA.parse(found.payloads[0].content)
    assert len(parsed.records) == 1
    assert parsed.unmapped[VETERINARY] == 1


def test_a_block_by_the_cdn_says_what_to_do(fake: Ema, source_client: MakeClient) -> None:
    fake.blocked = True
    with FakeWeb(fake) as web, pytest.raises(Refused, match="another network"):
        page(source_client("ema", web), "testovax")


@pytest.mark.parametrize("body", [b"<html>", b'{"data": {}}', b'{"meta": {}, "data": [', b"[1]"])
def test_a_file_that_is_no_table_is_malformed(
    body: bytes, fake: Ema, source_client: MakeClient
) -> None:
    with FakeWeb(fake) as web:
        web.fault = lambda request: Reply(200, body)
        with pytest.raises(Malformed):
            page(source_client("ema", web), "testovax")


def test_rows_by_key(fake: Ema, source_client: MakeClient) -> None:
    with FakeWeb(fake) as web:
        found = EMA.fetch(
            source_client("ema", web), [f"regulator:ema:{SECOND}", "regulator:ema:EMEA/H/C/9"]
        )
    (record,) = records(found)
    assert record.key == f"regulator:ema:{SECOND}"


@pytest.mark.parametrize("query", ["", " - ", "a", "x" * 300])
def test_a_query_without_words_is_refused(query: str) -> None:
    with pytest.raises(InvalidQuery):
        EMA.check_query(query)


def test_a_query_has_one_spelling() -> None:
    assert EMA.check_query("  Colorectal,  CANCER ") == "colorectal cancer"
