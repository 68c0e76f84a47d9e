"""How an attempt is scored: four dimensions, the whole document, no score that is made up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.extract.made import ABSENT, REPORT, attempt, placed, placed_many
from workers.extract.evaluation.completeness import completeness
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.scores import EvaluationFailed
from workers.extract.evaluation.validity import validity
from workers.extract.fields import FieldResult, Item, Status
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.parts import Parts
from workers.extract.rubrics import policy, rubric
from workers.extract.values import Grade, Words

PATHOLOGY = rubric("pathology")
PARTS = Parts(REPORT)


def test_completeness_is_low_where_important_fields_are_missing() -> None:
    partial = attempt(
        histology=placed(REPORT, "histology", "Invasive ductal carcinoma"),
        grade=placed(REPORT, "grade", "Nottingham grade 2"),
    )
    score, fields = completeness(PARTS, PATHOLOGY, partial)
    assert score < 0.8
    assert {one.field for one in fields if not one.present} >= {"margins", "ihc_markers"}


def test_a_grade_called_high_is_invalid_for_an_adenocarcinoma() -> None:
    text = "Diagnosis: Adenocarcinoma, high grade."
    found = attempt(
        histology=placed(text, "histology", "Adenocarcinoma"),
        grade=FieldResult(
            status=Status.FOUND, items=(Item(value=Grade(level="high"), start=27, end=37),)
        ),
    )
    assert any("Invalid grade" in one.description for one in validity(found))


def test_a_high_grade_is_valid_where_the_classification_has_two_levels() -> None:
    text = "high-grade papillary urothelial carcinoma"
    found = attempt(
        histology=placed(text, "histology", "papillary urothelial carcinoma"),
        grade=placed(text, "grade", "high-grade"),
    )
    assert validity(found) == []


def test_the_score_is_the_weighted_sum_of_the_four_dimensions() -> None:
    score = evaluate(PARTS, PATHOLOGY, extract_by_rules(PARTS, PATHOLOGY, None)).score
    expected = (
        0.30 * score.completeness
        + 0.40 * score.accuracy
        + 0.15 * score.consistency
        + 0.15 * score.clinical_validity
    )
    assert score.overall == pytest.approx(expected)
    assert score.overall >= 0.95


def test_an_impossible_value_costs_its_share_and_a_contradiction_bounds_the_score() -> None:
    operation = (
        "OPERATIVE REPORT\nPreoperative diagnosis: mass of the left kidney\n"
        "Postoperative diagnosis: mass of the left kidney\nProcedure: {} nephrectomy\n"
        "Surgeon: Dr. Hill\nFindings: a mass of {} cm\nComplications: none\n"
    )
    wanted = rubric("surgical-notes")
    right, impossible, contrary = (
        evaluate(parts, wanted, extract_by_rules(parts, wanted, None)).score
        for parts in (
            Parts(operation.format(side, size))
            for side, size in (("left", 4), ("left", 95), ("right", 4))
        )
    )
    most = policy().bounds.critical - policy().bounds.each_critical
    assert right.overall > impossible.overall > most
    assert impossible.clinical_validity < right.clinical_validity
    assert contrary.overall == pytest.approx(most)


def test_a_field_that_the_document_does_not_speak_of_costs_nothing() -> None:
    text = REPORT.replace("Margins negative; closest margin (deep) 3 mm.\n", "")
    parts = Parts(text)
    found = extract_by_rules(parts, PATHOLOGY, None)
    assert found.fields["margins"].status is Status.NOT_PRESENT
    assert evaluate(parts, PATHOLOGY, found).score.completeness == 1.0


def test_a_field_called_absent_that_the_document_speaks_of_costs_its_weight() -> None:
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    without = found.model_copy(update={"fields": {**found.fields, "margins": ABSENT}})
    before, after = (evaluate(PARTS, PATHOLOGY, one) for one in (found, without))
    assert after.score.completeness < before.score.completeness
    assert after.score.accuracy < before.score.accuracy
    assert "margins" in after.feedback.missing_fields


def test_an_ambiguous_field_counts_half() -> None:
    one = placed(REPORT, "grade", "Nottingham grade 2").items[0]
    other = one.model_copy(update={"value": Grade(level="3")})
    unclear = FieldResult(status=Status.AMBIGUOUS, items=(one, other))
    _, fields = completeness(PARTS, PATHOLOGY, attempt(grade=unclear))
    (grade,) = (score for score in fields if score.field == "grade")
    assert grade.score == policy().ambiguous == 0.5


def test_a_value_that_the_words_at_its_span_do_not_say_is_a_critical_issue() -> None:
    wrong = placed(REPORT, "grade", "Nottingham grade 2").items[0]
    wrong = wrong.model_copy(update={"value": Grade(level="3")})
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    fields = {**found.fields, "grade": FieldResult(status=Status.FOUND, items=(wrong,))}
    feedback = evaluate(PARTS, PATHOLOGY, found.model_copy(update={"fields": fields})).feedback
    assert feedback.issues[0].severity == "critical"
    assert "grade" in feedback.priority_fields


def test_a_marker_without_its_percentage_is_noticed_when_others_are_left_out() -> None:
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    fewer = placed_many(REPORT, "ihc_markers", "ER: Positive (95%)")
    fields = {**found.fields, "ihc_markers": fewer}
    evaluation = evaluate(PARTS, PATHOLOGY, found.model_copy(update={"fields": fields}))
    assert evaluation.score.accuracy < 1.0
    assert any("left out" in one.description for one in evaluation.feedback.issues)


def test_the_whole_document_is_looked_at_beyond_30_000_characters() -> None:
    padding = "The sections were reviewed with a colleague and the file was archived. " * 600
    text = "PATHOLOGY REPORT\n" + padding + "\n\n" + REPORT
    parts = Parts(text)
    assert len(text) > 30_000
    found = extract_by_rules(parts, PATHOLOGY, None)
    assert found.fields["grade"].items[0].start > 30_000
    right = evaluate(parts, PATHOLOGY, found).score
    late = found.model_copy(update={"fields": {**found.fields, "grade": ABSENT}})
    assert right.accuracy == 1.0
    assert evaluate(parts, PATHOLOGY, late).score.accuracy < 1.0


def test_a_denied_tumor_is_no_histology() -> None:
    text = "Diagnosis: no invasive ductal carcinoma is seen. Chronic inflammation only."
    found = attempt(histology=placed(text, "histology", "invasive ductal carcinoma"))
    evaluation = evaluate(Parts(text), PATHOLOGY, found)
    assert any("denied" in one.description for one in evaluation.feedback.issues)


def test_a_contradicted_value_does_not_score_full() -> None:
    text = "Diagnosis: Ductal carcinoma, grade 2.\nConclusion: ductal carcinoma, grade 3.\n"
    found = attempt(grade=placed(text, "grade", "grade 2"))
    scores = evaluate(Parts(text), PATHOLOGY, found).score.breakdown
    (grade,) = (one for one in scores if one.field == "grade" and one.dimension == "accuracy")
    assert grade.score == policy().contradicted


def test_feedback_names_severity_field_description_and_fix() -> None:
    issues = evaluate(PARTS, PATHOLOGY, attempt()).feedback.issues
    first = issues[0]
    assert (first.severity, first.field) == ("critical", "histology")
    assert first.description
    assert first.suggested_fix
    order = ["critical", "major", "minor"]
    assert [order.index(one.severity) for one in issues] == sorted(
        order.index(one.severity) for one in issues
    )


def test_an_opinion_that_fails_is_a_failed_evaluation_and_no_score() -> None:
    def fails(text: str, found: object) -> dict[str, float]:
        raise EvaluationFailed("no answer in time")

    found = extract_by_rules(PARTS, PATHOLOGY, None)
    with pytest.raises(EvaluationFailed):
        evaluate(PARTS, PATHOLOGY, found, opinions=[fails])


def test_an_opinion_that_is_no_share_is_a_failed_evaluation() -> None:
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    with pytest.raises(EvaluationFailed):
        evaluate(PARTS, PATHOLOGY, found, opinions=[lambda text, one: {"grade": 7.0}])


def test_nothing_to_evaluate_against_is_a_failed_evaluation() -> None:
    with pytest.raises(EvaluationFailed):
        evaluate(Parts("  "), PATHOLOGY, attempt())


def test_several_opinions_count_by_their_median() -> None:
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    opinions = [lambda text, one, share=share: {"grade": share} for share in (0.2, 0.4)]
    scores = evaluate(PARTS, PATHOLOGY, found, opinions=opinions).score.breakdown
    (grade,) = (one for one in scores if one.field == "grade" and one.dimension == "accuracy")
    assert grade.score == 0.4


def test_no_opinion_lifts_a_value_that_its_span_does_not_bear() -> None:
    wrong = FieldResult(
        status=Status.FOUND, items=(Item(value=Words(text="Lymphoma"), start=0, end=8),)
    )
    opinions = [lambda text, one: {"histology": 1.0}] * 3
    scores = evaluate(PARTS, PATHOLOGY, attempt(histology=wrong), opinions=opinions).score.breakdown
    (judged,) = (one for one in scores if one.field == "histology" and one.dimension == "accuracy")
    assert judged.score == 0.0


@settings(max_examples=30, deadline=None)
@given(st.sets(st.sampled_from(sorted(PATHOLOGY.fields))))
def test_leaving_fields_out_never_scores_better(dropped: set[str]) -> None:
    found = extract_by_rules(PARTS, PATHOLOGY, None)
    kept = {name: one for name, one in found.fields.items() if name not in dropped}
    less = found.model_copy(update={"fields": kept})
    best, worse = (evaluate(PARTS, PATHOLOGY, one).score for one in (found, less))
    assert worse.completeness <= best.completeness
    assert 0.0 <= worse.overall <= best.overall + 1e-9
