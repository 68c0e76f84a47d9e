"""Spans hold: they lie inside the text, and its words there state the value, in noise as well."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.made_documents import reports, styles
from benchmarks.made_documents.writing import smudged
from tests.grid import grid
from workers.extract.evaluation.accuracy import stated_by_its_span
from workers.extract.intake.readability import Unreadable
from workers.extract.loop.extraction import Extraction, extract_text
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies
from workers.extract.rules.choosing import extract_field

PIECES = [
    "Invasive ductal carcinoma", "grade 2", "Nottingham grade III", "Gleason 3+4=7", "pT2 N1a M0",
    "stage IIIA", "Margins negative, 3 mm", "margin involved", "2 of 14 lymph nodes", "LVI: absent",
    "perineural invasion present", "ER: Positive (95%)", "HER2 3+", "positive for CK7 and p63",
    "KRAS p.Gly12Asp VAF 12%", "EML4-ALK fusion", "MSI-High", "TMB 12 mut/Mb", "PSA: 7.5 ng/mL",
    "prostate volume 40 cc", "PI-RADS 4", "Hemoglobin 9.1 g/dL (12-16) L", "Na 140 mmol/L",
    "Metformin 500 mg PO twice daily", "a 3.2 x 1.1 cm mass", "Report date: 2024-05-17",
    "17 May 2024", "Lakeside General Hospital", "Diagnosis: colitis", "IMPRESSION: stable\nnothing",
    "Procedure: biopsy", "Estimated blood loss: 50 mL", "Complications: none", "Plan: see again",
    "no evidence of", "suspected", ":", "\n", "\n\n", " ", "\t", "- ", "|", ";", "…", "é",
    "\u00a0", "𝒳", "µ",
    "(", ")", "%", "1", "0,5", "x",
]  # fmt: skip


@pytest.mark.requirement("MV-2.2")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=24), st.sampled_from(["", " ", "\n", ". "]),
       st.booleans())  # fmt: skip
def test_every_rule_gives_spans_that_state_their_values(
    pieces: list[str], between: str, wide: bool
) -> None:
    text = between.join(pieces)
    parts = Parts(text)
    for field in field_policies():
        for item in extract_field(field, parts, wide=wide).items:
            assert 0 <= item.start < item.end <= len(text)
            assert stated_by_its_span(field, text, item), (field, text[item.start : item.end])


@pytest.mark.requirement("MV-2.2")
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200), st.sampled_from([0.0, 0.01, 0.05, 0.15]))
def test_the_spans_of_a_bad_scan_hold_in_places_of_the_whole(seed: int, share: float) -> None:
    rng = random.Random(seed)
    every = reports.reports() + styles.reports()
    chosen = rng.choice([one for one in every if len(one.text) < 4_000])
    text = smudged(chosen.text, rng, share)
    try:
        found = extract_text(text)
    except Unreadable:
        return
    for field, result in found.fields.items():
        for item in result.items:
            assert 0 <= item.start < item.end <= len(text)
            assert stated_by_its_span(field, text, item), (field, text[item.start : item.end])


def _told(text: str, found: Extraction) -> dict[str, list[tuple[object, str]]]:
    """Each field's status and values with the words at their spans, space run together."""
    return {
        field: [
            (" ".join(str(one.value.key).replace("\\n", " ").split()),
             " ".join(text[one.start : one.end].split()))
            for one in result.items
        ]
        for field, result in found.fields.items()
    }  # fmt: skip


EVERY = [one for one in reports.reports() if one.type != "unreadable"]


@pytest.mark.requirement("MV-2.2")
@grid("report", EVERY[::4])
def test_other_line_ends_change_no_value_and_no_span(report: reports.Report) -> None:
    expected = _told(report.text, extract_text(report.text))
    for end in ("\r\n", "\r"):
        text = report.text.replace("\n", end)
        found = extract_text(text)
        assert _told(text, found) == expected, repr(end)
        for result in found.fields.values():
            for item in result.items:
                assert text[item.start : item.end] == text[item.start : item.end].strip()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_blank_line_ends_a_question_whatever_the_line_ends(end: str) -> None:
    text = "Indication: cough.\n\nThere is a 3.2 cm mass and a 7 mm nodule.\n".replace("\n", end)
    found = extract_field("measurements", Parts(text))
    assert [text[one.start : one.end] for one in found.items] == ["3.2 cm", "7 mm"]


def test_stretches_under_headings_of_one_kind_never_overlap() -> None:
    parts = Parts("Discharge medications:\nAspirin 81 mg daily\n" * 50)
    found = parts.stretches(lambda one: one.alone, lambda _: False, to_blank=True)
    assert found == [(0, len(parts.text))]
