"""`attest evaluate questions FILE`: is what a question asks read as a person reads it?

What is read and what is expected are compared as sets of stems, for both are in free wording.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from cli.evaluate.lines import read_lines
from store.index.terms import term_set
from workers.retrieve.understanding.asked.model import AnswerType, Asked

_SHARED = 0.6
"""Of the words of a problem as read, so many must stand in the problem as expected."""
_THIRD = 1 / 3
"""Of the words of a problem as expected, so many tell it where two words do not."""
_HALF = 0.5
"""Of the words of an expected constraint, so many must stand in one constraint as read."""

Reader = Callable[[str], Asked]
Words = frozenset[int]
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")


class Case(BaseModel):
    """One line of the file; other keys are allowed and not read."""

    model_config = ConfigDict(extra="ignore")

    id: str
    question: Annotated[str, Field(min_length=1)]
    kind: str
    primary_problem: str
    answer_type: AnswerType
    must_name: tuple[tuple[str, ...], ...]
    constraints: tuple[str, ...]
    should_not_be_taken_for: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """How one question was read. Of names and constraints those found and those expected, and the
    same of those that the question itself states."""

    problem: bool
    answer_type: bool
    names: tuple[int, int]
    names_stated: tuple[int, int]
    constraints: tuple[int, int]
    constraints_stated: tuple[int, int]
    taken_for: tuple[str, ...]


@dataclass(frozen=True)
class _Told:
    """A constraint, or what holds some, as words, figures and words without a figure."""

    words: Words
    figures: frozenset[str]
    names: Words

    @classmethod
    def of(cls, text: str) -> "_Told":
        names = _FIGURE.sub(" ", text)
        return cls(term_set(text), frozenset(_FIGURE.findall(text)), term_set(names))


def evaluate_questions(
    file: Path, read: Reader, progress: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Read every question of `file` and compare with what its line expects.

    Returns `total`; `problem` and `answer_type`, shares of questions; `names` and `constraints`,
    shares of those expected in all questions, and under `stated` the same of those that the
    question's own words hold; `taken_for`, how many questions were taken to be on what they should
    not be taken for; `by_kind`; `names_read` and `constraint_words`, names a question and the share
    of its words that stand in constraints, which tell a reader that names everything; `halves`, the
    figures of the lines with odd and even numbers; `wrong`, the ids by what is wrong.

    Raises ValueError, in one line, for a missing file or an unreadable line.
    """
    cases = read_cases(file)
    scores, names_read, held = [], 0, 0.0
    for done, case in enumerate(cases, start=1):
        asked = read(case.question)
        scores.append(score(case, asked))
        names_read += len(asked.names)
        held += _held(case.question, asked)
        if progress is not None:
            progress(done, len(cases))
    kinds = sorted({case.kind for case in cases})
    return {
        **_figures(scores),
        "names_read": round(names_read / len(cases), 1),
        "constraint_words": round(held / len(cases), 2),
        "halves": {"odd": _figures(scores[::2]), "even": _figures(scores[1::2])},
        "by_kind": {
            kind: _figures([one for one, case in _pairs(scores, cases) if case.kind == kind])
            for kind in kinds
        },
        "wrong": _wrong(scores, cases),
    }


def score(case: Case, asked: Asked) -> Score:
    """Compare what was read of a question with what its case expects. Pure."""
    told = term_set(case.question)
    groups = [[term_set(one) for one in group] for group in case.must_name]
    names = [term_set(one) for one in asked.names]
    found = [any(one <= name for one in group for name in names) for group in groups]
    stated = [any(one <= told for one in group) for group in groups]
    read = [_Told.of(one.told) for one in asked.constraints]
    wanted = [_Told.of(one) for one in case.constraints]
    met = [any(_is_met(one, words) for words in read) for one in wanted]
    in_question = [_is_met(one, _Told.of(case.question)) for one in wanted]
    problem = term_set(asked.problem)
    taken = [one for one in case.should_not_be_taken_for if term_set(one) in (problem, *names)]
    return Score(
        problem=not taken and _is_same_problem(case, problem),
        answer_type=asked.type == case.answer_type,
        names=_counted(found),
        names_stated=_counted(one for one, is_told in zip(found, stated, strict=True) if is_told),
        constraints=_counted(met),
        constraints_stated=_counted(
            one for one, is_told in zip(met, in_question, strict=True) if is_told
        ),
        taken_for=tuple(taken),
    )


def _is_same_problem(case: Case, problem: Words) -> bool:
    """Whether the problem read is the one expected, by any of the names that the case has for what
    that names: most of its words are, and it is one of the names, two of the words or a third."""
    words = term_set(case.primary_problem)
    names = [
        term_set(one)
        for group in case.must_name
        if any(_share(term_set(one), words) >= _HALF for one in group)
        for one in group
    ]
    shared = problem & words
    tells = any(name and name <= problem for name in names)
    tells = tells or len(shared) > 1 or _share(words, problem) >= _THIRD
    return tells and _share(problem, words.union(*names)) >= _SHARED


def _is_met(wanted: "_Told", read: "_Told") -> bool:
    """Whether a constraint as read is the one wanted: it has half of its words, or one of its
    figures and a word that says what it is a figure of."""
    if _share(wanted.words, read.words) >= _HALF:
        return True
    return bool(wanted.figures & read.figures) and bool(wanted.names & read.names)


def _share(words: Words, others: Words) -> float:
    return len(words & others) / len(words) if words else 0.0


def _counted(found: Iterable[bool]) -> tuple[int, int]:
    found = list(found)
    return sum(found), len(found)


def _held(question: str, asked: Asked) -> float:
    told = term_set(question)
    kept = frozenset[int]().union(*(term_set(one.text) for one in asked.constraints))
    return _share(told, kept)


def _pairs(scores: Sequence[Score], cases: Sequence[Case]) -> Iterable[tuple[Score, Case]]:
    return zip(scores, cases, strict=True)


def _figures(scores: Sequence[Score]) -> dict[str, object]:
    total = len(scores)
    return {
        "total": total,
        "problem": _rate((sum(one.problem for one in scores), total)),
        "answer_type": _rate((sum(one.answer_type for one in scores), total)),
        "names": _summed(one.names for one in scores),
        "constraints": _summed(one.constraints for one in scores),
        "taken_for": sum(bool(one.taken_for) for one in scores),
        "stated": {
            "names": _summed(one.names_stated for one in scores),
            "constraints": _summed(one.constraints_stated for one in scores),
        },
    }


def _summed(counts: Iterable[tuple[int, int]]) -> float:
    counts = list(counts)
    return _rate((sum(found for found, _ in counts), sum(total for _, total in counts)))


def _rate(count: tuple[int, int]) -> float:
    found, total = count
    return round(found / total, 3) if total else 1.0


def _wrong(scores: Sequence[Score], cases: Sequence[Case]) -> dict[str, list[str]]:
    def ids(is_wrong: Callable[[Score], bool]) -> list[str]:
        return [case.id for one, case in _pairs(scores, cases) if is_wrong(one)]

    return {
        "problem": ids(lambda one: not one.problem),
        "answer_type": ids(lambda one: not one.answer_type),
        "names": ids(lambda one: one.names[0] < one.names[1]),
        "constraints": ids(lambda one: one.constraints[0] < one.constraints[1]),
        "taken_for": ids(lambda one: bool(one.taken_for)),
    }


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, in order.

    Raises ValueError, in one line, for a missing file, an unreadable line or none at all.
    """
    cases = [case for _, case in read_lines(path, Case)]
    if not cases:
        raise ValueError(f"{path} holds no question")
    return cases
