"""What the encoder's own tokens do not tell: the space around a word, and how it is written."""

from hypothesis import given
from hypothesis import strategies as some

from workers.encoder.tokens import GAPS, SHAPES, tokens_of

SPACE = {"": "none", " ": "space", "   ": "wide", "\t": "wide", "\n": "line", " \n  ": "line",
         "\n\n": "lines"}  # fmt: skip
WORDS = {
    "loss": "small",
    "Blood": "capital",
    "ANAESTHESIA": "capitals",
    "A4": "figure",
    "(": "mark",
}


@given(
    some.lists(some.sampled_from(sorted(WORDS)), min_size=1, max_size=12),
    some.lists(some.sampled_from([one for one in SPACE if one]), min_size=12, max_size=12),
)
def test_each_word_knows_the_space_before_it_and_its_shape(
    words: list[str], spaces: list[str]
) -> None:
    text, starts = "", []
    for word, space in zip(words, spaces, strict=False):
        text += space if text else ""
        starts.append(len(text))
        text += word
    tokens = tokens_of(text)
    firsts = {start: n for n, (start, _) in enumerate(tokens.places)}
    for n, (word, start) in enumerate(zip(words, starts, strict=True)):
        assert SHAPES[tokens.shapes[firsts[start]]] == WORDS[word]
        assert GAPS[tokens.gaps[firsts[start]]] == (SPACE[spaces[n]] if n else "lines")


def test_parts_of_a_word_stand_beside_each_other_and_have_its_shape() -> None:
    tokens = tokens_of("ANAESTHESIA")
    assert len(tokens.ids) > 1
    assert [GAPS[one] for one in tokens.gaps] == [
        "lines",
        *["none"] * (len(tokens.ids) - 1),
        "lines",
    ]
    assert {SHAPES[one] for one in tokens.shapes} == {"capitals"}


def test_a_stretch_keeps_the_space_on_both_sides() -> None:
    tokens = tokens_of("one  two\nthree four")
    assert [GAPS[one] for one in tokens.stretch(1, 2).gaps] == ["wide", "line", "space"]
