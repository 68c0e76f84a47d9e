"""What kind of sentence an anchor is, and why a document has few of them."""

import pytest

from clinical_text.structure import segment
from knowledge.loader import load
from tests.grid import grid
from workers.anchor.signals import KINDS, Anchor, score, too_few

ALL_KINDS = {
    "recommendation",
    "evidence_level",
    "statistic",
    "endpoint",
    "identifier",
    "limitation",
}


def kinds(sentence: str) -> tuple[str, ...]:
    """The kinds of a sentence as an anchor."""
    total, signals = score(sentence)
    return Anchor(0, len(sentence), total, signals).kinds


def test_every_signal_makes_one_of_the_six_kinds() -> None:
    policy = load("reading/signals")
    assert set(policy["kinds"]) == set(policy["signals"])
    assert set(policy["kinds"].values()) == set(KINDS) == ALL_KINDS


@grid(
    ("sentence", "expected"),
    [
        ("ctDNA testing is recommended after surgery.", {"recommendation"}),
        ("This is a level IV finding (low-certainty evidence).", {"evidence_level"}),
        ("Recurrence fell in 48% of them.", {"statistic"}),
        ("The hazard ratio was 0.60 (95% CI 0.41 to 0.87).", {"statistic"}),
        ("The primary endpoint was reached.", {"endpoint"}),
        ("The trial is registered as NCT04068103.", {"identifier"}),
        ("What it means for older adults remains uncertain.", {"limitation"}),
        ("The rooms were painted in a pale colour.", set()),
        ("The primary endpoint fell by 48%, so testing is recommended.",
         {"endpoint", "statistic", "recommendation"}),
    ],
)  # fmt: skip
def test_an_anchor_is_of_the_kinds_of_its_signals(sentence: str, expected: set[str]) -> None:
    assert set(kinds(sentence)) == expected


def test_signals_of_one_kind_make_it_once() -> None:
    found = kinds("The hazard ratio was 0.60 (95% CI 0.41 to 0.87) in 48% of them.")
    assert found == ("statistic",)


@pytest.mark.parametrize(
    ("text", "found", "why"),
    [
        ("", 0, "no text"),
        ("Recurrence fell in all of them. Nobody died of it so far.", 2, "2 whole sentences"),
        (
            "# Results\n\nRecurrence fell in all of them.",
            1,
            "1 whole sentence (1 headings, rows, fragments)",
        ),
        ("Recurrence fell in all. " * 4, 1, "4 sentences, which repeat each other"),
        ("One came of it then. Two came of it later. Three came of it last.", 3, None),
    ],
)
def test_why_a_document_has_few_anchors_is_told(text: str, found: int, why: str | None) -> None:
    assert too_few(text, segment(text), found) == why
