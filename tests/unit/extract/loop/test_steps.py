"""Steps that are stored one by one make what the loop makes at once, and what it has taught."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.documents.extraction import (
    DOCUMENT_TYPE_NAMES,
    PROFILE_NAMES,
    Fallback,
    extraction_policy,
)
from tests.unit.extract.made import MOST_PARTS, REPORT, attempt
from workers.extract.documents import parts_of
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.scores import Evaluation, Feedback, Score
from workers.extract.intake.readability import Readability, Unreadable
from workers.extract.loop.extraction import extract_by_rules, extract_text
from workers.extract.loop.loop import Iteration, Stop, best_of, iterate, learned
from workers.extract.loop.proposing import base_prompt, remembered_prompt
from workers.extract.loop.steps import (
    Memory,
    Next,
    Plan,
    TooLong,
    extraction_of,
    next_of,
    outcome_of,
    plan_of,
    unreadable_body,
)
from workers.extract.rubrics import DOCUMENT_TYPES, policy, rubric

COMPOSITE = f"""=== SURGICAL PATHOLOGY REPORT ===
{REPORT}

=== RADIOLOGY REPORT ===
Lakeside General Hospital, 2024-05-20
FINDINGS:
A nodule of 14 mm in the right upper lobe of the lung.
IMPRESSION:
New metastasis of the right lung.
"""


TWO_PATIENTS = "".join(
    f"SURGICAL PATHOLOGY REPORT\nPatient name: {name}\nMRN: {number}\n{REPORT}"
    for name, number in (("John Smith", 4713), ("Mary Jones", 12))
)


def nothing_remembered(document_type: str) -> None:
    return None


def plan(text: str = REPORT, profile: str = "batch") -> Plan:
    return plan_of(text, None, profile, nothing_remembered)


def scored(number: int, score: float, before: float | None = None, *named: str) -> Iteration:
    """An iteration with this score whose feedback names these fields as missing."""
    found = Score(overall=score, completeness=1, accuracy=1, consistency=1, clinical_validity=1)
    feedback = Feedback(overall_score=score, missing_fields=named, priority_fields=named)
    gain = None if before is None else score - before
    evaluation = Evaluation(score=found, feedback=feedback)
    return Iteration(number=number, attempt=attempt(), evaluation=evaluation, gain=gain)


def history(*scores: float) -> list[Iteration]:
    befores = (None, *scores)
    return [scored(n, one, befores[n - 1]) for n, one in enumerate(scores, 1)]


@pytest.mark.requirement("MV-3.3")
@pytest.mark.parametrize(
    "text", [REPORT, COMPOSITE, TWO_PATIENTS], ids=["one part", "composite", "two patients"]
)
def test_mv_3_3_stored_steps_make_what_the_loop_makes_at_once(text: str) -> None:
    decided = Plan.model_validate_json(plan(text).model_dump_json())
    histories: list[list[Iteration]] = [[] for _ in decided.parts]
    step: Next | None = Next(0, 1)
    while step is not None:
        one, made = decided.parts[step.part], histories[step.part]
        assert step.iteration == len(made) + 1
        words, wanted = parts_of(text, one.part), rubric(one.type)
        new = iterate(words, wanted, made[-1] if made else None, extract_by_rules, evaluate)
        made.append(Iteration.model_validate_json(new.model_dump_json()))
        step = next_of(decided, step.part, made, 0.0)
    found = extraction_of(decided, histories, [0.0] * len(histories))
    whole = extract_text(text)
    assert found.fields == whole.fields
    assert (found.score, found.iterations, found.met_threshold, found.needs_review) == (
        whole.score,
        whole.iterations,
        whole.met_threshold,
        whole.needs_review,
    )


@pytest.mark.requirement("MV-3.3")
@pytest.mark.parametrize(
    ("scores", "seconds", "stopped"),
    [
        ((0.96,), 0, Stop.THRESHOLD),
        ((0.5, 0.7, 0.9), 0, Stop.MAXIMUM),
        ((0.5, 0.52), 0, Stop.NO_GAIN),
        ((0.5,), 31, Stop.TIMEOUT),
    ],
)
def test_mv_3_3_every_end_has_its_reason(
    scores: tuple[float, ...], seconds: float, stopped: Stop
) -> None:
    made = history(*scores)
    assert next_of(plan(), 0, made, seconds) is None
    outcome = outcome_of(plan(), made, seconds)
    assert outcome.stopped is stopped
    assert outcome.as_body()["stopped_reason"] == stopped.value


def test_it_goes_on_while_nothing_stops_it() -> None:
    assert next_of(plan(), 0, history(0.5), 29) == Next(0, 2)
    assert next_of(plan(), 0, history(0.5, 0.7), 29) == Next(0, 3)


def test_the_next_part_begins_where_one_has_ended() -> None:
    decided = plan(COMPOSITE)
    assert [one.type for one in decided.parts] == ["pathology", "radiology"]
    assert next_of(decided, 0, history(0.96), 0) == Next(1, 1)
    assert next_of(decided, 1, history(0.96), 0) is None


@pytest.mark.requirement("MV-7.5")
@pytest.mark.parametrize(
    ("profile", "threshold", "most"),
    [("real-time", 0.85, 2), ("batch", 0.95, 3), ("clinical", 0.98, 5)],
)
def test_mv_7_5_a_profile_says_how_good_is_good_enough_and_how_often_one_tries(
    profile: str, threshold: float, most: int
) -> None:
    decided = plan(profile=profile)
    assert next_of(decided, 0, history(threshold), 0) is None
    below = [round(0.05 + 0.06 * n, 2) for n in range(most)]
    for n in range(1, most):
        assert next_of(decided, 0, history(*below[:n]), 0) == Next(0, n + 1)
    assert next_of(decided, 0, history(*below), 0) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_the_best_iteration_is_the_first_of_those_with_the_highest_score(
    scores: list[float],
) -> None:
    best = best_of(history(*scores))
    assert best.score == max(scores)
    assert best.number == scores.index(max(scores)) + 1


# --- what cannot be extracted ---------------------------------------------------------------------


def test_a_text_that_is_too_long_is_refused_with_the_limit() -> None:
    most = extraction_policy().max_chars
    with pytest.raises(TooLong, match=f"{most:,}"):
        plan("a" * (most + 1))


@pytest.mark.requirement("MV-7.1")
def test_mv_7_1_a_scan_that_was_hard_to_read_is_refused_whatever_its_words_look_like() -> None:
    bad = Readability(readable=False, confidence=0.4, issues=("the scan is hard to read",))
    with pytest.raises(Unreadable):
        plan_of(REPORT, None, "batch", nothing_remembered, bad)


@pytest.mark.requirement("MV-7.1")
def test_mv_7_1_what_cannot_be_extracted_says_what_to_do() -> None:
    body = unreadable_body("the file is empty", None, ["the file is empty"]).as_body()
    assert body["outcome"] == "unreadable"
    assert body["readability"]["readable"] is False
    assert body["suggestions"]
    long = unreadable_body("too long: split it", None, (), ["Split the document"]).as_body()
    assert long["suggestions"] == ["Split the document"]  # a clearer scan is no shorter


# --- what is remembered ---------------------------------------------------------------------------


@pytest.mark.requirement("MV-9.1")
def test_mv_9_1_the_fields_that_the_best_prompt_named_are_learned() -> None:
    wanted = rubric("pathology")
    made = [
        scored(1, 0.6, None, "grade"),
        scored(2, 0.97, 0.6, "date"),
        scored(3, 0.9, 0.97, "margins"),
    ]
    assert learned(made, wanted, ()) == ("grade",)
    assert learned(made, wanted, ("ihc_markers",)) == ("grade", "ihc_markers")
    assert learned(made[:1], wanted, ()) == ()


@pytest.mark.requirement("MV-9.1")
def test_mv_9_1_only_names_of_the_rubric_are_learned_and_said() -> None:
    wanted = rubric("pathology")
    made = [scored(1, 0.6, None, "grade", "Mrs. Xyzzy"), scored(2, 0.97, 0.6)]
    assert learned(made, wanted, ("Plugh",)) == ("grade",)
    prompt = remembered_prompt(wanted, ("grade", "Mrs. Xyzzy"))
    assert "Xyzzy" not in prompt
    assert prompt.startswith(base_prompt(wanted))
    assert prompt.rindex("- grade:") > prompt.index("often lose")
    assert (
        remembered_prompt(wanted, ())
        == remembered_prompt(wanted, ("Xyzzy",))
        == base_prompt(wanted)
    )


def test_a_plan_keeps_what_was_remembered_of_each_part() -> None:
    memory = Memory(id="5f0f7c8e-0f0e-4a2e-9d39-1c6a6b0f5a10", fields=("impression",))
    decided = plan_of(
        COMPOSITE, None, "batch", lambda kind: memory if kind == "radiology" else None
    )
    assert [one.remembered for one in decided.parts] == [(), ("impression",)]


# --- knowledge ------------------------------------------------------------------------------------


def test_the_names_that_callers_use_are_those_of_the_rubrics() -> None:
    assert set(DOCUMENT_TYPE_NAMES) == set(DOCUMENT_TYPES)
    assert set(PROFILE_NAMES) == set(policy().profiles)


def test_every_reason_has_its_words() -> None:
    assert set(extraction_policy().fallbacks) == set(Fallback.__args__)  # type: ignore[attr-defined]


def test_a_plan_has_no_more_parts_than_a_document_is_cut_into() -> None:
    pieces = [
        f"PATHOLOGY REPORT\nSpecimen {n}: skin. Final diagnosis: melanoma, Gleason score 6.\n"
        f"LABORATORY REPORT\nReference range\nPotassium 4.{n % 10} mmol/L\n"
        for n in range(150)
    ]
    decided = plan("".join(pieces))
    assert len(decided.parts) == MOST_PARTS
    assert decided.parts[-1].end == len("".join(pieces))


def test_the_stored_plan_tells_two_patients_apart() -> None:
    decided = Plan.model_validate_json(plan(TWO_PATIENTS).model_dump_json())
    assert [one.part.person for one in decided.parts] == [0, 1]
