"""BM25 over immutable segments of postings, in memory: exact, and no more sums than it takes.

Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, section 3.2. A segment is
scored term by term, rare terms first. Once the common ones that remain cannot lift a chunk among
the best any more, only chunks that already score enough are looked up in them (MaxScore: Turtle
and Flood, Query evaluation, 1995).
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75

BYTES_PER_CHUNK = 128
"""What a process keeps of postings: about half of all, as abstracts have 92 terms of 3 bytes."""
ENTRY_BYTES = 300  # two arrays and their place in a dictionary
LEAST_BYTES = 4 * 1024 * 1024
"""Kept of any segment: all of one of a thousand abstracts, most terms of which are in it once."""

LOOKUP = 5
"""Finding one chunk in a list costs about as much as adding up so many of its entries."""

Postings = dict[int, tuple[NDArray[np.uint16], NDArray[np.uint8]]]
"""By term: the ordinals of the chunks it is in, ascending, and how often it is in each."""
NOWHERE = np.empty(0, np.uint16), np.empty(0, np.uint8)


@dataclass(eq=False)
class Segment:
    """The chunks of one segment: ids (n,) and lengths in terms (n,); both never change.

    Keeps the postings that were asked for last, for all threads of the process.
    """

    chunk_ids: NDArray[np.int64]
    lengths: NDArray[np.int32]
    _postings: Postings = field(default_factory=dict, repr=False)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _norms: tuple[float, NDArray[np.float32]] | None = None
    _by_id: tuple[NDArray[np.int64], NDArray[np.intp]] | None = None

    def known(self, terms: Sequence[int]) -> Postings:
        """The postings that are held of these terms."""
        with self._lock:
            return {term: self._postings[term] for term in terms if term in self._postings}

    def keep(self, postings: Postings) -> None:
        """Hold these, and let go of the oldest where they are too many."""
        with self._lock:
            for term, found in postings.items():
                if term not in self._postings:
                    self._postings[term] = found
                    self._bytes += _size(found)
            while self._bytes > max(LEAST_BYTES, BYTES_PER_CHUNK * len(self.chunk_ids)):
                self._bytes -= _size(self._postings.pop(next(iter(self._postings))))

    def norms(self, mean_length: float) -> NDArray[np.float32]:
        """What divides a frequency beside itself, by chunk: longer ones weigh less, (n,)."""
        known = self._norms
        if known is None or known[0] != mean_length:
            norms = K1 * (1 - B + B / mean_length * self.lengths)
            known = self._norms = mean_length, norms.astype(np.float32)
        return known[1]

    def ordinals(self, chunk_ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where those of these chunks are that are here, ascending; `chunk_ids` ascend."""
        if self._by_id is None:
            order = np.argsort(self.chunk_ids, kind="stable")
            self._by_id = self.chunk_ids[order], order
        ids, order = self._by_id
        first, last = np.searchsorted(chunk_ids, (ids[0], ids[-1] + 1))
        asked = chunk_ids[first:last]
        if len(ids) == ids[-1] - ids[0] + 1:  # without a gap: nothing to look for
            return np.sort(order[asked - ids[0]])
        places = np.searchsorted(ids, asked)
        return np.sort(order[places[ids[places] == asked]])


def _size(found: tuple[NDArray[np.uint16], NDArray[np.uint8]]) -> int:
    return found[0].nbytes + found[1].nbytes + ENTRY_BYTES


@dataclass(frozen=True)
class Scorer:
    """A query against a snapshot: segments with the postings of the query's terms, and the idf of
    each term that occurs."""

    segments: Sequence[tuple[Segment, Postings]]
    idfs: Mapping[int, float]
    mean_length: float

    @property
    def chunks(self) -> int:
        """How many chunks the snapshot holds."""
        return sum(len(segment.chunk_ids) for segment, _ in self.segments)

    @property
    def chunk_ids(self) -> NDArray[np.int64]:
        """All chunks of the snapshot, ascending, (n,)."""
        ids = np.concatenate([segment.chunk_ids for segment, _ in self.segments])
        return np.sort(ids, kind="stable")  # mostly in order already

    def best(self, k: int, among: NDArray[np.int64] | None = None) -> list[tuple[int, float]]:
        """The best `k` chunk ids with their scores above 0, best first; ties by id.

        Args:
            among: only these chunks, ascending ids.
        """
        ids, scores = np.empty(0, np.int64), np.empty(0, np.float32)
        least = np.float32(0)
        for segment, postings in sorted(self.segments, key=_by_size, reverse=True):
            if not len(segment.chunk_ids):
                continue
            places = None if among is None else segment.ordinals(among)
            found, scored = self._score(segment, postings, least, places)
            ids = np.concatenate([ids, segment.chunk_ids[found]])
            scores = np.concatenate([scores, scored])
            if len(scores) > k:
                bound = np.partition(scores, -k)[-k]
                ids, scores = ids[scores >= bound], scores[scores >= bound]
                least = bound
        order = np.lexsort((ids, -scores))[:k]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def held(self, chunk_ids: NDArray[np.int64]) -> dict[int, frozenset[int]]:
        """Which of the query's terms each of these chunks holds, by id.

        Args:
            chunk_ids: ascending.
        """
        found: dict[int, set[int]] = {key: set() for key in chunk_ids.tolist()}
        for segment, postings in self.segments:
            places = segment.ordinals(chunk_ids) if len(segment.chunk_ids) else ()
            if not len(places):
                continue
            keys = segment.chunk_ids[places].tolist()
            asked = np.asarray(places).astype(np.uint16)
            for term in self.idfs:
                ordinals, _ = postings[term]
                if len(ordinals):
                    there = np.searchsorted(ordinals, asked)
                    there[there == len(ordinals)] = 0
                    for at in np.flatnonzero(ordinals[there] == asked).tolist():
                        found[keys[at]].add(term)
        return {key: frozenset(terms) for key, terms in found.items()}

    def _score(
        self,
        segment: Segment,
        postings: Postings,
        least: np.float32,
        places: NDArray[np.intp] | None,
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The chunks of a segment that score at least `least` and above 0: ordinals, scores."""
        norms = segment.norms(self.mean_length)
        scores = np.zeros(len(norms), np.float32)
        hopeful = places
        for term, weight, rest in self._terms():
            ordinals, frequencies = postings[term]
            if rest < least:
                if hopeful is None:
                    hopeful = np.flatnonzero(scores >= least - rest)
                else:
                    hopeful = hopeful[scores[hopeful] >= least - rest]
            if hopeful is not None and LOOKUP * len(hopeful) < len(ordinals):
                asked = hopeful.astype(np.uint16)  # in another type, all ordinals would be copied
                there = np.searchsorted(ordinals, asked)
                there[there == len(ordinals)] = 0
                there = there[ordinals[there] == asked]
                ordinals, frequencies = ordinals[there], frequencies[there]
            at = ordinals.astype(np.intp)
            added = norms.take(at)
            tf = frequencies.astype(np.float32)
            added += tf
            np.divide(tf, added, out=added)
            added *= weight
            scores[at] += added
        if hopeful is None:
            hopeful = np.flatnonzero(scores >= least) if least else np.flatnonzero(scores)
        reached = scores[hopeful]
        good = (reached >= least) & (reached > 0)
        return hopeful[good], reached[good]

    def _terms(self) -> Iterator[tuple[int, np.float32, float]]:
        """Terms, rare ones first, with what each weighs and the most it and the rest can add."""
        rest = (K1 + 1) * sum(self.idfs.values())
        for term, idf in sorted(self.idfs.items(), key=lambda one: (-one[1], one[0])):
            yield term, np.float32(idf * (K1 + 1)), rest
            rest -= (K1 + 1) * idf


def _by_size(one: tuple[Segment, Postings]) -> int:
    return len(one[0].chunk_ids)
