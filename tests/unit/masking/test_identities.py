"""What identifies a person in a text is found, and nothing that says how the patient is."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.identities import identities
from tests.unit.masking.grammar import STYLES, TRAPS, document

PER_STYLE = 4


def hidden(text: str) -> dict[str, str]:
    return {text[one.start : one.end]: one.kind for one in identities(text)}


FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Patient: SMITH, John A", {"SMITH, John A": "NAME"}),
    ("PT: DOE-KESSLER, M  DOB 04/09/1961", {"DOE-KESSLER, M": "NAME", "04/09/1961": "DOB"}),
    ("Dear Dr Feeney,", {"Feeney": "NAME"}),
    ("RE: Mrs Anwen T, 17.02.1966", {"Anwen T": "NAME", "17.02.1966": "DOB"}),
    ("Frau van der Berg, geb. 3. Mai 1950", {"van der Berg": "NAME", "3. Mai 1950": "DOB"}),
    ("Read by  J. Okonjo MD", {"J. Okonjo": "NAME"}),
    ("Mr Hale saw her. hale and hearty; hale agreed", {"Hale": "NAME"}),
    ("Mrs Okafor. OKAFOR slept; okafor ate", dict.fromkeys(("Okafor", "OKAFOR", "okafor"), "NAME")),
    ("Mr Brown has brown sputum. Brown denies pain.", {"Brown": "NAME"}),
    ("DR. SATHE: MR ANGIOGRAPHY, MR BRAIN", {"SATHE": "NAME"}),
    ("Hosp no 418822, ward 4", {"418822": "NUMBER"}),
    ("NHS Number: 943 476 5919", {"943 476 5919": "NUMBER"}),
    ("UHID : BGH/2024/5512", {"BGH/2024/5512": "NUMBER"}),
    ("Accession: NS-24-11873  Collected: 04/22/2024", {"NS-24-11873": "NUMBER"}),
    ("ring 07700 900123 or mail", {"07700 900123": "PHONE"}),
    ("results to a.b@nhs.example, please", {"a.b@nhs.example": "EMAIL"}),
    ("lives at 12 High Street, Leeds LS1 4AB with", {"12 High Street, Leeds LS1 4AB": "ADDRESS"}),
    ("wohnt Hauptstraße 14, 69117 Heidelberg.", {"Hauptstraße 14, 69117 Heidelberg": "ADDRESS"}),
    ("hi wayne , i am dr. martin . so sharon was seen by dr. henry howard .", {
        "wayne": "NAME", "martin": "NAME", "sharon": "NAME", "henry howard": "NAME"}),
    ("Seen on 14/03/2021, biopsy 3 June 2022", {}),
    ("Mr Parkinson has Parkinson disease", {"Parkinson": "NAME"}),
    ("MS Contin 15 mg; MS since 2009; MRS score 2", {}),
    ("Patient: Chest Pain", {}),
    ("Re: Abdominal Pain", {}),
    ("Platelets 185000, dose 8000 units, WBC 9876543210/L", {}),
)  # fmt: skip


def test_identifiers_are_found_by_form_and_context() -> None:
    wrong = {text: found for text, wanted in FORMS if (found := hidden(text)) != wanted}

    assert not wrong


def test_a_name_that_is_a_word_as_well_is_masked_where_it_names() -> None:
    text = "Mr Brown has brown sputum. Brown denies pain."

    assert [one.start for one in identities(text)] == [3, 27]


def test_what_says_how_the_patient_is_identifies_nobody() -> None:
    wrong = {trap: found for trap in TRAPS if (found := hidden(f"- {trap}.\n"))}

    assert not wrong


@pytest.mark.parametrize("names", [0, 1])
def test_no_identifier_of_a_document_stays_and_all_that_is_clinical_does(names: int) -> None:
    wrong = []
    for seed in range(PER_STYLE * len(STYLES)):
        made = document(seed, names)
        kept, at = [], 0
        for one in identities(made.text):
            kept.append(made.text[at : one.start])
            at = one.end
        left = "¤".join([*kept, made.text[at:]])
        wrong += [(seed, made.style, said) for said in made.clinical if said not in left]
        for said in made.clinical:
            left = left.replace(said, " ")
        wrong += [(seed, made.style, said) for said in made.identifiers if said in left.split()]

    assert not wrong


@given(st.text(alphabet=st.sampled_from("MrDr. AbcSmithöß\n\t:,-/|0123456789@()'’#"), max_size=300))
def test_spans_are_in_order_apart_and_hold_something(text: str) -> None:
    found = identities(text)

    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
