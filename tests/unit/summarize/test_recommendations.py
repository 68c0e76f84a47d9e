"""What of a plan recommends something, and what only tells."""

import pytest

from knowledge.documents.notes import plan_policy
from tests.grid import grid
from workers.summarize.summary import summarize


def steps(text: str) -> dict[str, tuple[float, str | None]]:
    found = summarize(text)["plan"]["recommendations"]
    return {one["recommendation"]: (one["confidence"], one["hallucination_guard_note"])
            for one in found}  # fmt: skip


@grid(
    "line",
    [
        "Patient doing well.",
        "Labs reviewed.",
        "Diabetes, stable.",
        "Thank you for this referral.",
        "Reviewed and co-signed by the consultant.",
        "54yo man with type 2 diabetes on metformin.",
        "Mrs Plugh is a 44-year-old female who presents for routine follow up of gout.",
        "Symptoms resolved.",
    ],
)
def test_a_line_of_a_plan_that_only_tells_recommends_nothing(line: str) -> None:
    text = f"PLAN\n- {line}\n- Start colchicine 0.5 mg.\n"
    assert list(steps(text)) == ["Start colchicine 0.5 mg."]
    assert line in [one["text"] for items in summarize(text)["summary"].values() for one in items]


@pytest.mark.parametrize(
    "line",
    ["Colchicine 0.5 mg.", "Chest X-ray.", "Chest X-ray reviewed; repeat in 6 weeks.",
     "Stable: continue metformin.", "HbA1c in 3 months.", "Apixaban."],
)  # fmt: skip
def test_a_line_of_a_plan_with_a_step_a_drug_or_a_test_recommends(line: str) -> None:
    sure, note = steps(f"PLAN\n- {line}\n- Rest.\n")[line]
    assert sure >= plan_policy().guard_below
    assert note is None


def test_a_label_of_a_letter_ends_with_its_paragraph() -> None:
    text = (
        "Dear Dr Plugh,\n\nDiagnosis: gout\nTreatment: colchicine\n\nI saw your patient today. "
        "He is allergic to tape.\n\nPlan: start allopurinol 100 mg.\n\nYours sincerely\n"
    )
    assert list(steps(text)) == ["colchicine", "start allopurinol 100 mg."]


@pytest.mark.parametrize("label", ["Advice", "Advice given"])
def test_advice_is_a_plan(label: str) -> None:
    text = f"Allergies: sulfa\n{label}: go to ED now. Hold evening metoprolol.\n"
    assert list(steps(text)) == ["go to ED now.", "Hold evening metoprolol."]


def test_a_relative_s_treatment_is_no_recommendation() -> None:
    text = "PLAN\n- Her daughter takes letrozole 2.5 mg daily.\n- Start apixaban.\n"
    assert list(steps(text)) == ["Start apixaban."]


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("HPI: Well.\nCXR: clear.\nImpression: Inferior STEMI.\nPlan: cath lab now.\n",
         "assessment", "Inferior STEMI."),
        ("PLAN\nRest.\n\nLabs at discharge: Na 133\n", "labs_imaging", "Na 133"),
        ("PMH: AF.\nRepeat medication: apixaban 5 mg bd\nADR: NSAIDs - bleed\n",
         "medicines_allergies", "NSAIDs - bleed"),
        ("MEDICATION LIST\n| Folic acid | 5 mg | PO | once weekly, not on methotrexate day | |\n"
         "| Insulin | 18 units |\n", "medicines_allergies", "| Insulin | 18 units |"),
    ],
)  # fmt: skip
def test_each_part_of_a_note_stands_in_its_list(text: str, name: str, words: str) -> None:
    assert words in [one["text"] for one in summarize(text)["summary"][name]]


@pytest.mark.parametrize(
    "line", ["(End of note)", '[end section id="7"]', "Checked by: X. Plugh MD @ 1404"]
)
def test_marks_of_an_export_and_who_closed_a_note_are_no_steps(line: str) -> None:
    assert list(steps(f"PLAN\n1. Obtain electrocardiogram.\n\n{line}\n")) == [
        "Obtain electrocardiogram."
    ]
