"""Crossref's record of a work says whether the work still stands (WIRE 5)."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from store.documents.records import Notice
from tests.fakes.crossref import Crossref, update
from tests.fakes.web import Clock
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.enrichment import Statement, doi_path
from workers.ingest.parsers.crossref import crossref_statement

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no shared data beside the repository"
)
DOI = "10.5555/Made.Up"
NOTICE = "10.5555/notice"


def _statement(**fields: Any) -> Statement:
    message = Crossref(Clock(datetime(2026, 3, 1, tzinfo=UTC))).put(DOI, **fields)
    answer = {"status": "ok", "message-type": "work", "message": message}
    return crossref_statement(json.dumps(answer).encode(), "pmid:1")


def test_a_work_is_told_by_its_doi_title_and_year() -> None:
    said = _statement(title=["A <i>made-up</i> title"], container_title=[])
    assert (said.key, said.source, said.known) == ("pmid:1", "crossref", True)
    assert (said.doi, said.title, said.year) == ("10.5555/made.up", "A made-up title", 2026)
    assert said.notices == ()
    assert "journal" not in said.facts


@pytest.mark.parametrize(
    ("stated", "year"),
    [([[2026]], 2026), ([[2026, 3]], 2026), ([[None]], None), ([[]], None), ([], None)],
)
def test_dates_may_be_partial(stated: list[Any], year: int | None) -> None:
    assert _statement(issued={"date-parts": stated}).year == year


@grid(
    ("kind", "expected"),
    [
        ("retraction", "retraction"),
        ("withdrawal", "withdrawal"),
        ("removal", "removal"),
        ("expression_of_concern", "expression_of_concern"),
        ("correction", "correction"),
        ("erratum", "correction"),
        ("addendum", "correction"),
        ("partial_retraction", "correction"),
    ],
)
def test_an_update_of_the_work_is_a_notice(kind: str, expected: str) -> None:
    (notice,) = _statement(updated_by=[update(kind, NOTICE, (2026, 1, 15))]).notices
    assert notice.model_dump() == {
        "kind": expected,
        "notice_id": f"doi:{NOTICE}",
        "stated_on": date(2026, 1, 15),
    }


def test_a_partial_retraction_leaves_the_work_and_is_told_as_such() -> None:
    said = _statement(updated_by=[update("partial_retraction", NOTICE)])
    assert [notice.kind for notice in said.notices] == ["correction"]
    assert said.facts["partial_retraction"] is True


def test_one_event_told_by_two_sources_is_one_notice_in_the_publishers_words() -> None:
    said = _statement(
        updated_by=[
            update("retraction", NOTICE, (2026, 1, 14), "retraction-watch"),
            update("retraction", NOTICE, (2026, 1, 15), "publisher"),
        ]
    )
    (notice,) = said.notices
    assert notice.stated_on == date(2026, 1, 15)
    assert said.facts["told_by"] == ["publisher", "retraction-watch"]


def test_a_work_ends_once_a_kind_whatever_the_notices_are_called() -> None:
    said = _statement(
        updated_by=[
            update("retraction", None, (2026,)),
            update("retraction", NOTICE, (2026, 1, 15), "retraction-watch"),
            update("withdrawal", NOTICE, (2026, 1, 15), "retraction-watch"),
        ]
    )
    assert said.notices == (
        Notice(kind="retraction", notice_id=f"doi:{NOTICE}", stated_on=date(2026, 1, 15)),
    )


def test_each_correction_is_a_notice_of_its_own() -> None:
    said = _statement(
        updated_by=[update("correction", "10.5555/a"), update("erratum", "10.5555/b")]
    )
    assert [notice.notice_id for notice in said.notices] == ["doi:10.5555/a", "doi:10.5555/b"]


def test_a_work_that_updates_itself_is_retracted() -> None:
    said = _statement(update_to=[update("retraction", DOI.upper())])
    assert [(notice.kind, notice.notice_id) for notice in said.notices] == [("retraction", None)]


def test_a_notice_about_another_work_is_not_retracted() -> None:
    said = _statement(
        title=["RETRACTED: Another made-up article"], update_to=[update("retraction", NOTICE)]
    )
    assert said.notices == ()
    assert said.facts["is_notice_about"] == [{"doi": NOTICE, "type": "retraction"}]


@pytest.mark.parametrize("day", [(2026,), (2026, 1), (None,), (2026, 13, 40), ()])
def test_a_day_that_is_not_stated_is_not_invented(day: tuple[int | None, ...]) -> None:
    (notice,) = _statement(updated_by=[update("retraction", NOTICE, day)]).notices
    assert notice.stated_on is None


def test_updates_of_other_types_are_facts_and_no_notices() -> None:
    said = _statement(updated_by=[update("new_version", NOTICE), update("Some New-Type", NOTICE)])
    assert said.notices == ()
    assert said.facts["other_updates"] == ["new_version", "some_new_type"]


def test_a_title_in_capitals_counts_where_nothing_else_does() -> None:
    said = _statement(title=["RETRACTED: A made-up article"])
    assert [notice.kind for notice in said.notices] == ["retraction"]
    assert said.facts["standing_basis"] == "the title's first word"
    both = _statement(title=["RETRACTED: X"], updated_by=[update("retraction", NOTICE)])
    assert [notice.notice_id for notice in both.notices] == [f"doi:{NOTICE}"]
    assert "standing_basis" not in both.facts


@pytest.mark.parametrize(
    ("doi", "path"),
    [
        ("10.5555/a/b", "10.5555/a/b"),
        ("10.1002/(SICI)1<1:A>2.0;2-#?", "10.1002/%28SICI%291%3C1%3AA%3E2.0%3B2-%23%3F"),
        ("10.5555/../members", None),
        ("10.5555/.", None),
    ],
)
def test_a_doi_stays_one_in_an_address(doi: str, path: str | None) -> None:
    assert doi_path(doi) == path


def test_a_record_of_something_else_is_no_record_of_the_work() -> None:
    answer = {"status": "ok", "message-type": "work-agency", "message": {"DOI": DOI}}
    said = crossref_statement(json.dumps(answer).encode(), "pmid:1")
    assert (said.known, said.doi) == (False, None)


@pytest.mark.parametrize(
    "payload",
    [
        b"Resource not found.",
        b"[]",
        b'{"status": "failed", "message-type": "validation-failure", "message": []}',
        b'{"status": "ok", "message-type": "work", "message": []}',
        b'{"status": "ok", "message-type": "work", "message": {"DOI"',
    ],
)
def test_what_is_no_answer_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        crossref_statement(payload, "pmid:1")


@needs_shared
def test_the_recorded_retraction_is_found_and_its_notice_is_not_retracted() -> None:
    sample = json.loads((SHARED / "data/wire_samples/crossref_retraction.json").read_text())
    work, notice = (
        crossref_statement(json.dumps(sample[name]).encode(), name)
        for name in ("affected_work", "notice_work")
    )
    assert [(one.kind, one.stated_on) for one in work.notices] == [
        ("correction", date(2004, 3, 6)),
        ("retraction", date(2010, 2, 6)),
    ]
    assert work.year == 1998
    assert notice.notices == ()


@needs_shared
def test_the_recorded_work_has_one_correction() -> None:
    sample = json.loads((SHARED / "data/wire_samples/crossref_work.json").read_text())
    said = crossref_statement(json.dumps(sample["body"]).encode(), "pmid:1")
    assert [one.kind for one in said.notices] == ["correction"]
    assert (said.doi, said.year) == ("10.1371/journal.pone.0033693", 2012)
