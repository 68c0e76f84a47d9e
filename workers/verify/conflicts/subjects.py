"""Whether two statements are about the same: treatment, condition, population, time. Pure.

In doubt they are not: a conflict is reported only where both sides name the same things.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from clinical_text.quantities import Kind, quantities
from knowledge.subjects.products import products, speak_to
from knowledge.subjects.tags import mentions, tags
from knowledge.works.conflicts import conflict_policy

_WORD = re.compile(r"[^\W_]+")
_TIME = re.compile(
    r"(?i)(?<![\w.])(?P<n>\d+(?:\.\d+)?|one|two|three|four|five|six|ten)[\s-]*"
    r"(?P<unit>day|week|month|year)s?(?!\w)"
)
_NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "ten": "10"}
_IN_MONTHS = {"day": 1 / 30.4, "week": 7 / 30.4, "month": 1.0, "year": 12.0}
_FOLLOW_UP = re.compile(r"(?i)follow|aged?\b|old\b|median|treatment for|course")
_PER_VOLUME = ("/dl", "/l", "/ml")
_GENERAL = frozenset({"solid_tumors"})


@lru_cache(maxsize=4096)
def content(words: str) -> frozenset[str]:
    """The words that name things, in lower case and without a plural s.

    A capital on its own is a name ("drug X"), save at the beginning ("A trial").
    """
    generic = conflict_policy().generic
    found = set()
    for match in _WORD.finditer(words):
        word = match.group().lower()
        is_name = (len(word) > 2 or not word.isalpha()) and not word.isdecimal()
        is_name = is_name or (len(word) == 1 and match.group().isupper() and match.start() > 0)
        if is_name and word not in generic:
            found.add(word[:-1] if len(word) > 4 and word.endswith("s") else word)
    return frozenset(found - generic)


@lru_cache(maxsize=4096)
def diseases(words: str) -> frozenset[str]:
    """The diseases that the words name; cancer in general only where no cancer is named."""
    found = frozenset(tags("diseases", words))
    return found - _GENERAL or found


@lru_cache(maxsize=4096)
def named_products(words: str) -> frozenset[str]:
    """The drugs and tests that the words name."""
    return products(words)


def same_thing(one: str, other: str) -> bool:
    """Whether two names of a treatment are of one: the same products, else words of the other."""
    first, second = named_products(one), named_products(other)
    if first or second:
        return bool(first) and first == second
    a, b = content(one), content(other)
    if not a and not b:
        return one.casefold().split() == other.casefold().split()
    return bool(a and b) and (a <= b or b <= a)


def condition_words(words: str) -> frozenset[str]:
    """What the words of a condition amount to: its diseases by tag, then its other words."""
    rest = list(words)
    for mention in mentions("diseases", words):
        rest[mention.start : mention.end] = " " * (mention.end - mention.start)
    return diseases(words) | content("".join(rest))


def same_condition(one: str, other: str) -> bool:
    """Whether two conditions, both told, are one: a narrower one is another."""
    a, b = condition_words(one), condition_words(other)
    if not a or not b or diseases(one) != diseases(other):
        return not a and not b
    if named_products(one) != named_products(other):
        return False
    return len(a & b) / len(a | b) >= conflict_policy().same_condition


def opposed(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether the two speak of what nobody can be both of: men and women, positive and negative.

    Args:
        one, other: texts from the nearest to the widest; each opposition is decided by the first
            that names a side of it.
    """
    first, second = tuple(one), tuple(other)
    for pair in conflict_policy().opposed:
        a = _sides(pair.first, pair.second, first)
        b = _sides(pair.first, pair.second, second)
        if a and b and a.isdisjoint(b):
            return True
    return False


def _sides(first: re.Pattern[str], second: re.Pattern[str], texts: Iterable[str]) -> frozenset[int]:
    for text in texts:
        found = frozenset(place for place, side in enumerate((first, second)) if side.search(text))
        if found:
            return found
    return frozenset()


def times(sentence: str) -> frozenset[float]:
    """The times, in months, at which a sentence tells an outcome; not how long it was followed."""
    found = set()
    for match in _TIME.finditer(sentence):
        around = sentence[max(0, match.start() - 30) : match.end() + 12]
        if not _FOLLOW_UP.search(around):
            number = float(_NUMBERS.get(match["n"].lower(), match["n"].lower()))
            found.add(round(number * _IN_MONTHS[match["unit"].lower()], 1))
    return frozenset(found)


def doses(words: str) -> frozenset[tuple[object, ...]]:
    """The doses that the words name, with their units; a concentration is none."""
    return frozenset(
        (one.value, one.unit)
        for one in quantities(words)
        if one.kind is Kind.DOSE and not (one.unit or "").endswith(_PER_VOLUME)
    )


def other_doses(one: str, other: str) -> bool:
    """Whether both name doses, and none in common: what 20 mg do, 6 mg need not."""
    first, second = doses(one), doses(other)
    return bool(first and second) and first.isdisjoint(second)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set that both have, 0..1."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def is_asked(words: str, question: str) -> bool:
    """Whether `words` (a sentence with its title) speak to the question's diseases and products;
    where it names none, whether they share a word with it. Without a question all do."""
    if not question.strip():
        return True
    asked, named = diseases(question), named_products(question)
    found = diseases(words)
    if asked - _GENERAL and found - _GENERAL and asked.isdisjoint(found):
        return False
    if named:
        return speak_to(words, named)
    return bool(asked & found) or not content(question).isdisjoint(content(words))
