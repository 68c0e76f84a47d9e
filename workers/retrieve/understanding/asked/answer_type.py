"""The form of the answer that a question asks for, by the form of the question. Pure.

Patterns: `answer_types` of knowledge/asked.yaml; the first that applies counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from knowledge.loader import load
from workers.retrieve.understanding.asked.model import AnswerType
from workers.retrieve.understanding.sentences import Sentence

_MOST_READ = 4000
"""Code points of a question that are read for its form; what asks stands at one of its ends."""


@dataclass(frozen=True)
class _Rule:
    type: AnswerType
    asks: re.Pattern[str]
    unless: re.Pattern[str] | None
    case: bool | None
    longer_than: int
    shorter_than: int | None

    def applies(self, asking: str, words: int, *, case: bool) -> bool:
        """Whether a question whose asking sentences are `asking` has this form."""
        return (
            self.case in (None, case)
            and words > self.longer_than
            and (self.shorter_than is None or words < self.shorter_than)
            and self.asks.search(asking) is not None
            and (self.unless is None or self.unless.search(asking) is None)
        )


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            type=one["type"],
            asks=re.compile(one["asks"], re.IGNORECASE | re.MULTILINE),
            unless=re.compile(one["unless"], re.IGNORECASE) if "unless" in one else None,
            case=one.get("case"),
            longer_than=one.get("longer_than", -1),
            shorter_than=one.get("shorter_than"),
        )
        for one in load("asked")["answer_types"]
    )


@cache
def _case() -> re.Pattern[str]:
    return re.compile(load("asked")["case"], re.IGNORECASE)


def tells_of_patient(question: str, sentences: Sequence[Sentence]) -> bool:
    """Whether a question tells of one patient: by words, or by sentences that tell before one that
    asks."""
    tells_first = bool(sentences) and not sentences[0].asks and any(one.asks for one in sentences)
    return tells_first or _case().search(question) is not None


def asking_text(question: str, sentences: Sequence[Sentence]) -> str:
    """The sentences that ask, a line each; the whole question where none does."""
    asking = [question[one.start : one.end] for one in sentences if one.asks]
    return "\n".join(asking) if asking else question


def answer_type(question: str, sentences: Sequence[Sentence]) -> AnswerType:
    """The type of answer that `question` asks for.

    Args:
        sentences: those of the question.
    """
    asking = asking_text(question, sentences)[-_MOST_READ:]
    words, case = len(question.split()), tells_of_patient(question, sentences)
    return next(rule.type for rule in _rules() if rule.applies(asking, words, case=case))
