"""Exact BM25 over immutable segments of postings in memory, with as few additions as possible.

Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, section 3.2. A segment is
scored term by term, rare terms first. Once the remaining common terms cannot lift a new chunk among
the best, only chunks that already score enough are looked up in them (MaxScore: Turtle and Flood,
Query evaluation, 1995).
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75

BYTES_PER_CHUNK = 128
"""Postings that a process caches: about half of all, as abstracts have 92 terms of 3 bytes."""
ENTRY_BYTES = 300  # two arrays and their dictionary entry
LEAST_BYTES = 4 * 1024 * 1024
"""Cached of any segment: all of one of a thousand abstracts, where most terms occur once."""

LOOKUP = 5
"""Looking up one chunk in a list costs about as much as adding this many of its entries."""

Postings = dict[int, tuple[NDArray[np.uint16], NDArray[np.uint8]]]
"""By term: the ordinals of the chunks that contain it, ascending, and its count in each."""
NOWHERE = np.empty(0, np.uint16), np.empty(0, np.uint8)


@dataclass(eq=False)
class Segment:
    """The chunks of one segment: ids (n,) and lengths in terms (n,), which never change.

    Caches the postings that were read last, for all threads of the process.
    """

    chunk_ids: NDArray[np.int64]
    lengths: NDArray[np.int32]
    _postings: Postings = field(default_factory=dict, repr=False)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _norms: tuple[float, NDArray[np.float32]] | None = None
    _by_id: tuple[NDArray[np.int64], NDArray[np.intp]] | None = None

    def known(self, terms: Sequence[int]) -> Postings:
        """The cached postings of these terms."""
        with self._lock:
            return {term: self._postings[term] for term in terms if term in self._postings}

    def keep(self, postings: Postings) -> None:
        """Cache these postings, and drop the oldest if they are too many."""
        with self._lock:
            for term, entries in postings.items():
                if term not in self._postings:
                    self._postings[term] = entries
                    self._bytes += _size(entries)
            while self._bytes > max(LEAST_BYTES, BYTES_PER_CHUNK * len(self.chunk_ids)):
                self._bytes -= _size(self._postings.pop(next(iter(self._postings))))

    def norms(self, mean_length: float) -> NDArray[np.float32]:
        """The BM25 length term added to the frequency in the denominator, by chunk, (n,)."""
        known = self._norms
        if known is None or known[0] != mean_length:
            norms = K1 * (1 - B + B / mean_length * self.lengths)
            known = self._norms = mean_length, norms.astype(np.float32)
        return known[1]

    def ordinals(self, chunk_ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """The ordinals, ascending, of those chunks that are in this segment; `chunk_ids` ascend."""
        if self._by_id is None:
            order = np.argsort(self.chunk_ids, kind="stable")
            self._by_id = self.chunk_ids[order], order
        ids, order = self._by_id
        first, last = np.searchsorted(chunk_ids, (ids[0], ids[-1] + 1))
        sought = chunk_ids[first:last]
        if len(ids) == ids[-1] - ids[0] + 1:  # ids without a gap: no search needed
            return np.sort(order[sought - ids[0]])
        places = np.searchsorted(ids, sought)
        return np.sort(order[places[ids[places] == sought]])


def all_chunks(segments: Iterable[Segment]) -> NDArray[np.int64]:
    """The ids of all chunks of these segments, ascending, (n,)."""
    ids = np.concatenate([np.empty(0, np.int64), *(one.chunk_ids for one in segments)])
    return np.sort(ids, kind="stable")  # mostly in order already


def _size(found: tuple[NDArray[np.uint16], NDArray[np.uint8]]) -> int:
    return found[0].nbytes + found[1].nbytes + ENTRY_BYTES


@dataclass(frozen=True)
class Scorer:
    """A query on a snapshot: the segments with the postings of the query's terms, and the idf of
    each term that occurs."""

    segments: Sequence[tuple[Segment, Postings]]
    idfs: Mapping[int, float]
    mean_length: float

    @property
    def chunks(self) -> int:
        """The number of chunks in the snapshot."""
        return sum(len(segment.chunk_ids) for segment, _ in self.segments)

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
            ordinals, scored = self._score(segment, postings, least, places)
            ids = np.concatenate([ids, segment.chunk_ids[ordinals]])
            scores = np.concatenate([scores, scored])
            if len(scores) > k:
                bound = np.partition(scores, -k)[-k]
                ids, scores = ids[scores >= bound], scores[scores >= bound]
                least = bound
        order = np.lexsort((ids, -scores))[:k]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def held(self, chunk_ids: NDArray[np.int64]) -> dict[int, frozenset[int]]:
        """The terms of the query that each of these chunks contains, by chunk id.

        Args:
            chunk_ids: ascending.
        """
        held: dict[int, set[int]] = {key: set() for key in chunk_ids.tolist()}
        for segment, postings in self.segments:
            places = segment.ordinals(chunk_ids) if len(segment.chunk_ids) else ()
            if not len(places):
                continue
            keys = segment.chunk_ids[places].tolist()
            sought = np.asarray(places).astype(np.uint16)
            for term in self.idfs:
                ordinals, _ = postings[term]
                if len(ordinals):
                    there = ordinals.take(ordinals.searchsorted(sought), mode="clip") == sought
                    for at in there.nonzero()[0].tolist():
                        held[keys[at]].add(term)
        return {key: frozenset(terms) for key, terms in held.items()}

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
                sought = hopeful.astype(np.uint16)  # another type would copy all ordinals
                there = np.searchsorted(ordinals, sought)
                there[there == len(ordinals)] = 0
                there = there[ordinals[there] == sought]
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
        """Terms, rare ones first, with the weight of each and the most it and the rest can add."""
        rest = (K1 + 1) * sum(self.idfs.values())
        for term, idf in sorted(self.idfs.items(), key=lambda item: (-item[1], item[0])):
            yield term, np.float32(idf * (K1 + 1)), rest
            rest -= (K1 + 1) * idf


def _by_size(one: tuple[Segment, Postings]) -> int:
    return len(one[0].chunk_ids)
