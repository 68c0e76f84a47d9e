"""The parts of a clinical note, found by rules."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.summarize.names import kind_of
from workers.summarize.sections import outline

_FRAGMENTS = st.sampled_from(
    [
        "HPI: ",
        "PLAN\n",
        "Meds\n",
        "## Impression\n",
        "**Allergies:** NKDA\n",
        "HISTORY OF PRESENT ILLNESS\n\n",
        "1. Hypertension. ",
        "- 2.5 mg daily\n",
        "She denies chest pain. ",
        "O/E\r\n",
        "[Addendum]\n",
        "\n\n",
        "\n",
        "  \n",
        "\x0c",
        "word " * 30,
    ]
)
NOTES = st.lists(_FRAGMENTS | st.text(max_size=8), max_size=40).map("".join)


def titles(text: str) -> list[tuple[str, str]]:
    return [(one.title, one.kind) for one in outline(text).sections]


@grid(
    ("between", "kind"),
    [
        ("", "plan"),
        ("Allergies:\nLatex\n\n", "plan"),
        ("Follow-up:\nIn a week.\n\n", "plan"),
        ("History:\nShe coughs.\n\n", "medicines"),
    ],
)
def test_medicines_that_come_again_behind_a_plan_are_planned(between: str, kind: str) -> None:
    text = f"Medications:\nAspirin\n\nPlan:\nRest.\n\n{between}Medications:\nWarfarin\n"
    found = [kind for title, kind in titles(text) if title == "Medications"]
    assert found == ["medicines", kind]


@grid(
    "heading",
    [
        "PLAN\n\n",
        "Plan\n",
        "Plan:\n",
        "Plan: ",
        "PLAN: ",
        "## Plan\n",
        "**Plan**\n",
        "**Plan:** ",
        "__PLAN__:\n",
        "Plan (in no real order)\n",
        "Plan - ",
        "P:\n",
        "P\n",
        "3. PLAN\n",
        "Treatment plan:\n",
        "Rx / Plan\n",
    ],
)
def test_a_part_is_found_whatever_the_style_of_its_heading(heading: str) -> None:
    found = titles(f"HPI\nShe coughs.\n\n{heading}Rest and fluids.")
    assert [kind for _, kind in found] == ["history", "plan"]


@grid(
    ("title", "kind"),
    [
        ("History of Present Illness", "history"),
        ("FAM/SOCHX", "family_social"),
        ("PMHx (relevant only)", "past_history"),
        ("Meds (unchanged per pt)", "medicines"),
        ("Rectal Ca hx", "history"),
        ("Tel exam", "examination"),
        ("Recent results (EMR)", "results"),
        ("Ix ordered today", "plan"),
        ("Dx / Impression", "assessment"),
        ("A&P", "assessment_plan"),
        ("Safety\u2011net", "plan"),
        ("Acne", None),
        ("", None),
    ],
)
def test_a_name_is_known_with_its_short_forms_and_qualifiers(title: str, kind: str | None) -> None:
    assert kind_of(title) == kind


@pytest.mark.parametrize(
    "line",
    [
        "No reg meds",
        "plan to review",
        "Plan was discussed with her in some detail today, and she agrees with all of it now.",
        "- Plan",
        "BP: 130/68.",
        "HEENT: Normal.",
    ],
)
def test_a_statement_is_no_heading(line: str) -> None:
    assert len(titles(f"HPI\nShe coughs.\n{line}\nShe is well.")) == 1


def test_an_impression_within_results_stays_there() -> None:
    found = titles("Results\nCT chest: clear.\nImpression: no nodule.\n\nImpression: well.")
    assert found == [("Results", "results"), ("Impression", "assessment")]


@pytest.mark.parametrize(
    "words",
    ["2.5 mg daily", "-3.0 D sphere", "> 5 cm mass", "2 tablets daily", "10 Units at night"],
)
def test_numbers_signs_and_comparators_at_the_head_of_a_line_are_no_list_marks(words: str) -> None:
    for heading in ("Findings\n", "Findings: ", "Findings:\n"):
        text = f"{heading}{words}\n"
        (unit,) = outline(text).units
        assert text[unit.start : unit.end] == words


def test_a_sign_directly_behind_a_label_stays() -> None:
    text = "Results:-0.5 D"
    (unit,) = outline(text).units
    assert text[unit.start : unit.end] == "-0.5 D"


@given(NOTES)
def test_sections_cover_any_text_and_sentences_hold_every_visible_character(text: str) -> None:
    found = outline(text)
    assert found.sections[0].start == 0
    assert found.sections[-1].end == len(text)
    for one, following in pairwise(found.sections):
        assert one.end == following.start
    for spans in (found.structure.paragraphs, found.structure.sentences):
        assert all(a.end <= b.start for a, b in pairwise(spans))
        held = "".join(span.of(text) for span in spans)
        assert "".join(held.split()) == "".join(text.split())
    for unit in found.units:
        section = found.sections[unit.section]
        assert section.body <= unit.start < unit.end <= section.end


@grid(
    ("note", "parts"),
    [
        ("ASSESSMENT\nSepsis.\n\nPE\nstart heparin\n", ["assessment"]),
        ("PLAN\nheparin\n\nCT\nchest tomorrow\n", ["plan"]),
        ("HISTORY\nCough since May.\n\nCT\nNo nodules.\n", ["history", "results"]),
        ("HISTORY\nCough since May.\nCT\nNo nodules.\n", ["history"]),
    ],
)
def test_a_name_that_may_be_a_problem_or_a_task_heads_no_part_among_these(
    note: str, parts: list[str]
) -> None:
    assert [kind for _, kind in titles(note)] == parts
