"""A restriction on what answers a question, as a typed field. Pure; grammars:
knowledge/questions/asked.yaml.

That words restrict the answer is for the reader to say; the grammars here only tell of what kind a
restriction is that can be compared, and its figure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from clinical_text.doc import doc
from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from workers.retrieve.understanding.asked.model import Constraint, ConstraintKind
from workers.retrieve.understanding.asked.reader import Part

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
_WORD = re.compile(r"\w++")


@dataclass(frozen=True)
class _Grammar:
    kind: ConstraintKind
    pattern: re.Pattern[str]


@cache
def _grammars() -> tuple[_Grammar, ...]:
    return tuple(
        _Grammar(one["kind"], re.compile(one["pattern"], re.IGNORECASE))
        for one in load("questions/asked")["constraints"]
    )


_OF_A_PATIENT = frozenset(["age", "weight", "kidney_function", "pregnancy"])
"""Kinds that restrict any answer on a patient."""
_BESIDE = 30
"""Code points around a restriction that may say what its figure is of: he *is* 80."""


def is_left_out(question: str, part: Part) -> bool:
    """Whether a question denies what the last word of a part names, or leaves it out."""
    words = list(_WORD.finditer(question, part.start, part.end))
    return bool(words) and doc(question).is_negated(*words[-1].span())


def constraints(question: str, parts: Sequence[Part]) -> tuple[Constraint, ...]:
    """What restricts the answer to `question`, in its order: the parts that restrict it, and the
    figures of a patient that none of them has.

    Args:
        question: the question.
        parts: those of its words that restrict the answer.
    """
    found = [_constraint(question, one) for one in parts]
    found += [
        _constraint(question, Part(match.start(), match.end(), 1.0))
        for grammar in _grammars()
        if grammar.kind in _OF_A_PATIENT
        for match in grammar.pattern.finditer(question)
        if not any(one.start < match.end() and match.start() < one.end for one in found)
    ]
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _constraint(question: str, part: Part) -> Constraint:
    """The words of `part` as a restriction: of the kind whose grammar reads most of them, with what
    it reads beside them; `other` where none reads any."""
    found = [
        (min(match.end(), part.end) - max(match.start(), part.start), -n, grammar.kind, match)
        for n, grammar in enumerate(_grammars())
        for match in grammar.pattern.finditer(
            question, max(0, part.start - _BESIDE), part.end + _BESIDE
        )
        if match.start() < part.end and part.start < match.end()
    ]
    excludes = is_left_out(question, part)
    if not found:
        text = question[part.start : part.end]
        return Constraint("other", text, part.start, part.end, excludes=excludes)
    _, _, kind, match = max(found, key=lambda one: one[:2])
    number, bound = _group(match, "number"), _group(match, "bound")
    figure = _FIGURE.search(number.replace(",", "")) if number else None
    start, end = min(part.start, match.start()), max(part.end, match.end())
    return Constraint(
        kind=kind,
        text=question[start:end],
        start=start,
        end=end,
        value=float(figure.group()) if figure else None,
        unit=_unit(_group(match, "unit")),
        comparator=_BOUNDS.get(bound.strip().lower()) if bound else None,
        excludes=excludes,
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
