"""What a value is, its passage says: a mean, a median or the most of it, a level or a change. Pure.

"A mean of 16.5 months" is not "up to 16.5 months", and a rate that is 36 % was not reduced by 36 %.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold
from workers.verify.guards.statements import read

_FAR = 80
"""Characters between a statistic or a verb and its value, at most (ours)."""
_NEAR = 45
"""Characters before and behind a change in which the word for it stands (ours)."""
_VALUE = r"(?<![\w.])\d+(?:[.,]\d+)*"
_REACHED = re.compile(r"(?i)\b(?:to|from)\s+(?:an?\s+|about\s+)?$")
"""Behind one of these stands a level: "raised to 90%"."""
_PERCENT = r"\s?(?:%|per\s?cent\b)"


_GRADE = re.compile(
    r"(?i)\bgrades?\s{1,9}(?P<grade>\d(?:\s{0,9}(?:or|and|to|-|–)\s{0,9}\d)?)"
    r"(?P<behind>(?:\s{1,9}[a-z-]{1,60}){0,3})"
)
"""A grade with the words behind it, up to the next mark."""
_BEFORE = re.compile(r"(?<![\w-])(?:[\w-]{1,60}\s{1,9}){1,4}\Z")
"""The words before a grade, likewise."""
_BEFORE_CHARS = 280


class MeasurePolicy(BaseModel):
    """`guards/measures.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    statistics: tuple[tuple[str, ...], ...]
    roles: tuple[tuple[tuple[str, ...], ...], ...]
    changes: tuple[str, ...]
    significant: frozenset[str]
    tested: frozenset[str]
    most_p: float


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Values that the claim calls something else than its passage does."""
    said, passage = fold(claim), fold(grounds.passage)
    found = [*_other_statistics(said, passage), *_levels(said, passage)]
    found = found or [*_other_roles(said, passage)]
    return list(dict.fromkeys([*found, *_other_grades(said, passage)]))


def _other_statistics(said: str, passage: str) -> Iterator[Finding]:
    """Means told as medians, the most as a mean: where the passage names what each value is."""
    for found in _statistics().finditer(said):
        value = found["value"]
        stated = {
            _line(one["word"]) for one in _statistics().finditer(passage) if one["value"] == value
        }
        if stated and _line(found["word"]) not in stated:
            detail = f"“{found['word']} … {value}” is another measure in the passage"
            yield Finding("measure", detail)


def _other_roles(said: str, passage: str) -> Iterator[Finding]:
    """How often told as how long, what it fell by as what it fell to: where the passage says what
    each number is."""
    stated = _roles(passage)
    for (kind, value), words in _roles(said).items():
        its = stated.get((kind, value), {})
        for line, word in words.items():
            if its and line not in its:
                detail = f"“{word} {value}” is “{next(iter(its.values()))} {value}” in the passage"
                yield Finding("measure", detail)


def _roles(text: str) -> dict[tuple[int, str], dict[int, str]]:
    """For each list of roles and each number, the lines that stand before it, in its words."""
    found: dict[tuple[int, str], dict[int, str]] = {}
    pattern, lines = _role_words()
    for match in pattern.finditer(text):
        word = " ".join(match["word"].lower().split())
        kind, line = lines[word]
        found.setdefault((kind, match["value"].lower()), {}).setdefault(line, word)
    return found


def _other_grades(said: str, passage: str) -> Iterator[Finding]:
    """The grade of one thing told of another of the same passage."""
    graded: dict[str, set[str]] = {}
    end = 0
    for one in _GRADE.finditer(passage):
        before = _BEFORE.search(passage[max(end, one.start() - _BEFORE_CHARS) : one.start()])
        around = _stems(before[0] if before else "") | _stems(one["behind"])
        graded.setdefault(one["grade"].lower(), set()).update(around)
        end = one.end()
    if not graded:
        return
    for one in _GRADE.finditer(said):
        of, its = _stems(one["behind"]), graded.get(one["grade"].lower())
        if its is not None and of and of <= _stems(passage) and not of & its:
            yield Finding("measure", f"“grade {one['grade']}” is another thing's in the passage")


def _stems(words: str) -> set[str]:
    return {one.stem for one in read(words).tokens if one.content and one.stem.isalpha()}


@cache
def _role_words() -> tuple[re.Pattern[str], dict[str, tuple[int, int]]]:
    lines = {
        word: (kind, line)
        for kind, roles in enumerate(_policy().roles)
        for line, words in enumerate(roles)
        for word in words
    }
    words = "|".join(r"\s+".join(map(re.escape, one.split())) for one in lines)
    number = rf"{_VALUE}|{'|'.join(vocabulary().number_words)}"
    return re.compile(rf"(?i)\b(?P<word>{words})\s+(?:the\s+)?(?P<value>{number})(?!\w)"), lines


def _levels(said: str, passage: str) -> Iterator[Finding]:
    """What is told as a change ("reduced by 36%") and only stands as a level in the passage."""
    for found in _changes().finditer(said):
        value = found["value"]
        places = list(re.finditer(rf"(?<![\w.]){re.escape(value)}{_PERCENT}", passage))
        if places and not any(_is_change(passage, *one.span()) for one in places):
            yield Finding("measure", f"“by {value}%” is a level in the passage, not a change")


def _is_change(passage: str, start: int, end: int) -> bool:
    """Whether words beside the value, with no other value between, tell a change."""
    before = re.split(r"\d|[.;]\s", passage[max(0, start - _NEAR) : start])[-1]
    if _REACHED.search(before):
        return False
    after = re.split(r"\d|[.;]\s", passage[end : end + _NEAR])[0]
    return any(_change_words().search(one) for one in (before, after))


def _line(word: str) -> int:
    plain = " ".join(word.lower().split())
    lines = enumerate(_policy().statistics)
    return next(number for number, line in lines if plain in line)


@cache
def _statistics() -> re.Pattern[str]:
    """A statistic and the next value behind it."""
    words = sorted((one for line in _policy().statistics for one in line), key=len, reverse=True)
    joined = "|".join(r"\s+".join(map(re.escape, one.split())) for one in words)
    return re.compile(
        rf"(?i)\b(?P<word>{joined})\b(?:(?!\b(?:{joined})\b)[^\d.;]){{1,{_FAR}}}(?P<value>{_VALUE})"
    )


@cache
def _changes() -> re.Pattern[str]:
    return re.compile(rf"(?i)\bby\s+(?:[a-z]+\s+){{0,2}}(?P<value>{_VALUE}){_PERCENT}")


@cache
def _change_words() -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{'|'.join(map(re.escape, _policy().changes))})")


@cache
def _policy() -> MeasurePolicy:
    return MeasurePolicy.model_validate(load("guards/measures"))
