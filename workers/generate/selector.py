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

WEIGHTS = "answering/selector.safetensors"
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
        self._figures = np.zeros(tokenizer.get_vocab_size(), bool)
        vocabulary = tokenizer.get_vocab()
        self._figures[[number for word, number in vocabulary.items() if word[0] in _DIGITS]] = True
        self._tokens = lru_cache(maxsize=8192)(self._read)  # what a version says never changes

    def read(self, text: str, most: int) -> Read:
        """A text by its first tokens."""
        ids, figures = self._tokens(text, most)
        return Read(self._words.table[ids], self._words.told[ids], figures)

    def _read(self, text: str, most: int) -> tuple[NDArray[np.int64], float]:
        cut = text[: most * _CHARACTERS]
        (encoded,) = self._tokenizer.encode_batch_fast([cut], add_special_tokens=False)
        ids = np.array(encoded.ids[:most], np.int64)
        return ids, float(self._figures[ids].mean()) if len(ids) else 0.0

    def features(
        self, question: str, rows: Sequence[tuple[str, str, str]]
    ) -> tuple[Matrix, Matrix]:
        """What the network sees of sentences with their titles: (pairs, features), and what the
        question expects by (2 * size,)."""
        asked = self.read(question, QUESTION)
        weight: Matrix = asked.told / max(1e-6, float(asked.told.sum()))
        pooled = _units(weight @ asked.vectors)
        first: Matrix = asked.vectors[:_FIRST].sum(0)
        expects = np.concatenate([pooled, _units(first)])
        features = np.zeros((len(rows), len(NAMES) + pooled.size), np.float32)
        lines = [self.read(line, LINE) for line, _, _ in rows]
        told = [number for number, line in enumerate(lines) if len(line.told)]
        if len(asked.told) and told:
            places = self._places(asked, [rows[number][1:] for number in told])
            said = [lines[number] for number in told]
            features[told] = _features(asked, weight, pooled, said, places)
        return features, expects

    def _places(self, asked: Read, rows: Sequence[tuple[str, ...]]) -> Matrix:
        """How near title and text of each row come to the question, and whether it has a title:
        (2 * question + 1, rows)."""
        known: dict[tuple[str, ...], Matrix] = {}
        for title, whole in rows:
            if (title, whole) not in known:
                called, around = self.read(title, TITLE), self.read(whole, WHOLE)
                titled = np.array([len(called.told) > _TITLED], np.float32)
                near = (_nearest(asked, called), _nearest(asked, around))
                known[title, whole] = np.concatenate([*near, titled])
        return np.stack([known[row] for row in map(tuple, rows)], 1)


def _features(
    asked: Read, weight: Matrix, pooled: Matrix, lines: Sequence[Read], places: Matrix
) -> Matrix:
    """(lines, features) of lines that have tokens, all at once."""
    sizes = np.array([len(one.told) for one in lines])
    begins = np.r_[0, sizes.cumsum()[:-1]]
    vectors = np.concatenate([one.vectors for one in lines])
    told = np.concatenate([one.told for one in lines])
    like = asked.vectors @ vectors.T
    count = len(asked.told)
    own = np.maximum.reduceat(like, begins, 1)
    both = np.maximum(own, places[:count])
    near = np.maximum(both, places[count:-1])
    taken = like.max(0).clip(0, 1)
    new = told * (1 - taken.round(4))  # of a word that is the same, no noise is left over
    total = np.add.reduceat(told, begins)
    said = _units(np.add.reduceat(told[:, None] * vectors, begins))
    each = (own, both, near)
    means, same = [weight @ one for one in each], [weight @ (one > _SAME) for one in each]
    rest = [
        means[0], means[1], same[0], same[1], means[2], same[2], own.min(0), both.min(0),
        np.add.reduceat(told * taken, begins) / total, said @ pooled, np.log(sizes),
        np.log1p(np.add.reduceat(new, begins)), np.array([one.figures for one in lines]),
        places[-1],
    ]  # fmt: skip
    kernels = [_kernels(one, weight) for one in each]
    novel = _units(np.add.reduceat(new[:, None] * vectors, begins))
    found: Matrix = np.hstack([*kernels, np.stack(rest, 1), novel]).astype(np.float32)
    return found


_CHARACTERS = 12  # of a token at most, nearly always: what is behind is not looked at
_SAME = 0.95
_FIRST = 4  # tokens of a question that say what kind of thing it asks for
_TITLED = 4  # a title of so many tokens is only a number
NAMES = [f"{name}{n}" for name in ("own", "both", "near") for n in range(len(CENTERS))] + [
    "own", "both", "held", "held_both", "near", "held_near", "least", "least_both",
    "taken", "like", "length", "new", "figures", "titled",
]  # fmt: skip
"""The features in their order, without those of what a sentence says beyond the question."""


def _units(rows: Matrix) -> Matrix:
    found: Matrix = rows / (np.linalg.norm(rows, axis=-1, keepdims=True) + 1e-6)
    return found


def _nearest(asked: Read, text: Read) -> Matrix:
    """How near the nearest token of a text comes to each of the question, (question,)."""
    found: Matrix = (asked.vectors @ text.vectors.T).max(1, initial=-1.0)
    return found


def _kernels(near: Matrix, weight: Matrix) -> Matrix:
    """(question, lines) of nearest likeness -> (lines, kernels)."""
    grown = np.exp(-0.5 * ((near[..., None] - CENTERS) / WIDTHS) ** 2)
    found: Matrix = np.tensordot(weight, grown, 1)
    return found


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
        self.reader = Reader(Words(table, own["told"].astype(np.float32)))

    def scores(self, question: str, rows: Sequence[tuple[str, str, str]]) -> Matrix:
        """How well each sentence answers, (rows,), 0..1; given as sentence, title and the text that
        it stands in. A score does not depend on the other rows."""
        own = self.weights
        features, expects = self.reader.features(question, rows)
        seen = (features - own["shift"]) / own["scale"]
        hidden = np.tanh(seen @ own["into"] + own["bias"])
        odds = seen @ (own["line"] + expects @ own["meets"]) + hidden @ own["out"] + own["zero"]
        found: Matrix = 1 / (1 + np.exp(-odds))
        return found


@lru_cache(maxsize=1)
def selector() -> Selector:
    """The committed model."""
    return Selector(Path(str(files("knowledge"))) / WEIGHTS)
