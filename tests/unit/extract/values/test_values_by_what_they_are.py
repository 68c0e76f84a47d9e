"""Values are read by their full form, and what only resembles one is none; the score knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_by_rules, extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import policy, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.laboratory.lab_tables import joined_values
from workers.extract.rules.texts.numbers import days
from workers.extract.rules.tumors.genomes import mutations
from workers.extract.rules.tumors.staging import tnms

AFTER = st.sampled_from(["weeks", "months", "times a week", "is pending", "a day before", "x 2"])


@given(st.sampled_from(["CT", "PT", "UT"]), st.sampled_from(["", "2 ", "3 "]), AFTER)
def test_a_test_in_capitals_with_words_behind_it_is_no_t_category(
    name: str, number: str, after: str
) -> None:
    assert not [*tnms(f"Repeat {name} {number}{after}.")]


@given(st.sampled_from(["p", "c", "yp"]), st.sampled_from(["1", "2a", "4b", "is"]))
def test_a_t_category_with_its_prefix_is_one(prefix: str, t: str) -> None:
    (found,) = tnms(f"Stage {prefix}T{t} was given.")
    assert found.value.t.lower() == t  # type: ignore[union-attr]


@given(
    st.integers(1, 12), st.integers(1, 12), st.integers(13, 39),
    st.sampled_from(["./", "/.", ".-", "-.", "/-", "-/"]),
)  # fmt: skip
def test_two_different_marks_between_numbers_make_no_date(
    first: int, second: int, third: int, marks: str
) -> None:
    assert not [*days(f"({first}{marks[0]}{second}{marks[1]}{third})")]


@grid(
    "words",
    [
        "High-grade fever", "AKI grade 2", "Grade 3 pressure ulcer", "fatigue of grade 2",
        "Grade I diastolic dysfunction", "Grade 2 splenic laceration",
    ],
)  # fmt: skip
def test_a_grade_of_no_tumor_is_none(words: str) -> None:
    assert extract_field("grade", Parts(f"NOTE\nAssessment:\n{words}\n")).status is (
        Status.NOT_PRESENT
    )


SYMBOL = st.from_regex(r"[A-Z]{3}[A-Z0-9]{1,3}[0-9]", fullmatch=True)


@given(
    SYMBOL, st.sampled_from(["R175H", "Q61*", "C4fs*7", "c.35G>A", "p.Arg798*", "amplification"])
)
def test_what_a_change_of_a_gene_follows_is_a_gene(symbol: str, change: str) -> None:
    found = [one.value.gene for one in mutations(f"{symbol} {change}\n")]  # type: ignore[union-attr]
    assert found == [symbol]
    assert not [*mutations(f"{symbol}: not detected\n")]


def test_values_that_a_hyphen_or_a_stroke_joins_are_values() -> None:
    found = [*joined_values("WBC-9.1 RBC-2.80* HGB-8.2*\nH/H 11.3/35\nBP 120/80\nUB-40 a\n")]
    read = [(one.value.name, one.value.number) for one in found]  # type: ignore[union-attr]
    assert read == [
        ("WBC", 9.1), ("RBC", 2.8), ("hemoglobin", 8.2), ("hemoglobin", 11.3), ("hematocrit", 35.0),
    ]  # fmt: skip


def test_a_heading_that_no_list_has_is_read_by_what_its_words_mean() -> None:
    headings = {
        ("medicines to take home", "Ramipril 5 mg daily"): "medications",
        ("major surgical or invasive procedure", "Left hemicolectomy"): "procedure",
        ("plans/recommendations", "CT in six weeks"): "plan",
        ("bad reactions to drugs", "Penicillin, rash"): "allergies",
        ("nature of the material", "Left kidney"): "specimen",
        ("earlier illnesses", "Asthma since childhood"): "background",
        ("stopped medicines", "Naproxen 500 mg"): "stopped",
        ("allergist", "Dr. Brown"): None,
        ("planner", "nurse Green"): None,
        ("process", "12"): None,
        ("specialty", "Urology"): None,
        ("composed by", "A. Smith"): None,
    }
    for (title, value), field in headings.items():
        told = {name for name, share in stated(Unit(title, value)).items() if share >= LEAST}
        assert told == ({field} if field else set()), title


@pytest.mark.parametrize("kind", ["pathology", "radiology", "genomics", "lab-report"])
def test_a_report_without_what_its_type_requires_has_a_low_score_and_a_review(kind: str) -> None:
    text = "REPORT\nThe patient was seen by the team on the ward and sent home in good spirits.\n"
    parts, wanted = Parts(text), rubric(kind)
    found = evaluate(parts, wanted, extract_by_rules(parts, wanted, None))
    assert found.score.overall <= policy().bounds.unfit
    assert extract_text(text, document_type=kind).needs_review
    assert any("nothing says" in one.description for one in found.feedback.issues)


def test_a_document_of_no_type_that_is_known_is_never_sure() -> None:
    text = "The meeting of the garden club was held in the hall. Tea was served. All were glad.\n"
    assert extract_text(text, document_type="unknown").score <= policy().bounds.unfit
