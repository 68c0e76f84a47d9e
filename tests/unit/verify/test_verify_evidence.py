"""Both clocks, and what became of a work."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store.documents.publication_status import Asked, HeldNotice, Standing
from store.models import DocumentVersion
from workers.verify.answers.evidence import clocks, confidence, standing_body

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def version(**fields: Any) -> DocumentVersion:
    given: dict[str, Any] = {
        "n": 1,
        "content_hash": "0" * 64,
        "title": "A title",
        "text": "Words.",
        "source_type": "pubmed",
        "identifiers": {},
        "authors": [],
        "labels": [],
        "fetched_at": NOW,
        "published_at": None,
        **fields,
    }
    return DocumentVersion(**given)


@pytest.mark.requirement("SP-6.1")
@pytest.mark.parametrize(
    ("source_type", "hours", "stale"),
    [
        ("regulator", 23, False),
        ("regulator", 25, True),
        ("news", 25, True),
        ("pubmed", 7 * 24 - 1, False),
        ("pubmed", 7 * 24 + 1, True),
        ("clinicaltrials", 7 * 24 + 1, True),
        ("nccn", 5000, False),
    ],
)
def test_sp_6_1_a_source_past_its_sla_is_stale(source_type: str, hours: int, stale: bool) -> None:
    age = clocks(version(source_type=source_type), NOW - timedelta(hours=hours), NOW)
    assert age.stale is stale
    assert age.freshness_hours == hours
    assert confidence(source_type, stale=True) < confidence(source_type, stale=False)


def test_invariant_8_the_publication_clock_runs_apart_from_the_fetch_clock() -> None:
    old = version(published_at=NOW - timedelta(days=4000))
    age = clocks(old, NOW - timedelta(hours=1), NOW)
    assert (age.published_age_days, age.stale, age.dated) == (4000, False, True)


def test_invariant_8_a_registry_record_is_not_dated_by_the_day_it_was_first_published() -> None:
    old = version(published_at=NOW - timedelta(days=4000), source_type="clinicaltrials")
    assert not clocks(old, NOW, NOW).dated


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([], "none"),
        (["correction"], "corrected"),
        (["republication"], "corrected"),
        (["correction", "expression_of_concern"], "expression_of_concern"),
    ],
)
def test_a_correction_or_an_expression_of_concern_is_told_with_its_sources(
    kinds: list[str], state: str
) -> None:
    standing = Standing(
        [HeldNotice("crossref", kind, "doi:10.5555/n", None, NOW) for kind in kinds],
        [Asked("crossref", NOW, known=True)],
    )
    body = standing_body(standing)
    assert body["state"] == state
    assert [notice["kind"] for notice in body["notices"]] == kinds
    assert body["asked"] == [{"source": "crossref", "asked_at": NOW.isoformat(), "known": True}]
