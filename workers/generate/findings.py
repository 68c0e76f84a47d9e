"""Whether two sentences report the same finding. Pure; limits: knowledge/questions/answers.yaml."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from clinical_text.doc import doc
from clinical_text.labels import body_of
from knowledge.loader import load
from store.index.terms import term_set

# What it begins with comes first, so that other text is passed over fast.
_NUMBER = re.compile(r"[-−\d](?<![\w.,].)(?:(?<=\d)|(?=\d))\d*(?:,\d{3})*(?:[.·]\d+)?\s?%?")
_YEAR = re.compile(r"(?:19|20)\d{2}")
_ARM = re.compile(r"(?:Arm|Group|Analysis of) [^:]{1,200}:")
_UNTOLD = frozenset({""})


@dataclass  # frozen, it would take twice as long to make
class Finding:
    """A sentence by what it is compared by: most are told apart by their numbers alone."""

    sentence: str
    body: str
    numbers: frozenset[str]
    telling: frozenset[str]
    """Numbers that hardly meet by chance: percentages, decimals, numbers of three digits."""

    @cached_property
    def denials(self) -> int:
        """How often it denies something."""
        return sum(1 for _ in doc(self.body).denials)

    @cached_property
    def arm(self) -> str | None:
        """The arm of a registry that a line is on by its head; what each is given may be alike."""
        return arm[0] if (arm := _ARM.match(self.body)) else None

    @cached_property
    def terms(self) -> frozenset[int]:
        """Its terms."""
        return term_set(self.body)

    @cached_property
    def words(self) -> frozenset[int]:
        """Its terms but for numbers."""
        return term_set(_NUMBER.sub(" ", self.body))


@lru_cache(maxsize=2048)
def finding(sentence: str) -> Finding:
    """What a sentence is compared by."""
    body = body_of(sentence)
    numbers = frozenset(map(_plain, _NUMBER.findall(body)))
    return Finding(sentence, body, numbers, frozenset(map(_telling, numbers)) - _UNTOLD)


@lru_cache(maxsize=4096)
def _plain(number: str) -> str:
    return number.replace(" ", "").replace("·", ".")


@lru_cache(maxsize=4096)
def _telling(number: str) -> str:
    """What a number is told by; "" if it meets others by chance."""
    told = (len(number) > 2 or number.endswith("%") or "." in number) and not _YEAR.fullmatch(
        number
    )
    return number.rstrip("%") if told else ""


class Told:
    """The numbers of findings, by which another one is soon known to be the `same` as none."""

    def __init__(self) -> None:
        self._numbers: set[frozenset[str]] = set()
        self._telling: set[str] = set()

    def add(self, one: Finding) -> None:
        """Note the numbers of a finding."""
        self._numbers.add(one.numbers)
        self._telling |= one.telling

    def may_hold(self, one: Finding) -> bool:
        """Whether one of them has all the numbers of `one` and no other, or all of them together
        so many of its telling ones as one alone must share."""
        if one.numbers in self._numbers:
            return True
        least: int = load("questions/answers")["same_numbers_least"]
        return len(one.telling & self._telling) >= least


def same(first: Finding, second: Finding) -> bool:
    """Whether two sentences say the same, in nearly the same words or with the same numbers.

    Sentences of which one denies something and the other nothing never do, nor those with nearly
    the same words and another number.
    """
    return _nearly_same(first, second) and first.denials == second.denials


def _nearly_same(first: Finding, second: Finding) -> bool:
    """As `same`, whatever they deny, which takes longest to read."""
    policy, alike = load("questions/answers"), first.numbers == second.numbers
    shared = len(first.telling & second.telling)
    if not alike and shared < policy["same_numbers_least"]:
        return False  # whatever their words: most pairs end here
    if first.arm != second.arm:
        return False
    if first.sentence == second.sentence:
        return True
    if _overlap(first.terms, second.terms, policy["near_duplicate"]):
        return alike
    least = min(len(first.telling), len(second.telling))
    if shared < policy["same_numbers_least"] or shared / least < policy["same_numbers"]:
        return False
    held = len(first.words & second.words) / max(1, min(len(first.words), len(second.words)))
    return held >= float(policy["same_numbers_terms"])


def _overlap(first: frozenset[int], second: frozenset[int], least: float) -> bool:
    """Whether at least this share of the terms of both is in both."""
    fewer, more = sorted((len(first), len(second)))
    if fewer / max(1, more) < least:  # were all of the fewer among the others
        return False
    together = len(first & second)
    return together / max(1, fewer + more - together) >= least
