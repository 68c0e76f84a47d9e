"""The form of the answer that a question asks for, by its own form."""

import pytest

from workers.retrieve.understanding.asked.answer_type import answer_type
from workers.retrieve.understanding.asked.model import AnswerType
from workers.retrieve.understanding.sentences import sentences

DRUGS = ("zanubrutinib", "quoxatinib", "allopurinol")
CONDITIONS = ("gout", "bullous pemphigoid", "Quox syndrome")
FORMS: dict[str, AnswerType] = {
    "Does {drug} help in {condition}?": "yesno",
    "Is {drug} safe in {condition}": "yesno",
    "{drug} prevents {condition}, yes or no?": "yesno",
    "What dose of {drug} is used for {condition}?": "number",
    "how many people with {condition} relapse": "number",
    "Relapse rate of {condition} on {drug}": "number",
    "What are the causes of {condition}?": "list",
    "Red flags for {condition}": "list",
    "Which drugs can cause {condition}?": "list",
    "{drug} versus placebo for {condition}": "comparison",
    "What is the difference between {condition} and lupus?": "comparison",
    "Is {drug} safer than febuxostat in {condition}?": "comparison",
    "How should {condition} be treated?": "recommendation",
    "What do guidelines recommend for {condition}?": "recommendation",
    "management of {condition}": "recommendation",
    "Why does {drug} cause {condition}?": "mechanism",
    "What is the mechanism of action of {drug}?": "mechanism",
    "Which trials of {drug} in {condition} are recruiting?": "trials",
    "phase 3 trials of {drug} since 2021": "trials",
    "Is {drug} covered by Medicare for {condition}?": "coverage",
    "Does insurance pay for {drug}?": "coverage",
    "NICE eligibility criteria for {drug}": "coverage",
    "What is {drug}?": "explanation",
    "Tell me about {condition}": "explanation",
}


def test_each_form_of_asking_has_its_type_whatever_it_is_about() -> None:
    for form, expected in FORMS.items():
        for drug in DRUGS:
            for condition in CONDITIONS:
                question = form.format(drug=drug, condition=condition)
                found = answer_type(question, sentences(question))
                assert found == expected, question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does aspirin prevent preeclampsia?", "yesno"),
        (
            "34-year-old woman, 12 weeks pregnant. Does she need aspirin to prevent it?",
            "recommendation",
        ),
        ("My dad is 80 with gout. Why does it hurt at night?", "mechanism"),
    ],
)
def test_who_tells_of_a_patient_asks_what_to_do_unless_why_is_asked(
    question: str, expected: str
) -> None:
    assert answer_type(question, sentences(question)) == expected
