"""No word of a note is lost between its parts: each is in an item, or it is known why it is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.documents.notes import plan_policy, section_policy
from tests.grid import grid
from tests.unit.summarize.test_sections import NOTES
from workers.summarize.dates import is_date
from workers.summarize.items import says_something
from workers.summarize.lines import BARE_MARK, LIST_MARK
from workers.summarize.model import Asked, ProposedItem, located
from workers.summarize.names import NUMBERING, names_only, plain
from workers.summarize.persons import names_a_person
from workers.summarize.summary import Reading, read, summarize

_LINES = st.sampled_from(
    [
        "MEDICATIONS",
        "Stopped:",
        "- Warfarin 5 mg daily",
        "Aspirin",
        "6.8",
        "88/40",
        "1.",
        "",
        "PATIENT: SUICIDAL WITH PLAN",
        "Patient: Xyzzy Plugh",
        "# Sepsis: ceftriaxone 2 g, MAP goal 65",
        "# PE",
        "PE - 2019, on apixaban lifelong",
        "ASSESSMENT AND PLAN",
        "Pulmonary embolism",
        "The patient has a clot in each of both lungs",
        "Billing: 99213",
        "ADDENDUM: Potassium 6.8",
        "ID: MRSA bacteremia",
        "Neuro: sedated",
        "P: 132",
        "VITALS",
        "Meds (per EMR, to check)",
        "MEDICATIONS STOPPED",
        "ECG: sinus rhythm",
        "Medical",
        "[Added 16:10]",
        "22/11/25",
        "Dr. Plugh",
    ]
)
ROUGH_NOTES = st.lists(_LINES, max_size=25).map("\n".join)


def texts(text: str, name: str) -> list[str]:
    return [one["text"] for one in summarize(text)["summary"][name]]


def shown(text: str) -> list[str]:
    return [one["text"] for items in summarize(text)["summary"].values() for one in items]


def steps(text: str) -> dict[str, Any]:
    return {one["recommendation"]: one for one in summarize(text)["plan"]["recommendations"]}


def unexplained(reading: Reading) -> str:
    """The letters and digits that are in no item, and for no reason that is known."""
    text, policy = reading.text, section_policy()
    known = bytearray(len(text))

    def explain(start: int, end: int) -> None:
        known[start:end] = b"\x01" * (end - start)

    for item in reading.items:
        explain(item.start, item.end)
    for section in reading.outline.sections:
        if section.kind == "administrative":
            explain(section.start, section.end)
        elif names_only(text[section.start : section.body]):
            explain(section.start, section.body)
    for unit in reading.outline.units:
        words = text[unit.start : unit.end]
        number = reading.outline.sections[unit.section].kind == "overview" and not any(
            map(str.isalpha, words)
        )
        if number or not says_something(words) or names_a_person(words):
            explain(unit.start, unit.end)
        if unit.divider and plain(words) in policy.dividers:
            explain(unit.start, unit.end)
    for span in reading.outline.structure.sentences:
        for pattern in (LIST_MARK, NUMBERING, BARE_MARK):
            if mark := pattern.match(text, span.start, span.end):
                explain(span.start, mark.end())
    return "".join(one for one, why in zip(text, known, strict=True) if not why and one.isalnum())


@given(ROUGH_NOTES | NOTES)
def test_every_letter_of_a_note_is_in_an_item_or_it_is_known_why_not(text: str) -> None:
    assert unexplained(read(text)) == ""


@given(ROUGH_NOTES)
def test_every_word_of_a_rough_note_stands_in_the_span_it_cites(text: str) -> None:
    counts = summarize(text)["validation"]
    assert (counts["unsupported"], counts["invalid_citations"], counts["orphans"]) == (0, 0, 0)


@grid(
    "line",
    [
        "Augmentin",
        "Septra",
        "Sepsis",
        "Decadron",
        "Decompensated",
        "Novolog 10",
        "Octreotide 100",
        "Marcaine 2021",
        "6.8",
        "132",
        "88/40",
        "1200/150",
        "2021: 12.4",
        "I/O: 1200/150",
        "1:40",
        "May 12.4",
        "3/5",
    ],
)
def test_a_word_that_begins_as_a_month_and_a_number_are_no_dates(line: str) -> None:
    assert not is_date(line.casefold())
    assert line in "\n".join(shown(f"RESULTS\nPotassium\n{line}\nGlucose\n5.1"))


@grid(
    "line",
    [
        "22/11/25",
        "22/11/2025",
        "2025-11-22",
        "22.11.25 08:55",
        "22/11/25   16:40",
        "3 May 2025",
        "May 3rd, 2025",
        "Monday 3 May 2025 at 10:30 am",
        "10:30",
        "9 am",
    ],
)
def test_a_whole_date_and_a_time_of_day_say_nothing(line: str) -> None:
    assert is_date(line.casefold())
    assert shown(f"{line}\n\nPLAN\nRest.\n") == ["Rest."]


@grid(
    ("heading", "line", "entry", "name"),
    [
        ("MEDICATIONS", "Stopped:", "Warfarin 5 mg daily", "medicines_allergies"),
        ("DISCHARGE MEDICATIONS", "STOP taking:", "Warfarin", "medicines_allergies"),
        ("DISCHARGE MEDICATIONS", "Held:", "Metformin", "medicines_allergies"),
        ("MEDICATIONS", "Stopped", "Warfarin", "medicines_allergies"),
        ("HPI", "Denies:", "chest pain", "pertinent_history"),
        ("DIAGNOSES", "Rule out:", "PE", "key_problems"),
        ("DIAGNOSES", "No evidence of:", "DVT", "key_problems"),
        ("DIAGNOSES", "Father:", "colon cancer", "key_problems"),
        ("ASSESSMENT", "No evidence of:", "DVT", "key_problems"),
        ("EXAM", "Left:", "warm", "objective_findings"),
        ("PLAN", "Do not give:", "NSAIDs", "assessment"),
    ],
)
def test_a_line_that_turns_the_entries_below_it_stands_directly_above_them(
    heading: str, line: str, entry: str, name: str
) -> None:
    for text in (f"{heading}\n{line}\n- {entry}\n", f"{heading}\n\n{line}\n- {entry}\n- x\n"):
        assert texts(text, name)[:2] == [line, entry]


def test_a_line_over_entries_of_several_lists_stands_in_each() -> None:
    text = "Never had:\n- an allergy to penicillin\n- smoking\n"
    assert texts(text, "medicines_allergies") == ["Never had:", "an allergy to penicillin"]
    assert texts(text, "pertinent_history") == ["Never had:", "smoking"]


@pytest.mark.parametrize("line", ["Stopped:", "Given up:", "Used to have:", "Tried before:"])
def test_a_dose_below_a_line_that_may_end_it_is_no_sure_order(line: str) -> None:
    for one in steps(f"{line}\n- Warfarin 5 mg daily\n- smoking\n").values():
        assert one["hallucination_guard_note"] is not None


def test_what_ends_a_line_s_reach_is_shown_as_well() -> None:
    text = "MEDICATIONS\n\nStopped:\n- Warfarin\n\nOther:\n- Apixaban\n"
    assert shown(text) == ["Stopped:", "Warfarin", "Other:", "Apixaban"]
    assert shown("MEDICATIONS\nOther:\n- Apixaban\n") == ["Apixaban"]


@pytest.mark.parametrize("line", ["Do not give:", "Hold:", "Avoid:", "If she is worse:", "Stopped"])
def test_a_line_that_withholds_lowers_every_entry_below_it_and_no_more(line: str) -> None:
    found = steps(f"PLAN\n{line}\n- NSAIDs\n- start codeine\n\nContinue aspirin.\n")
    policy = plan_policy()
    for entry in ("NSAIDs", "start codeine"):
        assert found[entry]["confidence"] < policy.guard_below
        assert found[entry]["hallucination_guard_note"] == policy.notes.turned
    assert found["Continue aspirin."]["hallucination_guard_note"] is None


def test_what_an_indented_list_is_under_ends_where_it_is_no_longer_indented() -> None:
    found = steps("PLAN\n1. Do not give:\n   - NSAIDs\n2. Continue aspirin.\n")
    assert {words: one["confidence"] for words, one in found.items()} == {
        "NSAIDs": 0.7,
        "Continue aspirin.": 0.95,
    }


@pytest.mark.parametrize("line", ["Volume (stop-gap):", "Plan (in no real order)", "Lipids:"])
def test_a_line_that_only_names_what_is_below_it_lowers_nothing(line: str) -> None:
    assert steps(f"PLAN\n\n{line}\n- Start aspirin.\n")["Start aspirin."]["confidence"] == 0.95
    assert line not in steps(f"PLAN\n\n{line}\n- Start aspirin.\n")


def test_a_model_that_chooses_an_entry_gets_the_line_above_it_as_well() -> None:
    reading = read("MEDICATIONS\n\nStopped:\n- Warfarin 5 mg daily\n")
    chosen = ProposedItem(list="medicines_allergies", chunk_id="chunk_0", quote="Warfarin")
    found = located(reading, [chosen], reading.chunks, Asked())
    assert [one.text_in(reading.text) for one in found] == ["Stopped:", "Warfarin 5 mg daily"]


@grid(
    ("text", "name", "words"),
    [
        (
            "ALLERGIES\n\nPenicillin: anaphylaxis\nSulfa drugs caused a rash years ago",
            "medicines_allergies",
            "Penicillin: anaphylaxis",
        ),
        (
            "PLAN\n\nAdmit to ICU\nStart norepinephrine infusion titrated to MAP 65",
            "assessment",
            "Admit to ICU",
        ),
        (
            "ASSESSMENT\n\nPulmonary embolism\nThe patient has strain of the right heart",
            "key_problems",
            "Pulmonary embolism",
        ),
        (
            "ROS\n\nConstitutional: Reports weight loss\nCardiovascular: no pain or palpitations",
            "pertinent_history",
            "Constitutional: Reports weight loss",
        ),
        ("A/P\n# Sepsis: ceftriaxone 2 g\n", "assessment", "Sepsis: ceftriaxone 2 g"),
        ("A/P\n# PE: hold heparin\n", "assessment", "PE: hold heparin"),
        ("A/P\n# Sepsis\nceftriaxone 2 g\n", "key_problems", "Sepsis"),
        ("A/P\n# Sepsis\nceftriaxone 2 g\n", "assessment", "Sepsis"),
        ("A/P\n## Sepsis\nceftriaxone\n## PE\n- heparin", "key_problems", "PE"),
        ("A/P\n## Sepsis\nceftriaxone\n## PE\n- heparin", "assessment", "heparin"),
        ("PLAN\n#1 Sepsis\n#2 PE - heparin", "assessment", "PE - heparin"),
        ("A/P: Back pain.\nMRI: lumbar spine today.", "assessment", "MRI: lumbar spine today."),
        ("PLAN\n\nMeds we will stop:\n- Warfarin", "assessment", "Warfarin"),
        ("PLAN\n\nMeds/fluids:\n- Warfarin", "assessment", "Warfarin"),
        ("HX\nLow.\n\nSUICIDAL WITH PLAN\nAgitated.", "pertinent_history", "SUICIDAL WITH PLAN"),
        ("PROBLEM LIST\nPE - 2019, on apixaban", "key_problems", "PE - 2019, on apixaban"),
        ("PROBLEM LIST\nPE\nDVT", "key_problems", "PE"),
        ("PROBLEM LIST\n\nPE\n\nDVT", "key_problems", "DVT"),
        ("MEDS\n\nMeds (not taken)\n- Aspirin", "medicines_allergies", "Meds (not taken)"),
        ("HX\nWell.\n\nMEDICATIONS HELD ON DISCHARGE\nX", "medicines_allergies", "X"),
        ("HX\nWell.\n\nECG: sinus rhythm", "labs_imaging", "ECG: sinus rhythm"),
        ("HX\nWell.\n\nRectal Ca hx\nSurgery in 2019.", "pertinent_history", "Rectal Ca hx"),
    ],
)
def test_a_line_that_says_something_is_no_mere_heading(text: str, name: str, words: str) -> None:
    assert words in texts(text, name)


def test_an_order_over_a_longer_one_is_recommended() -> None:
    assert "Admit to ICU" in steps("PLAN\n\nAdmit to ICU\nStart an infusion titrated to MAP 65")


def test_a_problem_that_a_plan_names_again_is_no_recommendation() -> None:
    found = steps("ASSESSMENT\nGout.\n\nPLAN\nGout.\nColchicine 0.5 mg.\n")
    assert list(found) == ["Colchicine 0.5 mg."]


@grid(
    "line",
    [
        "PATIENT: SUICIDAL WITH PLAN",
        "PATIENT: ANAPHYLAXIS TO PENICILLIN IN 2015",
        "PATIENT: SUICIDAL",
        "Patient: Chest Pain",
        "Patient: Shortness Of Breath",
        "Added Warfarin",
        "Added 3/5/25 Warfarin",
        "ADDENDUM 3/5/25 PENICILLIN ALLERGY",
    ],
)
def test_capitals_alone_make_no_identity(line: str) -> None:
    assert shown(f"{line}\n\nPLAN\nRest.\n") == [line, "Rest."] or line in shown(line)


@pytest.mark.parametrize(
    "line",
    [
        "NAME: XYZZY PLUGH",
        "ATTENDING: XYZZY PLUGH",
        "PATIENT: MR XYZZY PLUGH",
        "PATIENT: PLUGH, XYZZY  DOB: 1/1/50",
        "[Addendum 22/11/25 16:20 – Dr X Plugh]",
    ],
)
def test_a_name_in_capitals_or_under_an_addition_is_still_no_item(line: str) -> None:
    assert sorted(shown(f"PLAN\nRest.\n\n{line}\nFluids.\n")) == ["Fluids.", "Rest."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MEDICATIONS\n\nAspirin\n\nALLERGIES\n\nAspirin\n", "Aspirin"),
        ("MEDICATIONS ON ADMISSION\nWarfarin\n\nMEDICATIONS STOPPED\nWarfarin\n", "Warfarin"),
        ("FAMILY HISTORY\nBreast cancer\n\nPMH\nBreast cancer\n", "Breast cancer"),
        ("EXAM\nRight elbow: Normal. Pain.\nLeft elbow: Normal. Pain.\n", "Pain."),
    ],
)
def test_words_that_stood_before_are_kept_where_they_stand_again(text: str, words: str) -> None:
    assert shown(text).count(words) >= 2


@pytest.mark.parametrize(
    "text",
    [
        "A/P: Viral URI.\n\nBilling: 99213\n\n{}\n",
        "A/P: Viral URI.\n\nBilling: 99213\n{}\n",
        "A/P: Viral URI.\n\nBilling\nLevel B\n\n{}\n",
        "A/P: Viral URI.\n\nBilling\nLevel B\n{}\n",
    ],
)
def test_an_administrative_label_rules_its_own_line_or_paragraph(text: str) -> None:
    words = "ADDENDUM: Potassium 6.8, patient called back to ED."
    assert shown(text.format(words)) == ["Viral URI.", words]


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_organ_systems_and_vital_signs_open_no_part(between: str) -> None:
    systems = ["Neuro: wean propofol.", "ID: MRSA, vancomycin 1 g.", "Heme: hold heparin."]
    assert texts(f"PLAN:{between}{between.join(systems)}\n", "assessment") == systems
    signs = ["BP: 88/50", "P: 132", "RR: 28", "SpO2: 86%"]
    assert texts(f"VITALS{between}{between.join(signs)}\n", "objective_findings") == signs
    alone = ["BP", "88/50", "P", "132", "RR", "28"]
    assert texts(f"VITALS{between}{between.join(alone)}\n", "objective_findings") == alone


def test_a_part_among_organ_systems_of_a_plan_stays_in_it() -> None:
    lines = ["CV: stop metoprolol.", "Social: family meeting.", "Resp: wean."]
    assert texts("\n".join(["PLAN", *lines]), "assessment") == lines


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_letters_in_a_series_are_parts(between: str) -> None:
    parts = ["S: A cough.", "O: Lungs clear.", "A: Viral URI.", "P: Rest."]
    kinds = [one.kind for one in read(between.join(parts)).outline.sections]
    assert kinds == ["history", "examination", "assessment", "plan"]
    found = read(between.join(["O: T 37", "P: 88 regular", "BP 90/40", *parts[2:]])).outline
    assert [one.kind for one in found.sections] == kinds[1:]


@pytest.mark.parametrize("heading", ["DISCHARGE MEDICATIONS", "Current medications:"])
def test_medicines_that_one_goes_home_with_are_medicines_behind_a_plan_too(heading: str) -> None:
    text = f"MEDICATIONS\nWarfarin\n\nPLAN\nRest.\n\n{heading}\nApixaban\n"
    assert texts(text, "medicines_allergies") == ["Warfarin", "Apixaban"]


def test_a_line_that_ends_in_an_open_word_goes_on_in_the_next() -> None:
    assert "no history of\nDVT or PE." in shown("HPI\nno history of\nDVT or PE.\nWell.\n")
