"""The learned selector: how well does a sentence answer a question? Numpy alone.

Words of the packaged encoder in few dimensions (int8) and what each tells lie in `knowledge`, with
the weights of a small network: the version of the policy that an answer is kept with names them.
Each token of the question meets the nearest of the sentence, of its title and of its text through
kernels (K-NRM, Xiong et al., SIGIR 2017), and what the sentence says beyond the question meets what
the question expects. Training and figures: docs/selector.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from workers.encoder.minilm import model_folder

WEIGHTS = "selector.safetensors"
QUESTION, LINE, TITLE, WHOLE = 64, 128, 48, 400
"""Tokens that are read; what is longer is cut."""
CENTERS = np.array([1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1], np.float32)
WIDTHS = np.array([0.02, *[0.1] * 6], np.float32)
_DIGITS = frozenset("0123456789")

Matrix = NDArray[np.float32]


class Words(NamedTuple):
    """The vocabulary: `table` (words, size), unit rows; `told` (words,), what each tells."""

    table: Matrix
    told: Matrix


class Read(NamedTuple):
    """A text by its tokens."""

    vectors: Matrix
    told: Matrix
    figures: float
    """The share of its tokens that begin with a digit."""


class Reader:
    """Makes the features of pairs. Safe to call from several threads at once."""

    def __init__(self, words: Words) -> None:
        self._words = words
        tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self.read = lru_cache(maxsize=4096)(self._read)  # what a version says never changes

    def _read(self, text: str, most: int) -> Read:
        encoded = self._tokenizer.encode(text[: most * 12], add_special_tokens=False)
        ids, tokens = encoded.ids[:most], encoded.tokens[:most]
        figures = sum(token[0] in _DIGITS for token in tokens) / max(1, len(tokens))
        return Read(self._words.table[ids], self._words.told[ids], figures)

    def features(
        self, question: str, rows: Sequence[tuple[str, str, str]]
    ) -> tuple[Matrix, Matrix]:
        """What the network sees of sentences with their titles: (pairs, features), and what the
        question expects by (2 * size,)."""
        asked = self.read(question, QUESTION)
        weight = asked.told / max(1e-6, float(asked.told.sum()))
        pooled = _unit(weight @ asked.vectors)
        first: Matrix = asked.vectors[:_FIRST].sum(0)
        expects = np.concatenate([pooled, _unit(first)])
        if not (len(asked.told) and rows):
            return np.zeros((len(rows), len(_NAMES) + pooled.size), np.float32), expects
        places: dict[tuple[str, str], tuple[Matrix, Matrix]] = {}
        found = []
        for line, title, whole in rows:
            if (title, whole) not in places:
                places[title, whole] = (
                    _nearest(asked, self.read(title, TITLE)),
                    _nearest(asked, self.read(whole, WHOLE)),
                )
            found.append(self._row(asked, weight, pooled, line, title, places[title, whole]))
        return np.array(found, np.float32), expects

    def _row(
        self,
        asked: Read,
        weight: Matrix,
        pooled: Matrix,
        line: str,
        title: str,
        place: tuple[Matrix, Matrix],
    ) -> Matrix:
        said, called = self.read(line, LINE), self.read(title, TITLE)
        if not len(said.told):
            return np.zeros(len(_NAMES) + pooled.size, np.float32)
        like = asked.vectors @ said.vectors.T
        own = like.max(1)
        both = np.maximum(own, place[0])
        near = np.maximum(both, place[1])
        taken = like.max(0).clip(0, 1)
        telling = said.told / said.told.sum()
        new = said.told * (1 - taken)
        same = [weight @ (one > _SAME) for one in (own, both, near)]
        rest = [
            weight @ own, weight @ both, *same[:2], weight @ near, same[2],
            float(own.min()), float(both.min()), telling @ taken,
            pooled @ _unit(telling @ said.vectors), np.log(len(said.told)),
            np.log1p(float(new.sum())), said.figures, float(len(called.told) > _TITLED),
        ]  # fmt: skip
        kernels = _kernels(np.stack([own, both, near]), weight)
        return np.concatenate([kernels, rest, _unit(new @ said.vectors)])


_SAME = 0.95
_FIRST = 4  # tokens of a question that say what kind of thing it asks for
_TITLED = 4  # a title of so many tokens is only a number
_NAMES = [f"{name}{n}" for name in ("own", "both", "near") for n in range(len(CENTERS))] + [
    "own", "both", "held", "held_both", "near", "held_near", "least", "least_both",
    "taken", "like", "length", "new", "figures", "titled",
]  # fmt: skip


def _unit(vector: Matrix) -> Matrix:
    found: Matrix = vector / (float(np.linalg.norm(vector)) + 1e-6)
    return found


def _nearest(asked: Read, text: Read) -> Matrix:
    """How near the nearest token of a text comes to each of the question, (question,)."""
    found: Matrix = (asked.vectors @ text.vectors.T).max(1, initial=-1.0)
    return found


def _kernels(near: Matrix, weight: Matrix) -> Matrix:
    """(kinds, question) of nearest likeness -> (kinds * kernels,)."""
    found: Matrix = weight @ np.exp(-0.5 * ((near[..., None] - CENTERS) / WIDTHS) ** 2)
    return found.ravel()


class Selector:
    """The network over what the reader sees."""

    def __init__(self, weights: Path) -> None:
        """Loads the model.

        Raises:
            FileNotFoundError: the package was installed without the weights.
        """
        self.weights = own = load_file(weights)
        table = own["words"].astype(np.float32)
        table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-6
        self._reader = Reader(Words(table, own["told"].astype(np.float32)))

    def scores(self, question: str, rows: Sequence[tuple[str, str, str]]) -> Matrix:
        """How well each sentence answers, (rows,), 0..1; given as sentence, title and the text that
        it stands in. A score does not depend on the other rows."""
        own = self.weights
        features, expects = self._reader.features(question, rows)
        seen = (features - own["shift"]) / own["scale"]
        hidden = np.tanh(seen @ own["into"] + own["bias"])
        odds = seen @ (own["line"] + expects @ own["meets"]) + hidden @ own["out"] + own["zero"]
        found: Matrix = 1 / (1 + np.exp(-odds))
        return found


@lru_cache(maxsize=1)
def selector() -> Selector:
    """The committed model."""
    return Selector(Path(str(files("knowledge"))) / WEIGHTS)
