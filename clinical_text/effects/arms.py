"""Percentages of two arms that stand side by side: "32.1% vs 28.0%", "15% in A and 28% in B".

Pure. Two percentages are taken together only where the words between them compare: a change from
one to another, a list of shares or a range is none.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from clinical_text.effects import words
from clinical_text.effects.named import Found, p_behind
from clinical_text.effects.patterns import (
    ARM_AFTER,
    ARM_BEFORE,
    BOTH_ARMS,
    NAMED_BEFORE,
    PERCENT_AGAINST,
    PERCENT_AND,
    SECOND_ARM,
    bounded,
)
from clinical_text.normalize import MINUS
from clinical_text.numbers.patterns import NUMBER, NUMBER_WORD, NUMBER_WORD_NEEDS
from clinical_text.quantities import Numbers, Quantity
from knowledge.matching.literals import ignoring_case

_BETWEEN_CHARS = 160
_SIGNS = f"+{MINUS}"
_CURRENCIES = frozenset("$€£")
_PERCENT = bounded(r"[%pP](?:(?<=%)|(?i:ercent|er\s+cent|ct))")
"""Whatever is written for the unit %."""
_FEW = 4
_AND = bounded(
    r"(?i)\band\s+(?:(?:only|just|with|in)\s+){0,4}(?:[^,;:()]{0,160}[\[(][^,;:()]{0,160})?$"
)
_OF = bounded(r"(?i)\s*of\s")
_GROUP = bounded(r"(?i)\b(?:groups?|arms?|cohorts?|controls?|placebo)\b")
_OF_A_LEVEL = bounded(r"\s*-?\s*(?:Cr?I\b|(?i:confidence|credible|power))")


def may_compare(sentence: str) -> bool:
    """Whether any percentages of a sentence can be a pair, by the words between them; to read all
    its numbers costs five times as much. Where there are many it is not looked at."""
    ends = [match.end() for match in _PERCENT.finditer(sentence)]
    if len(ends) < 2 or len(ends) > _FEW:
        return len(ends) > _FEW
    if NUMBER_WORD_NEEDS.met(sentence, ignoring_case(sentence)) and NUMBER_WORD.search(sentence):
        return True
    for number in NUMBER.finditer(sentence, ends[0], ends[-1]):
        start = number.start()
        if not _CURRENCIES.isdisjoint(sentence[max(0, start - 3) : start]):
            return True  # it begins with its currency
        for end in ends:
            if 0 <= start - end <= _BETWEEN_CHARS and _compares(sentence[end:start]):
                return True
    return False


def _compares(between: str) -> bool:
    """Whether `_pair` can find an effect with these words between its percentages."""
    if PERCENT_AGAINST.fullmatch(between) or PERCENT_AND.fullmatch(between):
        return True
    for pattern in (ARM_AFTER, ARM_BEFORE):
        match = pattern.fullmatch(between)
        if match and not _is_list(match):
            return True
    return False


def percentages(sentence: str, numbers: Numbers) -> Iterator[Found]:
    """The pairs of percentages in a sentence; `numbers` are its quantities."""
    shares = [one for one in numbers.all() if _is_share(sentence, one)]
    done = 0
    for first, second in pairwise(shares):
        if first.start < done or second.start - first.end > _BETWEEN_CHARS:
            continue
        found = _pair(sentence, first, second)
        if found is not None:
            done = found.end
            p, end = p_behind(sentence, found.end, numbers)
            yield replace(found, end=end, p=p)


def _is_share(sentence: str, one: Quantity) -> bool:
    return (
        one.unit == "%"
        and one.measure is None
        and one.comparator is None
        and 0 <= one.value <= 100
        and sentence[one.start] not in _SIGNS  # a change, not a share
        and not _OF_A_LEVEL.match(sentence[one.end : one.end + 30])
    )


def _pair(sentence: str, first: Quantity, second: Quantity) -> Found | None:
    """The two as one effect, where the words between them set one arm against another."""
    between = sentence[first.end : second.start]
    pair = Found(first.start, second.end, "percent", first.value, "%", other=second.value)
    if PERCENT_AGAINST.fullmatch(between):
        return replace(pair, arms=_both(sentence, second.end))
    if PERCENT_AND.fullmatch(between):
        arms = _both(sentence, second.end)
    elif (match := ARM_AFTER.fullmatch(between)) and not _is_list(match):
        follows = SECOND_ARM.match(sentence, second.end, second.end + _BETWEEN_CHARS)
        arms = words.Arms(
            words.side(sentence, *(first.end + at for at in match.span("arm"))),
            words.side(sentence, *follows.span("arm")) if follows else None,
        )
    elif (match := ARM_BEFORE.fullmatch(between)) and not _is_list(match):
        before = NAMED_BEFORE.search(sentence, max(0, first.start - 80), first.start)
        named = words.last_arm(sentence, *before.span("arm")) if before else None
        arms = words.Arms(
            named, words.side(sentence, *(first.end + at for at in match.span("named")))
        )
    else:
        return None
    return replace(pair, arms=arms) if None not in arms else None


def _is_list(match: re.Match[str]) -> bool:
    """Whether "and" only lists shares: "agents A (56%) and B (42%)", "45% of X and 16% of Y".

    Between brackets, and after "of", it compares only what is called a group.
    """
    if _AND.search(match.group()) is None:
        return False
    loose = match.re is ARM_BEFORE or _OF.match(match.group()) is not None
    return loose and _GROUP.search(match.group()) is None


def _both(sentence: str, end: int) -> words.Arms:
    """The arms told behind both numbers: "12% and 15% in the A and B groups"."""
    match = BOTH_ARMS.match(sentence, end, end + _BETWEEN_CHARS)
    if match is None:
        return words.Arms()
    return words.Arms(
        words.side(sentence, *match.span("first")), words.side(sentence, *match.span("second"))
    )
