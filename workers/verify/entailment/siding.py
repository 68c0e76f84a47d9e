"""The learned reader of a yes/no question and a sentence: does it say yes, no, or neither?

The lower layers are those of the reader of claim and passage; the upper ones lie beside this file.
Training and figures: docs/questions.md.
"""

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from workers.verify.entailment import reader
from workers.verify.entailment.reader import PairReader, written_out

ABOVE, FACTS = "siding.safetensors", "siding.json"


class Sides(NamedTuple):
    """Probabilities that a sentence says yes to a question, that it says no, or neither."""

    yes: float
    no: float
    neither: float


@lru_cache(maxsize=1)
def load() -> PairReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    folder = Path(str(files("workers.verify.entailment")))
    return PairReader(folder / reader.WEIGHTS, folder / FACTS, above=folder / ABOVE)


def sides(pairs: Iterable[tuple[str, str]]) -> list[Sides]:
    """What each sentence says to its question, by the committed weights."""
    return [_sides(*map(written_out, pair)) for pair in pairs]


@lru_cache(maxsize=1024)  # people repeat questions
def _sides(question: str, sentence: str) -> Sides:
    (found,) = load().judge_all([(question, sentence)])
    return Sides(*found)


def digest() -> str:
    """What names the committed weights: the beginning of their SHA-256, 64 bits."""
    return load().digest[:16]
