"""When an answer must abstain, and what it says then."""

from dataclasses import replace

import pytest

from contracts.draft import Lacks
from tests.grid import grid
from workers.verify.answers.abstention import Standing, must_abstain

FRESH = Standing("pubmed", "peer-reviewed", stale=False)
STALE = Standing("clinicaltrials", "official", stale=True)
NEWS = Standing("news", "news", stale=False)
DATED = Standing("pubmed", "peer-reviewed", stale=False, dated=True)
CONTESTED = Standing("pubmed", "peer-reviewed", stale=False, contested=True)
OVERRULED = Standing("nccn", "peer-reviewed", stale=False, contested=True, overruled=True)


@pytest.mark.requirement("SP-6.3")
@grid(
    ("found", "passing", "today", "reason"),
    [
        (0, [], False, "no_evidence"),
        (3, [], False, "unsupported"),
        (1, [NEWS], False, "low_trust_only"),
        (2, [STALE], True, "stale"),
        (2, [STALE], False, None),
        (2, [STALE, FRESH], True, None),
        (2, [FRESH, NEWS], False, None),
        (2, [CONTESTED, CONTESTED], False, "conflict"),
        (1, [DATED], True, "stale"),
        (1, [DATED], False, None),
        (2, [DATED, STALE], True, "stale"),
        (2, [DATED, FRESH], True, None),
        (2, [CONTESTED, FRESH], False, None),
        (2, [OVERRULED, OVERRULED], False, "conflict"),
        (2, [OVERRULED, FRESH], False, None),
    ],
)
def test_sp_6_3_the_answer_abstains_with_its_reason(
    found: int, passing: list[Standing], today: bool, reason: str | None
) -> None:
    abstained = must_abstain(evidence_found=found, verified=passing, asks_for_today=today)
    assert (abstained.reason if abstained else None) == reason
    if abstained:
        assert abstained.detail.startswith("Insufficient verified evidence is available right now")
        assert abstained.cure["action"]


def test_sp_6_3_a_stale_abstention_names_the_sources_to_refresh() -> None:
    abstained = must_abstain(evidence_found=1, verified=[STALE], asks_for_today=True)
    assert abstained is not None
    assert abstained.cure["sources"] == ["clinicaltrials"]


@pytest.mark.parametrize(("found", "verified"), [(0, []), (3, [])])
def test_invariant_9_an_unanswered_question_on_something_else_is_out_of_scope(
    found: int, verified: list[Standing]
) -> None:
    abstained = must_abstain(
        evidence_found=found, verified=verified, asks_for_today=False, is_clinical=False
    )
    assert abstained is not None
    assert abstained.reason == "out_of_scope"


def test_invariant_9_a_question_on_nothing_is_out_of_scope_whatever_speaks_to_its_words() -> None:
    abstained = must_abstain(
        evidence_found=8, verified=[FRESH], asks_for_today=False, names_something=False
    )
    assert abstained is not None
    assert abstained.reason == "out_of_scope"


def test_invariant_9_half_of_a_question_on_something_else_is_no_answer() -> None:
    abstained = must_abstain(
        evidence_found=2,
        verified=[replace(FRESH, covers=0.4)],
        asks_for_today=False,
        is_clinical=False,
    )
    assert abstained is not None
    assert abstained.reason == "out_of_scope"


def test_what_evidence_answers_is_in_scope_whatever_its_words() -> None:
    assert not must_abstain(
        evidence_found=1, verified=[FRESH], asks_for_today=False, is_clinical=False
    )


@pytest.mark.parametrize(
    ("verified", "undecided"), [([OVERRULED], False), ([OVERRULED, CONTESTED], True)]
)
def test_that_nothing_decides_is_said_only_where_nothing_does(
    verified: list[Standing], undecided: bool
) -> None:
    abstained = must_abstain(evidence_found=2, verified=verified, asks_for_today=False)
    assert abstained is not None
    assert ("nothing decides" in abstained.detail) is undecided


BESIDE = replace(FRESH, covers=0.3)
"""A claim on something beside what is asked."""


@pytest.mark.parametrize(
    ("verified", "today", "reason"),
    [
        ([CONTESTED, CONTESTED, BESIDE], False, "conflict"),
        ([NEWS, BESIDE], False, "low_trust_only"),
        ([STALE, BESIDE], True, "stale"),
        ([CONTESTED, replace(FRESH, covers=0.7)], False, None),
        ([replace(CONTESTED, covers=0.3), FRESH], False, None),
        ([replace(CONTESTED, covers=0.4), replace(FRESH, covers=0.5)], False, None),
    ],
)
def test_invariant_9_a_claim_beside_the_question_suppresses_no_abstention(
    verified: list[Standing], today: bool, reason: str | None
) -> None:
    abstained = must_abstain(evidence_found=3, verified=verified, asks_for_today=today)
    assert (abstained.reason if abstained else None) == reason


def test_that_a_work_asked_for_by_its_number_is_not_held_is_said() -> None:
    abstained = must_abstain(evidence_found=0, verified=[], asks_for_today=False, lacks_named=True)
    assert abstained is not None
    assert (abstained.reason, "by its number" in abstained.detail) == ("no_evidence", True)


@pytest.mark.parametrize(
    ("who", "asked", "words"),
    [
        ("patients", ["women"], "not on those whom it asks about. Asked about: women."),
        ("patients", [], "not on those whom it asks about."),
        ("payers", ["Aetna", "Texas"], "it asks about. Asked about: Aetna, Texas."),
        ("regulators", ["ema"], "decided. Asked about: ema."),
    ],
)
def test_that_sources_speak_of_others_than_those_asked_about_is_said(
    who: str, asked: list[str], words: str
) -> None:
    lacks = Lacks(who=who, asked=tuple(asked))
    abstained = must_abstain(evidence_found=0, verified=[], asks_for_today=False, lacks=lacks)
    assert abstained is not None
    assert abstained.reason == "no_evidence"
    assert "No stored source speaks" not in abstained.detail
    assert abstained.detail.endswith(words)
    assert abstained.cure["lacks"] == {"who": who, "asked": list(asked)}
