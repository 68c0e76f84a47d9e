"""What restricts the answer to a question, as typed fields."""

from hypothesis import given
from hypothesis import strategies as st

from workers.retrieve.understanding.asked.constraints import constraints
from workers.retrieve.understanding.asked.model import Constraint

READ = {
    ("Does it work without CKD?", "exclusion"): "without CKD",
    ("Any trials, please leave out NOR-TEST", "exclusion"): "leave out NOR-TEST",
    ("Which drug in a patient not on dialysis?", "exclusion"): "not on dialysis",
    ("Dose for an 82-year-old?", "age"): "82-year-old",
    ("Dose in children aged 2 to 12 years?", "age"): "aged 2 to 12 years",
    ("Is it safe over 75 years of age?", "age"): "over 75 years of age",
    ("Dose at 34 kg?", "weight"): "34 kg",
    ("Dose with eGFR 22?", "kidney_function"): "eGFR 22",
    ("Dose with creatinine clearance below 30 mL/min?", "kidney_function"): (
        "creatinine clearance below 30 mL/min"
    ),
    ("Is it safe when breastfeeding?", "pregnancy"): "breastfeeding",
    ("Which trials are still recruiting?", "status"): "still recruiting",
    ("Trials published since 2023?", "date"): "since 2023",
    ("Evidence within 7 days of stroke?", "duration"): "within 7 days of stroke",
    ("Meta-analyses of zinc?", "design"): "Meta-analyses",
    ("What does the IDSA guidance say?", "source"): "IDSA guidance",
    ("Is intranasal ketamine better?", "route"): "intranasal ketamine",
    ("Best second-line drug?", "line"): "second-line drug",
    ("What after failed bortezomib?", "prior_treatment"): "after failed bortezomib",
    ("Does it help in severe eczema?", "severity"): "severe eczema",
    ("Does it help in the ICU?", "setting"): "ICU",
    ("Is it used in BRAF-mutated melanoma?", "biomarker"): "BRAF-mutated melanoma",
}


def test_each_kind_is_read_in_the_words_of_the_question() -> None:
    for (question, kind), text in READ.items():
        found = [one.text for one in constraints(question) if one.kind == kind]
        assert text in found, (question, kind, found)


def test_a_figure_can_be_compared() -> None:
    for question, kind, expected in (
        ("Dose with eGFR below 30 mL/min?", "kidney_function", (30.0, "mL/min", "<")),
        ("Trials since 2023?", "date", (2023.0, None, "≥")),
        ("Treatment beyond 6 mo?", "duration", (6.0, "month", ">")),
        ("Dose at 34 kg?", "weight", (34.0, "kg", None)),
    ):
        (found,) = (one for one in constraints(question) if one.kind == kind)
        assert (found.value, found.unit, found.comparator) == expected, question


def test_only_what_is_to_be_left_out_excludes() -> None:
    found = constraints("AF without CKD, on dialysis?")
    assert {one.kind for one in found if one.excludes} == {"exclusion"}


@given(st.text(alphabet="ab .,?0123456789-/kgmLeGFRwithoutnp\n", max_size=300))
def test_every_constraint_is_the_words_at_its_place(question: str) -> None:
    for one in constraints(question):
        assert isinstance(one, Constraint)
        assert question[one.start : one.end] == one.text != ""
