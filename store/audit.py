"""The audit chain: each event carries the hash of the one before it (invariant 10).

    hash(n) = SHA-256( hash(n-1) || canonical JSON of event n )

The head row is locked while links are added, so that the order of the chain is the order of the
commits, and it keeps the newest sequence number and hash, so that a cut-off tail shows. Who may
write every row, the head too, can cut the tail off unseen: against that, keep heads elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.hashes import plain

GENESIS = bytes(32)


@dataclass(frozen=True)
class Event:
    """A state change: who did what to which subject. `payload` holds hashes and ids, no texts."""

    event: str
    subject: str
    actor: str
    request_id: UUID | None
    payload: Mapping[str, Any]


def link_hash(previous: bytes, seq: int, at: str, event: Event) -> bytes:
    """The hash of link `seq`, which follows the link with hash `previous`.

    Args:
        at: when, in UTC, as `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`.
    """
    return _digest(previous, _link(seq, at, event, _canonical(event.payload)))


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def _link(seq: int, at: str, event: Event, payload: str) -> str:
    """The canonical JSON of a link; that of its `payload` is given."""
    request_id = _canonical(str(event.request_id) if event.request_id else None)
    return (
        f'{{"actor":{_canonical(event.actor)},"at":{_canonical(at)},'
        f'"event":{_canonical(event.event)},"payload":{payload},"request_id":{request_id},'
        f'"seq":{seq},"subject":{_canonical(event.subject)}}}'
    )


def _digest(previous: bytes, link: str) -> bytes:
    return hashlib.sha256(previous + link.encode()).digest()


def append(session: Session, events: Iterable[Event]) -> None:
    """Chain `events` in the session's transaction. Call last: it locks the head until commit."""
    waiting = list(events)
    if not waiting:
        return
    payloads = [_canonical(plain(event.payload)) for event in waiting]
    head = session.execute(sa.text("SELECT seq, hash FROM audit_head FOR UPDATE")).one()
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    links = [
        _link(seq, at, event, payload)
        for seq, (event, payload) in enumerate(zip(waiting, payloads, strict=True), head.seq + 1)
    ]
    hashes = [bytes(head.hash)]
    for link in links:
        hashes.append(_digest(hashes[-1], link))
    session.execute(_APPEND, {"links": f"[{','.join(links)}]", "hashes": b"".join(hashes)})
    session.execute(
        sa.text("UPDATE audit_head SET seq = :seq, hash = :hash"),
        {"seq": head.seq + len(links), "hash": hashes[-1]},
    )


# What is stored is what was hashed; `hashes` are those of all links and of the one before them.
_APPEND = sa.text(
    """
    INSERT INTO audit_event
        (seq, at, actor, event, subject, request_id, payload, previous_hash, hash)
    SELECT CAST(link ->> 'seq' AS bigint), CAST(link ->> 'at' AS timestamptz), link ->> 'actor',
           link ->> 'event', link ->> 'subject', CAST(link ->> 'request_id' AS uuid),
           link -> 'payload', substring(hashes FROM 32 * n - 31 FOR 32),
           substring(hashes FROM 32 * n + 1 FOR 32)
    FROM (SELECT link, CAST(nth AS integer) AS n, CAST(:hashes AS bytea) AS hashes
          FROM jsonb_array_elements(CAST(:links AS jsonb)) WITH ORDINALITY AS given (link, nth))
         AS given
    """
)


@dataclass(frozen=True)
class ChainReport:
    """What verification found. `first_bad_seq` is None where the chain is whole.

    An event that was edited together with its own hash shows at the one behind it, which still
    carries the old hash; the last one shows against the head.
    """

    events: int
    whole: bool
    first_bad_seq: int | None
    reason: str | None


def verify(session: Session, *, page: int = 5000) -> ChainReport:
    """Walk the chain and find the first edit, deletion, insertion or reordering.

    `session` must read one snapshot (`Store.reading`), so that events written meanwhile do not look
    like a mismatch with the head.
    """
    seq, previous = 0, GENESIS
    for seq, row in enumerate(_pages(session, page), 1):
        if row.seq < seq:
            return ChainReport(seq - 1, False, row.seq, f"event {row.seq} was never written")
        if row.seq > seq:
            return ChainReport(seq - 1, False, seq, f"event {seq} is missing, {row.seq} follows")
        if bytes(row.previous_hash) != previous:
            return ChainReport(
                seq - 1, False, seq, f"event {seq} does not follow the one before it"
            )
        event = Event(row.event, row.subject, row.actor, row.request_id, row.payload)
        if link_hash(previous, seq, row.at, event) != bytes(row.hash):
            return ChainReport(seq - 1, False, seq, f"event {seq} is not what was written")
        previous = bytes(row.hash)
    return _against_head(session, seq, previous)


def _against_head(session: Session, seq: int, last: bytes) -> ChainReport:
    """Whether the chain of `seq` events with the hash `last` ends where the head says."""
    head = session.execute(sa.text("SELECT seq, hash FROM audit_head")).one_or_none()
    if head is None:
        return ChainReport(seq, False, seq + 1, "the head of the chain is gone")
    if head.seq != seq:
        bad = min(seq, head.seq) + 1
        return ChainReport(seq, False, bad, f"the chain ends at {seq}, the head is {head.seq}")
    if bytes(head.hash) != last:
        return ChainReport(seq, False, seq, f"event {seq} is not the one that the head names")
    return ChainReport(seq, True, None, None)


_PAGE = sa.text(
    """
    SELECT seq, actor, event, subject, request_id, payload, previous_hash, hash,
           to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS at
    FROM audit_event WHERE seq >= :first ORDER BY seq LIMIT :page
    """
)
_LEAST = -(2**63)  # of a bigint: an event written before the first one must show too


def _pages(session: Session, page: int) -> Iterator[Any]:
    first = _LEAST
    while True:
        rows = session.execute(_PAGE, {"first": first, "page": page}).all()
        yield from rows
        if len(rows) < page:
            return
        first = rows[-1].seq + 1
