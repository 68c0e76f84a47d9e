"""Area and topic of a question, and the MeSH headings its search is widened by (EB-3)."""

from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from knowledge.loader import load
from knowledge.questions.classification import (
    ClassificationPolicy,
    classification_policy,
    classify,
    comorbidities,
    mesh_of,
)
from tests.grid import grid
from workers.retrieve.understanding.read import understand

DISEASES = sorted(load("subjects/vocabulary")["diseases"])
DECISIONS = sorted(load("subjects/vocabulary")["decisions"])
ALLOWED = {
    "Atrial Fibrillation",
    "Anticoagulants",
    "Stroke",
    "Hemorrhage",
    "Kidney Failure, Chronic",
}
some = st.lists(st.sampled_from(DISEASES), unique=True, max_size=5)
aims = st.lists(st.sampled_from(DECISIONS), unique=True, max_size=5)


@pytest.mark.requirement("EB-3.1")
@given(some, aims, st.sampled_from(["anticoagulation", "drug_choice"]), st.randoms())
def test_eb_3_1_af_with_anticoagulation_or_a_choice_of_drug_is_cardiology_anticoagulation(
    diseases: list[str], decisions: list[str], decision: str, random: Random
) -> None:
    diseases = [*dict.fromkeys([*diseases, "atrial_fibrillation"])]
    decisions = [*dict.fromkeys([*decisions, decision])]
    random.shuffle(diseases)
    random.shuffle(decisions)
    assert classify(diseases, decisions, "general") == "cardiology/anticoagulation"


@pytest.mark.requirement("EB-3.2")
@pytest.mark.requirement("EB-3.3")
@pytest.mark.requirement("EB-3.4")
@given(some, aims)
def test_eb_3_2_to_3_4_its_headings_are_the_five_and_with_kidney_disease_one_more(
    diseases: list[str], decisions: list[str]
) -> None:
    found = mesh_of(["atrial_fibrillation", *diseases], ["anticoagulation", *decisions])
    kidney = {"Renal Insufficiency, Chronic"} if "chronic_kidney_disease" in diseases else set()
    assert set(found) == ALLOWED | kidney
    assert not {"Primary Prevention", "Diabetes Mellitus", "Life Style"} & set(found)


def test_headings_of_other_classes_are_those_of_the_tags_and_never_a_label_of_ours() -> None:
    assert mesh_of(["diabetes", "obesity"], ["glucose_lowering", "drug_choice"]) == (
        "Diabetes Mellitus",
        "Obesity",
        "Hypoglycemic Agents",
    )


@grid(
    ("question", "expected"),
    [
        ("Does ctDNA in breast cancer predict relapse?", "oncology/mrd_testing"),
        ("Is Signatera covered by Medicare?", "oncology/mrd_testing"),
        ("How many days of antibiotics for CAP?", "infectious_disease/antibiotic_duration"),
        ("Which antibiotics for C. difficile?", "infectious_disease/antibiotic_therapy"),
        ("How long DAPT after PCI at high bleeding risk?", "cardiology/antiplatelet_therapy"),
        ("SGLT2 inhibitors in HFpEF with CKD?", "cardiology/heart_failure_therapy"),
        ("Anticoagulation for AHRE?", "cardiology/anticoagulation"),
        ("Anticoagulation after pulmonary embolism?", "hematology/anticoagulation"),
        ("LAMA or LABA in COPD?", "pulmonology/inhaled_therapy"),
        ("Blood pressure target in CKD?", "nephrology/blood_pressure_target"),
        ("Screening for lung cancer?", "oncology/screening"),
        ("What is the weather like?", "general/general"),
    ],
)
def test_other_questions_have_the_area_of_their_primary_disease(
    question: str, expected: str
) -> None:
    assert understand(question).classification == expected


@given(some, aims)
def test_every_question_has_an_area_and_a_topic(diseases: list[str], decisions: list[str]) -> None:
    area, _, topic = classify(diseases, decisions, "general").partition("/")
    assert area in {*classification_policy().areas, "general"}
    assert topic
    assert "lifestyle" not in area


@given(some, aims)
def test_comorbidities_are_all_but_the_primary_disease(
    diseases: list[str], decisions: list[str]
) -> None:
    assert sorted(comorbidities(diseases, decisions)) == sorted(diseases[1:])


def test_a_comorbidity_that_changes_the_dose_comes_first() -> None:
    diseases = ["atrial_fibrillation", "hypertension", "chronic_kidney_disease"]
    assert comorbidities(diseases, ["anticoagulation"])[0] == "chronic_kidney_disease"
    assert comorbidities(diseases, ["screening"])[0] == "hypertension"


def test_a_disease_without_an_area_and_a_rule_with_an_unknown_tag_are_refused() -> None:
    file = load("questions/classification")
    areas = {area: [*tags][1:] for area, tags in file["areas"].items()}
    rule = {"class": "a/b", "diseases": ["nowhere"], "decisions": [], "of": "all"}
    for wrong in ({**file, "areas": areas}, {**file, "rules": [rule]}):
        with pytest.raises(ValidationError, match=r"classification\.yaml"):
            ClassificationPolicy.model_validate(wrong)
    assert sorted(chain(*file["areas"].values())) == DISEASES
