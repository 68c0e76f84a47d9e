"""The audit chain: each event carries the hash of the one before it (invariant 10).

    hash(n) = SHA-256( hash(n-1) || canonical JSON of event n )

The head row is locked while links are added, so that the order of the chain is the order of the
commits, and it keeps the newest sequence number and hash, so that a cut-off tail shows.
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

from store.models import AuditEvent, AuditHead

GENESIS = bytes(32)


@dataclass(frozen=True)
class Event:
    """A state change: who did what to which subject. `payload` holds hashes and ids, no texts."""

    event: str
    subject: str
    actor: str
    request_id: UUID | None
    payload: Mapping[str, Any]


def link_hash(previous: bytes, seq: int, at: datetime, event: Event) -> bytes:
    """The hash of link `seq`, which follows the link with hash `previous`."""
    body = {
        "seq": seq,
        "at": at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": event.actor,
        "event": event.event,
        "subject": event.subject,
        "request_id": str(event.request_id) if event.request_id else None,
        "payload": event.payload,
    }
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(previous + canonical.encode()).digest()


def append(session: Session, events: Iterable[Event]) -> None:
    """Chain `events` in the session's transaction. Call last: it locks the head until commit."""
    waiting = list(events)
    if not waiting:
        return
    head = session.execute(sa.text("SELECT seq, hash FROM audit_head FOR UPDATE")).one()
    seq, previous = head.seq, bytes(head.hash)
    at = datetime.now(UTC)
    rows = []
    for event in waiting:
        seq += 1
        digest = link_hash(previous, seq, at, event)
        rows.append(
            {
                "seq": seq,
                "at": at,
                "actor": event.actor,
                "event": event.event,
                "subject": event.subject,
                "request_id": event.request_id,
                "payload": dict(event.payload),
                "previous_hash": previous,
                "hash": digest,
            }
        )
        previous = digest
    session.execute(sa.insert(AuditEvent), rows)
    session.execute(sa.update(AuditHead).values(seq=seq, hash=previous))


@dataclass(frozen=True)
class ChainReport:
    """What verification found. `first_bad_seq` is None where the chain is whole."""

    events: int
    whole: bool
    first_bad_seq: int | None
    reason: str | None


def verify(session: Session, *, page: int = 5000) -> ChainReport:
    """Walk the chain and find the first edit, deletion, insertion or reordering.

    `session` must read one snapshot (`Store.reading`), so that events written meanwhile do not look
    like a mismatch with the head.
    """
    seq, previous, count = 0, GENESIS, 0
    for row in _pages(session, page):
        seq += 1
        if row.seq != seq:
            return ChainReport(count, False, seq, f"event {seq} is missing, {row.seq} follows")
        if bytes(row.previous_hash) != previous:
            return ChainReport(count, False, seq, f"event {seq} does not follow the one before it")
        event = Event(row.event, row.subject, row.actor, row.request_id, row.payload)
        if link_hash(previous, seq, row.at, event) != bytes(row.hash):
            return ChainReport(count, False, seq, f"event {seq} is not what was written")
        previous = bytes(row.hash)
        count += 1
    head = session.execute(sa.text("SELECT seq, hash FROM audit_head")).one()
    if (head.seq, bytes(head.hash)) != (seq, previous):
        return ChainReport(
            count, False, seq + 1, f"the chain ends at {seq}, the head is {head.seq}"
        )
    return ChainReport(count, True, None, None)


_PAGE = sa.text(
    """
    SELECT seq, at, actor, event, subject, request_id, payload, previous_hash, hash
    FROM audit_event WHERE seq > :last ORDER BY seq LIMIT :page
    """
)


def _pages(session: Session, page: int) -> Iterator[Any]:
    last = -1
    while True:
        rows = session.execute(_PAGE, {"last": last, "page": page}).all()
        yield from rows
        if len(rows) < page:
            return
        last = rows[-1].seq
