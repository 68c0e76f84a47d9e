"""How likely fields are right: what bears a value, what is left out, what bounds the whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.extract.made import ABSENT, REPORT, placed
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.likelihood import evidence
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies, rubric
from workers.extract.values import Grade

PATHOLOGY = rubric("pathology")
PARTS = Parts(REPORT)
WHOLE = extract_by_rules(PARTS, PATHOLOGY, None)


def likely(**fields: FieldResult) -> dict[str, float]:
    tried = Attempt(document_type="pathology", fields={**WHOLE.fields, **fields})
    return dict(evaluate(PARTS, PATHOLOGY, tried).score.likely)


def test_a_value_that_its_words_do_not_say_is_not_likely() -> None:
    one = placed(REPORT, "grade", "Nottingham grade 2").items[0]
    wrong = one.model_copy(update={"value": Grade(level="3")})
    assert likely()["grade"] > 0.8
    assert likely(grade=FieldResult(status=Status.FOUND, items=(wrong,)))["grade"] == 0.0


def test_a_field_called_absent_that_the_rules_read_is_not_likely() -> None:
    assert likely(margins=ABSENT)["margins"] == 0.0


@settings(max_examples=20, deadline=None)
@given(st.sets(st.sampled_from(sorted(PATHOLOGY.fields))))
def test_leaving_fields_out_is_never_likelier(dropped: set[str]) -> None:
    kept = {name: one for name, one in WHOLE.fields.items() if name not in dropped}
    less = evaluate(PARTS, PATHOLOGY, WHOLE.model_copy(update={"fields": kept})).score
    assert all(less.likely[one] == 0.0 for one in dropped & less.likely.keys())
    assert 0.0 <= less.likelihood <= evaluate(PARTS, PATHOLOGY, WHOLE).score.likelihood + 0.05


def of_the_learned_reader(**fields: FieldResult) -> set[str]:
    """The fields of which the learned reader of documents tells something."""
    tried = Attempt(document_type="pathology", fields={**WHOLE.fields, **fields})
    seen = evidence(PARTS, PATHOLOGY, tried, ())
    return {field for field, told in seen.items() if any(" read " in f" {one}" for one in told)}


def test_the_learned_reader_tells_nothing_of_a_list_nor_of_what_it_has_not_read() -> None:
    told = of_the_learned_reader()
    assert "grade" in told
    assert not any(field_policies()[field].many for field in told)
    between = REPORT.index("\n\n")
    one = WHOLE.fields["grade"].items[0].model_copy(update={"start": between, "end": between + 2})
    unread = FieldResult(status=Status.FOUND, items=(one,))
    assert of_the_learned_reader(grade=unread) == told - {"grade"}


def test_an_operation_on_another_side_than_its_diagnosis_bounds_the_document() -> None:
    text = (
        "OPERATIVE REPORT\nPreoperative diagnosis: mass of the left kidney\n"
        "Procedure: right nephrectomy\nMargins: negative\n"
    )
    parts, wanted = Parts(text), rubric("surgical-notes")
    score = evaluate(parts, wanted, extract_by_rules(parts, wanted, None)).score
    assert score.likelihood <= 0.79
