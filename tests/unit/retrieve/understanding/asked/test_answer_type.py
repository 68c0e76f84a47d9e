"""The form of the answer that a question asks for, whatever it is about."""

from itertools import product

from workers.retrieve.understanding.asked.model import AnswerType
from workers.retrieve.understanding.asked.read import read_asked

DRUGS = ("zanubrutinib", "quoxatinib", "allopurinol")
CONDITIONS = ("gout", "bullous pemphigoid", "Quox syndrome")
FORMS: dict[str, AnswerType] = {
    "Does {drug} help in {condition}?": "yesno",
    "What dose of {drug} is used for {condition}?": "number",
    "how many people with {condition} relapse": "number",
    "What are the causes of {condition}?": "list",
    "Which drugs can cause {condition}?": "list",
    "{drug} versus placebo for {condition}": "comparison",
    "How should {condition} be treated?": "recommendation",
    "Why does {drug} cause {condition}?": "mechanism",
    "Which trials of {drug} in {condition} are recruiting?": "trials",
    "Is {drug} covered by Medicare for {condition}?": "coverage",
    "What is {drug}?": "explanation",
}
"""Plain forms, of which none is among the questions that were learned."""
ALLOWED = 0.1
"""Share that a learned reader may take for another form; on other writers' it is a fifth."""


def test_plain_forms_are_read_whatever_they_are_about() -> None:
    cases = list(product(FORMS.items(), DRUGS, CONDITIONS))
    wrong = [
        (question, found, expected)
        for (form, expected), drug, condition in cases
        if (found := read_asked(question := form.format(drug=drug, condition=condition)).type)
        != expected
    ]
    assert len(wrong) <= ALLOWED * len(cases), wrong


def test_what_asks_whether_is_answered_by_yes_or_no_and_by_no_account() -> None:
    whether = (
        "Are variants in {} associated with encephalopathy?",
        "Has {} been tested in a phase III clinical trial?",
        "Has the {} genome been studied?",
        "{} is the process by which a virus obtains its nutrients, yes or no?",
        "Is {} circumscripta another term for a white patch of hair?",
    )
    for form, name in product(whether, ("FHF2", "quoxatinib", "poliosis")):
        assert read_asked(question := form.format(name)).type == "yesno", question
    for form in (
        "Are there any trials of {} in gout?",
        "Can you list the trials of {}?",
        "Are any trials of {} recruiting?",
        "Are trials of {} recruiting in gout?",
    ):
        assert read_asked(question := form.format("zanubrutinib")).type != "yesno", question


def test_what_asks_why_asks_for_a_reason_whatever_was_stopped() -> None:
    asked = (
        "Why was the {name} trial stopped?",
        "why was {name} terminated",
        "Why did {name} fail?",
        "why stopped {name}",
        "Two sites closed last year. Why was {name} halted?",
        "“Why was the 10 mg arm of {name} dropped?”",
    )
    found = {
        question: read_asked(question).type
        for question in (
            form.format(name=name) for form in asked for name in ("COBRA", "VEGA", "TRIAD-2")
        )
    }
    assert set(found.values()) <= {"mechanism", "explanation"}, found
