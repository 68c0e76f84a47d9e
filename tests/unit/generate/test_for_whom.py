"""What a source says holds for whom a question is about, or for others."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.retrieval import Asked
from tests.grid import grid
from workers.generate.restrictions import Restrictions, ranges
from workers.retrieve.understanding.asked.read import read_asked


def restrictions(question: str) -> Restrictions:
    asked = Asked.model_validate(read_asked(question).as_body())
    return Restrictions(asked.constraints, asked.names, asked.required)


@grid(
    ("question", "line", "missed"),
    [
        ("Dose in an 8-year-old?", "Children aged 2 to 12 years: 10 mg/kg.", False),
        ("Dose in an 8-year-old?", "Infants aged 1 to 23 months: 5 mg/kg.", True),
        ("Dose in a 70-year-old man?", "Adults aged 65 years or older: 5 mg.", False),
        ("Dose in a 2-week-old?", "Children under 5 years: 100 mg.", False),
        ("Dose in a newborn?", "Infants aged 1 to 23 months: 5 mg/kg.", True),
        ("Dose with eGFR 22?", "In patients with eGFR below 30 it is 2 mg.", False),
        ("Dose with eGFR 22?", "With a clearance of 30 to 59 mL/min it is 5 mg.", True),
        ("Dose with eGFR 22?", "The dose is 5 mg.", False),
        ("Apixaban in AF without CKD?", "Apixaban in patients with CKD on dialysis", True),
        ("Apixaban in AF without CKD?", "Apixaban in patients without CKD", False),
    ],
)
def test_a_line_for_others_is_missed(question: str, line: str, missed: bool) -> None:
    assert restrictions(question).are_missed(line, "", "") is missed


@grid(
    ("question", "forbids"),
    [
        ("Dose of Oralcefin in a newborn?", True),
        ("Dose of Oralcefin with biliary obstruction?", True),
        ("Dose of Oralcefin in adults?", False),
    ],
)
def test_what_is_contraindicated_for_whom_is_asked_about_stands_first(
    question: str, forbids: bool
) -> None:
    line = "Oralcefin is contraindicated in neonates and in patients with biliary obstruction."
    assert restrictions(question).forbid(line, "") is forbids


@given(st.integers(1, 80), st.integers(1, 20), st.sampled_from(["{} to {}", "{}-{}", "{} and {}"]))
def test_a_range_holds_its_ends_and_nothing_beside(first: int, more: int, written: str) -> None:
    text = f"Patients aged {written.format(first, first + more)} years"
    (one,) = ranges("age", text)
    assert one.first <= first < first + more < one.last
    assert not one.first <= first - 1 < one.last
    assert not one.first <= first + more + 1 < one.last
