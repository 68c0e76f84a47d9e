"""Invariant 10: whatever is done to the audit log behind our back is found, and located."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError, NoResultFound
from sqlmodel import Session

from store.audit import audit
from store.audit.audit import ChainReport, Checkpoint
from store.core.hashes import plain
from store.core.unit_of_work import Store
from tests.servers import until_somebody_waits

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


@pytest.fixture(scope="module")
def chain(shared_store: Store) -> Store:
    """A chain of six events."""
    write(shared_store)
    return shared_store


def tamper(store: Store, *statements: str, **values: Any) -> ChainReport:
    """What verification says after these statements of somebody who may switch the triggers off;
    all is undone afterwards."""
    with Session(store.engine) as session:
        for table in ("audit_event", "audit_head"):
            session.execute(sa.text(f"ALTER TABLE {table} DISABLE TRIGGER ALL"))
        for statement in statements:
            session.execute(sa.text(statement), values)
        return audit.verify(session)


def event(store: Store, seq: int) -> Any:
    """The stored event."""
    with store.reading() as session:
        query = sa.text("SELECT * FROM audit_event WHERE seq = :seq")
        return session.execute(query, {"seq": seq}).one()


def forged(row: Any, seq: int, previous: bytes, name: str) -> bytes:
    """The right hash of a wrong event."""
    at = row.at.isoformat(timespec="microseconds")
    wrong = audit.Event(name, row.subject, row.actor, row.request_id, row.payload)
    return audit.link_hash(previous, seq, at, wrong)


@pytest.mark.parametrize("page", [1, 4, EVENTS, 5000])
def test_an_untouched_chain_is_whole(chain: Store, page: int) -> None:
    assert verify(chain, page) == ChainReport(EVENTS, True, None, None)


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
def test_an_edited_event_is_found_and_named(chain: Store, change: str) -> None:
    report = tamper(chain, f"UPDATE audit_event SET {change} WHERE seq = 4")
    assert (report.whole, report.first_bad_seq, report.events) == (False, 4, 3)


def test_an_event_edited_with_its_hash_shows_at_the_next(chain: Store) -> None:
    row = event(chain, 4)
    report = tamper(
        chain,
        "UPDATE audit_event SET event = 'thing.unmade', hash = :digest WHERE seq = 4",
        digest=forged(row, 4, bytes(row.previous_hash), "thing.unmade"),
    )
    assert report.first_bad_seq == 5
    assert report.reason == "event 5 does not follow the one before it"


def test_the_last_event_edited_with_its_hash_shows_against_the_head(chain: Store) -> None:
    row = event(chain, EVENTS)
    report = tamper(
        chain,
        "UPDATE audit_event SET event = 'thing.unmade', hash = :digest WHERE seq = :last",
        digest=forged(row, EVENTS, bytes(row.previous_hash), "thing.unmade"),
        last=EVENTS,
    )
    assert (report.whole, report.first_bad_seq) == (False, EVENTS)


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_a_deleted_event_is_found_and_named(chain: Store, seq: int) -> None:
    report = tamper(chain, "DELETE FROM audit_event WHERE seq = :seq", seq=seq)
    assert (report.whole, report.first_bad_seq) == (False, seq)


def test_a_deleted_event_is_found_though_the_others_close_ranks(chain: Store) -> None:
    report = tamper(
        chain,
        "DELETE FROM audit_event WHERE seq = 3",
        "UPDATE audit_event SET seq = -seq WHERE seq > 3",
        "UPDATE audit_event SET seq = -seq - 1 WHERE seq < 0",
        "UPDATE audit_head SET seq = seq - 1",
    )
    assert report.first_bad_seq == 3


@pytest.mark.parametrize("kept", [0, 1, EVENTS - 1])
def test_a_cut_off_tail_is_found_and_its_first_event_named(chain: Store, kept: int) -> None:
    report = tamper(chain, "DELETE FROM audit_event WHERE seq > :kept", kept=kept)
    assert report.first_bad_seq == kept + 1


@pytest.mark.parametrize(
    ("seq", "named"), [(EVENTS + 1, EVENTS + 1), (EVENTS + 9, EVENTS + 1), (0, 0), (-5, -5)]
)
def test_an_inserted_event_is_found_and_named(chain: Store, seq: int, named: int) -> None:
    report = tamper(
        chain,
        "INSERT INTO audit_event SELECT :seq, at, actor, event, subject, request_id, payload, "
        "hash, sha256(hash) FROM audit_event WHERE seq = 6",
        seq=seq,
    )
    assert report.first_bad_seq == named


def test_an_event_appended_with_the_right_hashes_shows_against_the_head(chain: Store) -> None:
    row = event(chain, EVENTS)
    report = tamper(
        chain,
        "INSERT INTO audit_event SELECT 7, at, actor, 'thing.forged', subject, request_id, "
        "payload, hash, :digest FROM audit_event WHERE seq = 6",
        digest=forged(row, 7, bytes(row.hash), "thing.forged"),
    )
    assert report.first_bad_seq == 7
    assert report.reason == "the chain ends at 7, the head is 6"


@pytest.mark.parametrize("first", range(1, EVENTS))
def test_two_reordered_events_are_found(chain: Store, first: int) -> None:
    report = tamper(
        chain,
        "UPDATE audit_event SET seq = 1000 WHERE seq = :a",
        "UPDATE audit_event SET seq = :a WHERE seq = :b",
        "UPDATE audit_event SET seq = :b WHERE seq = 1000",
        a=first,
        b=first + 1,
    )
    assert report.first_bad_seq == first


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE audit_head SET hash = sha256(hash)", EVENTS),
        ("UPDATE audit_head SET seq = seq + 1", EVENTS + 1),
        ("DELETE FROM audit_head", EVENTS + 1),
    ],
)
def test_a_changed_head_is_found(chain: Store, change: str, named: int) -> None:
    assert tamper(chain, change).first_bad_seq == named


REFUSED = [
    "UPDATE audit_event SET actor = 'x' WHERE seq = 1",
    "UPDATE audit_event SET actor = actor",
    "DELETE FROM audit_event WHERE seq = 1",
    "TRUNCATE audit_event",
    "TRUNCATE audit_event CASCADE",
    "INSERT INTO audit_event SELECT * FROM audit_event WHERE seq = 1 "
    "ON CONFLICT (seq) DO UPDATE SET actor = 'x'",
    "MERGE INTO audit_event e USING (SELECT 1 AS seq) s ON e.seq = s.seq WHEN MATCHED THEN DELETE",
    "UPDATE audit_head SET hash = sha256(hash)",
    "UPDATE audit_head SET seq = seq - 1",
    "DELETE FROM audit_head",
    "TRUNCATE audit_head",
]


def run(store: Store, *statements: str) -> None:
    """Run these as the owner of the tables, in one transaction."""
    with store.engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


@pytest.mark.parametrize("statement", REFUSED)
def test_the_database_refuses_its_owner_to_change_the_log(chain: Store, statement: str) -> None:
    with pytest.raises(DBAPIError, match=r"append-only|only moves on"):
        run(chain, statement)
    assert verify(chain).whole


@pytest.mark.parametrize("statement", REFUSED)
def test_nor_may_a_session_that_plays_a_replica(chain: Store, statement: str) -> None:
    with pytest.raises(DBAPIError, match=r"append-only|only moves on"):
        run(chain, "SET LOCAL session_replication_role = replica", statement)
    assert verify(chain).whole


def test_a_commit_that_fails_leaves_no_event(chain: Store) -> None:
    def fail() -> None:
        with chain.unit_of_work("test") as work:
            work.record("thing.made", uuid4())
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fail()
    assert verify(chain) == ChainReport(EVENTS, True, None, None)


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


def test_many_writers_of_one_event_each_keep_the_chain_whole_and_its_moments_in_order(
    store: Store,
) -> None:
    """The statement that chains one event begins before it has the head: each of these waits for
    others, some of which give up when they have it."""
    writers, each = 12, 25
    together = threading.Barrier(writers)

    def commit_some() -> None:
        together.wait()
        for n in range(each):
            with store.unit_of_work(threading.current_thread().name) as work:
                work.record("thing.made", uuid4(), n=n)
            with contextlib.suppress(RuntimeError), store.unit_of_work("gives up") as work:
                audit.append(work.session, [audit.Event("thing.made", "x", "y", None, {})])
                raise RuntimeError

    threads = [threading.Thread(target=commit_some) for _ in range(writers)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert verify(store).whole
    assert verify(store) == ChainReport(writers * each, True, None, None)
    with store.reading() as session:
        backwards = sa.text(
            "SELECT count(*) FROM audit_event a JOIN audit_event b ON b.seq = a.seq + 1 "
            "WHERE b.at < a.at"
        )
        assert session.execute(backwards).scalar_one() == 0


def test_a_commit_that_waits_for_the_head_is_dated_behind_the_one_it_waited_for(
    store: Store,
) -> None:
    def one_more() -> None:
        with store.unit_of_work("second") as work:
            work.record("thing.made", "x")

    waits = threading.Thread(target=one_more)
    with store.unit_of_work("first") as work:
        work.session.execute(sa.text("SELECT FROM audit_head FOR UPDATE"))
        waits.start()
        until_somebody_waits(store)
        work.record("thing.made", "x")
    waits.join()
    first, second = event(store, 1), event(store, 2)
    assert (first.actor, second.actor) == ("first", "second")
    assert first.at <= second.at
    assert verify(store).whole


def test_without_a_head_nothing_is_chained(store: Store) -> None:
    with Session(store.engine) as session:
        session.execute(sa.text("ALTER TABLE audit_head DISABLE TRIGGER ALL"))
        session.execute(sa.text("DELETE FROM audit_head"))
        with pytest.raises(NoResultFound):
            audit.append(session, [audit.Event("thing.made", "x", "y", None, {})])


_counts = st.integers(-(2**70), 2**70) | st.floats() | st.booleans() | st.none()
_names = st.text("abcdefghijklmnopqrstuvwxyzéß中", min_size=1, max_size=8)
_values = _counts | _names | st.lists(_counts, max_size=3) | st.dictionaries(_names, _counts)
_bounded = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_bounded
@given(values=st.lists(_values, min_size=1, max_size=5))
@example(values=[1e16, 1.5e300, -0.0, 1e-7, 5e-324, float("nan"), float("inf"), 2.0**53])
def test_whatever_is_counted_is_verified_as_it_was_written(store: Store, values: list[Any]) -> None:
    with store.unit_of_work("test") as work:
        work.record("thing.measured", "x", values=values)
    assert verify(store).whole


_written = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")
    | st.sampled_from("\"\\%:'/{}\x01\x1f\x7f\u2028é中🧬"),
    max_size=12,
)


@_bounded
@given(
    actor=_written,
    name=_written,
    subject=_written,
    request_id=st.none() | st.uuids(),
    payload=st.dictionaries(_written, _written | _counts | st.lists(_written, max_size=2)),
    before=st.integers(0, 2),
)
@example(
    actor="%(seq)s",
    name=":hash",
    subject='\\"\n%s',
    request_id=None,
    payload={"\x1b": "\\x00 \\u0000 'é\u2028🧬\t\""},
    before=1,
)
def test_postgresql_makes_the_hash_that_python_makes(
    store: Store,
    actor: str,
    name: str,
    subject: str,
    request_id: UUID | None,
    payload: dict[str, Any],
    before: int,
) -> None:
    with store.unit_of_work(actor, request_id) as work:
        for _ in range(before):  # two are chained by Python, one by the server
            work.record("thing.made", "x")
        audit.append(work.session, work._events)
        work._events.clear()
        work.record(name, subject)
        # as `record(**payload)` would, which takes no empty name
        work._events[0] = replace(work._events[0], payload=payload)
    with store.reading() as session:
        last = session.execute(sa.text("SELECT max(seq) FROM audit_event")).scalar_one()
    row = event(store, last)
    assert (row.actor, row.event, row.subject, row.request_id) == (actor, name, subject, request_id)
    at = row.at.astimezone(UTC).isoformat(timespec="microseconds")
    told = audit.Event(name, subject, actor, request_id, plain(payload))
    assert bytes(row.hash) == audit.link_hash(bytes(row.previous_hash), last, at, told)
    assert verify(store).whole


@_bounded
@given(
    seq=st.integers(1, EVENTS),
    change=st.sampled_from(
        [
            "actor = overlay(actor placing :text from 1)",
            "event = event || :text",
            "subject = :text || subject",
            "request_id = CAST(:id AS uuid)",
            "payload = payload || jsonb_build_object('n', CAST(:n AS int))",
            "payload = jsonb_build_array(payload)",
            "at = at - make_interval(secs => :n)",
            "previous_hash = sha256(CAST(:text AS bytea))",
            "hash = set_byte(hash, :byte, get_byte(hash, :byte) # :bits)",
        ]
    ),
    text=st.text("xyz", min_size=1, max_size=5),
    n=st.integers(100, 10_000),
    byte=st.integers(0, 31),
    bits=st.integers(1, 255),
)
def test_any_change_of_any_field_of_any_event_is_found_and_named(
    chain: Store, seq: int, change: str, **values: Any
) -> None:
    used = {name: value for name, value in values.items() if f":{name}" in change}
    if ":id" in change:
        used = {"id": str(uuid4())}
    statement = f"UPDATE audit_event SET {change} WHERE seq = {seq}"
    assert tamper(chain, statement, **used).first_bad_seq == seq


class Copy:
    """A copy of both tables, as an auditor takes one: without keys, without triggers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        session.execute(sa.text("CREATE SCHEMA auditor"))
        for table in ("audit_event", "audit_head"):
            session.execute(sa.text(f"CREATE TABLE auditor.{table} AS TABLE {table}"))
        session.execute(sa.text("SET LOCAL search_path TO auditor, public"))

    def after(self, *statements: str) -> ChainReport:
        """What verification says after these statements, with windows of any size."""
        for statement in statements:
            self.session.execute(sa.text(statement))
        reports = [audit.verify(self.session, page=page) for page in (1, 2, 3, 5000)]
        assert len({(one.whole, one.first_bad_seq) for one in reports}) == 1
        return reports[-1]


@pytest.fixture
def copy(chain: Store) -> Iterator[Copy]:
    """A copy that is gone afterwards."""
    with Session(chain.engine) as session:
        yield Copy(session)


def test_an_untouched_copy_is_whole(copy: Copy) -> None:
    assert copy.after() == ChainReport(EVENTS, True, None, None)


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_one_changed_byte_is_detected_in_the_right_place(copy: Copy, seq: int) -> None:
    report = copy.after(
        "UPDATE audit_event SET subject = overlay(subject placing 'x' from 3 for 1) "
        f"WHERE seq = {seq}"
    )
    assert (report.first_bad_seq, report.reason) == (seq, f"event {seq} is not what was written")


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_one_deleted_row_is_detected_in_the_right_place(copy: Copy, seq: int) -> None:
    assert copy.after(f"DELETE FROM audit_event WHERE seq = {seq}").first_bad_seq == seq


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_one_inserted_row_is_detected_in_the_right_place(copy: Copy, seq: int) -> None:
    """The others make room for it: the copy has the right numbers, and one event too many."""
    report = copy.after(
        f"UPDATE audit_event SET seq = seq + 1 WHERE seq >= {seq}",
        "UPDATE audit_head SET seq = seq + 1",
        f"INSERT INTO audit_event SELECT {seq}, at, actor, 'thing.forged', subject, request_id, "
        "payload, previous_hash, sha256(hash) FROM audit_event LIMIT 1",
    )
    assert report.first_bad_seq == seq


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_a_row_inserted_beside_its_number_is_detected_there_or_right_behind(
    copy: Copy, seq: int
) -> None:
    report = copy.after(
        f"INSERT INTO audit_event SELECT * FROM audit_event WHERE seq = {seq}",
    )
    assert (report.whole, report.first_bad_seq) == (False, seq)


@pytest.mark.parametrize(
    ("a", "b"), [(a, b) for a in range(1, EVENTS) for b in range(a + 1, EVENTS + 1)]
)
def test_two_swapped_rows_are_detected_at_the_first_of_them(copy: Copy, a: int, b: int) -> None:
    report = copy.after(
        f"UPDATE audit_event SET seq = CASE seq WHEN {a} THEN {b} ELSE {a} END "
        f"WHERE seq IN ({a}, {b})"
    )
    assert report.first_bad_seq == a


def walk(store: Store, after: Checkpoint | None = None, until: int | None = None) -> ChainReport:
    """Verify a range."""
    with store.reading() as session:
        return audit.verify(session, after=after, until=until, page=2)


@pytest.mark.parametrize("middle", range(1, EVENTS))
def test_a_walk_is_taken_up_where_another_ended(chain: Store, middle: int) -> None:
    first = walk(chain, until=middle)
    assert (first.whole, first.events, first.checked.seq) == (True, middle, middle)
    second = walk(chain, after=Checkpoint.parse(str(first.checked)))
    assert (second.whole, second.events) == (True, EVENTS - middle)
    assert second.checked == verify(chain).checked


def test_a_link_that_was_kept_elsewhere_shows_that_all_before_it_was_rewritten(
    chain: Store,
) -> None:
    kept = walk(chain, until=3).checked
    assert kept.hash is not None
    forged_hash = bytes([kept.hash[0] ^ 1, *kept.hash[1:]])
    for until in (None, 3):  # though nothing is walked
        report = walk(chain, Checkpoint(3, forged_hash), until)
        assert (report.whole, report.first_bad_seq) == (False, 3)
        assert report.reason == "event 3 is not the one that was kept"
    assert walk(chain, kept, 3).whole
    assert walk(chain, after=Checkpoint(3)).whole  # without the hash, the table is believed


def test_a_range_does_not_see_what_lies_outside_it(chain: Store) -> None:
    with Session(chain.engine) as session:
        session.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
        session.execute(sa.text("UPDATE audit_event SET actor = 'x' WHERE seq = 3"))
        assert audit.verify(session, until=2).whole
        assert audit.verify(session, after=Checkpoint(3)).whole
        assert audit.verify(session, after=Checkpoint(2)).first_bad_seq == 3
        assert audit.verify(session, until=3).first_bad_seq == 3


@pytest.mark.parametrize(
    ("after", "until", "named"),
    [(Checkpoint(99), None, 99), (Checkpoint(99, bytes(32)), None, 99)],
)
def test_a_walk_that_begins_behind_the_end_is_no_pass(
    chain: Store, after: Checkpoint, until: int | None, named: int
) -> None:
    report = walk(chain, after, until)
    assert (report.whole, report.first_bad_seq) == (False, named)


def test_a_range_that_ends_before_it_begins_is_refused(chain: Store) -> None:
    with pytest.raises(ValueError, match="ends with event 2, before it begins behind 3"):
        walk(chain, Checkpoint(3), 2)


@pytest.mark.parametrize(
    "written", ["", "x", "-1", "1:", "1:zz", f"1:{'a' * 62}", "1:2:3", "9" * 30]
)
def test_what_is_no_place_in_the_chain_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="SEQ or SEQ:HASH"):
        Checkpoint.parse(written)


def test_each_good_link_is_handed_on_and_none_behind_a_bad_one(chain: Store) -> None:
    seen: list[int] = []
    with Session(chain.engine) as session:
        session.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
        session.execute(sa.text("UPDATE audit_event SET actor = 'x' WHERE seq = 4"))
        audit.verify(session, each=lambda link: seen.append(link.seq))
    assert seen == [1, 2, 3]
