"""Sketches of vectors, kept in the process: what is far is left out before PostgreSQL compares.

Comparing the tens of thousands of vectors that a filter leaves of a million takes PostgreSQL over
30 ms, most of it to find them. A sketch is the vector's place on the directions in which the stored
vectors differ most (principal components), a byte each. Among 24,500 synthetic vectors the 1,000
best by sketch held all of the ten and 0.994 of the fifty nearest (ADR 0022, 0026). What is among
them is compared exactly, and what stands is asked of PostgreSQL, as without sketches.

A chunk's vectors never change, so that what was read once holds. What no process has asked for
costs no memory.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.filters import UNSEEN
from store.index.wire import Ids, ask, ids_of

SHARE = 0.8
"""How much of what the vectors differ in the directions hold: 64 do for made-up texts, 96 for
MiniLM's of abstracts, 192 for those of the hash encoder (ADR 0026)."""
LEAST_AXES, STEP_AXES = 64, 32
"""How many directions there are at least, and how many more at a time."""
GROWN = 4
"""Once so many times the windows are to be kept, the directions are found anew: texts on something
else differ in others."""
CANDIDATES, LEAST = 20, 1_000
"""How many windows are compared exactly for each chunk that is wanted, and how many at least."""
WORTH = 4
"""Of less than so many times the candidates, PostgreSQL compares all: it takes no longer."""
SAMPLE = 4_000
"""Vectors from which the axes are found."""
MOST_BYTES = 64_000_000
"""Of the sketches that are kept: a million windows on 64 directions. Beyond, what was kept is
forgotten and gathered anew."""
BATCH = 20_000
"""Chunks whose vectors are read at a time: 15 MB."""
_HEADER_BYTES = 4  # pgvector's halfvec_send: two 16-bit numbers, then the components, big-endian


class Held(NamedTuple):
    """Chunks, ascending, (m,); where the windows of each begin, (m + 1,); sketches, (n, axes), and
    their directions, (axes, d), found among so many windows."""

    chunks: NDArray[np.int64]
    starts: NDArray[np.intp]
    codes: NDArray[np.int8]
    axes: NDArray[np.float32]
    among: int

    def rows(
        self, listed: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
        """The windows of the listed chunks, which of these each is of, and the chunks that are
        not held; `listed` ascends."""
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
    """Of the listed chunks: which one each window is of, (n,), its sketch, (n, axes), and those
    that are not held."""

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
    """What a process keeps of the vectors of one database. Threads may share it."""

    _held: Held = field(default_factory=lambda: _nothing(_NO_AXES, 0))
    _found: _Found | None = None
    _growing: threading.Lock = field(default_factory=threading.Lock)

    def candidates(
        self, session: Session, query: NDArray[np.float32], k: int, listed: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Those of the listed chunks among which the `k` nearest are looked for, ascending.

        A chunk without a sketch is one of them, for nothing is known of it.

        Args:
            session: reads the snapshot in which they were listed.
            query: unit vector, (d,).
            listed: chunk ids, ascending, (n,).
        """
        count = max(LEAST, CANDIDATES * k)
        if len(listed) < WORTH * count:
            return listed
        found = self._looked_up(listed)
        if len(found.unknown) > count:
            self._read(session, listed)
            found = self._looked_up(listed)
        axes = found.held.axes
        if not len(axes):
            return listed
        # Not a product of matrices: its threads wait for each other where cores are busy.
        near = np.einsum("ij,j->i", found.places, axes @ query)
        owners = found.owners
        if len(near) > count:
            owners = owners[np.argpartition(near, -count)[-count:]]
        return np.union1d(listed[owners], found.unknown)

    def _looked_up(self, listed: NDArray[np.int64]) -> _Found:
        """What is held of the listed chunks. The parts of a question ask for the same ones."""
        held, found = self._held, self._found
        if found is None or found.held is not held or not np.array_equal(found.listed, listed):
            rows, owners, unknown = held.rows(listed)
            places = held.codes[rows].astype(np.float32)
            found = self._found = _Found(listed, held, owners, places, unknown)
        return found

    def _read(self, session: Session, listed: NDArray[np.int64]) -> None:
        """Hold the sketches of these chunks too, as far as they have vectors."""
        with self._growing:
            held = self._room_for(session, len(self._held.rows(listed)[2]))
            unknown = held.rows(listed)[2]  # another thread may have been first
            chunks, codes = [np.repeat(held.chunks, np.diff(held.starts))], [held.codes]
            for first in range(0, len(unknown) if len(held.axes) else 0, BATCH):
                some = Ids(unknown[first : first + BATCH])
                windows = ask(session, _VECTORS, {"ids": some}).fetchall()
                owners, fresh = _sketched(windows, held.axes)
                chunks.append(owners)
                codes.append(fresh)
            joined = np.concatenate(chunks), np.concatenate(codes)
            self._held = held_of(*joined, held.axes, held.among)

    def _room_for(self, session: Session, more: int) -> Held:
        """What is held, if so many more windows may join it, or the beginning of something new."""
        held = self._held
        wanted = len(held.codes) + more
        if wanted > GROWN * held.among:
            return _nothing(_axes(session, wanted), wanted)
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
    # Vectors have length 1, so that no place is beyond ±1.
    return ids_of(windows), np.rint(places * 127).astype(np.int8)


def held_of(
    chunks: NDArray[np.int64], codes: NDArray[np.int8], axes: NDArray[np.float32], among: int
) -> Held:
    """The sketches of windows, (n, axes), by the chunks that they are of, (n,)."""
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


def _axes(session: Session, least: int) -> NDArray[np.float32]:
    """The directions in which the stored vectors differ most, (axes, d), of length 1: as many as
    hold `SHARE` of it. There are at least so many vectors, whenever they were last counted."""
    ((windows,),) = ask(session, _WINDOWS).fetchall()
    percent = min(100.0, 120.0 * SAMPLE / max(windows, least, 1))
    some = ask(session, _SOME, {"percent": percent, "most": SAMPLE}).fetchall()
    if not some:
        return _NO_AXES
    vectors = _vectors([vector for (vector,) in some])
    vectors -= vectors.mean(axis=0)
    spread, directions = np.linalg.eigh(vectors.T @ vectors)
    held = np.cumsum(spread[::-1]) / max(float(spread.sum()), 1e-12)
    axes = LEAST_AXES
    while axes < len(held) and held[axes - 1] < SHARE:
        axes += STEP_AXES
    found: NDArray[np.float32] = directions[:, -axes:].T.astype(np.float32)
    return found


def _vectors(rows: Sequence[bytes]) -> NDArray[np.float32]:
    joined = b"".join(row[_HEADER_BYTES:] for row in rows)
    return np.frombuffer(joined, ">f2").reshape(len(rows), -1).astype(np.float32)


_OF: "WeakKeyDictionary[sa.Engine, Sketches]" = WeakKeyDictionary()


def sketches(session: Session) -> Sketches:
    """What this process keeps of the database that `session` reads."""
    return _OF.setdefault(session.connection().engine, Sketches())
