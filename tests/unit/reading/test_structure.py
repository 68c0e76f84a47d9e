"""Sections, paragraphs and sentences of a stored text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_text.structure import segment
from store.core.spans import Span, Structure, sentences_of
from tests.fuzz.properties import structure_holds
from tests.grid import grid

_FRAGMENTS = st.sampled_from(
    [
        "# Title\n",
        "## Part ##\n",
        "RESULTS: ",
        "**Methods**: ",
        "ASSESSMENT\n",
        "Reason for visit:\n",
        "Under\n-----\n",
        "- item\n",
        "1. item\n",
        "a | b\n",
        "Of 130 patients, 5.2 % relapsed (p<.05). ",
        "Smith et al. [1] saw no effect vs. placebo.[2] ",
        "e.g. the U.S. trial ",
        'He said "stop." ',
        ". . . . ",
        "。」",
        "\n",
        "\n\n",
        "\r\n",
        "\x0c",
        "\u2029",
        "  \n",
        "\u0301",
        "\u202e",
        "\U0001f9ec",
    ]
)
TEXTS = st.lists(_FRAGMENTS | st.text(max_size=12), max_size=30).map("".join) | st.text()


def _sentences(text: str) -> list[str]:
    return [span.of(text) for span in segment(text).sentences]


def _titles(text: str) -> list[str]:
    return [section.title for section in segment(text).sections]


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_is_covered_in_order_without_gap_or_overlap(text: str) -> None:
    structure_holds(text, segment(text))


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "." * 20_000, "a. " * 20_000, "\n" * 20_000, "x" * 20_000, "#" * 9_000]
)
def test_degenerate_texts_are_covered_too(text: str) -> None:
    structure_holds(text, segment(text))


@grid(
    ("text", "titles"),
    [
        ("Words only.", [""]),
        ("Before.\n\n# First\n\nWords.\n\n## Second ##\nMore.", ["", "First", "Second"]),
        ("Title\n=====\nWords.\n\nPart\n----\nWords.", ["Title", "Part"]),
        ("MEDICAL DECISION MAKING\nStable.\n\nPLAN\nRest.", ["MEDICAL DECISION MAKING", "PLAN"]),
        ("Reason for visit:\nCough.\n\nMeds\nNone.", ["Reason for visit", "Meds"]),
        ("BACKGROUND: Why.\n\nResults: What.\n", ["BACKGROUND", "Results"]),
        ("**IMPORTANCE**: Why.\n\n**Results:** What.", ["IMPORTANCE", "Results"]),
        ("**Study arms**\n\nTwo.", ["Study arms"]),
        ("2.1 Methods\nWe did.", ["2.1 Methods"]),
        ("Ended.\nRESULTS\nOf these, 5 relapsed.", ["", "RESULTS"]),
    ],
)
def test_headings_of_every_kind_begin_a_section_titled_as_written(
    text: str, titles: list[str]
) -> None:
    assert _titles(text) == titles


@grid(
    "text",
    [
        "The criteria were as follows:\n- adult",
        "We included the following:\n- adult",
        "Ratio 1:2 was used.",
        "BP 120/80\nHR 76",
        "ASPIRIN\nMETFORMIN\nINSULIN",
        "we measured\nDNA\nand protein",
        "In the\nresults\nwe saw none.",
        "# \n##no space\n#",
        "1. Patients with diabetes:\n2. Others",
        "THIS REPORT IS AN EXAMPLE.",
        "A rule under words.\n---\nMore.",
        "Name: given",
    ],
)
def test_running_text_lists_and_readings_are_no_headings(text: str) -> None:
    assert _titles(text) == [""]


def test_a_heading_is_its_own_paragraph_and_sentence_in_its_section() -> None:
    text = "Before.\n## Methods\nWe did.\nThen more."
    structure = segment(text)
    section = structure.sections[1]
    assert text[section.start : section.end].startswith("## Methods")
    assert "## Methods" in [span.of(text) for span in structure.paragraphs]
    assert "## Methods" in [span.of(text) for span in structure.sentences]


def test_a_label_stands_apart_from_the_words_behind_it() -> None:
    text = "**RESULTS**: Five relapsed."
    assert [span.of(text) for span in segment(text).paragraphs] == [
        "**RESULTS**:",
        "Five relapsed.",
    ]


def test_a_marked_heading_over_a_deeper_one_opens_its_section() -> None:
    text = "# Paper\n\n## Abstract\n\nWords.\n\n## Empty\n\n## Next\n\nWords."
    sections = segment(text).sections
    assert [section.title for section in sections] == ["Abstract", "Empty", "Next"]
    assert sections[0].start == 0


def test_an_underline_belongs_to_its_heading() -> None:
    text = "Title\n=====\nWords."
    assert _sentences(text) == ["Title\n=====", "Words."]


@grid(
    "sentence",
    [
        "Aspirin vs. placebo was tested.",
        "See Fig. 2 and Fig. S1 for details.",
        "Smith et al. reported it.",
        "Some drugs, i.e. statins and e.g. Aspirin, were kept.",
        "Dr. Smith saw her at St. Jude.",
        "The protocol was No. 5 of vol. 3.",
        "J. R. Smith and E. coli were there.",
        "The mean was 3.5 mg at p<.05 and p = .04 overall.",
        "It was made by Acme Inc. in Ohio.",
        "The U.S. Food and Drug Administration approved it.",
        "It took approx. five days.",
        "The conc. of sodium was low.",
        "Take it b.i.d. with food.",
        'It ended "well."',
        "It fell (by half.)",
        "Is it viral ? bacterial",
        "Contents . . . . . . 5",
        "The value was v2.1.3 then.",
    ],
)
def test_stops_within_a_sentence_do_not_end_it(sentence: str) -> None:
    text = f"{sentence}\n\nPlainly another."
    assert _sentences(text)[0] == sentence


@grid(
    ("text", "sentences"),
    [
        ("It fell. It rose.", ["It fell.", "It rose."]),
        ("It fell.[1] It rose.", ["It fell.[1]", "It rose."]),
        ("It fell. [1, 2] It rose.", ["It fell. [1, 2]", "It rose."]),
        ("It fell in disease.12,13 It rose.", ["It fell in disease.12,13", "It rose."]),
        ("It fell.¹² It rose.", ["It fell.¹²", "It rose."]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("It fell (by half.) It rose.", ["It fell (by half.)", "It rose."]),
        ("Any pain? None! Good.", ["Any pain?", "None!", "Good."]),
        ("Smith et al. The end.", ["Smith et al.", "The end."]),
        ("Allergies? No. Patient well.", ["Allergies?", "No.", "Patient well."]),
        ("In the U.S. The rate fell.", ["In the U.S.", "The rate fell."]),
        ("It was hepatitis B. The rest fell.", ["It was hepatitis B.", "The rest fell."]),
        ("p was <.05. We stopped.", ["p was <.05.", "We stopped."]),
        ("It was measured. ctDNA was low.", ["It was measured.", "ctDNA was low."]),
        ("no fever. afebrile since.", ["no fever.", "afebrile since."]),
        ("She has MS. He has none.", ["She has MS.", "He has none."]),
        ("効いた。効かない。", ["効いた。", "効かない。"]),
        ("A line\nbroken here. Next", ["A line\nbroken here.", "Next"]),
        (
            "- one thing\n- other\n  thing\n2) third",
            ["- one thing", "- other\n  thing", "2) third"],
        ),
        ("1. First. More.\n2. Second", ["1. First.", "More.", "2. Second"]),
        ("Arm | HR\nA | 0.6\nB | 0.7", ["Arm | HR", "A | 0.6", "B | 0.7"]),
        ("No sore throat  \nMild cough", ["No sore throat", "Mild cough"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert _sentences(text) == sentences


def test_list_items_share_a_paragraph_but_no_sentence() -> None:
    text = "Take\n- one\n- two"
    structure = segment(text)
    assert len(structure.paragraphs) == 1
    assert len(structure.sentences) == 3


@given(TEXTS)
def test_the_sentences_of_a_stored_structure_are_read_as_they_were_written(text: str) -> None:
    written = segment(text)

    stored = json.loads(written.model_dump_json())

    assert sentences_of(stored) == written.sentences == Structure.model_validate(stored).sentences
    assert all(type(one) is Span for one in sentences_of(stored))
