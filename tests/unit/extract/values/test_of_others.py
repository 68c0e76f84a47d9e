"""What is told of a relative, and what is forbidden or stopped, is no value of the patient's."""

import pytest

from tests.grid import grid
from tests.unit.extract.made import attempt, placed, placed_many
from workers.extract.evaluation.accuracy import accuracy
from workers.extract.fields import FieldResult, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Medication, Stage

DATED = "Prescription\nDate: 2024-05-17\n"
OF_THE_TUMOR = ("histology", "grade", "stage", "tnm", "ihc_markers", "mutations")


def found_in(text: str, *fields: str) -> dict[str, FieldResult]:
    parts = Parts(text)
    every = {field: extract_field(field, parts, wide=True) for field in fields}
    return {field: one for field, one in every.items() if one.items}


@grid(
    "text",
    [
        "Family history: Mother had invasive ductal carcinoma, grade 3, stage IV, ER positive, "
        "BRCA1 mutation c.68_69del.\nAssessment: healthy.",
        "FAMILY HISTORY\nInvasive ductal carcinoma, grade 3, stage IV at 40.\n\nEXAM\nNormal.",
        "FAMILY HISTORY:\nMother:\nstage IV melanoma\nFather: healthy\n\nEXAM:\nNormal.",
        "Clinical history: 44-year-old woman. Mother had invasive lobular carcinoma, grade 3, "
        "stage IIIA.\nFinal diagnosis: see below.",
        "She feels well. Her mother had stage IV invasive ductal carcinoma, EGFR L858R, at age 50.",
        "His older brother, a smoker, was diagnosed with stage IV lung adenocarcinoma, KRAS G12C.",
        "Father - melanoma stage III.",
        "Stage IV invasive ductal carcinoma in her mother.",
        "BRCA1 c.68_69del (mother).",
        "Strong family history of invasive ductal carcinoma, grade 3.",
        "Her sister was tested. It was stage II invasive ductal carcinoma.",
        "Lives with her husband who has stage IV lung adenocarcinoma.",
        "The proband's sister carries BRCA1 c.68_69del.",
        "PMH: none. FH: mother stage IV colon adenocarcinoma",
        "Patient reports mother with stage IV cancer.",
        "Stage IV melanoma (brother) and grade 3 glioma (uncle).",
    ],
)
def test_a_relative_s_disease_is_not_the_patient_s(text: str) -> None:
    assert found_in(text, *OF_THE_TUMOR) == {}


@grid(
    ("text", "group"),
    [
        ("A woman whose mother died of cancer, was found to have a stage IV carcinoma.", "IV"),
        ("44-year-old mother of two with stage IV breast carcinoma.", "IV"),
        ("A 52-year-old father with stage III colon adenocarcinoma.", "III"),
        ("Her mother had melanoma; the patient has stage II disease.", "II"),
        ("Her mother had melanoma, and the patient has stage II disease.", "II"),
        ("His mother had melanoma and he has stage II disease.", "II"),
        ("Mother reports that the tumor was stage II.", "II"),
        ("Accompanied by her daughter. Stage II disease.", "II"),
        ("Seen with her husband for stage II disease.", "II"),
        ("FAMILY HISTORY:\nNone.\n\nSTAGE: II", "II"),
        ("Family history: mother had melanoma.\nOncology: stage II disease.", "II"),
        ("The patient and her husband were told of the stage II adenocarcinoma.", "II"),
        ("Family history: negative for melanoma. The patient has stage II melanoma.", "II"),
        ("She is a mother and has stage II disease.", "II"),
        ("Stage II disease, discussed with her sister.", "II"),
    ],
)  # fmt: skip
def test_the_patient_s_own_stands_though_a_relative_is_named(text: str, group: str) -> None:
    (item,) = found_in(text, "stage")["stage"].items
    assert isinstance(item.value, Stage)
    assert item.value.group == group


@pytest.mark.requirement("MV-2.2")
def test_a_relative_s_disease_counts_neither_as_found_nor_as_missed() -> None:
    text = (
        "Clinical note\nChief complaint: routine check.\n"
        "Family history: Mother had invasive ductal carcinoma, grade 3, stage IV, ER positive, "
        "BRCA1 mutation c.68_69del.\nMedications: lisinopril 10 mg daily\n"
        "Assessment: tension headache.\nPlan: return in one year.\n"
    )
    found = extract_text(text)
    assert not [one for one in OF_THE_TUMOR if found.fields[one].items]
    assert [one.value.key[1] for one in found.fields["medications"].items] == ["lisinopril"]
    assert found.parts[0].outcome.best.score > 0.95
    relative = attempt("clinical-notes", stage=placed(text, "stage", "stage IV"))
    _, scores = accuracy(Parts(text), rubric("clinical-notes"), relative)
    assert [one.score for one in scores] == [0.0]


def drugs(text: str) -> list[str]:
    items = extract_field("medications", Parts(text)).items
    return [one.value.name.lower() for one in items if isinstance(one.value, Medication)]


@grid(
    "text",
    [
        "Do not take ibuprofen 400 mg.",
        "STOP: warfarin 5 mg daily",
        "Allergies: penicillin 500 mg caused rash",
        "Discontinued metformin 500 mg",
        "Discontinue lisinopril 10 mg daily",
        "Avoid ibuprofen 400 mg and naproxen 250 mg.",
        "Warfarin 5 mg daily was stopped on admission.",
        "Warfarin 5 mg daily - STOPPED",
        "- Aspirin 81 mg (discontinued)",
        "Allergic to amoxicillin 500 mg.",
        "She is not taking metformin 500 mg.",
        "Father took warfarin 5 mg daily.",
        "STOP TAKING\n- warfarin 5 mg daily\n- aspirin 81 mg daily\n",
        "Medications stopped:\n1. warfarin 5 mg daily\n2. aspirin 81 mg daily\n",
        "ALLERGIES:\nPenicillin 500 mg: rash\nSulfamethoxazole 800 mg: hives\n",
        "Hold metoprolol 25 mg until seen.",
        "Amoxicillin 500 mg caused hives.",
        "No longer takes simvastatin 20 mg.",
        "Patient was told not to take ibuprofen 400 mg",
        "Off metformin 500 mg",
        "Please don’t take ibuprofen 400 mg",
        "Allergies/Adverse reactions:\n- penicillin 500 mg\n",
        "| Warfarin | 5 mg | daily | STOP |",
        "Warfarin 5 mg daily. Held for procedure.",
        "She did not tolerate metformin 500 mg",
        "Hold aspirin 81 mg for 7 days before surgery",
        "Ibuprofen 400 mg - do not take",
        "Ibuprofen 400 mg should not be taken.",
        "Warfarin 5 mg daily. STOPPED 3 May.",
        "Medications on admission (stopped):\n- aspirin 81 mg\n",
    ],
)
def test_what_is_stopped_forbidden_or_not_borne_is_no_medication(text: str) -> None:
    assert drugs(text) == []
    assert drugs(f"Prescription\n{text}\n") == []


@grid(
    ("text", "names"),
    [
        ("Stopped aspirin 81 mg and started clopidogrel 75 mg daily.", ["clopidogrel"]),
        ("Stop taking warfarin 5 mg. Take apixaban 5 mg twice daily.", ["apixaban"]),
        ("STOP:\nwarfarin 5 mg daily\nSTART: apixaban 5 mg twice daily", ["apixaban"]),
        ("STOP TAKING\n- warfarin 5 mg\nCONTINUE TAKING\n- metformin 500 mg daily", ["metformin"]),
        ("Do not stop warfarin 5 mg daily.", ["warfarin"]),
        ("Metoprolol 25 mg twice daily, hold for SBP below 100.", ["metoprolol"]),
        ("Prednisone 40 mg daily for five days, then stop.", ["prednisone"]),
        ("Allergies: none. Takes metformin 500 mg daily.", ["metformin"]),
        ("ALLERGIES: penicillin (rash)\nmetformin 500 mg daily", ["metformin"]),
        ("Switched from warfarin 5 mg to apixaban 5 mg twice daily.", ["apixaban"]),
        ("Mother gives amoxicillin 250 mg three times daily.", ["amoxicillin"]),
        ("She stopped smoking. Metformin 500 mg daily.", ["metformin"]),
        ("Took warfarin 5 mg daily", ["warfarin"]),
        ("Loratadine 10 mg daily as needed for allergic rhinitis", ["loratadine"]),
        ("Hydrocortisone 100 mg for anaphylaxis", ["hydrocortisone"]),
        ("Atorvastatin 20 mg, stopped simvastatin 40 mg", ["atorvastatin"]),
        ("Stop aspirin 81 mg if stools are black.", ["aspirin"]),
    ],
)
def test_what_is_taken_stays_a_medication(text: str, names: list[str]) -> None:
    assert drugs(text) == names


def test_the_evaluator_gives_nothing_for_a_forbidden_medication_and_misses_none() -> None:
    text = f"{DATED}Do not take ibuprofen 400 mg.\nMetformin 500 mg twice daily\n"
    found = extract_text(text, document_type="prescription")
    assert [one.value.key[1] for one in found.fields["medications"].items] == ["metformin"]
    assert found.parts[0].outcome.best.score > 0.95
    taken = attempt(
        "prescription", medications=placed_many(text, "medications", "ibuprofen 400 mg")
    )
    _, scores = accuracy(Parts(text), rubric("prescription"), taken)
    assert [one.score for one in scores] == [0.0]


def test_a_document_of_nothing_but_forbidden_drugs_has_none() -> None:
    text = f"{DATED}Do not take ibuprofen 400 mg tablets. Avoid naproxen 250 mg.\n"
    found = extract_text(text, document_type="prescription")
    assert found.fields["medications"].status is Status.NOT_PRESENT
    assert found.parts[0].outcome.best.score > 0.95
