"""Anchors: the sentences of highest signal, verbatim."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_text.structure import segment
from tests.grid import grid
from workers.anchor.signals import anchors, score

_SENTENCES = st.sampled_from(
    [
        "Testing is recommended for all adults with the disease.",
        "Testing should be offered (category 2A).",
        "Recurrence fell in 48 % of 130 patients.",
        "The trial is registered as NCT04068103.",
        "The primary endpoint was overall survival.",
        "Evidence remains insufficient in older adults.",
        "The hazard ratio was 0.60 (95% CI 0.41 to 0.87; p<0.01).",
        "The hazard ratio was 0.90 (95% CI 0.71 to 1.17; p<0.51).",
        "Nothing else of note was seen at the second visit.",
        "The rooms were painted in a pale colour.",
        "Too short.",
        "Arm | HR | 95% CI | patients",
    ]
)
TEXTS = st.lists(
    _SENTENCES | st.sampled_from(["\n\n", "# Results\n\n", "References:\n"]) | st.text(max_size=40),
    max_size=25,
).map(" ".join)
_WEIGHTS = {
    "recommendation": 2,
    "evidence_level": 3,
    "statistics": 2,
    "trial_registration": 3,
    "endpoint": 2,
    "limitation": 1,
    "effect_estimate": 2,
    "uncertainty": 1,
}


@pytest.mark.requirement("MC-3.3a")
@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_mc_3_3a_anchors_are_whole_sentences_in_order_and_at_most_five(text: str) -> None:
    structure = segment(text)
    found = anchors(text, structure)
    assert len(found) <= 5
    assert [a.start for a in found] == sorted({a.start for a in found})
    for anchor in found:
        assert (anchor.start, anchor.end) in structure.sentences
        sentence = text[anchor.start : anchor.end]
        assert len(sentence) > 20
        assert (anchor.score, anchor.signals) == score(sentence)
        assert anchor.score == sum(_WEIGHTS[name] for name in anchor.signals)


@pytest.mark.requirement("MC-3.3a")
@settings(max_examples=100, deadline=None)
@given(st.permutations(["visit", "dose", "scan", "draw", "reading", "biopsy"]), st.integers(0, 6))
def test_mc_3_3a_three_anchors_even_where_nothing_gives_a_signal(
    words: list[str], count: int
) -> None:
    text = " ".join(f"Nothing was noted about the {word} by the nurse." for word in words[:count])
    assert len(anchors(text, segment(text))) == min(count, 3)


def test_more_than_three_only_where_they_give_a_signal() -> None:
    signals = (
        "Testing is recommended for adults. Five died in 10 months. It is limited by its size."
    )
    text = signals + " The endpoint was reached early. The room was painted in pale blue."
    found = anchors(text, segment(text))
    assert len(found) == 4
    assert all(anchor.score for anchor in found)


@grid(
    ("sentence", "signals"),
    [
        ("Testing is recommended for all.", {"recommendation"}),
        ("Patients must be told.", {"recommendation"}),
        ("This is a category 2A statement.", {"evidence_level"}),
        ("Level of evidence: II for this use.", {"evidence_level"}),
        ("There was moderate-certainty evidence.", {"evidence_level"}),
        ("It fell by 48 % overall.", {"statistics"}),
        ("It fell by 48% overall.", {"statistics"}),
        ("We enrolled 1,039 eligible patients there.", {"statistics"}),
        ("Registered as NCT04068103 before the start.", {"trial_registration"}),
        ("Registered as ACTRN12615000381583 then.", {"trial_registration"}),
        ("Registered as UMIN000039205 then.", {"trial_registration"}),
        ("Registered as ISRCTN12345678 then.", {"trial_registration"}),
        ("The primary outcome was death.", {"endpoint"}),
        ("The secondary end-points were met.", {"endpoint"}),
        ("Data are insufficient.", {"limitation"}),
        ("Routine use is not recommended.", {"recommendation", "limitation"}),
        ("The hazard ratio was low.", {"effect_estimate"}),
        (
            "It was lower (HR 0.60; 95% CI, 0.41-0.87).",
            {"effect_estimate", "uncertainty", "statistics"},
        ),
    ],
)
@pytest.mark.requirement("MC-3.3a")
def test_mc_3_3a_each_signal_is_seen_and_weighted(sentence: str, signals: set[str]) -> None:
    points, names = score(sentence)
    assert set(names) == signals
    assert points == sum(_WEIGHTS[name] for name in signals)


@grid(
    "sentence",
    [
        "The primary tumor was resected.",  # no endpoint
        "Secondary infection was common.",
        "The level in plasma was low.",  # no level of evidence
        "Level II lymph nodes were removed.",
        "NCT12 is no registration.",
        "BP 118/72, HR 76, RR 14.",  # a pulse is no ratio
        "CI was seen in some: convergence insufficiency.",
        "Mustard was eaten.",
    ],
)
def test_look_alikes_give_no_signal(sentence: str) -> None:
    assert score(sentence) == (0, ())


def test_a_signal_counts_once_and_the_strongest_is_named_first() -> None:
    assert score("NCT04068103 must be recommended and should be required.") == (
        5,
        ("trial_registration", "recommendation"),
    )


def test_a_repeated_sentence_is_anchored_once() -> None:
    text = "Testing is recommended for adults. " * 4 + "The room was painted in pale blue."
    assert len(anchors(text, segment(text))) == 2


def test_sentences_that_differ_in_a_number_are_both_anchored() -> None:
    text = "The hazard ratio was 0.60 in the arm. The hazard ratio was 1.60 in the arm."
    assert len(anchors(text, segment(text))) == 2


def test_headings_rows_and_fragments_are_no_anchors() -> None:
    text = (
        "# Recommended testing of 130 patients in category 2A\n\n"
        "PRIMARY ENDPOINTS AND LIMITATIONS\nArm | 48 % of 130 patients | HR 0.6\n\n"
        "Category 2A.\n\nNothing was seen by the nurse."
    )
    assert [text[a.start : a.end] for a in anchors(text, segment(text))] == [
        "Nothing was seen by the nurse."
    ]


def test_references_come_last() -> None:
    text = (
        "One was seen by the nurse. Two were seen by the nurse. Three were seen by the clerk.\n\n"
        "References:\nSmith J. Testing recommended in 130 patients: primary endpoint report."
    )
    found = anchors(text, segment(text))
    assert len(found) == 3
    assert not any("Smith" in text[a.start : a.end] for a in found)


def test_limits_may_be_given() -> None:
    text = "Testing is recommended for adults. Five died in 10 months. It is limited by its size."
    assert len(anchors(text, segment(text), at_least=1, at_most=2)) == 2
