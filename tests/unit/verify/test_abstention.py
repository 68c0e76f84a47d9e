"""The truth gate: what passes, what is withheld, and when the answer abstains."""

from typing import Any

import pytest

from store.spans import Span
from workers.reading.quotes import Source
from workers.verify.gate import Standing, check_claim, judge

TEXT = "Survival was 88% with the test. It did not differ between the arms."
SENTENCES = {"E1": [Span(0, 31), Span(32, len(TEXT))], "E2": [Span(0, 20)]}
SOURCES = {"E1": Source(TEXT), "E2": Source("Nothing of the kind.")}


def claim(text: str, quote: str | None = None, evidence: str = "E1") -> dict[str, Any]:
    return {
        "claim_id": "c1",
        "text": text,
        "quote": quote or text,
        "evidence_id": evidence,
        "heading": "EVIDENCE",
    }


def test_a_claim_in_the_words_of_its_source_passes_with_its_place() -> None:
    checked = check_claim(claim("Survival was 88% with the test."), SOURCES, SENTENCES)
    assert checked.passes
    assert checked.place == Span(0, 31)


@pytest.mark.parametrize(
    ("text", "quote", "why"),
    [
        ("Survival was 89% with the test.", "Survival was 89% with the test.", "altered"),
        ("Survival was 89% with the test.", "Survival was 88% with the test.", "verbatim"),
        ("The moon is made of cheese, as trials show.", None, "fabricated"),
    ],
)
def test_invariant_6_a_changed_number_or_an_invented_quotation_never_passes(
    text: str, quote: str | None, why: str
) -> None:
    checked = check_claim(claim(text, quote), SOURCES, SENTENCES)
    assert not checked.passes
    assert checked.quote_verdict == why


def test_invariant_6_a_rewording_that_nothing_judged_is_unchecked_and_no_pass() -> None:
    checked = check_claim(
        claim("With the test, 88% survived.", "Survival was 88% with the test."),
        SOURCES,
        SENTENCES,
    )
    assert checked.verdict == "unchecked"
    assert not checked.passes


def test_a_quotation_of_another_source_is_misattributed() -> None:
    checked = check_claim(
        claim("Survival was 88% with the test.", evidence="E2"), SOURCES, SENTENCES
    )
    assert checked.quote_verdict == "misattributed"
    assert not checked.passes


def test_evidence_that_was_never_retrieved_is_no_evidence() -> None:
    assert not check_claim(claim("Survival was 88%.", evidence="E9"), SOURCES, SENTENCES).passes


def test_a_quotation_that_cuts_a_negation_off_is_widened_to_its_sentence() -> None:
    checked = check_claim(claim("differ between the arms."), SOURCES, SENTENCES)
    assert checked.place is not None
    assert checked.place.of(TEXT) == "It did not differ between the arms."


FRESH = Standing("pubmed", "peer-reviewed", stale=False)
STALE = Standing("clinicaltrials", "official", stale=True)
NEWS = Standing("news", "news", stale=False)


@pytest.mark.requirement("SP-6.3")
@pytest.mark.parametrize(
    ("found", "passing", "today", "reason"),
    [
        (0, [], False, "no_evidence"),
        (3, [], False, "unsupported"),
        (1, [NEWS], False, "low_trust_only"),
        (2, [STALE], True, "stale"),
        (2, [STALE], False, None),
        (2, [STALE, FRESH], True, None),
        (2, [FRESH, NEWS], False, None),
    ],
)
def test_sp_6_3_the_answer_abstains_with_its_reason(
    found: int, passing: list[Standing], today: bool, reason: str | None
) -> None:
    abstained = judge(evidence_found=found, passing=passing, asks_for_today=today)
    assert (abstained.reason if abstained else None) == reason
    if abstained:
        assert abstained.detail.startswith("Insufficient verified evidence is available right now")
        assert abstained.cure["action"]


def test_sp_6_3_a_stale_abstention_names_the_sources_to_refresh() -> None:
    abstained = judge(evidence_found=1, passing=[STALE], asks_for_today=True)
    assert abstained is not None
    assert abstained.cure["sources"] == ["clinicaltrials"]
