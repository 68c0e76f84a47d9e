"""The audit chain: each event carries the hash of the one before it (invariant 10).

    hash(n) = SHA-256( hash(n-1) || canonical JSON of event n )

The head row is locked while links are added, so that the order of the chain is the order of the
commits, and it keeps the newest sequence number and hash, so that a cut-off tail shows. Who may
write every row, the head too, can cut the tail off unseen: against that, keep heads elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.copying import copy_rows, int8, jsonb, timestamptz
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
_written = json.encoder.encode_basestring  # what `_canonical` makes of a string


def _link(seq: int, at: str, event: Event, payload: str) -> str:
    """The canonical JSON of a link; that of its `payload` is given."""
    request_id = f'"{event.request_id}"' if event.request_id else "null"
    return (
        f'{{"actor":{_written(event.actor)},"at":"{at}","event":{_written(event.event)},'
        f'"payload":{payload},"request_id":{request_id},"seq":{seq},'
        f'"subject":{_written(event.subject)}}}'
    )


def _payload(payload: Mapping[str, Any]) -> str:
    """The canonical JSON of a payload; nearly all are flat and hold ids, hashes and numbers."""
    fields = []
    for key in sorted(payload):
        value = payload[key]
        if type(value) is str:
            fields.append(f"{_written(key)}:{_written(value)}")
        elif type(value) is int:
            fields.append(f"{_written(key)}:{value}")
        else:
            return _canonical(plain(payload))
    return f"{{{','.join(fields)}}}"


def _digest(previous: bytes, link: str) -> bytes:
    return hashlib.sha256(previous + link.encode()).digest()


def append(session: Session, events: Iterable[Event]) -> None:
    """Chain `events` in the session's transaction. Call last: it locks the head until commit."""
    waiting = list(events)
    if not waiting:
        return
    payloads = [_payload(event.payload) for event in waiting]
    head = session.execute(sa.text("SELECT seq, hash FROM audit_head FOR UPDATE")).one()
    moment = datetime.now(UTC)
    at = moment.isoformat(timespec="microseconds")
    written_at, seq, last = timestamptz(moment), head.seq, bytes(head.hash)
    rows: list[Sequence[object]] = []
    for event, payload in zip(waiting, payloads, strict=True):
        seq, previous = seq + 1, last
        last = _digest(previous, _link(seq, at, event, payload))
        request_id = event.request_id.bytes if event.request_id else None
        rows.append(
            (
                *(int8(seq), written_at, event.actor, event.event, event.subject, request_id),
                *(jsonb(payload.encode()), previous, last),
            )
        )
    copy_rows(session, "audit_event", _COLUMNS, rows)
    session.execute(
        sa.text("UPDATE audit_head SET seq = :seq, hash = :hash"), {"seq": seq, "hash": last}
    )


_COLUMNS = (
    "seq",
    "at",
    "actor",
    "event",
    "subject",
    "request_id",
    "payload",
    "previous_hash",
    "hash",
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
