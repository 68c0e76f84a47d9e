"""Signals behind the strings that their patterns need are those that all patterns give."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.matching.literals import needs
from tests.grid import grid
from workers.anchor.signals import score

_SIGNALS: dict[str, Any] = load("reading/signals")["signals"]
_PATTERNS = [pattern for signal in _SIGNALS.values() for pattern in signal["patterns"]]


@grid("pattern", _PATTERNS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_whatever_a_pattern_of_a_signal_matches_holds_what_it_needs(
    pattern: str, data: st.DataObject
) -> None:
    found = re.search(pattern, data.draw(st.from_regex(pattern)))
    assert found is not None
    assert any(one in found[0] for one in needs(re.compile(pattern)).exact)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_PATTERNS).flatmap(st.from_regex), min_size=1, max_size=3))
def test_a_sentence_has_the_signals_that_all_patterns_tried_one_by_one_give(
    parts: list[str],
) -> None:
    sentence = " ".join(parts)
    given_by = {
        name
        for name, signal in _SIGNALS.items()
        for pattern in signal["patterns"]
        if re.search(pattern, sentence if signal.get("case_sensitive") else sentence.lower())
    }
    total, names = score(sentence)
    assert set(names) == given_by
    weights = [_SIGNALS[name]["weight"] for name in names]
    assert sorted(weights, reverse=True) == weights
    assert sum(weights) == total
