"""A model's reply is believed as far as it agrees with what the rules are sure of."""

import pytest

from workers.extract.fields import Attempt, Status
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.loop.proposing import ProposedField, ProposedFields, located, proposed_attempt
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric
from workers.extract.trust import Trust
from workers.language_model.port import Proposal, Usage

NOTE = """Hill Hospital, London
Discharge summary
Admission date: 3 March 2025
Discharge date: 7 March 2025
Diagnosis: acute cholecystitis
Allergies: penicillin (rash)
Complications: none
Course: In theatre she was transfused 2 units of cells and had gentamicin 240 mg.

Discharge medications
- paracetamol 1 g four times daily
- ibuprofen 400 mg three times daily
"""
AGREES = {
    "admission_date": ["3 March 2025"],
    "discharge_date": ["7 March 2025"],
    "diagnosis": ["acute cholecystitis"],
    "allergies": ["penicillin (rash)"],
    "complications": ["none"],
    "institution": ["Hill Hospital"],
}


def reply(said: dict[str, list[str]]) -> list[ProposedField]:
    return [ProposedField(field=field, status=Status.FOUND, words=one)
            for field, every in said.items() for one in every]  # fmt: skip


def trust(said: dict[str, list[str]]) -> Trust:
    parts, wanted = Parts(NOTE), rubric("discharge-summary")
    rules = extract_by_rules(parts, wanted, None)
    sure = dict.fromkeys(wanted.fields, 0.95)
    return Trust(said, located(parts, wanted, reply(said)), rules, sure)


def made(text: str, kind: str, said: dict[str, list[str]]) -> Attempt:
    parts, wanted = Parts(text), rubric(kind)
    proposal = Proposal(ProposedFields(fields=reply(said)), "fake", Usage(1, 1), "", "")
    return proposed_attempt(parts, wanted, proposal, extract_by_rules(parts, wanted, None))


def test_who_agrees_with_what_is_sure_is_believed_elsewhere() -> None:
    assert trust(AGREES).of("plan") > 0.8


@pytest.mark.parametrize(
    "wrong",
    [
        {"diagnosis": ["3 March 2025"], "allergies": ["none"], "complications": ["Hill Hospital"]},
        {"diagnosis": ["acute pancreatitis"], "allergies": ["latex"], "institution": ["Elm House"],
         "complications": ["bleeding from the wound"]},
    ],
    ids=["quotes other fields", "quotes what stands nowhere"],
)  # fmt: skip
def test_who_does_not_is_believed_less(wrong: dict[str, list[str]]) -> None:
    assert trust({**AGREES, **wrong}).of("plan") < 0.7


def test_an_answer_is_no_evidence_for_itself() -> None:
    alone = trust({"diagnosis": ["acute cholecystitis"]})
    assert alone.of("diagnosis") == 0.5 < alone.of("allergies")


def names(attempt: Attempt) -> list[str]:
    return [one.value.model_dump()["name"] for one in attempt.fields["medications"].items]


@pytest.mark.requirement("MV-2.2")
def test_a_believed_list_that_is_read_in_full_ends_what_stands_in_other_sections() -> None:
    text = NOTE.replace("Course:", "Plan: raise ibuprofen 600 mg if needed.\nCourse:")
    full = {**AGREES, "medications": ["paracetamol 1 g four times daily",
                                      "ibuprofen 400 mg three times daily"]}  # fmt: skip
    assert names(made(text, "discharge-summary", full)) == ["paracetamol", "ibuprofen"]


def test_of_a_list_that_is_read_in_part_nothing_is_lost() -> None:
    part = {**AGREES, "medications": ["paracetamol 1 g four times daily"]}
    assert {"paracetamol", "ibuprofen"} <= set(names(made(NOTE, "discharge-summary", part)))


def test_a_quotation_around_what_the_rules_read_changes_nothing() -> None:
    text = "Hill Laboratory | Collected 07/08/2024 | Reported 20/11/2024\nPotassium 4.1 mmol/L\n"
    (item,) = made(text, "lab-report", {"date": [text.split("\n")[0]]}).fields["date"].items
    assert item.value.model_dump()["iso"] == "2024-11-20"


def test_a_name_in_a_record_is_read_with_its_cells() -> None:
    text = "Hill Clinic\nRx\nMedicine: Rivaroxaban   Dose: 20 mg   Route: PO   Freq: daily\n" * 2
    found = made(text, "prescription", {"medications": ["Rivaroxaban"]})
    assert found.fields["medications"].items[0].value.model_dump()["dose"] == 20.0


def test_a_story_around_an_entry_that_the_rules_read_is_no_further_entry() -> None:
    story = "She is very well on metoclopramide 10 mg three times daily and walks her dog each day"
    text = f"Hill Clinic\nMedications\n{story}.\namlodipine 5 mg daily\n"
    found = made(text, "clinical-notes", {"medications": [story, "amlodipine 5 mg daily"]})
    assert sorted(names(found)) == ["amlodipine", "metoclopramide"]


def test_a_tested_reply_says_where_a_text_begins_and_ends() -> None:
    note = NOTE.replace("acute cholecystitis", "acute cholecystitis (CT), for operation in June")
    (whole,) = made(note, "discharge-summary", {}).fields["diagnosis"].items
    assert note[whole.start : whole.end] != "acute cholecystitis"
    (own,) = made(note, "discharge-summary", AGREES).fields["diagnosis"].items
    assert note[own.start : own.end] == "acute cholecystitis"
    (doubted,) = made(note, "discharge-summary",
                      {"diagnosis": AGREES["diagnosis"]}).fields["diagnosis"].items  # fmt: skip
    assert doubted == whole


def test_an_entry_is_read_by_its_form_whatever_its_name_and_as_it_was_before_a_scan() -> None:
    text = (
        "Clinic note\nBloods: Zorvatin titre 12.5 U/L, creat 1.O mg/dL\nTakes qorlumab 5O mg daily"
    )
    said = {"lab_values": ["Zorvatin titre 12.5 U/L", "creat 1.O mg/dL"],
            "medications": ["qorlumab 5O mg daily"]}  # fmt: skip
    fields = made(text, "clinical-notes", said).fields
    labs = [one.value.model_dump() for one in fields["lab_values"].items]
    assert [(one["name"], one["number"]) for one in labs if "itre" in one["name"]] == [
        ("Zorvatin titre", 12.5)
    ]
    (drug,) = fields["medications"].items
    assert drug.value.model_dump()["dose"] == 50
