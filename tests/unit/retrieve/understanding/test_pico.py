"""PICO in the question's own words, and None where it states nothing (EB-1.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from tests.grid import grid
from tests.unit.retrieve.understanding.notes import AF_NOTE
from workers.retrieve.understanding.model import Pico
from workers.retrieve.understanding.read import understand


def pico(question: str) -> Pico:
    return understand(question).pico


@pytest.mark.requirement("EB-1.1")
def test_eb_1_1_all_five_parts_of_a_question_that_states_them() -> None:
    found = pico(
        "In patients with stage II colon cancer, does ctDNA-guided therapy versus standard "
        "management improve recurrence-free survival?"
    )
    assert found == Pico(
        patient="patients with stage II colon cancer",
        intervention="ctDNA-guided therapy",
        comparison="standard management",
        outcome="recurrence-free survival",
        condition="Colorectal Neoplasms",
    )


@pytest.mark.requirement("EB-1.1")
def test_eb_1_1_the_parts_of_a_note_are_its_patient_and_what_its_last_sentences_ask() -> None:
    found = pico(AF_NOTE)
    assert found.patient is not None
    assert found.patient.startswith("78-year-old man with a 6-year history of nonvalvular atrial")
    assert found.intervention == "anticoagulation"
    assert found.outcome == "stroke, major bleeding"
    assert found.condition == "Atrial Fibrillation"


@grid(
    ("question", "intervention", "comparison"),
    [
        ("Should AF be treated with apixaban or warfarin?", "apixaban", "warfarin"),
        ("Is apixaban safer than warfarin in dialysis?", "apixaban", "warfarin"),
        ("How does Signatera compare to Guardant Reveal?", "Signatera", "Guardant Reveal"),
        ("What is the advantage of ctDNA over imaging?", "ctDNA", "imaging"),
        ("Is there a difference between DAPT and aspirin after PCI?", "DAPT", "aspirin"),
        ("Apixaban instead of warfarin in AF?", "Apixaban", "warfarin"),
        ("Which DOAC for AF?", "DOAC", None),
        ("Is apixaban preferred in VTE, apixaban over LMWH?", "apixaban", "LMWH"),
        ("When should it be tested?", None, None),
        ("Is aspirin vs. clopidogrel settled?", "aspirin", "clopidogrel settled"),
    ],
)
def test_intervention_and_comparison_are_the_words_around_what_compares_them(
    question: str, intervention: str | None, comparison: str | None
) -> None:
    found = pico(question)
    assert (found.intervention, found.comparison) == (intervention, comparison)


@pytest.mark.parametrize(
    ("question", "patient"),
    [
        ("Should elderly patients with AF take apixaban?", "elderly patients with AF"),
        ("82F with AF and CKD, which DOAC?", "82F with AF and CKD"),
        ("What is the evidence for ctDNA in stage III colon cancer?", "stage III colon cancer"),
        ("What is the duration of antibiotics for CAP?", "CAP"),
        ("How accurate is ctDNA?", None),
    ],
)
def test_the_patient_is_the_case_else_the_group_else_the_condition_as_written(
    question: str, patient: str | None
) -> None:
    assert pico(question).patient == patient


@pytest.mark.parametrize(
    ("question", "outcome"),
    [
        ("Does apixaban prevent stroke after a prior stroke?", "stroke"),
        ("Should a patient with prior stroke take aspirin?", None),
        ("He had a recurrence. Is ctDNA useful?", None),
        ("Does it lower all-cause mortality?", "all-cause mortality"),
    ],
)
def test_an_outcome_is_asked_about_and_no_history(question: str, outcome: str | None) -> None:
    assert pico(question).outcome == outcome


WORDS = [
    *("versus", "or", "in", "patients", "with", "between", "and", "no", "history", "of", "than"),
    *("65-year-old", "should", "?", ".", ",", "improve", "survival", "compared to", "over"),
    *(entry["words"][0] for entry in load("subjects/vocabulary")["decisions"].values()),
    *(entry["words"][0] for entry in load("subjects/vocabulary")["diseases"].values()),
]


@pytest.mark.requirement("EB-1.1")
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_every_part_but_the_condition_and_outcome_stands_in_the_question(question: str) -> None:
    found = pico(question)
    for part in (found.patient, found.intervention, found.comparison):
        assert part is None or (part and part in question)
    for word in (found.outcome or "").split(", "):
        assert word in question
