"""What a quotation cuts off at its edges, and widening to whole sentences."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.assertion.marks import Assertion
from clinical_text.doc import Doc
from clinical_text.sentences.boundaries import cuts_at, widen
from store.core.spans import Span
from tests.grid import grid

SAMPLES = Path(__file__).parents[3] / "samples" / "records"


def cuts(marked: str) -> tuple[str, ...]:
    """The cuts of the part between the two bars."""
    before, inside, after = marked.split("|")
    return cuts_at(before + inside + after, len(before), len(before) + len(inside))


@grid(
    "marked",
    [
        "a dose of 1|5 mg|.",
        "survival of |10|.5 months",
        "in 1|,980 patients|.",
        "in 1\u2009|980 patients|.",
        "ratio 0|.60 was seen|.",
        "95% CI, 0.33–|0.92|.",
        "95% CI, |0.33|-0.92",
        "mean |5.2| ± 2.1 kg",
        "about |10|² cells",
    ],
)
def test_an_edge_inside_a_number_is_flagged(marked: str) -> None:
    assert "number" in cuts(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "non|significant change|.",
        "anti-|PD-1 therapy|",
        "a |signi|ficant change",
        "it |did|n't help",
    ],
)
def test_an_edge_inside_a_word_is_flagged(marked: str) -> None:
    assert "word" in cuts(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "change −|1.2 points|.",
        "change -|1.2 points|.",
        "CI − |0.2|,",
    ],
)
def test_a_dropped_sign_is_flagged(marked: str) -> None:
    assert "sign" in cuts(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "p <|0.05|.",
        "p < |0.05|.",
        "age ≥ |65 years|.",
        "less than |50%| of",
        "AT LEAST\n|12 weeks|.",
    ],
)
def test_a_dropped_comparator_is_flagged(marked: str) -> None:
    assert "comparator" in cuts(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "The drug was not |effective|.",
        "There was no significant |difference in survival|.",
        "It worked without |compromising survival|.",
        "It didn’t |reduce mortality|.",
        "a non-|randomized trial|",
        "|A benefit| was not observed.",
    ],
)
def test_a_dropped_negation_is_flagged(marked: str) -> None:
    assert "negation" in cuts(marked)


@pytest.mark.parametrize("marked", ["in |25.2|% of", "a dose of |90| mg", "after |12|-month use"])
def test_a_dropped_unit_is_flagged(marked: str) -> None:
    assert "unit" in cuts(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "|The whole sentence has 15% in it.| No other.",
        "It was not done. |Survival improved.| Never mind.",
        "of 455 patients, |15% received chemotherapy (p < 0.05)|, and",
        "from |PMC| 5 ",
        "|alone|",
    ],
)
def test_a_passage_that_stands_on_its_own_has_no_cuts(marked: str) -> None:
    assert cuts(marked) == ()


TEXT = "One is here. Two is there.  Three ends."
SENTENCES = (Span(0, 12), Span(13, 26), Span(28, 39))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (4, 6, Span(0, 12)),
        (0, 12, Span(0, 12)),
        (11, 14, Span(0, 26)),
        (13, 26, Span(13, 26)),
        (4, 30, Span(0, 39)),
        (26, 28, Span(26, 28)),
        (24, 28, Span(13, 28)),
    ],
)
def test_a_passage_is_widened_to_the_smallest_run_of_sentences(
    start: int, end: int, expected: Span
) -> None:
    assert widen(TEXT, start, end, SENTENCES) == expected


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
def test_the_widened_passage_holds_the_passage(a: int, b: int) -> None:
    start, end = min(a, b), max(a, b)
    wide = widen(TEXT, start, end, SENTENCES)
    assert wide.start <= start <= end <= wide.end


def test_a_place_outside_the_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="not inside a text of 39 characters"):
        widen(TEXT, 0, 40, SENTENCES)


@pytest.mark.parametrize("tag", ["</system>", "<br />", "<!-- a comment -->", '<a href="x">'])
def test_the_end_of_a_tag_is_no_comparator(tag: str) -> None:
    text = f"{tag} Survival was longer."
    assert cuts_at(text, len(tag) + 1, len(text)) == ()
    assert cuts_at("p > 5 of ten", 4, 12) == ("comparator",)


@pytest.mark.parametrize(
    ("text", "passage", "loses"),
    [
        ("He has no fever. Cough for two days.", "Cough for two days.", False),
        ("He has no fever. Cough for two days.", "fever. Cough for two days.", True),
        ("He has no fever. Cough for two days.", "He has no fever.", False),
        ("Metastases: none. Pain: yes.", "Metastases:", True),
        ("Metastases:\nnone\nPain:\nyes", "Metastases:", True),
    ],
)
def test_a_denial_is_lost_only_where_it_begins_outside(
    text: str, passage: str, loses: bool
) -> None:
    start = text.index(passage)
    assert ("negation" in cuts_at(text, start, start + len(passage))) is loses


def sample_texts() -> Iterator[str]:
    """The beginnings of the sample records."""
    for file in sorted(SAMPLES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["text"][:1500]


def test_whole_sentences_are_passed_over_and_nothing_is_missed() -> None:
    """Every run of sentences of the samples, as if each sentence were read."""
    for text in sample_texts():
        reading = Doc(text)
        ends = [span.end for span in reading.sentences]
        for first, span in enumerate(reading.sentences):
            for end in ends[first : first + 3]:
                read = reading.cues(span.start, end)
                assert reading.denied_from_outside(span.start, end) == any(
                    cue.means is Assertion.NEGATED and not span.start <= cue.start < end
                    for cue in read
                )
