"""How training data lies in memory."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Sample:
    """Token rows of claim and passage in the table of states, the label's number and a weight."""

    claim: Array
    passage: Array
    label: int
    weight: float


@dataclass(frozen=True)
class Table:
    """All tokens there are: states (n, s) float16, ids (n,), flags (vocabulary, f)."""

    states: Array
    ids: Array
    flags: Array
