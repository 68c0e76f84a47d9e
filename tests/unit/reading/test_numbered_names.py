"""A number inside a name is no quantity, and another number is another name."""

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.quantities import names, quantities
from tests.grid import grid


@grid(
    ("text", "name"),
    [
        ("COVID-19", "covid19"),
        ("Covid-19-positive adults", "covid19"),
        ("COVID 19 patients", "covid19"),
        ("coronavirus disease 2019", "covid19"),
        ("SARS-CoV-2", "cov2"),
        ("2019-nCoV", "cov2"),
        ("IL-6", "il6"),
        ("IL‐6", "il6"),  # a typographic hyphen
        ("interleukin-6", "il6"),
        ("interleukin 6", "il6"),
        ("IL-17A", "il17a"),
        ("CD19", "cd19"),
        ("HER2", "her2"),
        ("HER-2", "her2"),
        ("vitamin B12", "b12"),
        ("vitamin B-12", "b12"),
        ("H1N1", "h1n1"),
        ("PD-1", "pd1"),
        ("anti-PD-1", "pd1"),
        ("PD-L1", "l1"),
        ("5-FU", "5fu"),
        ("5FU", "5fu"),
        ("5-fluorouracil", "5fu"),
        ("omega-3", "omega3"),
        ("n-3 fatty acids", "omega3"),
        ("Bcl-2", "bcl2"),
        ("MCF-7", "mcf7"),
        ("the PHQ-9", "phq9"),
        ("20-HETE", "20hete"),
        ("caspase-3", "caspase3"),
    ],
)
def test_a_number_inside_a_name_is_the_name_s(text: str, name: str) -> None:
    assert quantities(text) == []
    assert names(text) == {name}


@grid(
    ("text", "values"),
    [
        ("stage-3 disease", [3]),
        ("Stage-3 disease", [3]),
        ("on day-28", [28]),
        ("Week-12 visits", [12]),
        ("a 12-month trial", [12]),
        ("5-Year Survival", [5]),
        ("a 3-arm trial", [3]),
        ("in mid-2020", [2020]),
        ("HR-0.5", ["0.5"]),
        ("cyanidin-3-rutinoside", [3]),
        ("Cyanidin-3-rutinoside", [3]),
        ("IL 12 patients", [12]),
        ("n = 3", [3]),
        ("10-20 mg", [10, 20]),
    ],
)
def test_a_number_behind_a_plain_word_stays_one(text: str, values: list[object]) -> None:
    assert [str(q.value) for q in quantities(text)] == [str(value) for value in values]
    assert names(text) == set()


@given(st.integers(1, 99), st.integers(1, 99))
def test_two_names_are_one_only_if_their_numbers_are(one: int, other: int) -> None:
    assert (names(f"IL-{one}") == names(f"IL-{other}")) is (one == other)
    assert names(f"IL-{one} rose to {other} units") == {f"il{one}"}


@grid(
    "words",
    [
        "350 cells/mm3 or {}",
        "3 lesions or {}",
        "two prior lines or {}",
        "2 lines of therapy or {}",
        "12 years old or {}",
        "140 mm Hg or {}",
        "7.0% or {}",
    ],
)
@grid(("word", "sign"), [("lower", "≤"), ("less", "≤"), ("higher", "≥")])
def test_a_bound_behind_any_unit_is_read(words: str, word: str, sign: str) -> None:
    assert quantities(words.format(word))[0].comparator == sign


def test_a_bound_of_something_else_is_not_read() -> None:
    assert quantities("5 patients had fever or more pain")[0].comparator is None
