"""What restricts the answer to a question: exclusions, age, kidney function, dates and the like, as
typed fields. Pure; grammars: `constraints` of knowledge/asked.yaml.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from workers.retrieve.understanding.asked.model import Constraint, ConstraintKind
from workers.retrieve.understanding.asked.names import Named
from workers.retrieve.understanding.asked.places import Places

_BOUNDS: Mapping[str, str] = {
    **dict.fromkeys(("over", "above", "older than", "more than", "longer than", "beyond"), ">"),
    **dict.fromkeys(("past", "after"), ">"),
    **dict.fromkeys(
        ("under", "below", "younger than", "less than", "before", "until", "till"), "<"
    ),
    **dict.fromkeys(("at least", "from", "since"), "≥"),
    **dict.fromkeys(("within", "up to", "by", "in the first", "first", "through"), "≤"),
    **{sign: sign for sign in "<>≥≤"},
}
_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class _Grammar:
    kind: ConstraintKind
    pattern: re.Pattern[str]
    excludes: bool
    needs_name: bool


@cache
def _grammars() -> tuple[_Grammar, ...]:
    policy = load("asked")
    phrase = policy["phrase"].strip()
    return tuple(_grammar(one, phrase) for one in policy["constraints"])


def _grammar(written: Mapping[str, Any], phrase: str) -> _Grammar:
    flags = re.NOFLAG if written.get("as_written") else re.IGNORECASE
    pattern = re.compile(written["pattern"].replace("PHRASE", phrase), flags)
    needs = (bool(written.get(key)) for key in ("excludes", "needs_name"))
    return _Grammar(written["kind"], pattern, *needs)


@cache
def _comorbid() -> re.Pattern[str]:
    return re.compile(load("asked")["comorbidity"], re.IGNORECASE)


def constraints(
    question: str, names: Sequence[Named] = (), others: Sequence[Named] = ()
) -> tuple[Constraint, ...]:
    """What restricts the answer to `question`, in its order. Of two of a kind of which one holds
    the other, the longer one is kept.

    Args:
        names: those of the question.
        others: the conditions that it asks about beside its problem.
    """
    named = Places((one.start, one.end) for one in names if one.kind != "condition")
    found = [
        one
        for grammar in _grammars()
        for one in _read(grammar, question)
        if not grammar.needs_name or named.meet(one.start, one.end)
    ]
    found += _comorbidities(question, others)
    found.sort(key=lambda one: (one.start, -one.end))
    return tuple(one for n, one in enumerate(found) if not _is_held(one, found[:n]))


def _comorbidities(question: str, others: Sequence[Named]) -> Iterator[Constraint]:
    for one in others:
        first = max(0, one.start - _BEFORE)
        if before := _comorbid().search(question[first : one.start]):
            start = first + before.start()
            yield Constraint("comorbidity", question[start : one.end], start, one.end)


_BEFORE = 40
"""Code points before a condition that say that a patient has it."""


def exclusions(question: str) -> Iterator[Constraint]:
    """What `question` leaves out or denies."""
    for grammar in _grammars():
        if grammar.excludes:
            yield from _read(grammar, question)


def _is_held(one: Constraint, before: list[Constraint]) -> bool:
    return any(other.kind == one.kind and other.end >= one.end for other in before[-_NEIGHBOURS:])


_NEIGHBOURS = 40
"""Constraints that begin right before another; none is so long that it holds more."""


def _read(grammar: _Grammar, question: str) -> Iterator[Constraint]:
    for match in grammar.pattern.finditer(question):
        start, end = match.span()
        text = match.group()
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        number, bound = _group(match, "number"), _group(match, "bound")
        figure = _FIGURE.search(number.replace(",", "")) if number else None
        yield Constraint(
            kind=grammar.kind,
            text=question[start:end],
            start=start,
            end=end,
            value=float(figure.group()) if figure else None,
            unit=_unit(_group(match, "unit")),
            comparator=_BOUNDS.get(bound.strip().lower()) if bound else None,
            excludes=grammar.excludes,
        )


def _unit(written: str | None) -> str | None:
    """A unit in its canonical spelling, where it has one."""
    return written and (vocabulary().unit(written) or written)


def _group(match: re.Match[str], name: str) -> str | None:
    """The first group of a name, numbered or not, that took part."""
    groups = match.groupdict()
    return next(
        (words for key, words in groups.items() if key.rstrip("0123456789") == name and words), None
    )
