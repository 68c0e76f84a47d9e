"""Conflicts among sources: which are reported, which are not, and which side stands."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.effects.estimates import estimates
from clinical_text.structure import segment
from knowledge.feeds.sources import source_policy
from knowledge.works.conflicts import conflict_policy
from store.models import DocumentVersion
from tests.grid import grid
from workers.verify.answers.answer import Held
from workers.verify.answers.evidence import Cited, clocks
from workers.verify.claims import Basis, Checked, Verdict
from workers.verify.conflicts import effects, findings, subjects
from workers.verify.conflicts.contradictions import contested, shown
from workers.verify.conflicts.found import (
    Conflict,
    Witness,
    conflicts,
    contradictions,
    distinct,
    unresolved,
)
from workers.verify.conflicts.subjects import same_condition


def witness(key: str, text: str, **changed: Any) -> Witness:
    """A version of a document of its own that says `text`; nothing here is a real drug or study."""
    sentences = segment(text).sentences
    given: dict[str, Any] = {
        "evidence_id": key,
        "document_id": f"document-{key}",
        "version_id": f"version-{key}",
        "title": "",
        "text": text,
        "sentences": sentences,
        "estimates": estimates(text, sentences),
        "source_type": "pubmed",
    }
    return Witness(**given | changed)


def between(one: str, other: str, question: str = "", **changed: Any) -> list[Conflict]:
    """The conflicts between two texts; `changed` holds for both."""
    return conflicts([witness("a", one, **changed), witness("b", other, **changed)], question)


LOWER = "With examplumab versus placebo, the hazard ratio for death was 0.60 (95% CI 0.45 to 0.80)."
HIGHER = (
    "With examplumab versus placebo, the hazard ratio for death was 1.40 (95% CI 1.10 to 1.80)."
)
FOR = "Examplumab is recommended as first-line treatment for atrial fibrillation."
AGAINST = "Examplumab is contraindicated in atrial fibrillation."
APPROVED = "Examplumab is approved for lung cancer."
NOT_APPROVED = "Examplumab is not approved for lung cancer."


# The cases of another system's own validator that came out wrong there.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (APPROVED, NOT_APPROVED),
        (
            "Examplumab has been approved by the FDA.",
            "Examplumab has not been approved by the FDA.",
        ),
        ("Drug X is approved.", "Drug X is not approved."),
        (APPROVED, "The FDA has withdrawn approval of examplumab for lung cancer."),
        (
            "Examplumab was granted accelerated approval by the FDA for lung cancer.",
            "Examplumab is not FDA approved for lung cancer.",
        ),
    ],
)
def test_approved_against_not_approved_is_a_conflict(one: str, other: str) -> None:
    (found,) = between(one, other)
    assert (found.kind, found.why, found.resolved) == ("approval", "opposite_stance", False)
    assert [side.statement for side in found.sides] == ["approved", "not approved"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LOWER, HIGHER),
        ("HR for relapse 0.60 with examplumab.", "HR for recurrence 1.40 with examplumab."),
        (
            "ctDNA-guided therapy reduced recurrence (HR 0.60; 95% CI 0.45-0.80; P<0.001).",
            "ctDNA-guided therapy increased relapse (HR 1.40; 95% CI 1.10-1.80; P=0.01).",
        ),
    ],
)
def test_a_hazard_ratio_of_0_60_against_1_40_for_one_outcome_is_a_conflict(
    one: str, other: str
) -> None:
    (found,) = between(one, other)
    assert (found.kind, found.why, found.resolved) == ("effect", "opposite_direction", False)


def test_two_label_sentences_on_different_matters_are_no_conflict() -> None:
    one = "Examplumab is approved for use in adults with lung cancer."
    other = "Examplumab carries a boxed warning on severe bleeding."
    assert between(one, other, source_type="label") == []


# Effects.


def test_both_sides_are_named_with_their_place_and_quotation() -> None:
    one = witness("a", f"Background first. {LOWER}")
    (found,) = conflicts([one, witness("b", HIGHER)])
    body = found.as_body()
    assert set(body) == {
        "kind", "why", "subject", "outcome", "resolved", "rule", "stands", "sides",
    }  # fmt: skip
    assert (body["subject"], body["outcome"]) == ("examplumab against placebo", "death")
    assert (body["resolved"], body["rule"], body["stands"]) == (False, None, None)
    first, second = body["sides"]
    assert first == {
        "evidence_id": "a",
        "document_id": "document-a",
        "version_id": "version-a",
        "start": 18,
        "end": 18 + len(LOWER),
        "quote": LOWER,
        "statement": "hazard ratio for death was 0.60 (95% CI 0.45 to 0.80): lower",
    }
    assert second["quote"] == HIGHER


def test_intervals_without_a_common_value_are_a_conflict_also_in_one_direction() -> None:
    other = LOWER.replace("0.60 (95% CI 0.45 to 0.80)", "0.90 (95% CI 0.85 to 0.95)")
    (found,) = between(LOWER, other)
    assert found.why == "disjoint_intervals"


def test_ratios_of_two_kinds_and_tested_percentages_can_contradict_each_other() -> None:
    (ratios,) = between(
        "Examplumab reduced stroke compared with warfarin (RR 0.50; 95% CI 0.40-0.60).",
        "Examplumab increased stroke compared with warfarin (OR 1.50; 95% CI 1.20-1.80).",
    )
    (shares,) = between(
        "Mortality was 12% with examplumab versus 31% with placebo (P<0.01).",
        "Mortality was 31% with examplumab versus 12% with placebo (P<0.01).",
    )
    assert (ratios.why, shares.why) == ("opposite_direction", "opposite_direction")


def test_arms_named_the_other_way_round_turn_the_direction() -> None:
    one = "Apixaban versus warfarin: HR for stroke 0.60 (95% CI 0.4-0.8)."
    turned = "Warfarin versus apixaban: HR for stroke 1.60 (95% CI 1.2-2.1)."
    assert between(one, turned) == []
    (found,) = between(one, turned.replace("1.60 (95% CI 1.2-2.1)", "0.60 (95% CI 0.4-0.8)"))
    assert found.why == "opposite_direction"


@grid(
    ("one", "other", "differing"),
    [
        (LOWER, HIGHER.replace("death", "major bleeding"), "outcomes"),
        (LOWER, HIGHER.replace("examplumab", "othermab"), "drugs"),
        (LOWER, HIGHER.replace("placebo", "warfarin"), "comparators"),
        (f"In men, {LOWER}", f"In women, {HIGHER}", "sexes"),
        (f"In colon cancer, {LOWER}", f"In breast cancer, {HIGHER}", "diseases"),
        (f"In stage II disease, {LOWER}", f"In stage III disease, {HIGHER}", "stages"),
        (
            LOWER.replace("death was", "death at 30 days was"),
            HIGHER.replace("death was", "death at 5 years was"),
            "time points",
        ),
        (
            "In ctDNA-positive patients, examplumab gave an HR for death of 0.6 (95% CI 0.4-0.8).",
            "In ctDNA-negative patients, examplumab gave an HR for death of 1.6 (95% CI 1.2-2.1).",
            "test results",
        ),
        (
            LOWER,
            HIGHER.replace("1.40 (95% CI 1.10 to 1.80)", "1.10 (95% CI 0.70 to 1.50)"),
            "power",
        ),
        (
            "Survival was 93.8% with examplumab versus 93.3% with placebo.",
            "Survival was 90.1% with examplumab versus 93.3% with placebo.",
            "percentages without a test",
        ),
        (
            "ctDNA-positive patients had a higher risk of recurrence (HR 7.2; 95% CI 2.7-19.0).",
            "ctDNA clearance was associated with less recurrence (HR 0.2; 95% CI 0.1-0.4).",
            "what is compared",
        ),
        (
            f"In heart failure with reduced ejection fraction, {LOWER}",
            f"In heart failure with preserved ejection fraction, {HIGHER}",
            "ejection fractions",
        ),
        (f"In HFrEF, {LOWER}", f"In HFpEF, {HIGHER}", "ejection fractions by their short names"),
        (
            LOWER.replace("examplumab", "examplumab 6 mg"),
            HIGHER.replace("examplumab", "examplumab 20 mg"),
            "doses",
        ),
        (
            "Diabetes was associated with death (HR 1.8; 95% CI 1.3-2.4).",
            "Statin use was associated with death (HR 0.7; 95% CI 0.6-0.8).",
            "exposures",
        ),
    ],
)
def test_effects_that_differ_in_what_they_are_of_are_no_conflict(
    one: str, other: str, differing: str
) -> None:
    assert between(one, other) == [], differing


@pytest.mark.parametrize("more", [" daily", " and LDL fell by 30 mg/dL"])
def test_the_same_dose_or_a_level_in_blood_keeps_no_conflict_from_being_found(more: str) -> None:
    one = f"{LOWER[:-1]} at 6 mg{more}."
    assert len(between(one, HIGHER)) == 1
    assert len(between(one, f"{HIGHER[:-1]} at 6 mg, and LDL fell by 40 mg/dL.")) == 1


def test_follow_up_of_different_length_does_not_make_two_outcomes_of_one() -> None:
    one = f"At a median follow-up of 37 months, {LOWER}"
    assert len(between(one, f"At a median follow-up of 60 months, {HIGHER}")) == 1


# Findings told without a number.

LOWERED = "Examplumab lowered mortality in hospitalized patients with COVID-19."
NOT_LOWERED = "Examplumab did not lower mortality in hospitalized patients with COVID-19."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LOWERED, NOT_LOWERED),
        (
            LOWERED,
            "In hospitalized patients with COVID-19, examplumab increased the risk of death.",
        ),
        ("Examplumab prevented stroke in women.", "Examplumab did not reduce stroke in women."),
    ],
)
def test_a_finding_that_another_denies_is_a_conflict(one: str, other: str) -> None:
    (found,) = between(one, other)
    assert (found.kind, found.why, found.resolved) == ("effect", "opposite_direction", False)
    assert {side.quote for side in found.sides} == {one, other}


def test_a_trial_that_denies_what_a_cohort_found_stands_over_it() -> None:
    cohort = witness("a", LOWERED, evidence_level="observational study")
    trial = witness("b", NOT_LOWERED, evidence_level="randomized controlled trial")
    (found,) = conflicts([cohort, trial])
    assert (found.rule, found.stands) == ("design", "b")


@grid(
    ("one", "other"),
    [
        (LOWERED, NOT_LOWERED.replace("Examplumab", "Othermab")),
        (LOWERED, NOT_LOWERED.replace("mortality", "stroke")),
        (LOWERED, NOT_LOWERED.replace("hospitalized patients", "children")),
        (LOWERED, NOT_LOWERED.replace("COVID-19", "influenza")),
        (LOWERED, "Examplumab did not lower mortality."),
        (LOWERED, f"At one year, {NOT_LOWERED}"),
        (LOWERED, f"It is not known whether {NOT_LOWERED}"),
        (f"Early reports found that {LOWERED}", NOT_LOWERED),
        (LOWERED, NOT_LOWERED.replace("did not lower", "may not lower")),
        (LOWERED, NOT_LOWERED.replace(" in ", " (95% CI 0.7 to 1.3) in ")),
        (
            LOWERED,
            NOT_LOWERED.replace("Examplumab", "Examplumab 20 mg").replace("did", "alone did"),
        ),
        (NOT_LOWERED, NOT_LOWERED.replace("lower", "reduce")),
        ("Examplumab lowered stroke in women.", "Examplumab did not lower stroke in men."),
    ],
)
def test_findings_on_other_matters_or_told_by_others_are_no_conflict(one: str, other: str) -> None:
    assert between(one, other) == []


# Stances.


def test_a_label_that_contraindicates_what_a_guideline_puts_first_is_shown_unresolved() -> None:
    guideline = witness("g", FOR, source_type="guideline", publisher="Example Society")
    label = witness("l", AGAINST, source_type="label")
    (found,) = conflicts([guideline, label])
    assert (found.kind, found.resolved) == ("label_guideline", False)
    assert found.subject == "Examplumab"


@grid(
    ("one", "other"),
    [
        (
            "The panel recommends ctDNA testing after resection of colon cancer.",
            "The panel recommends against ctDNA testing after resection of colon cancer.",
        ),
        (
            "We recommend ctDNA testing in stage II colon cancer.",
            "ctDNA testing is not recommended in stage II colon cancer.",
        ),
        ("In patients with atrial fibrillation, examplumab should be used.", AGAINST),
        ("Examplumab is recommended.", "Examplumab should not be used."),
        (
            "Examplumab is the preferred first-line agent in severe renal impairment.",
            "Examplumab is contraindicated in patients with severe renal impairment.",
        ),
        (
            "The panel recommends that examplumab be used in atrial fibrillation.",
            "The panel recommends that examplumab not be used in atrial fibrillation.",
        ),
        (FOR, "Do not use examplumab in atrial fibrillation."),
        (
            "Examplumab is recommended for adults with heart failure (strong recommendation).",
            "We recommend against the routine use of examplumab in adults with heart failure.",
        ),
        (
            "Examplumab for atrial fibrillation is recommended.",
            "Examplumab is not recommended for atrial fibrillation.",
        ),
    ],
)
def test_recommending_what_another_advises_against_is_a_conflict(one: str, other: str) -> None:
    (found,) = between(one, other, source_type="guideline")
    assert found.kind == "recommendation"


@grid(
    ("one", "other"),
    [
        (FOR, "Examplumab is contraindicated in patients with active pathological bleeding."),
        (FOR, "Examplumab is not recommended in pregnancy."),
        (FOR, "Othermab is not recommended for atrial fibrillation."),
        ("Apixaban is recommended for AF.", "Warfarin is not recommended for AF."),
        (
            f"For adults: {FOR}",
            "In children with atrial fibrillation, examplumab is not recommended.",
        ),
        (
            FOR,
            "The panel makes no recommendation for or against examplumab in atrial fibrillation.",
        ),
        (FOR, "It is unclear whether examplumab should not be used in atrial fibrillation."),
        ("Examplumab was approved by the FDA.", "Examplumab has not been approved by the EMA."),
        ("Examplumab is approved for lung cancer.", "Examplumab is not approved for children."),
        (FOR, "Patients in whom examplumab is contraindicated were not eligible."),
        (FOR, "Stopping examplumab is not recommended in atrial fibrillation."),
        (FOR, "Examplumab with clopidogrel is not recommended in atrial fibrillation."),
        (
            "Examplumab 5 mg is recommended in atrial fibrillation.",
            "Examplumab 10 mg is not recommended in atrial fibrillation.",
        ),
        (
            "Dose reduction of examplumab is recommended in renal impairment.",
            "Examplumab is not recommended in renal impairment.",
        ),
        (
            "ctDNA testing is recommended for surveillance in colon cancer.",
            "ctDNA testing is not recommended for screening in colon cancer.",
        ),
        (
            "Signatera testing is recommended in colorectal cancer.",
            "Guardant Reveal is not recommended in colorectal cancer.",
        ),
        (
            "Examplumab for heart failure is recommended.",
            "Examplumab for atrial fibrillation is not recommended.",
        ),
        (
            "Adjuvant chemotherapy is recommended in stage III colon cancer.",
            "Adjuvant chemotherapy is not recommended in stage I colon cancer.",
        ),
        (
            "Examplumab should be given with food.",
            "Examplumab should not be given with grapefruit juice.",
        ),
    ],
)
def test_stances_on_other_drugs_patients_or_regulators_are_no_conflict(
    one: str, other: str
) -> None:
    assert between(one, other) == []


@grid(
    ("one", "other", "same"),
    [
        ("", "", True),
        ("", "adults with atrial fibrillation", False),
        ("adults with atrial fibrillation", "", False),
        ("adults with atrial fibrillation", "adults with atrial fibrillation", True),
        ("adults with atrial fibrillation", "adults with heart failure", False),
    ],
)
def test_a_condition_is_another_than_none(one: str, other: str, same: bool) -> None:
    assert same_condition(one, other) is same


# Versions.


def test_what_a_version_changed_is_reported_and_the_current_one_stands() -> None:
    text = "The trial takes part in 23 centres. It opened in spring."
    older = witness("a", text, document_id="d", n=1, status="superseded")
    newer = witness("b", text.replace("23", "24"), document_id="d", n=2)
    (found,) = conflicts([older, newer])
    assert (found.kind, found.rule, found.stands) == ("superseded", "standing", "b")
    assert [side.quote for side in found.sides] == [
        "The trial takes part in 24 centres.",
        "The trial takes part in 23 centres.",
    ]


def test_other_words_for_the_same_are_no_change_of_a_version() -> None:
    text = "The trial takes part in 23 centres. It opened in spring."
    older = witness("a", text, document_id="d", n=1, status="superseded")
    newer = witness("b", text.replace("centres", "centers"), document_id="d", n=2)
    assert conflicts([older, newer]) == []


# Which side stands.


def decided(one: Witness, other: Witness) -> tuple[str | None, str | None]:
    """The rule and who stands, whichever is named first."""
    (found,) = conflicts([one, other])
    (turned,) = conflicts([other, one])
    assert (found.rule, found.stands) == (turned.rule, turned.stands)
    return found.rule, found.stands


def year(number: int) -> datetime:
    """The first moment of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


def test_a_trial_stands_over_an_observational_study_but_not_over_a_review_of_trials() -> None:
    trial = witness("t", LOWER, evidence_level="randomized controlled trial")
    cohort = witness("c", HIGHER, evidence_level="observational study")
    review = witness("r", HIGHER, evidence_level="meta-analysis")
    assert decided(trial, cohort) == ("design", "t")
    assert decided(trial, review) == (None, None)


def test_the_press_yields_to_what_is_peer_reviewed() -> None:
    press, article = witness("n", LOWER, source_type="news"), witness("p", HIGHER)
    assert decided(press, article) == ("tier", "p")


def test_the_newer_guideline_of_one_organization_stands_and_of_two_neither() -> None:
    older = witness("o", FOR, source_type="nccn", published_at=year(2020))
    newer = witness("n", AGAINST, source_type="nccn", published_at=year(2024))
    other = witness("e", AGAINST, source_type="esmo", published_at=year(2024))
    assert decided(older, newer) == ("newer_guideline", "n")
    assert decided(older, other) == (None, None)


def test_what_was_superseded_yields_whatever_its_tier() -> None:
    gone = witness("g", LOWER, status="superseded", evidence_level="meta-analysis")
    kept = witness("k", HIGHER, source_type="news")
    assert decided(gone, kept) == ("standing", "k")


def test_the_regulator_knows_what_it_approved() -> None:
    regulator = witness("r", NOT_APPROVED, source_type="regulator")
    article = witness("p", APPROVED)
    assert decided(regulator, article) == ("tier", "r")


def test_only_what_nothing_decides_is_a_reason_to_abstain() -> None:
    found = conflicts([witness("n", LOWER, source_type="news"), witness("p", HIGHER)])
    assert len(found) == 1
    assert unresolved(found) == []


# What is shown of them, and what they touch.


TWO_FOR = (
    "Aspirin is recommended for migraine. Metformin is recommended for obesity. "
    "The panel recommends aspirin for migraine."
)
TWO_AGAINST = "Aspirin is not recommended for migraine. Metformin is not recommended for obesity."


def resting_on(source: Witness, sentence: int) -> Checked:
    """A claim in the words of one sentence of its source."""
    place = source.sentences[sentence]
    return Checked(
        *(f"c{sentence}", place.of(source.text), source.evidence_id, "RESULTS"),
        *(Verdict.SUPPORTED, "verbatim", place),
        basis=Basis.WORDS,
    )


def test_two_sources_can_contradict_each_other_on_two_subjects() -> None:
    found = between(TWO_FOR, TWO_AGAINST, source_type="guideline")
    assert [one.subject for one in found] == ["Aspirin", "Metformin"]


def test_two_sources_can_contradict_each_other_on_one_drug_for_two_conditions() -> None:
    found = between(
        "Aspirin is recommended for migraine. Aspirin is recommended for obesity.",
        "Aspirin is not recommended for migraine. Aspirin is not recommended for obesity.",
        source_type="guideline",
    )
    assert len(found) == 2


def test_what_is_said_twice_is_shown_once_and_touches_both_claims() -> None:
    one = witness("a", TWO_FOR, source_type="guideline")
    other = witness("b", TWO_AGAINST, source_type="guideline")
    every = contradictions([one, other])
    assert len(distinct(every)) == 2
    claims = [resting_on(one, n) for n in range(3)]
    assert contested(claims, every) == {"c0", "c1", "c2"}
    assert contested(claims, unresolved(every)) == {"c0", "c1", "c2"}


def test_each_side_is_shown_with_its_source_and_both_clocks() -> None:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    version = DocumentVersion(
        **{"n": 2, "title": "A guideline", "text": "", "source_type": "guideline"},
        **{"publisher": "Example Society", "published_at": year(2024), "identifiers": {}},
        published_precision="year",
    )
    held = {"a": Held(Cited("a", version), clocks(version, at, at))}
    text = "The trial takes part in 23 centres. It opened in spring."
    changed = {"document_id": "d", "published_precision": "year"}
    newer = witness(
        "a", text, n=2, title="A guideline", publisher="Example Society", source_type="guideline",
        published_at=year(2024), **changed,
    )  # fmt: skip
    older = witness(
        "a@1", text.replace("23", "24"), n=1, title="Its draft", source_type="guideline",
        published_at=year(2023), status="superseded", **changed,
    )  # fmt: skip
    (conflict,) = shown(contradictions([newer, older]), held)
    body = conflict.as_json()
    first, second = body["sides"]
    assert first["title"] == "A guideline"
    assert first["source"] == {
        "name": "Example Society",
        "source_type": "guideline",
        "published_at": "2024-01-01T00:00:00+00:00",
        "published_precision": "year",
    }
    assert first["clocks"] == held["a"].clocks.as_body()
    assert (second["title"], second["source"]["name"]) == (
        "Its draft",
        source_policy("guideline").name,
    )
    assert second["source"]["published_at"] == "2023-01-01T00:00:00+00:00"
    assert second["clocks"] is None  # it is no longer what its source says


# The question.


def test_only_conflicts_on_what_is_asked_are_reported() -> None:
    assert len(between(LOWER, HIGHER, "Does examplumab lower mortality?")) == 1
    assert between(LOWER, HIGHER, "Is apixaban safe in chronic kidney disease?") == []


# Properties.

_NUMBERS = st.decimals(min_value=0, max_value=2, places=1)
_OUTCOMES = st.sampled_from(["death", "overall survival", "stroke"])


@st.composite
def estimate(draw: st.DrawFn) -> str:
    """A sentence with a number, most of them with an interval, some of which lie apart."""
    measure = draw(st.sampled_from(["hazard ratio", "odds ratio", "relative risk"]))
    drug = draw(st.sampled_from(["apixaban", "warfarin"]))
    value, low, high = sorted(draw(st.lists(_NUMBERS, min_size=3, max_size=3)))
    interval = f" (95% CI {low} to {high})" if draw(st.integers(0, 4)) else ""
    return f"With {drug} versus placebo, the {measure} for {draw(_OUTCOMES)} was {value}{interval}."


def pairwise(witnesses: Sequence[Witness], question: str) -> list[tuple[object, ...]]:
    """Both sides of every two estimates that contradict each other, by comparing them all."""
    by_outcome: dict[str | None, list[effects.Effect]] = {}
    for one in (effect for each in witnesses for effect in effects.effects(each)):
        if subjects.is_asked(one.around, question):
            by_outcome.setdefault(one.outcome, []).append(one)
    return [
        (outcome, why, one.side(), other.side())
        for outcome, found in by_outcome.items()
        for one, other in combinations(found, 2)
        if one.witness.document_id != other.witness.document_id
        and (why := effects.contradict(one, other)) is not None
    ]


@given(
    st.lists(st.lists(estimate(), max_size=4).map(" ".join), max_size=4),
    st.sampled_from(["", "Does apixaban lower mortality?", "Is warfarin better for stroke?"]),
)
def test_estimates_contradict_each_other_as_if_every_two_were_compared(
    texts: list[str], question: str
) -> None:
    said = [witness(f"e{place}", text) for place, text in enumerate(texts)]

    found = effects.contradictions(said, question)

    assert [(one.outcome, one.why, *one.sides) for one in found] == pairwise(said, question)


@given(
    st.lists(
        st.sampled_from(
            [" In adults with gout, examplumab ", "did not ", "LOWER", "preſent", "improved",
             "İncreases", "s ", " stroke.", " death", "RAISES", " prolong", "ed ", "\n"]
        ),
        max_size=8,
    ).map("".join)
)  # fmt: skip
def test_a_sentence_that_is_passed_over_has_no_finding(text: str) -> None:
    one = witness("a", text)
    sentences = [span.of(text) for span in one.sentences]

    told = [finding.words for finding in findings.findings(one, "")]

    assert told == [words for words in sentences if findings.read_finding(words)]


_TEXTS = st.sampled_from([LOWER, HIGHER, FOR, AGAINST, APPROVED, NOT_APPROVED])
_TYPES = st.sampled_from(["pubmed", "label", "guideline", "news", "regulator", "clinicaltrials"])


@st.composite
def several(draw: st.DrawFn) -> Sequence[Witness]:
    """Up to five sources with some of the sentences above."""
    texts = draw(st.lists(st.lists(_TEXTS, max_size=3).map(" ".join), max_size=5))
    return [
        witness(f"e{place}", text, source_type=draw(_TYPES), n=place)
        for place, text in enumerate(texts)
    ]


@given(several())
def test_every_quotation_is_the_words_at_its_place(sources: Sequence[Witness]) -> None:
    texts = {one.version_id: one.text for one in sources}
    for found in conflicts(sources):
        assert found.sides[0].witness.document_id != found.sides[1].witness.document_id
        for side in found.as_body()["sides"]:
            assert texts[side["version_id"]][side["start"] : side["end"]] == side["quote"]
            assert side["quote"]


@given(several())
def test_a_conflict_is_of_two_sources_whoever_else_is_there(sources: Sequence[Witness]) -> None:
    def pairs(found: Sequence[Conflict]) -> set[tuple[str, frozenset[str]]]:
        return {
            (one.kind, frozenset(side.witness.evidence_id for side in one.sides)) for one in found
        }

    alone = [pairs(conflicts(pair)) for pair in combinations(sources, 2)]
    assert pairs(conflicts(sources)) == set().union(*alone)


@given(several())
def test_who_stands_is_one_of_the_two_and_only_by_a_rule(sources: Sequence[Witness]) -> None:
    for found in conflicts(sources):
        assert (found.rule is None) == (found.stands is None)
        assert found.stands in {None, *(side.witness.evidence_id for side in found.sides)}


# The policy.


def test_the_order_of_tiers_is_the_seeds_and_every_source_has_one() -> None:
    policy = conflict_policy()
    assert policy.tiers == ("official", "peer-reviewed", "news", "other")
    for name in policy.guideline_sources | policy.label_sources:
        assert source_policy(name).tier in policy.tiers
