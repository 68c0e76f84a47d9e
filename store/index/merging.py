"""Keeps the index of words in order: merges small segments 16 to 1, which drops deleted chunks, and
rebuilds those that other rules for terms made (ADR 0006, 0012)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.bm25 import Postings, Segment
from store.index.lexical import MAX_SEGMENT_CHUNKS, insert_segment, write_segment
from store.index.terms import TERM_RULE, heading, terms

MERGE_FACTOR = 16
MERGE_LOCK = 0x4174746573740002  # "Attest", 2: one process at a time replaces segments
RENEWED_AT_ONCE = 2_048
"""Chunks whose terms a renewal holds in memory at a time: some 20 MB. Ours."""


def merge(session: Session) -> bool:
    """Merge the oldest 16 segments of the lowest level with so many; returns True if it did.

    One merge runs at a time. Deleted chunks are left out.
    """
    candidates = _mergeable(session) if _alone(session) else None
    if candidates is None:
        return False
    level, rows = candidates
    ids = np.concatenate([np.frombuffer(row.chunk_ids, np.int64) for row in rows])
    lengths = np.concatenate([np.frombuffer(row.lengths, np.int32) for row in rows])
    alive = np.isin(ids, _existing(session, ids))
    position = np.cumsum(alive) - 1
    starts = np.cumsum([0] + [len(row.chunk_ids) // 8 for row in rows])
    base = {row.id: int(start) for row, start in zip(rows, starts, strict=False)}
    postings = _merged_postings(session, base, alive, position)
    insert_segment(session, level + 1, Segment(ids[alive], lengths[alive]), postings)
    session.execute(sa.text("DELETE FROM lex_segment WHERE id = ANY(:ids)"), {"ids": list(base)})
    return True


def _alone(session: Session) -> bool:
    """Lock replacing segments until the transaction ends; False if another holds the lock."""
    free: bool = session.execute(
        sa.text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": MERGE_LOCK}
    ).scalar_one()
    return free


def _mergeable(session: Session) -> tuple[int, Sequence[Any]] | None:
    """The lowest level with 16 segments, and its oldest segments that fit into one."""
    levels = session.execute(
        sa.text(
            "SELECT level FROM lex_segment GROUP BY level HAVING count(*) >= :factor ORDER BY level"
        ),
        {"factor": MERGE_FACTOR},
    ).scalars()
    for level in levels:
        rows = session.execute(
            sa.text(
                "SELECT id, chunk_ids, lengths FROM (SELECT *, sum(chunks) OVER (ORDER BY id) AS "
                "running FROM lex_segment WHERE level = :level AND term_rule = :rule) AS oldest "
                "WHERE running <= :most ORDER BY id LIMIT :factor"
            ),
            {
                "level": level,
                "rule": TERM_RULE,
                "factor": MERGE_FACTOR,
                "most": MAX_SEGMENT_CHUNKS,
            },
        ).all()
        if len(rows) >= 2:
            return level, rows
    return None


def _existing(session: Session, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = session.execute(
        sa.text("SELECT id FROM chunk WHERE id = ANY(:ids)"), {"ids": ids.tolist()}
    )
    return np.fromiter((row.id for row in rows), np.int64)


def _merged_postings(
    session: Session,
    base: Mapping[int, int],
    alive: NDArray[np.bool_],
    position: NDArray[np.int64],
) -> Postings:
    parts: dict[int, list[tuple[NDArray[np.uint16], NDArray[np.uint8]]]] = defaultdict(list)
    rows = session.execute(
        sa.text(
            "SELECT term, segment_id, ordinals, frequencies FROM lex_posting "
            "WHERE segment_id = ANY(:ids) ORDER BY term, segment_id"
        ),
        {"ids": list(base)},
    )
    for row in rows:
        places = np.frombuffer(row.ordinals, np.uint16).astype(np.int64) + base[row.segment_id]
        keep = alive[places]
        if keep.any():
            frequencies = np.frombuffer(row.frequencies, np.uint8)[keep]
            parts[row.term].append((position[places[keep]].astype(np.uint16), frequencies))
    return {
        term: (np.concatenate([o for o, _ in pieces]), np.concatenate([f for _, f in pieces]))
        for term, pieces in parts.items()
    }


_OF_OTHERS = sa.text(
    "SELECT id, chunk_ids FROM lex_segment WHERE term_rule <> :rule ORDER BY id LIMIT 1"
)
_TEXTS = sa.text(
    'SELECT c.id, v.title, c.section, substr(v.text, c.start + 1, c."end" - c.start) AS text '
    "FROM chunk c JOIN document_version v ON v.id = c.version_id WHERE c.id = ANY(:ids)"
)


def renew(session: Session, texts: Session) -> bool:
    """Rebuild the oldest segment that other rules made, from the texts, which the first server has;
    returns True if there was one. Deleted chunks are left out."""
    old = (
        session.execute(_OF_OTHERS, {"rule": TERM_RULE}).one_or_none() if _alone(session) else None
    )
    if old is None:
        return False
    ids = np.frombuffer(old.chunk_ids, np.int64)
    for first in range(0, len(ids), RENEWED_AT_ONCE):
        rows = texts.execute(_TEXTS, {"ids": ids[first : first + RENEWED_AT_ONCE].tolist()})
        write_segment(
            session,
            [(row.id, terms(heading(row.title, row.section) + row.text)) for row in rows],
        )
    session.execute(sa.text("DELETE FROM lex_segment WHERE id = :id"), {"id": old.id})
    return True
