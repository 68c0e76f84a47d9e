"""How much there is in JSON is counted without parsing it, whatever its parts are cut into."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.core.json_pieces import Most, Pieces, TooDeep, TooFull, measure

ANY = Most(strings=10**9, marks=10**9, depth=10**9)
_TEXTS = st.text(st.sampled_from('abé😀",[]{}:\\\n'), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _strings(value: Any) -> int:
    if isinstance(value, str):
        return 1
    if isinstance(value, dict):
        return sum(1 + _strings(inner) for inner in value.values())
    return sum(map(_strings, value)) if isinstance(value, list) else 0


def _marks(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(inner) - 1) + sum(map(_marks, inner))


def _depth(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0)


def _add(written: bytes, cuts: list[int], most: Most) -> Pieces:
    pieces, begun = Pieces(most), 0
    for cut in sorted(min(one, len(written)) for one in cuts):
        pieces.add(written[begun:cut])
        begun = cut
    pieces.add(written[begun:])
    return pieces


@given(_VALUES, st.booleans(), st.lists(st.integers(0, 200), max_size=5))
def test_exactly_what_there_is_may_be_wherever_it_is_cut(
    value: Any, ascii_only: bool, cuts: list[int]
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only).encode()
    most = Most(_strings(value), _marks(value), _depth(value))
    assert _add(written, cuts, most).whole
    if most.strings:
        with pytest.raises(TooFull):
            _add(written, cuts, Most(most.strings - 1, 10**9, 10**9))
    if most.marks:
        with pytest.raises(TooFull):
            _add(written, cuts, Most(10**9, most.marks - 1, 10**9))
    if most.depth:
        with pytest.raises(TooDeep):
            _add(written, cuts, Most(10**9, 10**9, most.depth - 1))


@given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=3))
def test_what_is_no_json_is_counted_all_the_same(written: bytes, cuts: list[int]) -> None:
    once, parts = _add(written, [], ANY), _add(written, cuts, ANY)
    assert once.whole is parts.whole


@pytest.mark.parametrize("written", [b"[", b"]", b"[[]", b'{"a', b'"a\\"', b"[]]", b"]["])
def test_what_is_opened_more_or_less_often_than_closed_is_not_whole(written: bytes) -> None:
    assert not measure(written, ANY)


def test_brackets_and_commas_in_a_text_are_words() -> None:
    assert measure(json.dumps({"text": "[1, 2], {3}" * 1000}).encode(), Most(2, 1, 1))
