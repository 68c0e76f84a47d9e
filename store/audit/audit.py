"""The audit chain: each event carries the hash of the event before it (invariant 10).

The head row is locked while links are added, so that the chain is in commit order. It keeps the
newest sequence number and hash, so that a truncated chain is detected. Anybody who can write every
row, the head too, can truncate the chain unseen: against that, keep heads elsewhere, or signed
exports (`store.audit.export`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import sqlalchemy as sa
from sqlmodel import Session

from store.audit.links import (
    GENESIS,
    Event,
    around,
    digest,
    link,
    link_hash,
    payload_json,
)
from store.audit.rows import StoredLink, stored_links
from store.core.copying import copy_rows, int8, jsonb, timestamptz
from store.pipeline import outbox

__all__ = ["GENESIS", "ChainReport", "Checkpoint", "Event", "append", "link_hash", "verify"]


def append(
    session: Session, events: Sequence[Event], promises: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Append `events` to the chain in the session's transaction, and write the `promises`
    (`outbox.put`) that go with them. Call it last: it locks the head until the commit.

    The time of an event is the server's, taken with the head locked, so times are in the order of
    the chain whatever the clocks of the writers say.
    """
    if len(events) == 1:
        _append_one(session, events[0], promises)
        return
    if promises:
        outbox.put(session, promises)
    if events:
        _append_many(session, events)


_ONE = sa.text(
    f"""
    WITH promised AS ({outbox.PUT}),
    head AS MATERIALIZED (SELECT seq, hash FROM audit_head FOR UPDATE),
    link AS MATERIALIZED (
        SELECT seq + 1 AS seq, hash AS previous_hash, clock_timestamp() AS at FROM head),
    hashed AS MATERIALIZED (
        SELECT seq, at, previous_hash, sha256(previous_hash || convert_to(
            CAST(:before_at AS text)
            || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')
            || :before_payload || CAST(:payload AS text) || :before_seq || seq || :end,
            'UTF8')) AS hash
        FROM link),
    written AS (
        INSERT INTO audit_event
            (seq, at, actor, event, subject, request_id, payload, previous_hash, hash)
        SELECT seq, at, :actor, :event, :subject, CAST(:request_id AS uuid),
               CAST(CAST(:payload AS text) AS jsonb), previous_hash, hash
        FROM hashed)
    UPDATE audit_head SET seq = hashed.seq, hash = hashed.hash FROM hashed RETURNING audit_head.seq
    """  # noqa: S608  our own fragment
)


def _append_one(session: Session, event: Event, promises: Sequence[Mapping[str, Any]]) -> None:
    """Write outbox rows, link and head in one statement: nearly all transactions have one event,
    and all others wait for the head meanwhile. So PostgreSQL computes the hash (`audit_links`).

    The statement's snapshot is older than the lock, but `FOR UPDATE` returns the newest row
    nevertheless, and the UPDATE finds it too (PostgreSQL manual, 13.2.1).
    """
    request_id = str(event.request_id) if event.request_id else None
    before_at, before_payload, before_seq, end = around(
        event.actor, event.event, event.subject, request_id
    )
    session.execute(
        _ONE,
        {
            **outbox.columns(promises),
            "before_at": before_at,
            "before_payload": before_payload,
            "before_seq": before_seq,
            "end": end,
            "actor": event.actor,
            "event": event.event,
            "subject": event.subject,
            "request_id": request_id,
            "payload": payload_json(event.payload),
        },
    ).one()


_HEAD = sa.text(
    """
    WITH head AS MATERIALIZED (SELECT seq, hash FROM audit_head FOR UPDATE)
    SELECT seq, hash, clock_timestamp() AS at FROM head
    """
)


def _append_many(session: Session, events: Sequence[Event]) -> None:
    payloads = [payload_json(event.payload) for event in events]
    head = session.execute(_HEAD).one()
    at = head.at.astimezone(UTC).isoformat(timespec="microseconds")
    last, seq, moment = bytes(head.hash), head.seq, timestamptz(head.at)
    rows: list[Sequence[object]] = []
    for event, payload in zip(events, payloads, strict=True):
        seq += 1
        previous, last = last, digest(last, link(seq, at, event, payload))
        request_id = event.request_id.bytes if event.request_id else None
        rows.append(
            (
                *(int8(seq), moment, event.actor, event.event, event.subject),
                *(request_id, jsonb(payload.encode()), previous, last),
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
class Checkpoint:
    """A place in the chain after which a later verification continues. Without a hash, the hash in
    the table is trusted; with a hash, which was kept elsewhere, the table must still hold it."""

    seq: int
    hash: bytes | None = None

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash.hex()}" if self.hash is not None else str(self.seq)

    @classmethod
    def parse(cls, written: str) -> "Checkpoint":
        """Parse `SEQ` or `SEQ:HASH`.

        Raises:
            ValueError: the text is neither.
        """
        seq, colon, digits = written.partition(":")
        try:
            parsed = cls(int(seq), bytes.fromhex(digits) if colon else None)
        except ValueError:
            raise ValueError("a place in the chain is SEQ or SEQ:HASH") from None
        if not 0 <= parsed.seq < 2**63 or (parsed.hash is not None and len(parsed.hash) != 32):
            raise ValueError("a place in the chain is SEQ or SEQ:HASH")
        return parsed


BEGINNING = Checkpoint(0, GENESIS)
_EVERY = 10_000
"""Events between two progress reports. Ours."""


@dataclass(frozen=True)
class ChainReport:
    """The result of verification. `first_bad_seq` is None if the chain is whole.

    An event edited together with its own hash is detected at the next event, which still carries
    the old hash; the last event is compared with the head. `checked` is the last good link.
    """

    events: int
    whole: bool
    first_bad_seq: int | None
    reason: str | None
    checked: Checkpoint = field(default=BEGINNING, compare=False)


def verify(
    session: Session,
    *,
    page: int = 5000,
    after: Checkpoint | None = None,
    until: int | None = None,
    progress: Callable[[Checkpoint], None] | None = None,
    each: Callable[[StoredLink], object] | None = None,
) -> ChainReport:
    """Walk the chain and find the first edit, deletion, insertion or reordering.

    `session` must read one snapshot (`Store.reading`), so that events written meanwhile do not look
    like a mismatch with the head.

    Args:
        after: start after this link, which must exist; None: at the beginning.
        until: end with this event; None, or beyond the head: at the head.
        progress: called with the last good link from time to time.
        each: called with every link after it was verified.

    Raises:
        ValueError: the range ends before it begins.
    """
    begun = after or BEGINNING
    if until is not None and until < begun.seq:
        raise ValueError(f"the range ends with event {until}, before it begins behind {begun.seq}")
    seq, last = begun.seq, _stored_hash(session, begun.seq)
    if last is None or begun.hash not in (None, last):
        what = "is missing" if last is None else "is not the one that was kept"
        return ChainReport(0, False, seq, f"event {seq} {what}", begun)
    first = None if begun.seq == 0 else begun.seq + 1
    for stored in stored_links(session, first, until, page=page):
        fault = _fault(stored, seq + 1, last)
        if fault is not None:
            bad, reason = fault
            return ChainReport(seq - begun.seq, False, bad, reason, Checkpoint(seq, last))
        seq, last = stored.seq, stored.hash
        if each is not None:
            each(stored)
        if progress is not None and seq % _EVERY == 0:
            progress(Checkpoint(seq, last))
    session.execute(_ON_DISK)
    return _at_the_end(session, begun, Checkpoint(seq, last), until)


_ON_DISK = sa.text(
    "SELECT CASE WHEN NOT pg_is_in_recovery() "
    "THEN pg_logical_emit_message(true, 'attest.audit', '') END"
)
"""Lets the commit of the session wait for the disk. A link that was written without waiting (ADR
0063) can be read, and be lost with its server: a head that somebody keeps must not be."""


def _stored_hash(session: Session, seq: int) -> bytes | None:
    """The hash of an event; None if there is no such event."""
    if seq == 0:
        return GENESIS
    query = sa.text("SELECT hash FROM audit_event WHERE seq = :seq")
    stored = session.execute(query, {"seq": seq}).scalar_one_or_none()
    return None if stored is None else bytes(stored)


def _fault(found: StoredLink, seq: int, previous: bytes) -> tuple[int, str] | None:
    """The fault of the link in the place of `seq`, after hash `previous`; None if it is good."""
    if found.seq < seq:
        return found.seq, f"event {found.seq} was never written"
    if found.seq > seq:
        return seq, f"event {seq} is missing, {found.seq} follows"
    if found.previous_hash != previous:
        return seq, f"event {seq} does not follow the one before it"
    if found.written is None or digest(previous, found.written) != found.hash:
        return seq, f"event {seq} is not what was written"
    return None


def _at_the_end(
    session: Session, begun: Checkpoint, last: Checkpoint, until: int | None
) -> ChainReport:
    """Check that the chain, good up to `last`, ends at the head or continues after `until`."""
    events, seq = last.seq - begun.seq, last.seq

    def broken(bad: int, reason: str) -> ChainReport:
        return ChainReport(events, False, bad, reason, last)

    head = session.execute(sa.text("SELECT seq, hash FROM audit_head")).one_or_none()
    if head is None:
        return broken(seq + 1, "the head of the chain is gone")
    end = head.seq if until is None else min(until, head.seq)
    if until is not None and until < head.seq and seq >= end:
        return ChainReport(events, True, None, None, last)
    if seq != end:
        return broken(min(seq, end) + 1, f"the chain ends at {seq}, the head is {head.seq}")
    if bytes(head.hash) != last.hash:
        bad = max(seq, 1)  # in an empty chain the first event is missing
        return broken(bad, f"event {bad} is not the one that the head names")
    return ChainReport(events, True, None, None, last)
