"""What was sent, as its page tells it; and what a form says, as a record. Without a server."""

from typing import Any
from uuid import uuid4

import pytest

from api_gateway.documents.adding_view import (
    DETAILS,
    IDENTIFIERS,
    LABELS,
    kinds,
    misfits,
    record_body,
    sent_view,
)
from api_gateway.problems import GIVEN_UP, FieldError
from store.documents.records import Identifiers, SourceRecord
from store.documents.submissions import SentDocument, SentItem
from tests.grid import grid


def document(**changes: Any) -> SentDocument:
    given = {
        "document_id": uuid4(),
        "n": 1,
        "outcome": "new",
        "title": "A made-up title",
        "status": "current",
        "work": "done",
    }
    return SentDocument(**{**given, **changes})


def item(*documents: SentDocument, **changes: Any) -> SentItem:
    given = {
        "id": uuid4(),
        "filename": "a.txt",
        "status": "done",
        "error": None,
        "read": True,
        "documents": documents,
        "others": 0,
        "others_open": 0,
        "problems": (),
    }
    return SentItem(**{**given, **changes})


@grid(
    ("sent", "label", "is_open"),
    [
        (item(status="pending"), "Waiting", True),
        (item(document(work="open")), "Being indexed", True),
        (item(document(), others=3, others_open=1), "Being indexed", True),
        (item(document(work="dead")), "Stuck", False),
        (item(document()), "Held", False),
        (item(document(outcome="changed")), "Held", False),
        (item(document(outcome="unchanged")), "Held already", False),
        (item(document(outcome="outdated")), "Not taken", False),
        (item(document(status="retracted")), "Retracted", False),
        (item(document(status="superseded")), "Superseded", False),
        (item(document(), document(outcome="unchanged")), "Held", False),
        (item(status="failed", error="the file is empty"), "Not read", False),
        (item(status="failed", error="KeyError at x:1", read=False), "Stuck", False),
    ],
)
def test_each_state_of_what_was_sent_has_its_word(
    sent: SentItem, label: str, is_open: bool
) -> None:
    (shown,) = sent_view([sent]).items
    assert (shown.badge.label, shown.is_open) == (label, is_open)


def test_what_a_stage_gave_up_on_tells_its_owner_no_cause() -> None:
    for sent in (
        item(status="failed", error="KeyError at x:1", read=False),
        item(document(work="dead")),
    ):
        assert sent_view([sent]).items[0].reason == GIVEN_UP


def test_the_state_changes_with_whatever_the_page_would_show_otherwise() -> None:
    first, second = item(document()), item(status="pending")
    states = {
        sent_view(both).state
        for both in (
            [second],
            [first],
            [first, second],
            [second, first],
            [first, item(document(work="open"))],
        )
    }
    assert len(states) == 5


def test_a_long_list_is_cut_and_says_by_how_much() -> None:
    problems = [{"line": n, "reason": "is no record"} for n in range(1, 31)]
    (shown,) = sent_view([item(document(), others=7, problems=problems)]).items
    assert len(shown.problems) == 20
    assert list(shown.others) == ["and 7 more documents", "and 10 more lines that are no records"]


@pytest.mark.parametrize(
    ("written", "begins", "precision"),
    [
        ("2024", "2024-01-01", "year"),
        ("2024-03", "2024-03-01", "month"),
        ("2024-02-29", "2024-02-29", "day"),
    ],
)
def test_a_date_is_kept_as_far_as_it_is_known(written: str, begins: str, precision: str) -> None:
    body, errors = record_body({"title": "T", "published": written}, "Words.")
    assert errors == {}
    record = SourceRecord.model_validate(body)
    assert record.published_at is not None
    assert record.published_at.date().isoformat() == begins
    assert record.published_precision == precision


@pytest.mark.parametrize("written", ["24", "2024-13", "2023-02-29", "March 2024", "2024-1", "²⁰²⁴"])
def test_what_is_no_date_is_said_to_be_none(written: str) -> None:
    _, errors = record_body({"title": "T", "published": written}, "Words.")
    assert set(errors) == {"published"}


def test_every_identifier_and_every_field_of_a_form_has_a_name_for_people() -> None:
    assert set(IDENTIFIERS) <= set(Identifiers.model_fields)
    assert set(DETAILS) <= set(LABELS)
    assert "note" not in dict(kinds())


@pytest.mark.parametrize("name", sorted(IDENTIFIERS))
def test_no_pattern_is_shown_to_people(name: str) -> None:
    found = [FieldError(field=f"body.identifiers.{name}", message="String should match ^1$")]
    assert "match" not in misfits(found)[name]
