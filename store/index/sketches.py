"""Sketches of vectors, cached in the process, exclude distant vectors before PostgreSQL compares.

Comparing the tens of thousands of vectors that a filter leaves of a million takes PostgreSQL over
30 ms, most of it to find them. A sketch is the vector's projection on the directions in which the
stored vectors differ most (principal components), one byte each. Among 24,500 synthetic vectors the
1,000 best by sketch contained all of the ten and 0.994 of the fifty nearest (ADR 0022, 0026). These
candidates are compared exactly, and PostgreSQL checks which stand, as without sketches.

A chunk's vectors never change, so a sketch stays valid. Chunks that no search asked for take no
memory.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from store.index.filters import UNSEEN
from store.index.wire import Ids, Reader, ask, engine_of, ids_of

SHARE = 0.8
"""The share of the vectors' variance that the directions explain: it takes 64 for made-up texts, 96
for MiniLM's vectors of abstracts, 192 for those of the hash encoder (ADR 0026)."""
LEAST_AXES, STEP_AXES = 64, 32
"""The least number of directions, and how many are added at a time."""
GROWN = 4
"""When the cached windows grow by this factor, the directions are computed again: texts on another
subject differ in other directions."""
CANDIDATES, LEAST = 20, 1_000
"""How many windows are compared exactly for each chunk wanted, and how many at least."""
WORTH = 4
"""With fewer chunks than this times the candidates, PostgreSQL compares all as fast."""
SAMPLE = 4_000
"""Number of vectors from which the axes are computed."""
MOST_BYTES = 64_000_000
"""The limit of the cached sketches: a million windows on 64 directions. Beyond, the cache is
emptied and filled again."""
BATCH = 20_000
"""How many chunks' vectors are read at a time: 15 MB."""
_HEADER_BYTES = 4  # pgvector's halfvec_send: two 16-bit numbers, then the components, big-endian


def worth_it(chunks: int, k: int) -> bool:
    """Whether so many chunks are worth their sketches, where the `k` nearest are wanted."""
    return chunks >= WORTH * _count(k)


def _count(k: int) -> int:
    return max(LEAST, CANDIDATES * k)


class Held(NamedTuple):
    """Cached sketches: chunks, ascending, (m,); where the windows of each begin, (m + 1,); codes,
    (n, axes), and their directions, (axes, d), computed for `among` windows."""

    chunks: NDArray[np.int64]
    starts: NDArray[np.intp]
    codes: NDArray[np.int8]
    axes: NDArray[np.float32]
    among: int

    def rows(
        self, listed: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
        """The windows of the listed chunks, the index in `listed` of each window's chunk, and the
        chunks without sketches; `listed` ascends."""
        if not len(self.chunks):
            return np.zeros(0, np.intp), np.zeros(0, np.intp), listed
        place = np.minimum(np.searchsorted(self.chunks, listed), len(self.chunks) - 1)
        known = self.chunks[place] == listed
        place = place[known]
        count = self.starts[place + 1] - self.starts[place]
        before = np.cumsum(count) - count
        rows = np.repeat(self.starts[place] - before, count) + np.arange(count.sum())
        return rows, np.repeat(np.flatnonzero(known), count), listed[~known]


class _Found(NamedTuple):
    """For the listed chunks: the index of each window's chunk, (n,), its sketch, (n, axes), and the
    chunks without sketches."""

    listed: NDArray[np.int64]
    held: Held
    owners: NDArray[np.intp]
    places: NDArray[np.float32]
    unknown: NDArray[np.int64]


def _nothing(axes: NDArray[np.float32], among: int) -> Held:
    codes = np.zeros((0, len(axes)), np.int8)
    return Held(np.zeros(0, np.int64), np.zeros(1, np.intp), codes, axes, among)


_NO_AXES = np.zeros((0, 0), np.float32)


@dataclass
class Sketches:
    """The sketches that a process caches for one database. Threads may share it."""

    _held: Held = field(default_factory=lambda: _nothing(_NO_AXES, 0))
    _found: _Found | None = None
    _growing: threading.Lock = field(default_factory=threading.Lock)

    def candidates(
        self, reader: Reader, query: NDArray[np.float32], k: int, listed: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The listed chunks among which to look for the `k` nearest, ascending.

        Chunks without a sketch are included, because nothing is known of them.

        Args:
            reader: reads the snapshot in which the chunks were listed.
            query: unit vector, (d,).
            listed: chunk ids, ascending, (n,).
        """
        if not worth_it(len(listed), k):
            return listed
        count = _count(k)
        known = self._looked_up(listed)
        if len(known.unknown) > count:
            self._read(reader, listed)
            known = self._looked_up(listed)
        axes = known.held.axes
        if not len(axes):
            return listed
        # Not a matrix product: its threads wait for each other when cores are busy.
        near = np.einsum("ij,j->i", known.places, axes @ query)
        owners = known.owners
        if len(near) > count:
            owners = owners[np.argpartition(near, -count)[-count:]]
        return np.union1d(listed[owners], known.unknown)

    def _looked_up(self, listed: NDArray[np.int64]) -> _Found:
        """The sketches of the listed chunks, cached as all parts of a question list the same."""
        held, last = self._held, self._found
        if last is None or last.held is not held or not np.array_equal(last.listed, listed):
            rows, owners, unknown = held.rows(listed)
            places = held.codes[rows].astype(np.float32)
            last = self._found = _Found(listed, held, owners, places, unknown)
        return last

    def _read(self, reader: Reader, listed: NDArray[np.int64]) -> None:
        """Add the sketches of these chunks to the cache, if they have vectors."""
        with self._growing:
            held = self._room_for(reader, len(self._held.rows(listed)[2]))
            unknown = held.rows(listed)[2]  # another thread may have been first
            chunks, codes = [np.repeat(held.chunks, np.diff(held.starts))], [held.codes]
            for first in range(0, len(unknown) if len(held.axes) else 0, BATCH):
                some = Ids(unknown[first : first + BATCH])
                windows = ask(reader, _VECTORS, {"ids": some}).fetchall()
                owners, fresh = _sketched(windows, held.axes)
                chunks.append(owners)
                codes.append(fresh)
            joined = np.concatenate(chunks), np.concatenate(codes)
            self._held = held_of(*joined, held.axes, held.among)

    def _room_for(self, reader: Reader, more: int) -> Held:
        """The cache, if it has room for `more` windows, else an empty one."""
        held = self._held
        wanted = len(held.codes) + more
        if wanted > GROWN * held.among:
            return _nothing(_axes(reader, wanted), wanted)
        if wanted * len(held.axes) > MOST_BYTES:
            return _nothing(held.axes, held.among)
        return held


def _sketched(
    windows: Sequence[tuple[int, bytes]], axes: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """The chunk ids of these windows and their sketches."""
    if not windows:
        nothing = _nothing(axes, 0)
        return nothing.chunks, nothing.codes
    places = _vectors([vector for _, vector in windows]) @ axes.T
    # Vectors have length 1, so every component is within ±1.
    return ids_of(windows), np.rint(places * 127).astype(np.int8)


def held_of(
    chunks: NDArray[np.int64], codes: NDArray[np.int8], axes: NDArray[np.float32], among: int
) -> Held:
    """The cache of the sketches of windows, (n, axes), whose chunks are `chunks`, (n,)."""
    order = np.argsort(chunks, kind="stable")
    unique, first = np.unique(chunks[order], return_index=True)
    starts = np.append(first, len(chunks)).astype(np.intp)
    return Held(unique, starts, codes[order], axes, among)


_VECTORS = (
    "SELECT chunk_id, halfvec_send(embedding) FROM chunk_vector "  # noqa: S608  our own text
    f"WHERE chunk_id = ANY({UNSEEN})"
)
_SOME = """
    SELECT halfvec_send(embedding) FROM chunk_vector TABLESAMPLE SYSTEM (%(percent)s) LIMIT %(most)s
"""
_WINDOWS = "SELECT reltuples FROM pg_class WHERE oid = CAST('chunk_vector' AS regclass)"


def _axes(reader: Reader, least: int) -> NDArray[np.float32]:
    """The directions of length 1 in which the stored vectors differ most, (axes, d): as many as
    explain `SHARE` of their variance. `least` bounds the number of vectors from below, as the last
    ANALYZE may be old."""
    ((windows,),) = ask(reader, _WINDOWS).fetchall()
    percent = min(100.0, 120.0 * SAMPLE / max(windows, least, 1))
    some = ask(reader, _SOME, {"percent": percent, "most": SAMPLE}).fetchall()
    if not some:
        return _NO_AXES
    vectors = _vectors([vector for (vector,) in some])
    vectors -= vectors.mean(axis=0)
    spread, directions = np.linalg.eigh(vectors.T @ vectors)
    held = np.cumsum(spread[::-1]) / max(float(spread.sum()), 1e-12)
    axes = LEAST_AXES
    while axes < len(held) and held[axes - 1] < SHARE:
        axes += STEP_AXES
    chosen: NDArray[np.float32] = directions[:, -axes:].T.astype(np.float32)
    return chosen


def _vectors(rows: Sequence[bytes]) -> NDArray[np.float32]:
    joined = b"".join(row[_HEADER_BYTES:] for row in rows)
    return np.frombuffer(joined, ">f2").reshape(len(rows), -1).astype(np.float32)


_OF: "WeakKeyDictionary[sa.Engine, Sketches]" = WeakKeyDictionary()


def sketches(reader: Reader) -> Sketches:
    """This process's sketches of the database that `reader` reads."""
    return _OF.setdefault(engine_of(reader), Sketches())
