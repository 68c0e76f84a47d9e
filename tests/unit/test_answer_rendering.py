"""An answer as `attest ask` prints it: each reference with its link, source, year and badges."""

import io
from typing import Any

import pytest
from rich.console import Console

from cli.output.answers import render

URL = "https://pubmed.ncbi.nlm.nih.gov/999999991/"
FIGURE = "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"
CLOCKS = {
    "published_at": "2022-06-16T00:00:00+00:00",
    "published_precision": "day",
    "freshness_hours": 2.0,
    "sla_hours": 168.0,
    "stale": False,
}


def question(**fields: Any) -> dict[str, Any]:
    """An answered question with one reference and no claim."""
    answer = {
        "abstained": False,
        "claims": [],
        "sections": [],
        "evidence": [{"evidence_id": "E1", "title": "A made-up article", "clocks": CLOCKS}],
        "references": [
            {
                "n": 1,
                "evidence_id": "E1",
                "title": "A made-up article",
                "authors": "Ng A et al.",
                "source": "N Engl J Med",
                "year": 2022,
                "badges": ["PubMed", "Gold Standard"],
                "url": URL,
            }
        ],
        "images": [],
        "conflicts": [],
        "verification_summary": {"verified_count": 0, "partial_count": 0, "unverified_count": 0},
        "sufficiency": {"level": "good", "score": 70},
        "provenance": {"generator": "extractive"},
        **fields,
    }
    return {"id": "q", "question": "Why?", "answer": answer, "created_at": "", "finished_at": None}


def printed(asked: dict[str, Any], *, terminal: bool) -> str:
    out = io.StringIO()
    render(Console(file=out, force_terminal=terminal, width=120), asked)
    return out.getvalue()


def opens(shown: str, url: str, words: str) -> bool:
    """Whether `words` are a link to `url`, as terminals write links (OSC 8)."""
    _, _, after = shown.partition(f";{url}\x1b\\")
    return words in after.partition("\x1b]8;;\x1b\\")[0]


@pytest.mark.requirement("EB-8.1")
def test_eb_8_1_the_title_is_the_link_and_authors_source_year_and_badges_stand_below_it() -> None:
    assert opens(printed(question(), terminal=True), URL, "A made-up article")
    lines = [line.strip() for line in printed(question(), terminal=False).splitlines()]
    first = lines.index("[1] A made-up article")
    assert lines[first + 1] == "Ng A et al. · N Engl J Med · published 2022-06-16"
    assert lines[first + 2].startswith("[PubMed] [Gold Standard]")
    assert lines[first + 3] == URL


def test_images_stand_after_the_references_with_their_source_and_licence() -> None:
    image = {"title": "An algorithm", "url": FIGURE, "source": "Open-i (NLM)", "license": "CC BY"}
    shown = question(images=[image])
    assert opens(printed(shown, terminal=True), FIGURE, "An algorithm")
    text = printed(shown, terminal=False)
    assert text.index("References") < text.index("Images") < text.index("Open-i (NLM) · CC BY")
    assert "Images" not in printed(question(), terminal=False)


def test_both_sides_of_a_conflict_are_shown_in_their_own_words() -> None:
    side = {"evidence_id": "E1", "quote": "It is approved."}
    conflict = {
        **{"subject": "the drug", "outcome": None, "resolved": False, "rule": None, "stands": None},
        "sides": [side, {"evidence_id": "E2", "quote": "It is not approved."}],
    }
    text = printed(question(conflicts=[conflict]), terminal=False)
    assert "the drug (undecided)" in text
    assert "A made-up article: “It is approved.”" in text
    assert "E2: “It is not approved.”" in text


def test_an_abstention_for_conflict_names_its_sides_with_both_clocks() -> None:
    source = {
        "name": "Example Society",
        "source_type": "guideline",
        "published_at": CLOCKS["published_at"],
        "published_precision": "day",
    }
    sides = [
        {"evidence_id": "E1", "quote": "It is approved.", "title": "A made-up guideline"}
        | {"source": source, "clocks": CLOCKS},
        {"evidence_id": "E2@1", "quote": "It is not approved.", "title": "Its draft"}
        | {"source": source, "clocks": None},
    ]
    conflict = {
        **{"subject": "the drug", "outcome": None, "resolved": False, "rule": None, "stands": None},
        "sides": sides,
    }
    told = {"abstain_reason": "conflict", "abstain_detail": "They differ.", "cure": None}
    asked = question(abstained=True, evidence=[], conflicts=[conflict], **told)
    text = " ".join(printed(asked, terminal=False).split())
    assert "A made-up guideline: “It is approved.”" in text
    assert "Example Society · published 2022-06-16 · checked 2 h ago, fresh (SLA 7 d)" in text
    assert "Its draft (an earlier version): “It is not approved.”" in text
    assert text.count("checked") == 1


def test_an_answer_that_a_model_should_have_drafted_says_why_it_is_not() -> None:
    fallback = {"reason": "unavailable", "note": "The language model could not be reached."}
    shown = question(provenance={"generator": "extractive", "fallback": fallback})
    assert "could not be reached" in printed(shown, terminal=False)


def test_the_last_line_names_the_stale_sources_and_only_those() -> None:
    stale = question(freshness_summary={"stale_sources": ["clinicaltrials", "pubmed"]})
    assert printed(stale, terminal=False).rstrip().endswith("· stale: clinicaltrials, pubmed")
    fresh = question(freshness_summary={"stale_sources": []})
    assert "stale:" not in printed(fresh, terminal=False)
