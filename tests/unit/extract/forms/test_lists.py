"""A list under a label is read to its end, or the evaluator says that entries were left."""

import pytest

from tests.grid import grid
from tests.unit.extract.made import attempt
from workers.extract.evaluation.accuracy import accuracy
from workers.extract.fields import FieldResult, Item, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Words

NOTE = "CLINIC NOTE\nDate: 2024-05-17\nChief complaint: cough\n\n{list}\n\n" \
       "Assessment: bronchitis\nPlan: rest\n"  # fmt: skip


def words_of(field: str, text: str) -> str | None:
    found = extract_field(field, Parts(NOTE.format(list=text)))
    value = found.items[0].value if found.items else None
    return value.text if isinstance(value, Words) else None


@grid(
    ("text", "words"),
    [
        ("Allergies:\n- Penicillin (anaphylaxis)\n- Sulfa (rash)",
         "Penicillin (anaphylaxis)\n- Sulfa (rash)"),
        ("Allergies:\n\n- Penicillin\n\n- Sulfa", "Penicillin\n\n- Sulfa"),
        ("Allergies: Penicillin, sulfa,\nlatex and contrast",
         "Penicillin, sulfa,\nlatex and contrast"),
        ("Allergies: Penicillin and\nSulfa", "Penicillin and\nSulfa"),
        ("Allergies:\nNone known to food.\nPenicillin - anaphylaxis",
         "None known to food.\nPenicillin - anaphylaxis"),
        ("ALLERGIES\nPenicillin\nSulfa", "Penicillin\nSulfa"),
        ("Allergies: Penicillin\nSulfa\nLatex", "Penicillin\nSulfa\nLatex"),
        ("Allergies: 1. Penicillin\n2. Sulfa", "1. Penicillin\n2. Sulfa"),
        ("Allergies:\n- Penicillin: anaphylaxis\n- Sulfa: rash",
         "Penicillin: anaphylaxis\n- Sulfa: rash"),
        ("Allergies:\nPenicillin: anaphylaxis\nSulfa: rash",
         "Penicillin: anaphylaxis\nSulfa: rash"),
        ("Allergies: NKDA\nBP: 120/80", "NKDA"),
        ("Allergies: penicillin\n\n1. Metformin 500 mg tablet PO BID", "penicillin"),
        ("Allergies: penicillin\n1. Metformin 500 mg tablet PO BID", "penicillin"),
        ("Allergies: NKDA\nVitals: stable", "NKDA"),
        ("Allergies: NKDA\nMedications:\n- Aspirin 81 mg daily", "NKDA"),
        ("Allergies:\nNKDA\n\nThe patient was seen today and is well.", "NKDA"),
        ("Allergies: NKDA\nThe patient was seen today and is well.", "NKDA"),
    ],
)  # fmt: skip
def test_allergies_are_read_to_the_end_of_their_list(text: str, words: str) -> None:
    assert words_of("allergies", text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Complications:\nBowel injury\nHemorrhage", "Bowel injury\nHemorrhage"),
        ("Complications: None.\nThe patient went to recovery in good condition.", "None."),
        ("Complications: bowel injury, which was\nrepaired", "bowel injury, which was\nrepaired"),
    ],
)
def test_complications_are_read_to_the_end_of_their_list(text: str, words: str) -> None:
    assert words_of("complications", text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Allergies:\n- Penicillin (anaphylaxis)\n- Sulfa (rash)", "Penicillin (anaphylaxis)"),
        ("Allergies: Penicillin, sulfa,\nlatex and contrast", "Penicillin, sulfa,"),
        ("Allergies:\nPenicillin\nSulfa", "Penicillin"),
    ],
)
def test_the_evaluator_sees_entries_that_were_left_under_a_label(text: str, words: str) -> None:
    whole = NOTE.format(list=text)
    start = whole.index(words)
    item = Item(value=Words(text=words), start=start, end=start + len(words))
    result = FieldResult(status=Status.FOUND, items=(item,))
    tried = attempt("clinical-notes", allergies=result)
    _, (score,) = accuracy(Parts(whole), rubric("clinical-notes"), tried)
    assert score.score < 1.0
    assert any("entries" in one for one in score.issues)


def test_a_whole_list_counts_as_complete() -> None:
    found = extract_text(NOTE.format(list="Allergies:\n- Penicillin (anaphylaxis)\n- Sulfa (rash)"))
    assert found.parts[0].outcome.best.score == 1.0


def test_a_procedure_of_which_entries_are_left_is_no_complete_one() -> None:
    text = "OPERATIVE REPORT\nProcedure:\n1. Cholecystectomy\n2. Cholangiogram\n"
    start = text.index("Cholecystectomy")
    item = Item(value=Words(text="Cholecystectomy"), start=start, end=start + 15)
    tried = attempt("surgical-notes", procedure=FieldResult(status=Status.FOUND, items=(item,)))
    _, (score,) = accuracy(Parts(text), rubric("surgical-notes"), tried)
    assert any("entries" in one for one in score.issues)
