"""What a question takes for granted of a trial, against what the trial's own works say. Pure.

"Since IMvigor011 was negative, ..." is answered like any question, and told that a held source says
that it was not. Only an outright statement on the whole trial counts, and where its works say both
nothing is told. Words: knowledge/questions/presuppositions.yaml.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from clinical_text.instructions import addresses_reader
from knowledge.loader import load
from knowledge.subjects.naming import mentions
from store.core.spans import Span
from workers.verify.guards.lexing import fold
from workers.verify.guards.trials import trial_names

Outcome = Literal["succeeded", "failed"]
_OPPOSITE: dict[Outcome, Outcome] = {"succeeded": "failed", "failed": "succeeded"}
_OPENING = 300
"""Code points at the beginning of a work in which it names its trial (ours)."""
_ARTICLE = len("The  ")


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    clauses: tuple[str, ...]
    said: dict[Literal["succeeded", "failed", "narrowed"], str]
    states: dict[Literal["succeeded", "failed", "of_a_part"], str]


@dataclass(frozen=True)
class Taken:
    """An outcome that a question takes for granted."""

    trial: str
    outcome: Outcome
    words: str
    """The question's own."""


@dataclass(frozen=True)
class Work:
    """A held study, with the places of its sentences."""

    key: str
    title: str
    text: str
    sentences: Sequence[Span]


@dataclass(frozen=True)
class Contradicted:
    """What is taken for granted, and the place that says otherwise."""

    taken: Taken
    key: str
    place: Span


def contradicted(
    question: str, names: Iterable[str], works: Sequence[Work]
) -> Iterator[Contradicted]:
    """What `question` takes for granted of the trials it names and one of their works denies.

    Args:
        works: the studies among the evidence.
    """
    for taken in taken_for_granted(question, names):
        found = [one for one in works if _is_on(one, taken.trial)]
        if any(True for one in found for _ in _places(one, taken.trial, taken.outcome)):
            continue
        opposite = _OPPOSITE[taken.outcome]
        told = ((one, at) for one in found for at in _places(one, taken.trial, opposite))
        if (first := next(told, None)) is not None:
            yield Contradicted(taken, first[0].key, first[1])


def taken_for_granted(question: str, names: Iterable[str]) -> list[Taken]:
    """The outcomes of trials that a question does not ask about but presupposes."""
    found = []
    for name in names:
        for clause in _clauses(name):
            match = clause.search(question)
            if match is None:
                continue
            said = match["said"].strip()
            outcome = _outcome("said", said)
            if outcome and not _pattern("said", "narrowed").search(said):
                found.append(Taken(name, outcome, f"{name} {said}"))
                break
    return found


def _is_on(work: Work, trial: str) -> bool:
    """Whether its title names the trial, or a sentence of its opening begins with it."""
    if mentions(work.title, trial):
        return True
    begun = (one.of(work.text) for one in work.sentences if one.start < _OPENING)
    return any(mentions(words[: len(trial) + _ARTICLE], trial) for words in begun)


def _places(work: Work, trial: str, outcome: Outcome) -> Iterator[Span]:
    """The sentences that state an outcome of the whole trial, and speak of no other."""
    for place in work.sentences:
        words = place.of(work.text)
        others = [one for one in trial_names(fold(words)).values() if not mentions(one, trial)]
        if (
            _outcome("states", words) == outcome
            and not _pattern("states", "of_a_part").search(words)
            and not others
            and not addresses_reader(words)
        ):
            yield place


def _outcome(kind: Literal["said", "states"], words: str) -> Outcome | None:
    """The one that words state; None of words that state both, or none."""
    outcomes: tuple[Outcome, ...] = ("succeeded", "failed")
    found = [one for one in outcomes if _pattern(kind, one).search(words)]
    return found[0] if len(found) == 1 else None


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("questions/presuppositions"))


@cache
def _pattern(kind: Literal["said", "states"], name: str) -> re.Pattern[str]:
    patterns: dict[str, str] = {**getattr(_policy(), kind)}
    return re.compile(patterns[name], re.IGNORECASE)


def _clauses(name: str) -> list[re.Pattern[str]]:
    trial = re.escape(name).replace(r"\-", r"[-\s]")
    return [
        re.compile(clause.replace("{trial}", trial), re.IGNORECASE) for clause in _policy().clauses
    ]
