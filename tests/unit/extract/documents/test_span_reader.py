"""The learned reader of documents: every word is read once, and what it finds stands there."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.encoder.tagging import LONGEST
from workers.encoder.tokens import tokens_of
from workers.extract import span_reader
from workers.extract.rubrics import DOCUMENT_TYPES, rubric
from workers.extract.span_reader import FIRST, INSIDE, LAST, TAGS, place_of, stretches

LETTER = (
    "Cedar Valley Heart Clinic\n3 March 2024\n\nDear Dr Ames, I saw this gentleman, who came about "
    "breathlessness on the stairs. He has aortic stenosis. I shall arrange an echocardiogram.\n"
)


@given(st.lists(st.integers(1, 400), max_size=8))
def test_stretches_hold_every_token_once_and_end_with_lines(sizes: list[int]) -> None:
    text = "".join("word " * size + "\n" for size in sizes)
    tokens = tokens_of(text)
    found = list(stretches(text, tokens))
    assert [0, *(end for _, end in found)] == [*(start for start, _ in found), len(tokens.ids)]
    assert all(0 < end - start <= LONGEST for start, end in found)
    assert all(one[1] == two[0] for one, two in pairwise(found))
    for start, end in found[:-1]:
        cut = text[tokens.places[end - 1][1] : tokens.places[end][0]]
        inside = tokens.places[start + LONGEST // 2 : end]
        broken = any("\n" in text[one[1] : two[0]] for one, two in pairwise(inside))
        assert "\n" in cut or not broken


def test_a_stretch_knows_where_it_stands() -> None:
    assert [place_of(*one, 30) for one in ((0, 30), (0, 10), (10, 20), (20, 30))] == [
        FIRST, FIRST, INSIDE, LAST,
    ]  # fmt: skip


def test_what_it_finds_stands_in_the_text_and_is_of_the_type() -> None:
    stated = span_reader.load().read(LETTER, "clinical-notes")
    wanted = {one for one in rubric("clinical-notes").fields if one in TAGS}
    for field in TAGS:
        parts = stated.parts(field)
        assert not parts or field in wanted
        assert all(0 <= one.start < one.end <= len(LETTER) for one in parts)
        assert [one.share for one in parts] == sorted((o.share for o in parts), reverse=True)
        assert (stated.share(field, 0, 5) is None) == (field not in wanted)


@pytest.mark.parametrize(
    ("field", "words"),
    [("institution", "Cedar Valley Heart Clinic"), ("date", "3 March 2024"),
     ("chief_complaint", "breathlessness on the stairs"), ("diagnosis", "aortic stenosis")],
)  # fmt: skip
def test_values_without_a_label_are_found(field: str, words: str) -> None:
    surest = span_reader.load().read(LETTER, "clinical-notes").parts(field)[0]
    assert words in LETTER[surest.start : surest.end + 1]


@pytest.mark.parametrize("text", ["", "\n\n", "«»", "." * 300])
@pytest.mark.parametrize("kind", DOCUMENT_TYPES)
def test_a_text_without_words_states_nothing(text: str, kind: str) -> None:
    stated = span_reader.load().read(text, kind)
    assert not any(stated.parts(field) for field in TAGS)


def test_the_reader_is_small() -> None:
    assert sum(one.nbytes for one in span_reader.load().own.values()) < 11_000_000
