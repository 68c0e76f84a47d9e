"""Invariant 10: whatever is done to the audit log behind our back is found, and located."""

import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError

from store import audit
from store.audit import ChainReport
from store.unit_of_work import Store

pytestmark = pytest.mark.requirement("DC-6")
EVENTS = 6


def write(store: Store, count: int = EVENTS) -> None:
    """Commit `count` events, two in the first transaction."""
    with store.unit_of_work("test", request_id=uuid4()) as work:
        work.record("thing.made", uuid4(), content_hash="a" * 64, n=1)
        work.record("thing.seen", uuid4())
    for n in range(2, count):
        with store.unit_of_work("test") as work:
            work.record("thing.changed", uuid4(), n=n, share=0.25)


def verify(store: Store, page: int = 5000) -> ChainReport:
    """Walk the chain."""
    with store.reading() as session:
        return audit.verify(session, page=page)


Tamper = Callable[..., None]


@pytest.fixture
def tamper(engine: sa.Engine) -> Iterator[Tamper]:
    """Run statements as somebody who may switch the triggers off."""

    def run(*statements: str, **values: Any) -> None:
        with engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
            for statement in statements:
                connection.execute(sa.text(statement), values)
            connection.execute(sa.text("ALTER TABLE audit_event ENABLE TRIGGER ALL"))

    return run


@pytest.mark.parametrize("page", [1, 4, EVENTS, 5000])
def test_an_untouched_chain_is_whole(store: Store, page: int) -> None:
    write(store)
    assert verify(store, page) == ChainReport(EVENTS, True, None, None)


def test_an_empty_chain_is_whole(store: Store) -> None:
    assert verify(store) == ChainReport(0, True, None, None)


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'somebody else'",
        "event = 'thing.unmade'",
        "subject = subject || ' '",
        "request_id = gen_random_uuid()",
        "payload = '{}'",
        "payload = jsonb_set(payload, '{n}', '7')",
        "payload = 'null'",
        "at = at + interval '1 microsecond'",
        "at = 'infinity'",
        "at = '20000-01-01'",
        "hash = sha256(hash)",
        "hash = ''",
        "previous_hash = sha256(previous_hash)",
    ],
)
def test_an_edited_event_is_found_and_named(store: Store, tamper: Tamper, change: str) -> None:
    write(store)
    tamper(f"UPDATE audit_event SET {change} WHERE seq = 4")
    report = verify(store)
    assert (report.whole, report.first_bad_seq) == (False, 4)
    assert report.events == 3


def test_an_event_edited_with_its_hash_shows_at_the_next(store: Store, tamper: Tamper) -> None:
    write(store)
    with store.reading() as session:
        row = session.execute(sa.text("SELECT * FROM audit_event WHERE seq = 4")).one()
    forged = audit.Event("thing.unmade", row.subject, row.actor, row.request_id, row.payload)
    at = row.at.isoformat(timespec="microseconds")
    digest = audit.link_hash(bytes(row.previous_hash), 4, at, forged)
    tamper("UPDATE audit_event SET event = 'thing.unmade', hash = :h WHERE seq = 4", h=digest)
    report = verify(store)
    assert report.first_bad_seq == 5
    assert report.reason == "event 5 does not follow the one before it"


def test_the_last_event_edited_with_its_hash_shows_against_the_head(
    store: Store, tamper: Tamper
) -> None:
    write(store)
    with store.reading() as session:
        row = session.execute(sa.text("SELECT * FROM audit_event ORDER BY seq DESC LIMIT 1")).one()
    forged = audit.Event("thing.unmade", row.subject, row.actor, row.request_id, row.payload)
    at = row.at.isoformat(timespec="microseconds")
    digest = audit.link_hash(bytes(row.previous_hash), row.seq, at, forged)
    tamper(
        "UPDATE audit_event SET event = 'thing.unmade', hash = :h WHERE seq = :n",
        h=digest,
        n=row.seq,
    )
    assert verify(store).first_bad_seq == EVENTS


@pytest.mark.parametrize("seq", range(1, EVENTS))
def test_a_deleted_event_is_found_and_named(store: Store, tamper: Tamper, seq: int) -> None:
    write(store)
    tamper("DELETE FROM audit_event WHERE seq = :seq", seq=seq)
    assert verify(store).first_bad_seq == seq


def test_a_deleted_event_is_found_though_the_others_close_ranks(
    store: Store, tamper: Tamper
) -> None:
    write(store)
    tamper(
        "DELETE FROM audit_event WHERE seq = 3",
        "UPDATE audit_event SET seq = -seq WHERE seq > 3",
        "UPDATE audit_event SET seq = -seq - 1 WHERE seq < 0",
        "UPDATE audit_head SET seq = seq - 1",
    )
    assert verify(store).first_bad_seq == 3


@pytest.mark.parametrize("kept", [0, 1, EVENTS - 1])
def test_a_cut_off_tail_is_found_and_its_first_event_named(
    store: Store, tamper: Tamper, kept: int
) -> None:
    write(store)
    tamper("DELETE FROM audit_event WHERE seq > :kept", kept=kept)
    assert verify(store).first_bad_seq == kept + 1


@pytest.mark.parametrize(
    ("seq", "named"), [(EVENTS + 1, EVENTS + 1), (EVENTS + 9, EVENTS + 1), (0, 0), (-5, -5)]
)
def test_an_inserted_event_is_found(store: Store, tamper: Tamper, seq: int, named: int) -> None:
    write(store)
    tamper(
        "INSERT INTO audit_event SELECT :seq, at, actor, event, subject, request_id, payload, "
        "hash, sha256(hash) FROM audit_event WHERE seq = 6",
        seq=seq,
    )
    assert verify(store).first_bad_seq == named


def test_an_event_appended_with_the_right_hashes_shows_against_the_head(
    store: Store, tamper: Tamper
) -> None:
    write(store)
    with store.reading() as session:
        row = session.execute(sa.text("SELECT * FROM audit_event WHERE seq = 6")).one()
    event = audit.Event(row.event, row.subject, row.actor, row.request_id, row.payload)
    at = row.at.isoformat(timespec="microseconds")
    digest = audit.link_hash(bytes(row.hash), 7, at, event)
    tamper(
        "INSERT INTO audit_event SELECT 7, at, actor, event, subject, request_id, payload, "
        "hash, :digest FROM audit_event WHERE seq = 6",
        digest=digest,
    )
    assert verify(store).first_bad_seq == 7


@pytest.mark.parametrize("first", range(1, EVENTS))
def test_two_reordered_events_are_found(store: Store, tamper: Tamper, first: int) -> None:
    write(store)
    tamper(
        "UPDATE audit_event SET seq = 1000 WHERE seq = :a",
        "UPDATE audit_event SET seq = :a WHERE seq = :b",
        "UPDATE audit_event SET seq = :b WHERE seq = 1000",
        a=first,
        b=first + 1,
    )
    assert verify(store).first_bad_seq == first


@pytest.mark.parametrize(
    "change", ["UPDATE audit_head SET hash = sha256(hash)", "DELETE FROM audit_head"]
)
def test_a_changed_head_is_found(store: Store, tamper: Tamper, change: str) -> None:
    write(store)
    tamper(change)
    assert not verify(store).whole


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET actor = 'x' WHERE seq = 1",
        "DELETE FROM audit_event WHERE seq = 1",
        "TRUNCATE audit_event",
    ],
)
def test_the_database_refuses_to_change_the_log(
    store: Store, engine: sa.Engine, statement: str
) -> None:
    write(store)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(sa.text(statement))
    assert verify(store).whole


def test_a_commit_that_fails_leaves_no_event(store: Store) -> None:
    write(store)
    with pytest.raises(RuntimeError, match="no"), store.unit_of_work("test") as work:
        work.record("thing.made", uuid4())
        raise RuntimeError("no")
    assert verify(store) == ChainReport(EVENTS, True, None, None)


def test_concurrent_commits_keep_the_chain_whole(store: Store) -> None:
    def commit_some() -> None:
        for _ in range(10):
            with store.unit_of_work(threading.current_thread().name) as work:
                work.record("thing.made", uuid4(), n=1)
                work.record("thing.made", uuid4(), n=2)

    writers = [threading.Thread(target=commit_some) for _ in range(5)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert verify(store).whole  # a snapshot in the middle of it is whole as well
    assert verify(store) == ChainReport(100, True, None, None)


_counts = st.integers(-(2**70), 2**70) | st.floats() | st.booleans() | st.none()
_names = st.text("abcdefghijklmnopqrstuvwxyzéß中", min_size=1, max_size=8)
_payloads = st.dictionaries(
    _names, _counts | _names | st.lists(_counts, max_size=3) | st.dictionaries(_names, _counts)
)
_slow = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_slow
@given(payload=_payloads)
def test_whatever_is_counted_is_verified_as_it_was_written(
    store: Store, payload: dict[str, Any]
) -> None:
    with store.unit_of_work("test") as work:
        work._events.append(audit.Event("thing.made", "x", "test", None, payload))
    assert verify(store).whole


@_slow
@given(data=st.data())
def test_any_changed_field_of_any_event_is_found(
    store: Store, tamper: Tamper, data: st.DataObject
) -> None:
    """Each example starts from a whole chain and undoes what it did."""
    if verify(store).events == 0:
        write(store)
    seq = data.draw(st.integers(1, EVENTS))
    field, change = data.draw(
        st.sampled_from(
            [
                ("actor", "actor || 'x'"),
                ("event", "reverse(event)"),
                ("subject", "md5(subject)"),
                ("request_id", "gen_random_uuid()"),
                ("payload", "payload || '{\"n\": 99}'"),
                ("at", "at - interval '1 hour'"),
                ("previous_hash", "sha256(hash)"),
                ("hash", "set_byte(hash, 31, get_byte(hash, 31) # 1)"),
            ]
        )
    )
    with store.reading() as session:
        kept = session.execute(
            sa.text(f"SELECT {field}::text FROM audit_event WHERE seq = :seq"), {"seq": seq}
        ).scalar_one()
    tamper(f"UPDATE audit_event SET {field} = {change} WHERE seq = :seq", seq=seq)
    report = verify(store)
    kind = {"request_id": "uuid", "payload": "jsonb", "at": "timestamptz"}.get(field, "text")
    kind = "bytea" if field.endswith("hash") else kind
    tamper(f"UPDATE audit_event SET {field} = CAST(:v AS {kind}) WHERE seq = :s", v=kept, s=seq)
    assert report.first_bad_seq == seq
    assert verify(store).whole
