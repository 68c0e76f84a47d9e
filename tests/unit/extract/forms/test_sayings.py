"""Fields that sentences state without a label."""

from typing import Any

import pytest

from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field


def value(field: str, text: str) -> Any:
    items = extract_field(field, Parts(text)).items
    return items[0].value.model_dump() if items else None


@pytest.mark.parametrize(
    ("field", "sentence", "said"),
    [
        ("diagnosis", "My assessment is paroxysmal atrial fibrillation.",
         "paroxysmal atrial fibrillation"),
        ("preoperative_diagnosis", "The diagnosis before surgery was sigmoid colon cancer.",
         "sigmoid colon cancer"),
        ("chief_complaint", "He presented with chest pain and was admitted.", "chest pain"),
        ("chief_complaint", "I saw Mr. Dumont because of rectal bleeding.", "rectal bleeding"),
        ("procedure", "Mrs Lowe underwent laparoscopic sigmoid colectomy for a stricture.",
         "laparoscopic sigmoid colectomy"),
        ("anesthesia", "It was done under general anaesthesia.", "general anaesthesia"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_subject_is_a_value(field: str, sentence: str, said: str) -> None:
    assert value(field, f"Hill Hospital\n\n{sentence} She went home.\n")["text"] == said


def test_an_amount_that_a_sentence_states() -> None:
    text = "Two drains were left. Estimated blood loss was about seventy five ml. No problems.\n"
    assert value("blood_loss", text)["number"] == 75


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("diagnosis", "If the diagnosis is lymphoma, he will be referred."),
        ("diagnosis", "His mother's diagnosis was breast cancer."),
        ("procedure", "The procedure was well tolerated."),
        ("plan", "There was no time for a plan."),
    ],
)
def test_conditions_relatives_and_how_it_went_are_no_values(field: str, sentence: str) -> None:
    assert value(field, f"Hill Hospital\n\n{sentence} She went home.\n") is None


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("diagnosis", "The diagnosis is a matter for the coroner."),
        ("diagnosis", "The main problem is the stairs at home."),
        ("chief_complaint", "He came with a friend and a list of questions."),
        ("procedure", "The operation is known to help four in five patients."),
        ("findings", "The findings will be dictated separately."),
        ("plan", "My advice was not sought."),
        ("follow_up", "The follow up was shorter than in other studies."),
    ],
)
def test_sentences_that_name_a_field_and_state_nothing(field: str, sentence: str) -> None:
    assert (
        value(field, f"Hill Hospital\n\nShe lives in a flat. {sentence} The sun shone.\n") is None
    )


@pytest.mark.parametrize(
    ("field", "sentence", "said"),
    [
        ("procedure", "A right orchidectomy was done.", "right orchidectomy"),
        ("chief_complaint", "She complains of ringing in the ears.", "ringing in the ears"),
        ("findings", "Laparoscopy showed endometriosis of both ovaries.",
         "endometriosis of both ovaries"),
    ],
)  # fmt: skip
def test_sentences_of_further_forms(field: str, sentence: str, said: str) -> None:
    assert (
        value(field, f"Hill Hospital\n\nShe lives in a flat. {sentence} The sun shone.\n")[
            "text"
        ].lower()
        == said
    )
