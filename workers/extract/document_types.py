"""Of which type a clinical document is, by its words and pairs of words; learned. Pure.

A linear reader (ridge regression on which words stand in a document, rare ones counting more) says
how much each type is like it. `benchmarks/document_types.py` fits it and says on what and how well.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from knowledge.matching.likeness import TextReader, text_reader

UNKNOWN = "unknown"
_WORD = re.compile(r"[a-z]{2,}")
LEAST = 0.08
"""TextReader below which a document is of no type (benchmarks/document_types.py)."""
SURE = 0.4
"""TextReader from which a type is as sure as its share of the two best says (ours)."""


def features_of(text: str) -> set[str]:
    """The words of a text in small letters, and the pairs of words that follow each other."""
    words = _WORD.findall(text.lower())
    return {*words, *map(" ".join, pairwise(words))}


@cache
def type_reader() -> TextReader:
    """The reader as it was fitted."""
    return text_reader("rubrics", "document_types.npz")


def type_of(likeness: Mapping[str, float]) -> tuple[str, float]:
    """The type that is likest, and how sure that is, 0-1: its share of the two best."""
    (best, most), (_, second) = sorted(likeness.items(), key=lambda one: -one[1])[:2]
    if most < LEAST:
        return UNKNOWN, 0.0
    return best, round(min(1.0, most / SURE) * most / (most + max(0.0, second)), 3)
