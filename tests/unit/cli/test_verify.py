"""What `attest verify` prints of a text, and when `--strict` lets it pass."""

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from cli.commands.questions.verify import holds, render
from tests.grid import grid
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import sent_along
from workers.verify.pasted.statements import statements

SOURCE = {
    "title": "A trial of the drug in adults",
    "text": "Cough was seen in 12% of patients given the drug. Stroke was not studied.",
    "identifiers": {"pmid": "11111111"},
}
TRUE = "Cough was seen in 12% of patients given the drug."


def check(text: str) -> dict[str, Any]:
    found = statements(text)
    at = datetime(2026, 11, 22, tzinfo=UTC)
    along = sent_along([SOURCE], found)
    return checked(text, found, along, against="documents", at=at)


def printed(text: str) -> str:
    console = Console(record=True, width=300, file=StringIO())
    render(console, check(text))
    return console.export_text()


@pytest.mark.parametrize(
    "text",
    [
        TRUE,
        f"1. {TRUE}\n2. Stroke was not studied (PMID: 11111111).\n",
        f"# Safety\n\n- {TRUE}\n- **Stroke** was not studied\n",
        f"{TRUE[:-1]} [1].\n\nSources\n1. First A, Second B. A trial. J Med 2020. PMID 11111111",
        f"> {TRUE}\n\nSources: PMID 11111111\n",
        f"Is it safe?\n\n{TRUE}\n",
    ],
)
def test_a_text_whose_statements_all_stand_holds(text: str) -> None:
    assert holds(check(text))


@grid(
    "lie",
    [
        "1. The drug cured all patients (PMID: 11111111).\n2. Nobody had cough (PMID: 11111111).",
        "# The drug doubles survival to 30 months in all patients",
        "The drug killed 90% of patients:",
        "Yes, in 90% of patients?",
        "Does it cure cancer?\n\nYes.",
        "- Death",
        "## References\n\n1. The drug cured all patients (PMID: 11111111).",
        "Source: everyone died of cough in the trial (PMID 11111111)",
        "[^1]: The drug cured all patients (PMID: 11111111).",
        "| Outcome | Drug |\n|---|---|\n| Cough | 99% |",
        "**The drug cured all patients**",
        "```\nThe drug cured all patients.\n```",
        "[The drug cured all patients](https://pubmed.ncbi.nlm.nih.gov/11111111/)",
        "It cures.",
    ],
)
def test_no_lie_holds_in_any_shape_alone_or_beside_the_truth(lie: str) -> None:
    assert not holds(check(lie))
    assert not holds(check(f"{TRUE}\n\n{lie}\n"))


@pytest.mark.parametrize("text", ["# Safety", "Is it safe?", "Sources: PMID 11111111", "---"])
def test_a_text_in_which_nothing_is_checked_does_not_hold_and_says_so(text: str) -> None:
    assert not holds(check(text))
    assert "Nothing was checked" in printed(text)


def test_what_is_not_judged_is_printed_with_its_reason() -> None:
    said = printed(f"# Safety\n\nIs it safe? {TRUE}\n\n---\n\nSources: PMID 11111111\n")
    assert "· # Safety (a heading, not judged)" in said
    assert "· Is it safe? (a question, not judged)" in said
    assert "· Sources: PMID 11111111 (names a source, not judged)" in said
    assert "---" not in said
    assert "1 claim: 1 supported, 0 contradicted, 0 not stated" in said


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        (TRUE, "✓"),
        ("Coughing was noted in 12% of those on the drug.", "?"),
        ("Bananas contain considerable amounts of potassium.", "?"),
        ("Cough was seen in 21% of patients given the drug.", "✗"),
        ("They speak of “a cough in nobody at all” in patients given it.", "✗"),
    ],
)
def test_a_cross_stands_only_where_something_speaks_against_a_statement(
    text: str, mark: str
) -> None:
    assert printed(text).lstrip().startswith(mark)
