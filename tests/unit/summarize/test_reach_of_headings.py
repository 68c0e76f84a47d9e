"""A heading rules its line or its paragraph; further down a statement stands where it belongs."""

from collections.abc import Mapping

import pytest

from workers.summarize.summary import summarize


def lists(text: str) -> Mapping[str, list[str]]:
    summary = summarize(text)["summary"]
    return {name: [one["text"] for one in items] for name, items in summary.items()}


TAIL = (
    "Pulse 88 regular, BP 132/84, chest clear, no oedema.\n"
    "Hb 104, ferritin 9, CRP 4, eGFR 71.\n"
    "Iron deficiency anaemia.\n"
    "Start ferrous fumarate 210 mg once daily.\n"
)


@pytest.mark.parametrize(
    "label", ["ALLERGY: latex", "FH: father had gout", "Meds: ramipril 5 mg", "PMH: asthma, eczema"]
)
def test_a_label_rules_its_line_and_not_the_rest_of_the_note(label: str) -> None:
    found = lists(f"A 52 year old man is tired.\n{label}\n{TAIL}")
    assert any("Pulse" in one for one in found["objective_findings"])
    assert any("Hb 104" in one for one in found["labs_imaging"])
    assert any("Start ferrous" in one for one in found["assessment"])
    assert any("Iron deficiency" in one for one in [*found["key_problems"], *found["assessment"]])


def test_a_part_goes_on_behind_an_administrative_one() -> None:
    found = lists("Medications:\naspirin 75 mg\n\nBilling: 99213\n\nPulse 88 regular.\n")
    assert "aspirin 75 mg" in found["medicines_allergies"]


@pytest.mark.parametrize("heading", ["Family history", "FAMILY HISTORY:", "FHx:"])
def test_what_the_family_has_is_no_problem_of_the_patient(heading: str) -> None:
    found = lists(f"A 52 year old man.\n\n{heading}\n- bowel cancer\n- gout\n\nPlan:\nRest")
    assert not {"bowel cancer", "gout"} & {*found["key_problems"], *found["assessment"]}


def test_entries_below_the_heading_of_medicines_are_no_orders() -> None:
    found = lists(
        "Medications:\n- tamsulosin 400 mcg\n- apixaban 5 mg\n\nPlan:\nBloods in a week\n"
    )
    assert {"tamsulosin 400 mcg", "apixaban 5 mg"} <= set(found["medicines_allergies"])


@pytest.mark.parametrize(
    "finding",
    ["O/E: bilateral crackles and pitting oedema.", "X-ray: osteophytes and a small effusion."],
)
def test_what_is_found_is_no_problem_until_somebody_judges(finding: str) -> None:
    found = lists(
        f"A 70 year old woman with knee pain.\n{finding}\nOsteoarthritis.\nPhysiotherapy."
    )
    assert finding not in found["key_problems"]


@pytest.mark.parametrize(
    "title",
    ["PULMONARY CLINIC RETURN VISIT", "Eye clinic", "Inherited cardiac conditions clinic",
     "Ward round, bed 14", "TRANSPLANT CLINIC NOTE", "Fracture clinic letter"],
)  # fmt: skip
def test_the_title_of_a_note_introduces_nobody(title: str) -> None:
    said = "70 yo man with pulmonary fibrosis on nintedanib since 2024."
    found = lists(f"{title}\n{said}\nMore breathless on hills.\n{TAIL}")
    assert said in found["patient_snapshot"]
