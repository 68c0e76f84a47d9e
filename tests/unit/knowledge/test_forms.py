"""Whether a text has a name, by any of its spellings and other names."""

import re

from hypothesis import given
from hypothesis import strategies as st

from clinical_text.names import forms
from knowledge.names.spelling import key
from knowledge.names.tables import tables
from tests.grid import grid


@grid(
    ("name", "text", "stands"),
    [
        ("aspirin", "Acetylsalicylic acid lowered recurrence.", True),
        ("Keytruda", "Response to pembrolizumab", True),
        ("PDL1", "PD-L1 expression of 10% or more", True),
        ("TNF-alpha", "TNF\N{GREEK SMALL LETTER ALPHA} was raised", True),
        ("acute diarrhea", "Zinc for acute diarrhoea", True),
        ("zinc", "Zinc for acute diarrhoea", True),
        ("PCI", "percutaneous coronary intervention", True),
        ("diffuse intrinsic pontine glioma", "Survival in DIPG", True),
        ("Lemierre's syndrome", "a case of Lemierre disease", True),
        ("non-small-cell lung cancer", "Advanced NSCLC", True),
        ("non-small-cell lung cancer", "Small-cell lung cancer", False),
        ("small-cell lung cancer", "Non-small-cell lung cancer", False),
        ("non-Hodgkin lymphoma", "Advanced Hodgkin lymphoma", False),
        ("Hodgkin lymphoma", "Non-Hodgkin lymphoma", False),
        ("ALS", "It also falls.", False),
        ("suzetrigine", "Oralcefin 400 mg", False),
        ("cirrhosis", "Albumin in cirrhotic patients", True),
        ("hypertension", "Hypertensive adults", True),
        ("anaemia", "anemic children", True),
        ("tuberculosis", "Dexamethasone in tuberculous meningitis", True),
        ("obesity", "Obese women", True),
        ("sepsis", "An antiseptic solution", False),
        ("hepatitis C", "HCV infection", True),
        ("hepatitis C", "HBV infection", False),
        ("JAK", "JAK2 V617F", True),
        ("BRCA", "BRCA1/2 carriers", True),
        ("MCL", "Inhibitors of MCL1", False),
    ],
)
def test_a_name_stands_in_a_text_by_any_of_its_names(name: str, text: str, stands: bool) -> None:
    assert forms(name).stand_in(text) is stands


_ENTRIES = st.integers(0, 40_000).map(tables().preferred).filter(lambda one: len(key(one)) > 6)


def _plural(name: str) -> str:
    """As many of them; what is plural already, or Greek or Latin, takes no s."""
    return f"The {name}{'' if name.lower().endswith(_NO_S) else 's'} were seen."


_NO_S = (
    "s",
    "x",
    "z",
    "ae",
    "ch",
    "che",
    "sh",
    "y",
    "tre",
    "bre",
    "i",
    "a",
    "use",
    "xe",
    "ze",
    "ie",
)


def _lower(name: str) -> str:
    """In small letters; a short form in capitals stays as it is."""
    return name if re.search(r"[A-Z]{2}", name) else name.lower()


@given(_ENTRIES, st.sampled_from([str, _lower, str.upper, _plural]))
def test_a_name_stands_in_its_own_words_however_they_are_written(name: str, write: object) -> None:
    assert callable(write)
    assert forms(name).stand_in(write(name))


@given(_ENTRIES, st.sampled_from(["/", "(", "_", "–", "≥", "™", "·", "\u00a0", "\u2028"]))
def test_a_name_stands_between_any_signs(name: str, sign: str) -> None:
    assert forms(name).stand_in(f"was{sign}{name}{sign}was")


def test_accents_and_ligatures_are_letters_of_their_word_in_one_sign_or_two() -> None:
    for written in ("Sjögren", "Sjo\u0308gren", "SJÖGREN", "sjögren’s"):
        assert forms("Sjögren syndrome").stand_in(f"primary {written} syndrome"), written
    assert forms("fibrosis").stand_in("ﬁbrosis of the lung")


@given(_ENTRIES)
def test_no_name_stands_in_a_text_without_its_words(name: str) -> None:
    assert not forms(name).stand_in("It was so, and we do not know why.")


def test_an_abbreviation_of_several_typed_in_capitals_is_the_one_in_a_text() -> None:
    assert forms("DOACS").stand_in("Patients on DOACs bled less.")
    assert forms("DOACS").stand_in("A DOAC was given.")
    assert not forms("DOACS").stand_in("Patients on warfarin bled.")


@grid(
    ("name", "text", "stands"),
    [
        ("CYP3A4", "Carbamazepine is a cytochrome P450 3A4 inducer.", True),
        ("CYP2C9", "It is metabolised by cytochrome P-450 2C9.", True),
        ("CYP3A4", "It is metabolised by cytochrome P450 2D6.", False),
        ("CYP3A4", "It inhibits cytochrome P450.", False),
    ],
)
def test_a_member_of_a_family_stands_by_the_familys_name_and_its_number(
    name: str, text: str, stands: bool
) -> None:
    assert forms(name).stand_in(text) is stands
