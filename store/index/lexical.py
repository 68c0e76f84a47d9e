"""Exact BM25 in PostgreSQL: immutable posting segments, written in the chunks' own transaction.

A segment holds the raw term frequencies and lengths of some chunks. Document counts, document
frequencies and the average length are summed over the segments at query time, so nothing drifts.
Small segments are merged (`store.index.merging`; ADR 0006, LEXICAL.md). A segment names the rules
that made its terms, and is not searched by other rules (ADR 0012).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlmodel import Session

from store.index import partitions
from store.index.bm25 import NOWHERE, Postings, Scorer, Segment
from store.index.filters import Filter, few, passing, share
from store.index.sizes import SIZES, learn
from store.index.terms import TERM_RULE
from store.index.wire import Reader, ask

__all__ = [
    "Segment",
    "TermsMismatch",
    "best",
    "insert_segment",
    "prepare",
    "search",
    "weights",
    "write_segment",
]

LEAST_TOLD = 1.0
"""Ours: the idf of a term that a third of the chunks contain. In a library on one subject the words
of that subject are in every text, and still matter in a question."""

MAX_SEGMENT_CHUNKS = 65_536  # ordinals are 16 bits


class TermsMismatch(RuntimeError):
    """Part of the index was built by other rules for terms, so its chunks would not be found."""


def write_segment(session: Session, chunks: Sequence[tuple[int, Mapping[int, int]]]) -> None:
    """Index `chunks`, pairs of chunk id and term counts, in the session's transaction."""
    for first in range(0, len(chunks), MAX_SEGMENT_CHUNKS):
        part = chunks[first : first + MAX_SEGMENT_CHUNKS]
        ids = np.fromiter((chunk_id for chunk_id, _ in part), np.int64, len(part))
        lengths = np.fromiter((sum(counts.values()) for _, counts in part), np.int32, len(part))
        insert_segment(session, 0, Segment(ids, lengths), _postings([counts for _, counts in part]))


def _postings(counted: Sequence[Mapping[int, int]]) -> Postings:
    """The inverted term counts: for each term its chunks, by their ordinals."""
    entries = sum(map(len, counted))
    if not entries:
        return {}  # only stop words and punctuation
    terms = np.fromiter((term for counts in counted for term in counts), np.int64, entries)
    counts = np.fromiter((n for counts in counted for n in counts.values()), np.int64, entries)
    sizes = np.fromiter(map(len, counted), np.int64, len(counted))
    order = np.argsort(terms, kind="stable")  # ordinals stay ascending within a term
    terms = terms[order]
    ordinals = np.repeat(np.arange(len(counted), dtype=np.uint16), sizes)[order]
    frequencies = np.minimum(counts, 255).astype(np.uint8)[order]
    starts = np.flatnonzero(np.diff(terms, prepend=-1))
    ends = [*starts[1:].tolist(), entries]
    return {
        term: (ordinals[start:end], frequencies[start:end])
        for term, start, end in zip(terms[starts].tolist(), starts.tolist(), ends, strict=True)
    }


def insert_segment(session: Session, level: int, segment: Segment, postings: Postings) -> None:
    """Write a segment of `level` with its postings; 16 of a level are merged to one of the next."""
    segment_id = session.execute(
        sa.text(
            "INSERT INTO lex_segment (level, term_rule, chunks, length_sum, chunk_ids, lengths) "
            "VALUES (:level, :rule, :chunks, :length_sum, :chunk_ids, :lengths) RETURNING id"
        ),
        {
            "level": level,
            "rule": TERM_RULE,
            "chunks": len(segment.chunk_ids),
            "length_sum": int(segment.lengths.sum()),
            "chunk_ids": segment.chunk_ids.tobytes(),
            "lengths": segment.lengths.tobytes(),
        },
    ).scalar_one()
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY lex_posting (term, segment_id, chunks, ordinals, frequencies) "
            "FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(["int4", "int8", "int4", "bytea", "bytea"])
        for term, (ordinals, frequencies) in sorted(postings.items()):
            copy.write_row(
                (term, segment_id, len(ordinals), ordinals.tobytes(), frequencies.tobytes())
            )


def search(
    session: Session,
    query: Iterable[int],
    k: int,
    segments: dict[int, Segment],
    *,
    only: Filter | None = None,
) -> list[tuple[int, float]]:
    """The best `k` chunk ids for the query's terms with their BM25 scores, best first.

    `session` must read one snapshot (`Store.reading`): a merge replaces segments as a whole.

    Args:
        segments: a cache of segments by id, owned by the caller; segments never change.
        only: the filter for chunks. None: the result may contain chunks that no longer exist or
            are not of a current version; the caller filters them, and so asks for more.
    """
    return best(session, prepare(session, query, segments), k, only)


def prepare(session: Session, query: Iterable[int], segments: dict[int, Segment]) -> Scorer | None:
    """Read the postings of the query's terms in the snapshot; None if there is nothing to score.

    The segments of all partitions are scored as those of one index: chunks and lengths are counted
    over all, so the score of a chunk does not depend on its server.

    Raises:
        TermsMismatch: part of the index was not built by this release's rules.
        PartitionAway, Moved: see `store.index.partitions`.
    """
    wanted = sorted(set(query))
    read = _ask_segments(session, wanted, segments)()
    found = read.segments
    if partitions.begin(session, read.registered):
        found = _with_partitions(session, wanted, read)
    length = sum(one.length for one in found)
    if not length or not wanted:
        return None
    total = sum(len(one.segment.chunk_ids) for one in found)
    occurrences = {term: sum(len(one.postings[term][0]) for one in found) for term in wanted}
    idfs = {term: _idf(count, total) for term, count in occurrences.items() if count}
    return Scorer([(one.segment, one.postings) for one in found], idfs, length / total)


class _Read(NamedTuple):
    """A segment with its length in terms and its postings of a query's terms."""

    segment: Segment
    length: int
    postings: Postings


class _Server(NamedTuple):
    """What one server holds for a query, and the partitions that it knows: name, state, moves."""

    segments: Sequence[_Read]
    registered: Sequence[tuple[str, str, int]]


_OVERVIEW = f"""
    SELECT id, chunks, length_sum, term_rule, NULL, CAST(NULL AS bigint[]) FROM lex_segment
    UNION ALL SELECT moves, 0, 0, state, name, NULL FROM index_partition
    UNION ALL SELECT 0, 0, 0, NULL, '', ({SIZES}) ORDER BY 5 NULLS FIRST, 1
"""  # noqa: S608  our own text
"""With the size of the index and the partitions, which every search has to know of and none waits
for."""


def _ask_segments(
    reader: Reader, wanted: Sequence[int], cache: dict[int, Segment]
) -> Callable[[], _Server]:
    """Send the queries for the segments of one server; the returned function reads them."""
    known = dict(cache)
    likely = _ask_postings(reader, wanted, known)  # sent with the overview, not after it
    cursor = ask(reader, _OVERVIEW)

    def read() -> _Server:
        overview = cursor.fetchall()
        registered = [(name, state, moves) for moves, _, _, state, name, _ in overview if name]
        for *_, counts in overview:
            if counts is not None:
                learn(reader, counts)
        lengths = {key: length for key, _, length, _, name, _ in overview if name is None}
        _require_own_rule(rule for *_, rule, name, _ in overview if name is None)
        if not lengths:
            reader.info["segments"] = []
        if not wanted or not any(lengths.values()):
            return _Server([], registered)
        postings = likely({key: known[key] for key in lengths if key in known})
        held = _load(reader, list(lengths), cache)
        fresh = {key: segment for key, segment in held.items() if key not in postings}
        postings |= _ask_postings(reader, wanted, fresh)(fresh)
        reader.info["segments"] = list(held.values())
        found = [_Read(held[key], lengths[key], postings[key]) for key in held]
        return _Server(found, registered)

    return read


def _with_partitions(session: Session, wanted: Sequence[int], first: _Server) -> list[_Read]:
    """The segments of all servers. One that is being moved is on two: it counts once."""
    kept = partitions.servers_of(session).segments
    reads = partitions.received_first(
        session, lambda part, its: _ask_segments(its, wanted, kept[part.name])
    )
    for part, one in reads.items():
        partitions.require_name(part, [name for name, *_ in one.registered])
    partitions.require_unmoved(session, sum(moves for *_, moves in first.registered))
    return list(
        {
            int(read.segment.chunk_ids[0]): read
            for one in (first, *reads.values())
            for read in one.segments
            if len(read.segment.chunk_ids)
        }.values()
    )


def _require_own_rule(rules: Iterable[str]) -> None:
    others = sorted(set(rules) - {TERM_RULE})
    if others:
        raise TermsMismatch(
            f"part of the index of words was built by the rules {', '.join(others)}, this release "
            f"has {TERM_RULE}: wait until a scheduler of this release has written it anew"
        )


def best(
    session: Session, scorer: Scorer | None, k: int, only: Filter | None = None
) -> list[tuple[int, float]]:
    """The second half of `search`: score chunks, and drop those that do not pass the filter."""
    if scorer is None:
        return []
    if only is None:
        return scorer.best(k)
    listed = few(session, only) if only.selects else None
    many = only.selects and listed is None
    wanted = math.ceil(1.5 * k / share(session, only)) if many else 2 * k
    while True:
        scored = scorer.best(wanted, listed)
        keys = np.fromiter((key for key, _ in scored), np.int64, len(scored))
        passed = [scored[place] for place in np.flatnonzero(passing(session, only, keys))]
        if len(passed) >= k or len(scored) < wanted:
            return passed[:k]
        wanted *= 4


_POSTINGS = """
    SELECT term, segment_id, ordinals, frequencies FROM lex_posting
    WHERE term = ANY(CAST(%(terms)s AS int[]))
      AND segment_id + 0 = ANY(CAST(%(segments)s AS bigint[]))
"""
"""The `+ 0` keeps the planner from the index on segments, which reads all their terms."""


def _ask_postings(
    reader: Reader, terms: Sequence[int], segments: Mapping[int, Segment]
) -> Callable[[Mapping[int, Segment]], dict[int, Postings]]:
    """Send the query for the postings of these terms that are not cached.

    Returns:
        A function that reads them: the postings of each term in each segment of the snapshot.
    """
    postings = {key: segment.known(terms) for key, segment in segments.items()}
    lacking = [key for key, part in postings.items() if len(part) < len(terms)]
    unread = sorted({term for key in lacking for term in terms if term not in postings[key]})
    cursor = ask(reader, _POSTINGS, {"terms": unread, "segments": lacking}) if lacking else None

    def read(existing: Mapping[int, Segment]) -> dict[int, Postings]:
        fresh: dict[int, Postings] = {key: {} for key in lacking}
        for term, segment_id, ordinals, frequencies in cursor.fetchall() if cursor else ():
            fresh[segment_id][term] = (
                np.frombuffer(ordinals, np.uint16),
                np.frombuffer(frequencies, np.uint8),
            )
        # A segment that was merged meanwhile has no postings, which must not be cached: other
        # threads may still read an older snapshot.
        for key in fresh.keys() & existing.keys():
            part = {term: fresh[key].get(term, NOWHERE) for term in unread}
            existing[key].keep(part)
            postings[key] |= part
        return {key: postings[key] for key in existing}

    return read


def weights(read: Scorer | None, asked: Iterable[int]) -> dict[int, float]:
    """The weight of each term: its BM25 idf, but at least `LEAST_TOLD`; a term that no chunk
    contains has the highest.

    Args:
        read: the result of `prepare` for these terms, perhaps among others.
    """
    idfs = read.idfs if read else {}
    unheard = _idf(0, read.chunks if read else 0)
    return {term: max(LEAST_TOLD, idfs.get(term, unheard)) for term in sorted(set(asked))}


def _idf(containing: int, total: int) -> float:
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def _load(reader: Reader, ids: Sequence[int], cache: dict[int, Segment]) -> dict[int, Segment]:
    """The segments of this snapshot, from the cache if it has them.

    Threads share the cache and may see different snapshots: each uses the segments returned here
    and does not rely on the later content of the cache.
    """
    loaded = {key: segment for key in ids if (segment := cache.get(key)) is not None}
    missing = [key for key in ids if key not in loaded]
    if missing:
        rows = ask(
            reader,
            "SELECT id, chunk_ids, lengths FROM lex_segment WHERE id = ANY(%(ids)s)",
            {"ids": missing},
        ).fetchall()
        for key, chunk_ids, lengths in rows:
            loaded[key] = Segment(
                np.frombuffer(chunk_ids, np.int64), np.frombuffer(lengths, np.int32)
            )
    cache.update(loaded)
    for stale in set(cache) - set(ids):
        cache.pop(stale, None)
    return {key: loaded[key] for key in ids}
