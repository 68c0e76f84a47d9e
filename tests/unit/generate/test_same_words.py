"""A sentence holds what is asked for by another name too."""

import pytest

from store.documents.content import content
from store.index.terms import terms
from tests.grid import grid


@grid(
    ("question", "sentence"),
    [
        ("Can atorvastatin be given in pregnancy?", "LIPITOR given to pregnant women."),
        ("Can Lipitor be given to a pregnant woman?", "Atorvastatin given to pregnant women."),
        ("Metformin for children?", "Metformin was tested in pediatric patients."),
        ("metformin max dose kids", "The maximum dose of metformin for children."),
        ("vit D chemo", "Vitamin D during chemotherapy."),
        ("Price of Signatera", "Signatera costs 100 dollars."),
        ("Tecentriq side effects", "Adverse reactions of atezolizumab were mild."),
        ("Adverse events of Tecentriq", "The side effects of atezolizumab were mild."),
        ("sample size", "Enrollment is 3,500 participants."),
        ("Perampanel in amyotrophic lateral sclerosis?", "Perampanel in ALS was poorly borne."),
        ("tumor informed vs tumor naive", "Tumor-informed and plasma-only assays."),
        ("tumor-agnostic or tumor-informed", "A tissue-free test, a tumor-informed one."),
    ],
)
def test_another_name_of_the_drug_or_the_patients_is_as_good(question: str, sentence: str) -> None:
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    assert asked.coverage(asked.held(sentence)) == 1.0


def test_another_drug_and_other_patients_are_not() -> None:
    question = "Atorvastatin in pregnancy?"
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    assert asked.coverage(asked.held("Humira for children and women.")) == 0.0


@pytest.mark.parametrize(
    ("question", "sentence", "held"),
    [
        ("GLP-1 agonists", "Glycaemic control with insulin was poor.", False),
        ("GLP-1 agonists", "Semaglutide was given to adults.", True),
        ("GLP-1 agonists", "A GLP-1 receptor agonist was given.", True),
        ("statins", "Lipid lowering with ezetimibe.", False),
        ("statins", "Rosuvastatin was given.", True),
        ("anticoagulants", "Apixaban was given.", True),
        ("antibiotics", "Amoxicillin was given.", True),
    ],
)
def test_a_class_of_drugs_is_told_by_its_own_drugs_and_not_by_all_that_do_the_same(
    question: str, sentence: str, held: bool
) -> None:
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    assert (asked.coverage(asked.held(sentence)) == 1.0) is held
