"""The audit chain beside a list: commits of several transactions, queries, exports, tampering.

Transactions are open side by side; some are rolled back, one after it has written its links. The
list knows what was committed, in order. Somebody with all rights then edits, deletes, inserts,
reorders and forges in a transaction that is undone, and verification must name the first bad event.
"""

import io
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

import sqlalchemy as sa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session

from store.audit import audit, log
from store.audit import ed25519 as ed25519
from store.audit.audit import Checkpoint
from store.audit.export import verify_export, write_export
from store.core.unit_of_work import Store, UnitOfWork
from store.models import AuditEvent
from tests.integration.runtime.machines.chain_model import (
    GENESIS,
    Row,
    Tampered,
    first_difference,
    forged,
)

KEY = bytes(range(32))
AT = datetime(2026, 11, 22, tzinfo=UTC)
SUBJECTS, EVENTS, ACTORS = ("a", "ß 中", 'quo"te'), ("thing.made", "thing.changed"), ("x", "y\\")
_numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
_values = _numbers | st.text('aé\u2028"\\/ \x1f🧬', max_size=4) | st.booleans() | st.none()
PAYLOADS = st.dictionaries(
    st.sampled_from(["n", "ids", "é"]), _values | st.lists(_values, max_size=2), max_size=3
)


class Undone(Exception):
    """Rolls a transaction back."""


@dataclass
class Writer:
    """A transaction under way and the events that it will have written."""

    unit: UnitOfWork
    stack: ExitStack
    request_id: UUID | None
    actor: str
    recorded: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)


def clear(store: Store) -> None:
    """Begin the chain anew, which needs all rights; afterwards the database guards it as before."""
    with store.engine.begin() as connection:
        _unguarded(connection)
        connection.execute(sa.text("DELETE FROM audit_event"))
        connection.execute(sa.text("UPDATE audit_head SET seq = 0, hash = :h"), {"h": GENESIS})
        for table, trigger in connection.execute(_TRIGGERS).all():
            statement = f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger}"
            connection.execute(sa.text(statement))


_TRIGGERS = sa.text(
    "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal "
    "AND tgrelid IN ('audit_event'::regclass, 'audit_head'::regclass)"
)


def _unguarded(connection: Any) -> None:
    for table in ("audit_event", "audit_head"):
        connection.execute(sa.text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))


def row_of(found: AuditEvent) -> Row:
    """As the model keeps it."""
    return Row(
        seq=found.seq,
        at=found.at.astimezone(UTC).isoformat(timespec="microseconds"),
        actor=found.actor,
        event=found.event,
        subject=found.subject,
        request_id=str(found.request_id) if found.request_id else None,
        payload=found.payload,
        previous_hash=bytes(found.previous_hash),
        hash=bytes(found.hash),
    )


class Chain(RuleBasedStateMachine):
    """See the module."""

    store: ClassVar[Store]

    def __init__(self) -> None:
        super().__init__()
        clear(self.store)
        self.writers: list[Writer] = []
        self.rows: list[Row] = []
        self.written: list[tuple[str, str, str, str | None]] = []

    # Writing

    @precondition(lambda self: len(self.writers) < 3)
    @rule(actor=st.sampled_from(ACTORS), named=st.booleans())
    def a_transaction_begins(self, actor: str, named: bool) -> None:
        request_id, stack = uuid4() if named else None, ExitStack()
        unit = stack.enter_context(self.store.unit_of_work(actor, request_id))
        self.writers.append(Writer(unit, stack, request_id, actor))

    @precondition(lambda self: self.writers)
    @rule(
        n=st.integers(0, 2),
        event=st.sampled_from(EVENTS),
        subject=st.sampled_from(SUBJECTS),
        payload=PAYLOADS,
    )
    def it_records(self, n: int, event: str, subject: str, payload: dict[str, Any]) -> None:
        writer = self.writers[n % len(self.writers)]
        writer.unit.record(event, subject, **payload)
        writer.recorded.append((event, subject, payload))

    @precondition(lambda self: self.writers)
    @rule(n=st.integers(0, 2))
    def it_commits(self, n: int) -> None:
        writer = self.writers.pop(n % len(self.writers))
        writer.stack.close()
        request_id = str(writer.request_id) if writer.request_id else None
        self.written += [(e, s, writer.actor, request_id) for e, s, _ in writer.recorded]
        self._learn()

    @precondition(lambda self: self.writers)
    @rule(n=st.integers(0, 2), late=st.booleans())
    def it_is_rolled_back(self, n: int, late: bool) -> None:
        """`late`: its links were written, and then the commit failed."""
        writer = self.writers.pop(n % len(self.writers))
        if late:
            audit.append(writer.unit.session, writer.unit._events)
        assert not writer.stack.__exit__(Undone, Undone(), None)

    def _learn(self) -> None:
        """Take in the rows of a commit: they follow the others and fit to the letter."""
        known = len(self.rows)
        with self.store.reading() as session:
            query = sa.select(AuditEvent).where(sa.column("seq") > known).order_by(sa.column("seq"))
            found = [row_of(one) for one in session.execute(query).scalars()]
        for row in found:
            previous = self.rows[-1].hash if self.rows else GENESIS
            assert (row.seq, row.previous_hash) == (len(self.rows) + 1, previous)
            assert row.with_its_hash() == row
            self.rows.append(row)
        assert [(r.event, r.subject, r.actor, r.request_id) for r in self.rows] == self.written

    # Reading

    @rule(
        subject=st.none() | st.sampled_from(SUBJECTS),
        event=st.none() | st.sampled_from(EVENTS),
        actor=st.none() | st.sampled_from(ACTORS),
        limit=st.integers(1, 4),
    )
    def somebody_asks(
        self, subject: str | None, event: str | None, actor: str | None, limit: int
    ) -> None:
        wanted = [
            row
            for row in reversed(self.rows)
            if subject in (None, row.subject) and event in (None, row.event)
            and actor in (None, row.actor)
        ]  # fmt: skip
        found: list[Row] = []
        cursor: str | None = None
        with self.store.reading() as session:
            while True:
                page = log.query(
                    session, subject=subject, event=event, actor=actor, cursor=cursor, limit=limit
                )
                assert len(page.rows) <= limit
                found += [row_of(one) for one in page.rows]
                cursor = page.next_cursor
                if cursor is None:
                    break
        assert found == wanted

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def an_auditor_gets_a_range(self, data: st.DataObject) -> None:
        after = data.draw(st.integers(0, len(self.rows)))
        until = data.draw(st.none() | st.integers(after, len(self.rows) + 2))
        out = io.BytesIO()
        with self.store.reading() as session:
            manifest = write_export(session, out, KEY, AT, after=self._place(after), until=until)
        lines = out.getvalue().splitlines(keepends=True)
        last = min(until if until is not None else len(self.rows), len(self.rows))
        assert (len(lines), manifest.last.seq) == (last - after, last)
        assert bytes.fromhex(manifest.public_key) == ed25519.public_key(KEY)
        assert verify_export(lines, manifest).whole
        if not lines:
            return
        n = data.draw(st.integers(0, len(lines) - 1))
        report = verify_export(self._spoilt(data, lines, n), manifest)
        assert not report.whole
        assert report.first_bad_seq == after + 1 + n

    def _spoilt(self, data: st.DataObject, lines: list[bytes], n: int) -> list[bytes]:
        """The lines, of which the one at `n` is the first that is not what it was."""
        what = data.draw(st.sampled_from(["edited", "cut out", "doubled before"]))
        if what == "cut out":
            return lines[:n] + lines[n + 1 :]
        if what == "doubled before" and n:
            return [*lines[:n], lines[n - 1], *lines[n:]]
        at = data.draw(st.integers(0, len(lines[n]) - 2))
        changed = bytes([lines[n][at] ^ 1])
        return [*lines[:n], lines[n][:at] + changed + lines[n][at + 1 :], *lines[n + 1 :]]

    def _place(self, seq: int, *, known: bool = True) -> Checkpoint:
        if seq == 0:
            return Checkpoint(0, GENESIS)
        return Checkpoint(seq, self.rows[seq - 1].hash if known else None)

    # Tampering

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def somebody_tampers(self, data: st.DataObject) -> None:
        head = (len(self.rows), self.rows[-1].hash)
        table = Tampered(tuple(self.rows), head)
        for _ in range(data.draw(st.integers(1, 3))):
            change = data.draw(st.sampled_from([_edit, _delete, _insert, _swap, _close_ranks]))
            table = replace(table, rows=change(data, table.rows))
        if data.draw(st.integers(0, 5)) == 0:
            table = replace(table, head=data.draw(st.sampled_from(
                [None, (head[0] + 1, head[1]), (max(head[0] - 1, 0), head[1]), (head[0], GENESIS)]
            )))  # fmt: skip
        expected = first_difference(self.rows, table)
        page = data.draw(st.sampled_from([1, 3, 5000]))
        report = self._verified(table, page=page)
        assert (report.whole, report.first_bad_seq) == (expected is None, expected)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), head_too=st.booleans())
    def somebody_forges_hashes(self, data: st.DataObject, head_too: bool) -> None:
        last = len(self.rows)
        first = data.draw(st.integers(1, last))
        upto = data.draw(st.integers(first, last))
        rows = forged(self.rows, first, upto, "thing.unmade")
        hidden = head_too and upto == last
        head = (last, rows[-1].hash if hidden else self.rows[-1].hash)
        report = self._verified(Tampered(rows, head))
        assert report.first_bad_seq == (None if hidden else min(upto + 1, last))
        # Who may write all can hide it from the table, but not from a hash that is kept elsewhere.
        kept = data.draw(st.integers(first, last))
        report = self._verified(Tampered(rows, head), after=self._place(kept))
        if kept <= upto:
            assert report.first_bad_seq == kept
        else:
            assert report.whole, "the kept hash and what follows it is as it was"

    @precondition(lambda self: len(self.rows) > 1)
    @rule(data=st.data())
    def somebody_cuts_the_tail_off_with_its_head(self, data: st.DataObject) -> None:
        kept = data.draw(st.integers(1, len(self.rows) - 1))
        cut = Tampered(tuple(self.rows[:kept]), (kept, self.rows[kept - 1].hash))
        assert self._verified(cut).whole, "the documented limit of a chain that nobody else holds"
        known = data.draw(st.integers(kept + 1, len(self.rows)))
        report = self._verified(cut, after=self._place(known))
        assert (report.whole, report.first_bad_seq) == (False, known)

    def _verified(self, table: Tampered, **options: Any) -> audit.ChainReport:
        """What verification says of this table; it is as before afterwards."""
        with Session(self.store.engine) as session:
            _unguarded(session)
            session.execute(sa.text("ALTER TABLE audit_event DROP CONSTRAINT audit_event_pkey"))
            before = {row.seq: row for row in self.rows}
            gone = [seq for seq in before if (before[seq],) != _at(table.rows, seq)]
            session.execute(sa.text("DELETE FROM audit_event WHERE seq = ANY(:s)"), {"s": gone})
            for row in table.rows:
                if row.seq in gone or row.seq not in before:
                    session.execute(_INSERT, {**vars(row), "payload": dict(row.payload)})
            if table.head is None:
                session.execute(sa.text("DELETE FROM audit_head"))
            else:
                values = {"seq": table.head[0], "hash": table.head[1]}
                session.execute(sa.text("UPDATE audit_head SET seq = :seq, hash = :hash"), values)
            return audit.verify(session, **options)

    # What holds after each step

    @invariant()
    def the_chain_is_whole_from_any_place(self) -> None:
        count = len(self.rows)
        with self.store.reading() as session:
            report = audit.verify(session)
            assert (report.whole, report.events) == (True, count)
            assert report.checked == self._place(count)
            for known in (True, False):
                after = self._place(count // 2, known=known)
                assert audit.verify(session, after=after, page=2).events == count - count // 2
            assert audit.verify(session, until=count // 3, page=2).events == count // 3

    def teardown(self) -> None:
        for writer in self.writers:
            writer.unit.session.rollback()
            writer.unit._events.clear()
            writer.stack.close()


_INSERT = sa.text(
    "INSERT INTO audit_event VALUES (:seq, CAST(:at AS timestamptz), :actor, :event, :subject, "
    "CAST(:request_id AS uuid), :payload, :previous_hash, :hash)"
).bindparams(sa.bindparam("payload", type_=JSONB))

Change = Callable[[st.DataObject, tuple[Row, ...]], tuple[Row, ...]]


def _at(rows: tuple[Row, ...], seq: int) -> tuple[Row, ...]:
    return tuple(row for row in rows if row.seq == seq)


def _pick(data: st.DataObject, rows: tuple[Row, ...]) -> int:
    return data.draw(st.integers(0, len(rows) - 1))


def _edit(data: st.DataObject, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    if not rows:
        return rows
    n = _pick(data, rows)
    edits: list[dict[str, Any]] = [
        {"actor": "somebody else"},
        {"event": "thing.unmade"},
        {"subject": rows[n].subject + " "},
        {"request_id": str(UUID(int=1))},
        {"payload": {**rows[n].payload, "more": 1}},
        {"at": "2026-01-01T00:00:00.000000+00:00"},
        {"hash": bytes(32)},
        {"hash": b""},
        {"previous_hash": bytes([1]) * 32},
    ]
    changed = replace(rows[n], **data.draw(st.sampled_from(edits)))
    return (*rows[:n], changed, *rows[n + 1 :])


def _delete(data: st.DataObject, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    if not rows:
        return rows
    n = _pick(data, rows)
    return rows[:n] + rows[n + 1 :]


def _insert(data: st.DataObject, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """A copy of an event, at a place that is free or taken."""
    if not rows:
        return rows
    seq = data.draw(st.sampled_from([-3, 0, 1, len(rows), len(rows) + 1, len(rows) + 7]))
    return (*rows, replace(rows[_pick(data, rows)], seq=seq))


def _swap(data: st.DataObject, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    if not rows:
        return rows
    one, other = _pick(data, rows), _pick(data, rows)
    found = list(rows)
    found[one] = replace(rows[other], seq=rows[one].seq)
    found[other] = replace(rows[one], seq=rows[other].seq)
    return tuple(found)


def _close_ranks(data: st.DataObject, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Delete an event and let those behind it move up."""
    if not rows:
        return rows
    gone = rows[_pick(data, rows)].seq
    left = [row for row in rows if row.seq != gone]
    return tuple(replace(row, seq=row.seq - (row.seq > gone)) for row in left)
