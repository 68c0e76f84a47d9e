"""A note of several patients is not summarized as one without a word of it."""

from io import StringIO

import pytest
from rich.console import Console

from cli.commands.clinical.summarize import render
from workers.summarize.summary import summarize

ONE = """Patient name: Ada Plugh
MRN: 12345

Assessment: Pneumonia, improving.
Plan: Continue amoxicillin.
"""
OTHER = """Patient name: Ben Xyzzy
MRN: 67890

Assessment: Cellulitis of the left leg.
Plan: Start cefalexin.
"""


def test_a_note_of_one_patient_warns_of_nothing() -> None:
    assert summarize(ONE)["warnings"] == []
    assert summarize(ONE + "\nSeen again.\n" + ONE)["warnings"] == []


@pytest.mark.parametrize("text", [f"{ONE}\n{OTHER}", f"{OTHER}\n{ONE}\n{OTHER}"])
def test_a_note_of_two_patients_says_so_before_all_else(text: str) -> None:
    result = summarize(text)
    (warning,) = result["warnings"]
    assert warning["code"] == "several_patients"
    assert "2 patients" in warning["detail"]
    console = Console(record=True, width=200, file=StringIO())
    render(console, result)
    assert console.export_text().startswith("The note names 2 patients")


def test_a_number_alone_tells_two_patients_apart() -> None:
    text = "MRN: 12345\nPneumonia.\n\nMRN: 67890\nCellulitis.\n"
    assert [one["code"] for one in summarize(text)["warnings"]] == ["several_patients"]
