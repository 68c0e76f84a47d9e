"""A synthetic index of any size that looks to a search like a real one (`statistics.py`).

Vectors are drawn down a tree that is the same at every size, so that a small corpus is a sample of
a large one: clusters as many as were found in the real corpus and with the variance between them,
parts of clusters and parts of these, documents, and windows, which share the variance within
clusters. Similarity falls with the rank of a neighbour as it does in the real corpus, and a hundred
times as many chunks bring neighbours nearer as that fall foretells. Queries lie around documents
as far as real ones do and are never copies of what is stored. Words are ranks of a vocabulary with
the real share of chunks for each, and a Zipf tail.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.search.statistics import PER_CLUSTER, STATISTICS
from store.index.bm25 import Postings
from store.index.terms import terms

Matrix = NDArray[np.float32]
VOCABULARY = 430_000
"""Distinct stems of a million abstracts (LEXICAL measurements, an extrapolated Zipf tail)."""
SOURCE_TYPES = {"pubmed": 0.70, "clinicaltrials": 0.20, "label": 0.09, "guideline": 0.01}
DISEASES = 40
PARTS = 9
LEVELS = 2
"""Parts of each cluster, and how often it is parted."""
OF_DOCUMENT = 0.5
"""Share of the variance within clusters that the windows of a document have in common, a third of
it for each part and one for the document: gives the windows of one document the similarity that
those of a SciFact abstract have, about 0.75."""
BLOCK = 20_000


def term_of(rank: int) -> int:
    """The term of the word that stands for this rank, as the product reads it."""
    return next(iter(terms(f"w{rank}")))


@dataclass(frozen=True)
class Corpus:
    """A corpus of `chunks` chunks with one window each, three chunks a document."""

    chunks: int
    seed: int = 7

    @cached_property
    def _given(self) -> dict[str, Any]:
        given: dict[str, Any] = json.loads(STATISTICS.read_text("utf-8"))
        return given

    @cached_property
    def _axes(self) -> dict[str, Matrix]:
        return {key: np.array(row, np.float32) for key, row in self._given["vectors"].items()}

    @cached_property
    def _centres(self) -> Matrix:
        """The middles of the smallest parts; neighbours in the tree follow each other."""
        rng = np.random.default_rng(self.seed)
        axes = self._axes
        centres = rng.standard_normal((self._given["windows"] // PER_CLUSTER, 384), np.float32)
        centres *= np.sqrt(axes["between"])
        centres += axes["mean"]
        for _ in range(LEVELS):
            centres = self._around(rng, np.repeat(centres, PARTS, axis=0))
        return centres

    def _around(self, rng: np.random.Generator, middles: Matrix) -> Matrix:
        """Something beside each of these, a level further down the tree."""
        spread = rng.standard_normal(middles.shape, np.float32)
        spread *= np.sqrt(OF_DOCUMENT / (LEVELS + 1) * self._axes["within"])
        spread += middles
        return spread

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """The document of each chunk."""
        found: NDArray[np.int64] = np.arange(self.chunks) // 3
        return found

    @cached_property
    def _cluster_of_document(self) -> NDArray[np.int64]:
        rng = np.random.default_rng(self.seed + 1)
        count = int(self.documents[-1]) + 1
        return rng.integers(0, len(self._centres), count)

    @cached_property
    def _documents(self) -> Matrix:
        rng = np.random.default_rng(self.seed + 2)
        return self._around(rng, self._centres[self._cluster_of_document])

    def vectors(self) -> Iterator[Matrix]:
        """Unit vectors of all chunks in order, (BLOCK, d) at a time."""
        rng = np.random.default_rng(self.seed + 10)
        inner = np.sqrt((1 - OF_DOCUMENT) * self._axes["within"])
        for first in range(0, self.chunks, BLOCK):
            middle = self._documents[self.documents[first : first + BLOCK]]
            yield _unit(middle + inner * rng.standard_normal(middle.shape, np.float32))

    def queries(self, count: int) -> Matrix:
        """Unit vectors of queries, (count, d)."""
        rng = np.random.default_rng(self.seed + 3)
        middle = self._documents[rng.choice(len(self._documents), count)]
        spread = rng.standard_normal(middle.shape, np.float32)
        axes = self._axes
        beside = np.maximum(axes["query_within"] - OF_DOCUMENT * axes["within"], 0)
        spread *= np.sqrt(beside)
        return _unit(middle + axes["query_offset"] + spread)

    @cached_property
    def diseases(self) -> NDArray[np.int64]:
        """The disease tag of each document: near documents share it, as real ones do."""
        found: NDArray[np.int64] = self._cluster_of_document * DISEASES // len(self._centres)
        return found

    @cached_property
    def source_types(self) -> list[str]:
        """The source type of each document."""
        rng = np.random.default_rng(self.seed + 4)
        names, shares = list(SOURCE_TYPES), list(SOURCE_TYPES.values())
        found: list[str] = rng.choice(names, self.documents[-1] + 1, p=shares).tolist()
        return found

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The share of chunks that each rank is in; the tail falls as 1/rank (Zipf)."""
        words = self._given["words"]
        ranks, shares = np.array(words["ranks"]), np.array(words["shares"])
        every = np.arange(1, VOCABULARY + 1)
        found: NDArray[np.float64] = np.exp(np.interp(np.log(every), np.log(ranks), np.log(shares)))
        # Words seen once in so few chunks say little of their share: from a tenth of the ranks on
        # Zipf's law goes on, with what the mean of distinct terms leaves.
        cut = ranks[-1] // 10
        tail = found[cut] * cut / every[cut:]
        room = words["distinct_terms"] - found[:cut].sum()
        found[cut:] = tail * min(1.0, max(room, 0.0) / tail.sum())
        return found

    def questions(self, count: int) -> list[str]:
        """Questions in words of the synthetic vocabulary, each as common as in a real one."""
        words = self._given["words"]["queries"]
        falling = -self._shares
        return [
            " ".join(
                dict.fromkeys(
                    f"w{1 + min(int(np.searchsorted(falling, -share)), VOCABULARY - 1)}"
                    for share in words[number % len(words)]
                )
            )
            for number in range(count)
        ]

    def lengths(self) -> NDArray[np.int32]:
        """How many terms each chunk has."""
        rng = np.random.default_rng(self.seed + 5)
        quantiles = self._given["words"]["length_quantiles"]
        places = rng.random(self.chunks) * (len(quantiles) - 1)
        found: NDArray[np.int32] = np.interp(places, np.arange(len(quantiles)), quantiles).astype(
            np.int32
        )
        return found

    def postings(self, count: int, segment: int) -> Postings:
        """The postings of a segment of `count` chunks: term → ordinals, frequencies."""
        rng = np.random.default_rng((self.seed, segment))
        found = rng.poisson(self._shares * count)
        ranks = np.flatnonzero(found)
        ordinals = rng.integers(0, count, found.sum(), dtype=np.int64)
        owner = np.repeat(ranks, found[ranks])
        pairs = np.unique(owner * count + ordinals)  # sorted by rank, then ordinal
        owner, ordinals = np.divmod(pairs, count)
        shares = np.cumsum(_sum_to_one(self._given["words"]["frequencies"]))
        times = 1 + np.searchsorted(shares[:-1], np.linspace(0, 1, 4096)).astype(np.uint8)
        often = times[rng.integers(0, len(times), len(pairs))]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        ends = [*starts[1:].tolist(), len(owner)]
        short = ordinals.astype(np.uint16)
        return {
            self._terms[rank]: (short[start:end], often[start:end])
            for rank, start, end in zip(owner[starts].tolist(), starts.tolist(), ends, strict=True)
        }

    @cached_property
    def _terms(self) -> list[int]:
        """The term of each rank. Two words may share a number: the later one gets a free one."""
        taken: dict[int, None] = {}
        for rank in range(1, VOCABULARY + 1):
            term = term_of(rank)
            while term in taken:
                term = (term + 1) & 0x7FFFFFFF
            taken[term] = None
        return list(taken)

    def text(self, characters: int) -> str:
        """Words as common as in the corpus, of which documents are cut."""
        rng = np.random.default_rng(self.seed + 6)
        shares = _sum_to_one(self._shares)
        drawn = rng.choice(VOCABULARY, characters // 5, p=shares)
        return " ".join(f"w{rank + 1}" for rank in drawn)[:characters]


def _sum_to_one(shares: Any) -> NDArray[np.float64]:
    found = np.asarray(shares, np.float64)
    parts: NDArray[np.float64] = found / found.sum()
    return parts


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
