"""Any text around one object of the asked shape is taken off; nothing is mended."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from tests.examples import examples
from workers.language_model.replies import Unreadable, value_of


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    more: list[str]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[Item]


SHAPES = st.builds(
    Shape, items=st.lists(st.builds(Item, name=st.text(), more=st.lists(st.text(), max_size=3)))
)
PROSE = st.text(alphabet=st.characters(blacklist_characters="{}", blacklist_categories=("Cs",)))
FENCES = st.sampled_from(
    [("", ""), ("```json\n", "\n```"), ("```\n", "```"), ("<think>a</think>", "")]
)
THOUGHTS_END = "</think>"


@examples(100)
@given(SHAPES, PROSE, PROSE, FENCES, st.sampled_from([None, 1, 2]), st.booleans())
def test_a_value_comes_back_whatever_words_and_fences_stand_around_it(
    value: Shape,
    before: str,
    behind: str,
    fence: tuple[str, str],
    indent: int | None,
    ascii_only: bool,
) -> None:
    written = json.dumps(value.model_dump(), indent=indent, ensure_ascii=ascii_only)
    opened, closed = fence
    assume(THOUGHTS_END not in f"{before}{written}{behind}")
    assert value_of(Shape, f"{before}{opened}{written}{closed}{behind}") == value


@examples(100)
@given(SHAPES, PROSE, st.data())
def test_a_value_that_is_cut_anywhere_is_none(
    value: Shape, before: str, data: st.DataObject
) -> None:
    written = json.dumps(value.model_dump())
    cut = data.draw(st.integers(0, len(written) - 1))
    with pytest.raises(Unreadable):
        value_of(Shape, before + written[:cut])


@examples(100)
@given(st.text(alphabet='{}[]":,\\ab ', max_size=200))
def test_any_text_is_a_value_or_a_fault_that_is_told_in_few_words(text: str) -> None:
    try:
        value_of(Shape, text)
    except Unreadable as error:
        told = str(error)
    else:
        told = "a value"
    assert 0 < len(told) <= 400


def test_two_different_values_are_none_and_the_same_twice_is_one() -> None:
    one, other = '{"items": []}', '{"items": [{"name": "a", "more": []}]}'
    assert value_of(Shape, f"{one} {one}") == Shape(items=[])
    with pytest.raises(Unreadable, match="different"):
        value_of(Shape, f"{one} or {other}")


def test_what_a_model_thought_aloud_is_no_reply_and_the_mark_may_stand_in_a_text() -> None:
    draft, value = '{"items": [{"name": "a", "more": []}]}', '{"items": []}'
    assert value_of(Shape, f"Perhaps {draft}? No. {{{THOUGHTS_END}{value}") == Shape(items=[])
    with pytest.raises(Unreadable, match="no JSON object"):
        value_of(Shape, f"<think>{draft}{THOUGHTS_END}I cannot say.")
    marked = Shape(items=[Item(name=THOUGHTS_END, more=[])])
    assert value_of(Shape, marked.model_dump_json()) == marked
