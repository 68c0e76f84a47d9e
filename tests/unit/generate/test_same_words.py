"""A sentence holds what is asked for by another name too."""

import pytest

from store.content import content
from store.index.terms import terms


@pytest.mark.parametrize(
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
    ],
)
def test_another_name_of_the_drug_or_the_patients_is_as_good(question: str, sentence: str) -> None:
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    assert asked.coverage(asked.held(sentence)) == 1.0


def test_another_drug_and_other_patients_are_not() -> None:
    question = "Atorvastatin in pregnancy?"
    asked = content(question, dict.fromkeys(terms(question), 1.0))
    assert asked.coverage(asked.held("Humira for children and women.")) == 0.0
