"""Strings that a pattern needs: none is told without which it matches."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.literals import literals
from knowledge.loader import load
from workers.anchor.signals import score

_SIGNALS: dict[str, Any] = load("signals")["signals"]
_PATTERNS = [pattern for signal in _SIGNALS.values() for pattern in signal["patterns"]]


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\bend[- ]?points?\b", ("point",)),
        (r"\b(?:should|must)\b", ("must", "should")),
        (r"(?:high|very high) risk", (" risk",)),
        (r"[Hh]azard|odds", ("azard", "odds")),
        (r"(?:percent|per\scent)", ("cent",)),  # which is in the other as well
        (r"(?:ratio){1,2}s", ("ratio",)),
        (r"(?:not )?p", ("p",)),
        (r"(?=ratio)r", ("r",)),
        (r"\d[^x]", ("",)),
        (r"ratio|", ("",)),
        (r"(?i)ratio", ("",)),
        (r"(?i:ratio)n", ("n",)),
    ],
)
def test_the_longest_that_every_match_holds_is_told(pattern: str, needed: tuple[str, ...]) -> None:
    assert literals(pattern) == needed


@pytest.mark.parametrize("pattern", _PATTERNS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_whatever_a_pattern_of_a_signal_matches_holds_what_it_needs(
    pattern: str, data: st.DataObject
) -> None:
    found = re.search(pattern, data.draw(st.from_regex(pattern)))
    assert found is not None
    assert any(one in found[0] for one in literals(pattern))


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
