"""Names with a number in them: COVID-19, IL-6, PD-1, 5-FU, omega-3. Pure.

Their digits are no quantities, and another number is another name. How they are told from
"stage-3", "day-28" and "12-month": `knowledge/guards/numbered_names.yaml`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated

from pydantic import StringConstraints

from clinical_text.numbers.patterns import counted_after, unit_after
from clinical_text.vocabulary import vocabulary
from knowledge.loader import Policy, load
from knowledge.matching.literals import Needs, ignoring_case, needs

Term = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^A-Z]+$")]

# Letters, a hyphen, digits, and letters that belong to them ("IL-17A"). A decimal is a value. The
# digits of "anti-PD-1" go with the word right before them.
_LETTERS_FIRST = re.compile(
    r"(?<![^\W_])(?P<head>[^\W\d_]{1,20})-(?P<digits>\d{1,4})(?P<tail>[^\W\d_]{0,2})"
    r"(?![^\W_]|[.,·]\d)"
)
_SPACED = re.compile(
    r"(?<![\w-])(?P<head>[^\W\d_]{2,20})\s(?P<digits>\d{1,3})(?P<tail>[^\W\d_]?)(?![\w%]|[.,·/]\d)"
)
_DIGITS_FIRST = re.compile(
    r"(?<![\w.,·])(?<![^\W_]-)(?P<digits>\d{1,4})(?P<gap>-?)(?P<tail>[^\W\d_][^\W_]{0,24})(?!\w)"
)
_DIGIT = re.compile(r"\d")
# Without these the two patterns match nowhere; a search for them skips fast what is none.
_LETTER_AND_DIGIT = re.compile(r"-(?<=[^\W\d_]-)\d")
_DIGIT_AND_LETTER = re.compile(r"\d-?[^\W\d_]")
_GAP = re.compile(r"[\s-]+")
_SHORT_NAME = 4
"""Letters of a name with one capital at most ("Bcl-2", "Pax-6"); ours."""
_MIXED = re.compile(r"[A-Z].{0,30}[A-Z]|[a-z][A-Z]")


class _Policy(Policy):
    version: int
    labels: frozenset[Term]
    lower_heads: frozenset[Term]
    spaced_heads: frozenset[Term]
    lower_tails: frozenset[Term]
    same_letters: dict[Term, Term]
    fatty_acids: frozenset[Term]
    same_names: dict[Term, tuple[Term, ...]]


@dataclass(frozen=True, slots=True)
class NumberedName:
    """A name at `[start, end)` of a text; `key` is the same for all writings of it ("il6")."""

    start: int
    end: int
    key: str


@lru_cache(maxsize=64)
def numbered_names(folded: str) -> tuple[NumberedName, ...]:
    """The names with a number in a text whose dashes are folded, in order and disjoint.

    Names in one word (CD19) are not among them: no quantity is read in a word.
    """
    found: list[NumberedName] = []
    taken = 0
    for one in sorted(_candidates(folded), key=lambda one: (one.start, -one.end)):
        if one.start >= taken:
            found.append(one)
            taken = one.end
    return tuple(found)


def same_name(key: str) -> str:
    """The key under which a name is known, for one in lower case without hyphens and spaces."""
    return _keys().get(key, key)


def _candidates(text: str) -> list[NumberedName]:
    if not _DIGIT.search(text):
        return []
    folded = ignoring_case(text)
    found: list[NumberedName] = []
    pattern, needed = _in_other_words()
    if needed.met(text, folded):
        found += [
            NumberedName(*match.span(), _keys()[_bare(match.group())])
            for match in pattern.finditer(text)
        ]
    if _LETTER_AND_DIGIT.search(text):
        found += _names_by(_LETTERS_FIRST, _begins_a_name, text)
    if _spaced_heads().met(text, folded):
        found += _names_by(_SPACED, _begins_a_spaced_name, text)
    if _DIGIT_AND_LETTER.search(text):
        found += _names_by(_DIGITS_FIRST, _ends_a_name, text)
    return found


def _names_by(
    pattern: re.Pattern[str], counts: Callable[[re.Match[str]], bool], text: str
) -> Iterator[NumberedName]:
    for match in pattern.finditer(text):
        if counts(match):
            key = _key(match, digits_first=pattern is _DIGITS_FIRST)
            yield NumberedName(*match.span(), key)


def _key(match: re.Match[str], *, digits_first: bool) -> str:
    digits, tail = match["digits"], match["tail"].lower()
    if digits_first:
        return same_name(f"{digits}{tail}")
    head = match["head"].lower()
    if f"{head}-{digits}" in _policy().fatty_acids:
        head = "omega"
    return same_name(f"{_policy().same_letters.get(head, head)}{digits}{tail}")


def _begins_a_name(match: re.Match[str]) -> bool:
    policy, head = _policy(), match["head"]
    lower = head.lower()
    if f"{lower}-{match['digits']}" in policy.fatty_acids:
        return True
    if lower in policy.lower_heads or lower in policy.same_letters:
        return True
    if head == lower or lower.removesuffix("s") in policy.labels:
        return False
    # "Cyanidin-3-rutinoside" may have its capital from the head of a sentence
    return not head.istitle() or len(head) <= _SHORT_NAME


def _begins_a_spaced_name(match: re.Match[str]) -> bool:
    text, end = match.string, match.end()
    if match["head"].lower() not in _policy().spaced_heads:
        return False
    if match["head"].lower() == "covid":
        return match["digits"] in ("19", "2019")
    return not counted_after(text, end) and not unit_after(text, match.end("digits"))


def _ends_a_name(match: re.Match[str]) -> bool:
    tail = match["tail"]
    if vocabulary().unit(tail) is not None or tail.lower() in _policy().labels:
        return False
    return tail.lower() in _policy().lower_tails or bool(_MIXED.search(tail))


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/numbered_names"))


@cache
def _spaced_heads() -> Needs:
    return Needs((), tuple(_policy().spaced_heads))


@cache
def _keys() -> dict[str, str]:
    """Other writings without hyphens and spaces, to the key of the name."""
    return {
        _bare(phrase): key for key, phrases in _policy().same_names.items() for phrase in phrases
    }


@cache
def _in_other_words() -> tuple[re.Pattern[str], Needs]:
    phrases = [phrase for phrases in _policy().same_names.values() for phrase in phrases]
    ordered = sorted((one for one in phrases if " " in one), key=len, reverse=True)
    words = "|".join(r"[\s-]".join(map(re.escape, one.split())) for one in ordered)
    pattern = re.compile(rf"(?i)(?<![^\W_])(?:{words})(?![^\W_]|[.,·]\d)")
    return pattern, needs(pattern)


def _bare(text: str) -> str:
    return _GAP.sub("", text.lower())
