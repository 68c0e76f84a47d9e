"""The learned reader of questions: which words play which part, and what form of answer is asked.

MiniLM with its last two layers trained on questions that people marked (docs/questions.md), int8:
their weights lie beside this file, the layers below and the words are the packaged encoder's. A
token may play several parts, or none.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from workers.encoder.tagging import LONGEST, Matrix, Part, Tagger, parts_of, words_of
from workers.encoder.tokens import tokens_of
from workers.retrieve.understanding.asked.model import ANSWER_TYPES, AnswerType

__all__ = ["LONGEST", "Marked", "Part", "QuestionReader", "load", "read"]

WEIGHTS = "reader.safetensors"
MOST = 16
"""Stretches that are read of one question; the rest of a longer one plays no part."""
_WHY = re.compile(r"(?i)(?:^|[.!?:;]\s)\W{0,3}why\b")
"""A sentence that begins so."""
_ASKED_FOR = re.compile(r"(?i)\W{0,3}(?:what|which|who|whom|whose|when|where|why|how)\b")
"""A sentence that begins so asks for something, and not whether: the interrogatives of English."""
_WHETHER = re.compile(
    r"(?i)[,;:–-]\s?(?:is|are|was|were|do|does|did|can|could|should|would|will|may|must|has|have)\b"
)
"""But "how about X, is it safe?" does."""
_ASKS_WHETHER = re.compile(
    r"(?i)\W{0,3}(?:is|are|was|were|do|does|did|can|could|should|would|will|may|must|has|have|had)"
    r"\s(?!you\b|there\b|any\b|(?:[\w-]{1,20}\s){0,2}(?:trials|studies)\b|.{1,400}\sor\s)"
)
"""A sentence that begins so asks whether, and for no account: "Is there", "Are any trials" and "Can
you" may ask for what there is, and one with "or" for one of two."""
_YES_OR_NO = re.compile(r"(?i)[,;:–-]\s?yes or no\W{0,3}$")
_ACCOUNTS: frozenset[AnswerType] = frozenset({"explanation", "list", "mechanism", "trials"})
_ENDS = re.compile(r"(?<=[.!?])\s")
_REASONS: tuple[AnswerType, ...] = ("mechanism", "explanation")
Role = Literal["problem", "names", "constraints", "background", "asking"]
ROLES: tuple[Role, ...] = get_args(Role)
_LAYERS = 6
_LONGEST = 4000
"""Characters of a question in which its sentences are looked for (ours)."""
_ASKING = ROLES.index("asking")


@dataclass(frozen=True)
class Marked:
    """A question as it was read: the words of each role in their order, and the shares of the
    forms of an answer."""

    parts: dict[Role, tuple[Part, ...]]
    types: dict[AnswerType, float]

    def type(self, question: str) -> AnswerType:
        """The likeliest form of an answer; what asks why asks for a reason, what asks for something
        in each of its questions is not answered by yes or no, what asks whether by no account."""
        fit = _REASONS if _WHY.search(question) else tuple(self.types)
        said = [one for one in map(str.strip, _ENDS.split(question[:_LONGEST])) if one]
        asked = [one for one in said if one.endswith("?")] or said
        if asked and all(_ASKED_FOR.match(one) and not _WHETHER.search(one) for one in asked):
            fit = tuple(form for form in fit if form != "yesno") or fit
        elif asked and all(map(_YES_OR_NO.search, asked)):
            fit = ("yesno",)
        elif asked and all(map(_ASKS_WHETHER.match, asked)):
            fit = tuple(form for form in fit if form not in _ACCOUNTS) or fit
        return max(fit, key=lambda form: self.types.get(form, 0.0))


class QuestionReader(Tagger):
    """The model, loaded. Safe to call from several threads at once."""

    def read(self, question: str) -> Marked:
        """Which words of `question` play which part, and what form of answer it asks for."""
        tokens = tokens_of(question).stretch(0, MOST * LONGEST)
        if not tokens.ids:
            return Marked(dict.fromkeys(ROLES, ()), {"explanation": 1.0})
        stretches = [
            self.states(tokens.stretch(at, LONGEST)) for at in range(0, len(tokens.ids), LONGEST)
        ]
        shares = [self.shares(one) for one in stretches]
        inner = np.concatenate([one[1:-1] for one in shares])
        words = list(words_of(question, tokens.places, inner))
        return Marked(
            {role: tuple(parts_of(question, words, n)) for n, role in enumerate(ROLES)},
            self._form(np.concatenate(stretches), np.concatenate(shares)[:, _ASKING]),
        )

    def _form(self, states: Matrix, asking: Matrix) -> dict[AnswerType, float]:
        about = (states * asking[:, None]).sum(0) / (asking.sum() + 1e-3)
        both = np.concatenate([states.mean(0), about])
        odds = self.own["types.weight"] @ both + self.own["types.bias"]
        grown = np.exp(odds - odds.max())
        return dict(zip(ANSWER_TYPES, map(float, grown / grown.sum()), strict=True))


@cache
def load() -> QuestionReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    folder = Path(str(files("workers.retrieve.understanding.asked")))
    return QuestionReader(folder / WEIGHTS, _LAYERS)


@lru_cache(maxsize=64)
def read(question: str) -> Marked:
    """What `QuestionReader.read` says by the committed weights."""
    return load().read(question)
