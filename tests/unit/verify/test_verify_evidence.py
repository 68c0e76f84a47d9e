"""Both clocks, direct links and badges."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store.models import DocumentVersion
from workers.verify.evidence import (
    authors,
    badges,
    clocks,
    confidence,
    direct_url,
    is_search_page,
    references,
)

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
    assert (age.published_age_days, age.stale) == (4000, False)


@pytest.mark.requirement("EB-8.2")
@pytest.mark.parametrize(
    ("identifiers", "url"),
    [
        ({"pmid": "35657320"}, "https://pubmed.ncbi.nlm.nih.gov/35657320/"),
        ({"doi": "10.1056/NEJMoa2200075"}, "https://doi.org/10.1056/NEJMoa2200075"),
        ({"nct_id": "NCT04068103"}, "https://clinicaltrials.gov/study/NCT04068103"),
        ({}, None),
    ],
)
def test_eb_8_2_a_link_opens_the_article_itself(
    identifiers: dict[str, str], url: str | None
) -> None:
    assert direct_url(version(identifiers=identifiers)) == url


@pytest.mark.requirement("EB-9.1")
@pytest.mark.parametrize(
    ("url", "search"),
    [
        ("https://www.google.com/search?q=ctdna", True),
        ("https://example.org/search?q=x", True),
        ("https://clinicaltrials.gov/search?cond=x", True),
        ("https://www.fda.gov/regulatory-information/search-fda-guidance-documents/x", False),
        ("https://doi.org/10.1000/x", False),
    ],
)
def test_eb_9_1_a_search_page_is_never_a_reference(url: str, search: bool) -> None:
    assert is_search_page(url) is search
    assert (direct_url(version(url=url)) is None) is search


@pytest.mark.requirement("EB-8.5")
def test_eb_8_5_what_has_no_direct_link_is_not_listed_and_numbers_follow_each_other() -> None:
    listed = references(
        [
            ("E1", version(identifiers={"pmid": "1"})),
            ("E2", version()),
            ("E3", version(url="https://a.example/b")),
        ]
    )
    assert [(entry["n"], entry["evidence_id"]) for entry in listed] == [(1, "E1"), (2, "E3")]


@pytest.mark.requirement("EB-8.1")
def test_eb_8_1_more_than_three_authors_become_et_al() -> None:
    assert authors(["A", "B", "C"]) == "A, B, C"
    assert authors(["A", "B", "C", "D"]) == "A et al."
    assert authors(["A", "et al."]) == "A et al."
    assert authors([]) == ""


def test_a_sample_paraphrase_says_so_in_its_badge() -> None:
    assert badges(version(labels=["sample-paraphrase"])) == ["PubMed", "Sample paraphrase"]
