"""Summaries and plans made by rules: every word stands in the span it cites (CN-3, CN-4, CN-5)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.documents.notes import LISTS, plan_policy
from tests.grid import grid
from tests.unit.summarize.test_sections import NOTES
from workers.summarize.summary import summarize
from workers.summarize.validation import cited, validate

NOTE = """Name: Xyzzy Plugh
MRN: 4711
22/11/25

CHIEF COMPLAINT
Cough.

HPI: A 72-year-old male with a cough for 2 weeks. He denies fever.

Meds
- Lisinopril 2.5 mg daily
- Aspirin

Allergies: None documented.

O/E: BP 130/80. Lungs clear.

Results
Chest X-ray: no nodule.

ASSESSMENT AND PLAN
Cough.
- Likely viral. Continue fluids.
- Consider CT if it persists.
- Refer urgently to the clinic.
- Follow up in 2 weeks.
- The patient understands and agrees with the plan.

Billing
Level B
"""


def claims(result: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in LISTS:
        yield from ((one["text"], one["source"]) for one in result["summary"][name])
    for one in result["plan"]["recommendations"]:
        yield one["recommendation"], one["source"]


def texts(result: dict[str, Any], name: str) -> list[str]:
    return [one["text"] for one in result["summary"][name]]


@pytest.mark.requirement("CN-3")
def test_cn_3_a_summary_has_seven_lists_of_text_and_source_and_nothing_else() -> None:
    result = summarize(NOTE)
    assert tuple(result["summary"]) == LISTS
    for name in LISTS:
        assert all(set(one) == {"text", "source"} for one in result["summary"][name])
    assert texts(result, "patient_snapshot") == ["A 72-year-old male with a cough for 2 weeks."]
    assert texts(result, "key_problems") == ["Cough."]
    assert texts(result, "pertinent_history") == ["He denies fever."]
    assert texts(result, "medicines_allergies") == ["Lisinopril 2.5 mg daily", "Aspirin"]
    assert texts(result, "objective_findings") == ["BP 130/80.", "Lungs clear."]
    assert texts(result, "labs_imaging") == ["Chest X-ray: no nodule."]


@pytest.mark.requirement("CN-3")
def test_cn_3_a_plan_has_five_fields_numbered_from_the_most_urgent() -> None:
    plan = summarize(NOTE)["plan"]["recommendations"]
    fields = {"number", "recommendation", "source", "confidence", "hallucination_guard_note"}
    assert all(set(one) == fields for one in plan)
    assert [one["number"] for one in plan] == list(range(1, len(plan) + 1))
    assert [one["recommendation"] for one in plan] == [
        "Refer urgently to the clinic.",
        "Continue fluids.",
        "Consider CT if it persists.",
        "Follow up in 2 weeks.",
    ]
    doubtful = {one["recommendation"] for one in plan if one["hallucination_guard_note"]}
    assert doubtful == {"Consider CT if it persists."}


@given(NOTES)
@pytest.mark.requirement("CN-3")
def test_cn_3_a_guard_note_stands_exactly_where_the_confidence_is_below_0_8(text: str) -> None:
    for one in summarize(text)["plan"]["recommendations"]:
        assert 0 <= one["confidence"] <= 1
        assert (one["hallucination_guard_note"] is not None) == (one["confidence"] < 0.8)
    assert plan_policy().guard_below == 0.8


@given(NOTES)
@pytest.mark.requirement("CN-4.1")
@pytest.mark.requirement("CN-4.2")
def test_cn_4_2_every_word_stands_in_the_one_span_it_cites_within_a_chunk(text: str) -> None:
    result = summarize(text)
    chunks = {one["chunk_id"]: one for one in result["chunks"]}
    for words, source in claims(result):
        found = cited(source)
        assert found is not None
        start, end, chunk = found.start, found.end, chunks[found.chunk]
        assert text[start:end] == words
        assert chunk["start_char"] <= start < end <= chunk["end_char"]
        assert found.section == chunk["section_title"]
    counts = result["validation"]
    total = counts["items"] + counts["recommendations"]
    assert (counts["items_inside_span"], counts["coverage"]) == (total, 1.0)


@pytest.mark.parametrize("separator", ["\n", "\r\n"])
def test_sentences_longer_than_any_chunk_are_cited_in_parts_that_hold(separator: str) -> None:
    text = f"HPI{separator}" + "pain and " * 2000 + f"fever{separator}PLAN{separator}Rest."
    result = summarize(text)
    assert len(texts(result, "pertinent_history")) > 2
    assert result["validation"]["unsupported"] == 0


@pytest.mark.requirement("CN-4.3")
@pytest.mark.parametrize("said", ["None documented", "N/A", "not recorded.", "-", "___", ""])
def test_cn_4_3_where_there_is_nothing_the_list_is_empty(said: str) -> None:
    result = summarize(f"Allergies: {said}\n\nPlan\nRest.")
    assert result["summary"]["medicines_allergies"] == []
    assert texts(result, "assessment") == ["Rest."]


def test_that_there_are_no_allergies_is_information() -> None:
    result = summarize("Allergies: No known drug allergies.")
    assert texts(result, "medicines_allergies") == ["No known drug allergies."]


@pytest.mark.parametrize("text", ["", "  \n\n", "22/11/25", "PLAN", "Allergies:"])
def test_a_text_that_says_nothing_has_seven_empty_lists(text: str) -> None:
    result = summarize(text)
    assert not any(result["summary"].values())
    assert result["plan"] == {"recommendations": []}
    assert result["validation"]["coverage"] == 1.0


@given(NOTES)
@pytest.mark.requirement("CN-4.4")
def test_cn_4_4_a_recommendation_inherits_the_citation_of_an_assessment_item(text: str) -> None:
    result = summarize(text)
    sources = {one["source"] for one in result["summary"]["assessment"]}
    assert {one["source"] for one in result["plan"]["recommendations"]} <= sources


@pytest.mark.requirement("CN-6.5")
def test_cn_6_5_lines_that_only_identify_a_person_stand_in_no_summary() -> None:
    result = summarize(NOTE)
    shown = " ".join(words for words, _ in claims(result))
    assert "Xyzzy" not in shown
    assert "4711" not in shown
    assert "Level B" not in shown


@pytest.mark.requirement("CN-6.5")
@grid(
    "line",
    [
        "Patient: Xyzzy Plugh",
        "Patient Name: Xyzzy Plugh  DOB: 1/1/1970",
        "**MRN:** Xyzzy-4711",
        "ID: 4711",
        "Electronically signed by Xyzzy Plugh, MD",
        "Dictated by: Xyzzy Plugh",
        "Address: 1 Xyzzy Street",
        "Address: Flat 4, 221b Xyzzy St, Marylebone, London NW1 6XE, United Kingdom",
        "Provider: Dr. X. Plugh, MD, consultant cardiologist",
        "Attending: Plugh",
        "Attending: Xyzzy Plugh, M.D.",
        "Dictated by: Xyzzy Plugh.",
        "Attending: van der Plugh, Xyzzy",
        "Date: Monday 3 May 2025 at 10:30 am",
        "DATE OF VISIT: 22/11/25",
        "Next of kin: wife, Xyzzy Plugh, mobile 0412 345 678",
        "Emergency contact: Plugh (daughter) - x.plugh@example.org",
        "NAME: XYZZY PLUGH",
        "Patient: Xyzzy Plugh, 72 y/o male",
        "Phone: +44 (0)20 7946 0000",
        "Signed: Xyzzy Plugh RN",
        "Patient:",
    ],
)
def test_cn_6_5_an_entry_of_a_form_that_identifies_is_no_item(line: str) -> None:
    for text in (f"{line}\n\nPlan\nRest.", f"Plan\nRest.\n\n{line}\n"):
        assert [words for words, _ in claims(summarize(text))] == ["Rest.", "Rest."]


@grid(
    "line",
    [
        "Patient: Penicillin, I had anaphylaxis.",
        "Patient: called, black stools for two days on warfarin",
        "Patient: Penicillin.",
        "Patient: Yes. Claritin and Zyrtec.",
        "Doctor: And High Cholesterol?",
        "Patient: 72M with chest pain",
        "Provider: Start aspirin 300 mg now.",
        "Attending: start IV vancomycin 1 g, allergy to penicillin noted",
        "ATTENDING: START VANCOMYCIN 1 G IV",
        "Doctor: Stop Warfarin 5 mg",
        "Next of kin: Daughter says that he fell twice",
        "Emergency contact: none, lives alone and drinks",
        "Date: 3 May, collapsed at home",
        "Discharge date: 3 May 2025 on apixaban 5 mg",
        "Mobile: walks with a frame",
        "Signed by: the nurse who found him on the floor",
    ],
)
def test_a_line_that_says_more_than_who_somebody_is_stays_in_the_summary(line: str) -> None:
    for text in (f"{line}\n\nPlan\nRest.", f"History\nWell.\n\n{line}\n\nPlan\nRest.\n"):
        shown = " ".join(words for words, _ in claims(summarize(text)))
        assert line.partition(": ")[2].rstrip(".") in shown


@pytest.mark.parametrize(
    "said",
    [
        "Her son, a 12 year old boy, has pertussis.",
        "His father, a 55 year old man, died of MI.",
        "The patient's mother, 60F, had breast cancer.",
        "Sister: 34 year old woman with lupus.",
        "Older brother is a 40-year-old male with diabetes.",
        "Her 12 year old son, a healthy boy, had measles.",
        "She lives with her husband, a 70 year old man with COPD.",
    ],
)
def test_a_relative_is_not_the_patient(said: str) -> None:
    result = summarize(f"History\n{said}\nA 37 year old woman with a cough.\n")
    assert texts(result, "patient_snapshot") == ["A 37 year old woman with a cough."]
    assert said.rstrip(".") in " ".join(words for words, _ in claims(result))


@pytest.mark.parametrize(
    "said",
    [
        "A 12 year old boy brought by his mother with a cough.",
        "The mother brings in her son, a 12 year old boy, with a cough.",
        "A 68-year-old father of two, a smoker and a man of few words, has a cough.",
        "His father says that the 5 year old boy has a cough.",
        "His father died at 55; the patient is a 30 year old man.",
        "30F, mother of two, with a cough.",
    ],
)
def test_a_patient_with_relatives_is_the_patient(said: str) -> None:
    assert texts(summarize(f"History\n{said}\n"), "patient_snapshot") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Cannot give aspirin.",
        "Unable to start statin",
        "Metformin is contraindicated; avoid.",
        "Can't take ibuprofen.",
        "Don’t start warfarin.",
        "We won't continue apixaban.",
        "Should never take aspirin.",
    ],
)
def test_what_the_plan_withholds_has_its_note(said: str) -> None:
    (one,) = summarize(f"Plan\n{said}\n")["plan"]["recommendations"]
    assert one["confidence"] < plan_policy().guard_below
    assert one["hallucination_guard_note"] == plan_policy().notes.withheld


@given(NOTES)
@pytest.mark.requirement("CN-6.5")
def test_cn_6_5_no_word_is_added_that_the_note_does_not_have(text: str) -> None:
    assert all(words in text for words, _ in claims(summarize(text)))


def test_a_note_without_headings_is_put_into_lists_by_its_words() -> None:
    result = summarize("She takes aspirin 75 mg daily. CT showed no nodule. We will repeat it.")
    assert texts(result, "medicines_allergies") == ["She takes aspirin 75 mg daily."]
    assert texts(result, "labs_imaging") == ["CT showed no nodule."]
    assert texts(result, "assessment") == ["We will repeat it."]
    assert result["chunks"][0]["section_title"] == "BODY"


BROKEN = [
    ("orphans", lambda source: ""),
    ("malformed", lambda source: source.replace(" section, ", " ")),
    ("unknown_chunk", lambda source: source.replace("chunk_", "chunk_99")),
    ("section_mismatches", lambda source: source.replace("CHIEF", "Chief")),
    ("out_of_bounds", lambda source: source.rpartition("-")[0] + "-9999"),
    ("unsupported", lambda source: source.rpartition(":")[0] + ":50-51"),
]


@pytest.mark.requirement("CN-5")
@pytest.mark.parametrize(("fault", "break_it"), BROKEN, ids=[name for name, _ in BROKEN])
def test_cn_5_each_fault_of_a_citation_is_counted_by_its_name(fault: str, break_it: Any) -> None:
    result = json.loads(json.dumps(summarize(NOTE)))
    item = result["summary"]["key_problems"][0]
    item["source"] = break_it(item["source"])
    counts = validate(NOTE, result)
    assert counts[fault] == 1
    assert counts["unsupported"] == 1
    faulty = fault not in ("unsupported",)
    assert (counts["coverage"] < 1.0) == faulty
    assert counts["invalid_citations"] == (fault not in ("orphans", "unsupported"))


@pytest.mark.requirement("CN-5")
def test_cn_5_a_word_that_was_changed_and_a_source_of_its_own_are_found() -> None:
    result = json.loads(json.dumps(summarize(NOTE)))
    result["summary"]["medicines_allergies"][0]["text"] = "Lisinopril 25 mg daily"
    step = result["plan"]["recommendations"][0]
    step["source"] = result["summary"]["key_problems"][0]["source"]
    counts = validate(NOTE, result)
    assert (counts["not_inherited"], counts["unsupported"]) == (1, 2)


def test_the_same_note_gives_the_same_result() -> None:
    assert summarize(NOTE) == summarize(NOTE)


@given(st.integers(1, 400))
def test_time_does_not_run_away_with_repeated_marks(times: int) -> None:
    assert summarize("1. - *:#" * times + "\n")["validation"]["unsupported"] == 0
