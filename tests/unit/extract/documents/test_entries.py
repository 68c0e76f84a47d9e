"""One entry of a list is read by its form: no name of a drug or a test need be known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.extract.rules.drugs.listed_drugs import may_be_a_drug
from workers.extract.rules.entries import entry
from workers.extract.values import LabValue, Medication

NAMES = st.from_regex(r"[A-Z][a-z]{3,10}(?: [A-Z][a-z]{3,8})?", fullmatch=True)
DRUGS = NAMES.filter(lambda one: may_be_a_drug(one.split()[0].lower()))
DOSES = st.integers(1, 2000)


@given(
    DRUGS, DOSES, st.sampled_from(["mg", "g", "mcg", "ml"]), st.sampled_from(["od", "bd", "tds"]),
    st.sampled_from(["", "- ", "1. ", "• ", "T. ", "Inj. ", "Tab "]),
)  # fmt: skip
def test_a_drug_of_any_name_is_read_with_dose_and_times(
    name: str, dose: int, unit: str, often: str, mark: str
) -> None:
    if unit == "g" and dose > 100:
        dose = 100
    found = entry("medication", f"{mark}{name} {dose} {unit} {often}")
    assert found == Medication(name=name, dose=dose, unit=unit, frequency=often)


@given(DRUGS, st.integers(5, 900), st.sampled_from(["od", "bd", "1-0-1"]))
def test_a_strength_may_have_no_unit(name: str, dose: int, often: str) -> None:
    assert entry("medication", f"T. {name} {dose} {often}") == Medication(
        name=name, dose=dose, frequency=often
    )


@pytest.mark.parametrize("words", ["ORDER 1 of 3", "tablet 20 mg daily", "Take 2 at night"])
def test_a_word_of_english_is_no_drug(words: str) -> None:
    assert entry("medication", words) is None


@given(
    NAMES, st.floats(0.1, 900).map(lambda one: round(one, 1)),
    st.sampled_from([": ", " ", "    ", " | ", " = ", " ........ "]),
    st.sampled_from(["", "g/L", "mmol/L", "U/L"]),
)  # fmt: skip
def test_a_test_of_any_name_is_read_with_its_number(
    name: str, number: float, joint: str, unit: str
) -> None:
    found = entry("lab", f"{name}{joint}{number} {unit}".strip())
    assert isinstance(found, LabValue)
    assert found.number == pytest.approx(number)
    assert found.unit == (unit or None)


@pytest.mark.parametrize(
    ("words", "name", "number", "said"),
    [
        ("CD4 611", "CD4", 611, None),
        ("25-OH-Vit D 31 nmol/l", "25-OH-Vit D", 31, None),
        ("beta-2 mikroglobulin 5,9 mg/L", "beta-2 mikroglobulin", 5.9, None),
        ("Culture: Klebsiella pneumoniae", "Culture", None, "Klebsiella pneumoniae"),
        ("HBsAg = non-reactive", "HBsAg", None, "non-reactive"),
        ("RBC: 8-10/HPF", "RBC", None, "8-10/HPF"),
        ("Zinc-P     ↑  2.9", "Zinc-P", 2.9, None),
    ],
)
def test_figures_in_a_name_are_no_result(
    words: str, name: str, number: float | None, said: str | None
) -> None:
    found = entry("lab", words)
    assert isinstance(found, LabValue)
    assert (found.name, found.number, found.text) == (name, number, said)


@pytest.mark.parametrize(
    "row", ["AST    haemolysed    10 - 40", "Lipase   clotted   U/L   13 - 60"]
)
def test_a_range_is_no_result(row: str) -> None:
    assert entry("lab", row) is None


@pytest.mark.parametrize("kind", ["lab", "medication"])
@given(words=st.text(max_size=200))
def test_nothing_is_read_of_what_names_nothing(kind: str, words: str) -> None:
    found = entry(kind, words)
    assert found is None or any(map(str.isalnum, found.name))
    assert entry(kind, "12 ... 3") is None
