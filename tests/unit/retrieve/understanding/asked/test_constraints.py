"""What restricts the answer to a question, as typed fields."""

from hypothesis import given
from hypothesis import strategies as st

from workers.retrieve.understanding.asked.constraints import constraints
from workers.retrieve.understanding.asked.model import Constraint
from workers.retrieve.understanding.asked.reader import Part


def typed(question: str, words: str) -> Constraint:
    """The restriction that `words` of a question are."""
    start = question.index(words)
    (found,) = (
        one
        for one in constraints(question, [Part(start, start + len(words), 0.9)])
        if one.start <= start < one.end
    )
    return found


READ = {
    ("Dose for an 82-year-old?", "82-year-old"): ("age", 82.0, "year", None),
    ("He is 80 and frail. Which dose?", "80"): ("age", 80.0, None, None),
    ("Dose at 34 kg?", "34 kg"): ("weight", 34.0, "kg", None),
    ("Dose with eGFR 22?", "eGFR 22"): ("kidney_function", 22.0, None, None),
    ("eGFR fell from 68 to 57, which dose?", "57"): ("kidney_function", 57.0, None, None),
    ("Dose with eGFR below 30 mL/min?", "eGFR below 30"): ("kidney_function", 30.0, "mL/min", "<"),
    ("Is it safe when breastfeeding?", "breastfeeding"): ("pregnancy", None, None, None),
    ("Which trials are still recruiting?", "still recruiting"): ("status", None, None, None),
    ("Trials since 2023?", "2023"): ("date", 2023.0, None, "≥"),
    ("Treatment beyond 6 mo?", "6 mo"): ("duration", 6.0, "month", ">"),
    ("Is it used in BRAF-mutated melanoma?", "BRAF-mutated"): ("other", None, None, None),
}


def test_a_restriction_has_its_kind_and_its_figure() -> None:
    for (question, words), expected in READ.items():
        found = typed(question, words)
        assert (found.kind, found.value, found.unit, found.comparator) == expected, question


def test_only_what_is_denied_or_left_out_excludes() -> None:
    for question, words, excludes in (
        ("AF without CKD?", "without CKD", True),
        ("AF, not on dialysis?", "not on dialysis", True),
        ("Dose on dialysis?", "on dialysis", False),
        ("No asthma. Dose?", "No asthma", True),
    ):
        assert typed(question, words).excludes is excludes, question


def test_a_patients_figures_restrict_though_nobody_marked_them() -> None:
    found = constraints("82-year-old, 58 kg, eGFR 22: which dose?", [])
    assert [one.kind for one in found] == ["age", "weight", "kidney_function"]


@given(st.text(alphabet="ab .,?0123456789-/kgmLeGFRwithoutnp\n", max_size=300), st.data())
def test_every_restriction_is_the_words_at_its_place(question: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(question)))
    end = data.draw(st.integers(start, len(question)))
    parts = [Part(start, end, 0.5)] if start < end else []
    for one in constraints(question, parts):
        assert question[one.start : one.end] == one.text != ""
