"""Both clocks, direct links and badges."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from knowledge.links import is_search_page
from store.models import DocumentVersion
from store.standing import Asked, HeldNotice, Standing
from workers.verify.evidence import (
    Cited,
    authors,
    badges,
    clocks,
    confidence,
    page_of,
    references,
    standing_body,
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


def cited(*, doubts: Any = (), standing: Standing | None = None, **fields: Any) -> Cited:
    return Cited("E1", version(**fields), standing or Standing(), frozenset(doubts))


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
    assert page_of(cited(identifiers=identifiers)) == url


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
    assert (page_of(cited(url=url)) is None) is search


@pytest.mark.requirement("EB-8.5")
def test_eb_8_5_what_has_no_direct_link_is_not_listed_and_numbers_follow_each_other() -> None:
    listed = references(
        [
            Cited("E1", version(identifiers={"pmid": "1"})),
            Cited("E2", version()),
            Cited("E3", version(url="https://a.example/b")),
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
    assert badges(cited(labels=["sample-paraphrase"])) == ["PubMed", "Sample paraphrase"]


@pytest.mark.requirement("EB-7.5")
@pytest.mark.parametrize(
    ("fields", "doubts", "url", "shown"),
    [
        (
            {"identifiers": {"pmid": "1", "doi": "10.5555/X"}},
            ["doi:10.5555/x"],
            "https://pubmed.ncbi.nlm.nih.gov/1/",
            {"pmid": "1"},
        ),
        (
            {"identifiers": {"pmid": "1", "doi": "10.5555/X"}},
            ["pmid:1"],
            "https://doi.org/10.5555/X",
            {"doi": "10.5555/X"},
        ),
        (
            {"identifiers": {"doi": "10.5555/X"}, "url": "https://a.example/article/7"},
            ["doi:10.5555/x"],
            "https://a.example/article/7",
            {},
        ),
        # An address that is made of the identifier leads where the identifier leads.
        (
            {"identifiers": {"doi": "10.5/X"}, "url": "https://doi.org/10.5/X"},
            ["doi:10.5/x"],
            None,
            {},
        ),
        (
            {"identifiers": {"doi": "10.5/X"}, "url": "https://a.example/10.5%2FX"},
            ["doi:10.5/x"],
            None,
            {},
        ),
        (
            {"identifiers": {"pmid": "12"}, "url": "https://a.example/pubmed/12"},
            ["pmid:12"],
            None,
            {},
        ),
        (
            {"identifiers": {"pmid": "12"}, "url": "https://a.example/pubmed/123"},
            ["pmid:12"],
            "https://a.example/pubmed/123",
            {},
        ),
        # Nor does a publication stand on the page of the trial that it names.
        ({"identifiers": {"doi": "10.5/X", "nct_id": "NCT01234567"}}, ["doi:10.5/x"], None, {}),
    ],
)
def test_eb_7_5_an_identifier_in_doubt_is_not_shown_nor_an_address_made_of_it(
    fields: dict[str, Any], doubts: list[str], url: str | None, shown: dict[str, str]
) -> None:
    one = cited(doubts=doubts, **fields)
    assert page_of(one) == url
    listed = references([one])
    assert [entry["url"] for entry in listed] == ([url] if url else [])  # EB-8.5
    for entry in listed:
        assert {key: entry[key] for key in ("pmid", "doi", "nct_id") if key in entry} == shown


@pytest.mark.parametrize(
    ("kinds", "state", "badge"),
    [
        ([], "none", None),
        (["correction"], "corrected", "Corrected"),
        (["republication"], "corrected", "Corrected"),
        (["correction", "expression_of_concern"], "expression_of_concern", "Expression of Concern"),
    ],
)
def test_eb_8_4_a_correction_or_an_expression_of_concern_is_a_badge_with_its_sources(
    kinds: list[str], state: str, badge: str | None
) -> None:
    standing = Standing(
        [HeldNotice("crossref", kind, "doi:10.5555/n", None, NOW) for kind in kinds],
        [Asked("crossref", NOW, known=True)],
    )
    assert badges(cited(standing=standing)) == ["PubMed", *([badge] if badge else [])]
    body = standing_body(standing)
    assert body["state"] == state
    assert [notice["kind"] for notice in body["notices"]] == kinds
    assert body["asked"] == [{"source": "crossref", "asked_at": NOW.isoformat(), "known": True}]
