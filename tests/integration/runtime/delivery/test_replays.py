"""Many dead letters: found by fault, replayed at a rate and once, refused with the reason."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from messages.upgrades import Step, Upgrades
from store.audit import audit
from store.core.cursors import InvalidCursor
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters, listing
from store.dead_letters import replay as dead_letters_replay
from store.dead_letters.dead_letters import CODE_VERSION, AlreadyResolved, Death, NotReplayable
from store.dead_letters.listing import Chosen
from store.dead_letters.replay import Operator, Report
from store.models.operators import DeadLetterResolution
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    message,
    promise_asked,
    rows,
    together,
)
from workers.runtime.errors import Permanent
from workers.runtime.failures import bury
from workers.runtime.stage import handle

pytestmark = pytest.mark.requirement("DC-5")
Start = Callable[..., Runtime]
OPERATOR = Operator("operator")


def died(store: Store, n: int = 1, **changes: Any) -> list[UUID]:
    """So many promises that died; the dead letters."""
    found = []
    for _ in range(n):
        (outbox_id,) = promise_asked(store, asked := message())
        given = {
            "stage": "retrieve",
            "payload": asked.payload(),
            "error_type": "ActorNotFound",
            "cause": "no such actor",
            "outbox_id": outbox_id,
        }
        death = Death(**given | changes)
        bury(store, death)
        found.append(death.id)
    return found


def replay(store: Store, chosen: Chosen | None = None, **options: Any) -> Report:
    """Replay as an operator does."""
    options = {"dry_run": False} | options
    return dead_letters_replay.replay_matching(store, OPERATOR, chosen or Chosen(), **options)


def snapshot(store: Store) -> list[Any]:
    """All that a replay could change."""
    tables = ("dead_letter", "outbox", "stage_run", "question", "dead_letter_resolution")
    found = [rows(store, f"SELECT * FROM {table} ORDER BY 1") for table in tables]
    return [*found, count(store, "audit_event")]


def test_each_filter_chooses_and_all_given_must_fit(store: Store) -> None:
    first = died(store, cause="one")
    second = died(store, cause="two", error_type="Permanent", stage="verify")
    with store.reading() as session:

        def found(**given: Any) -> set[UUID]:
            page = listing.page(session, Chosen(**given))
            assert len(page.letters) == listing.count(session, Chosen(**given))
            return {letter.id for letter in page.letters}

        (one,) = [x for x in listing.page(session).letters if x.id == first[0]]
        (two,) = [x for x in listing.page(session).letters if x.id == second[0]]
        assert found() == {*first, *second}
        assert found(stage="verify") == {*second}
        assert found(fingerprint=one.fingerprint) == {*first}
        assert found(error_type="Permanent") == {*second}
        assert found(since=two.died_at) == {*second}
        assert found(until=two.died_at) == {*first}
        assert found(stage="verify", error_type="ActorNotFound") == set()
        assert found(status="replayed") == set()
        assert found(status=None) == {*first, *second}


def test_pages_show_each_dead_letter_once_though_more_die_meanwhile(store: Store) -> None:
    wanted = died(store, 7)
    seen: list[UUID] = []
    cursor = None
    while True:
        with store.reading() as session:
            page = listing.page(session, cursor=cursor, limit=3)
        seen += [letter.id for letter in page.letters]
        if (cursor := page.next_cursor) is None:
            break
        died(store)
    assert seen == wanted[::-1]


@pytest.mark.parametrize("cursor", ["x", "WyJ4IiwgInkiXQ", "WzEsIDJd", "é"])
def test_a_cursor_that_was_not_given_out_is_refused(store: Store, cursor: str) -> None:
    with store.reading() as session:
        for listed in (listing.page, listing.groups):
            with pytest.raises(InvalidCursor):
                listed(session, cursor=cursor)


def test_faults_are_grouped_with_their_counts_and_times(store: Store) -> None:
    letters = [died(store, cause=f"question {uuid4()} has no draft {n}")[0] for n in range(3)]
    (other,) = died(store, cause="another fault", error_type="Permanent")
    with store.unit_of_work("operator") as work:
        dead_letters.replay(work, letters[0])
        dead_letters.discard(work, letters[1], "a duplicate")
    with store.reading() as session:
        page = listing.groups(session, Chosen(status=None), limit=1)
        assert [(g.example, g.letters, g.error_type) for g in page.groups] == [
            (other, 1, "Permanent")
        ]
        rest = listing.groups(session, Chosen(status=None), limit=1, cursor=page.next_cursor)
    (group,) = rest.groups
    assert rest.next_cursor is None
    assert (group.letters, group.open, group.replayed, group.discarded) == (3, 1, 1, 1)
    assert group.example == letters[2]
    assert group.code_versions == [CODE_VERSION]
    (times,) = rows(
        store,
        "SELECT min(first_failed_at) AS first, max(died_at) AS last FROM dead_letter "
        "WHERE id <> :other",
        other=other,
    )
    assert (group.first_seen, group.last_seen) == (times.first, times.last)


def test_a_dry_run_says_what_would_be_done_and_changes_nothing(store: Store) -> None:
    died(store, 3)
    died(store, 2, error_type="InvalidMessage", cause="its fields do not fit")
    before = snapshot(store)
    report = replay(store, dry_run=True)
    assert (report.matched, report.resolved) == (5, 3)
    assert dict(report.refused) == {"it can never succeed as it is: its fields do not fit": 2}
    assert snapshot(store) == before
    real = replay(store)
    assert (real.matched, real.resolved, real.refused) == (5, 3, report.refused)


def test_a_replay_done_twice_changes_nothing(store: Store) -> None:
    died(store, 3)
    died(store, 1, error_type="InvalidMessage")
    replay(store)
    before = snapshot(store)
    report = replay(store)
    assert (report.matched, report.resolved) == (1, 0)
    assert snapshot(store) == before


def test_replays_at_once_replay_each_letter_once(store: Store) -> None:
    died(store, 8)
    reports: list[Report] = []
    together(*[lambda: reports.append(replay(store))] * 3)
    assert sum(report.resolved for report in reports) == 8
    assert count(store, "audit_event", "event = 'message.replayed'") == 8


def test_replays_fall_due_so_many_a_second_also_those_of_the_next_call(store: Store) -> None:
    died(store, 3, cause="one")
    replay(store, per_second=0.5)
    died(store, 2, cause="two")
    report = replay(store, per_second=0.5)
    due = [row.not_before for row in rows(store, "SELECT not_before FROM outbox ORDER BY 1")]
    gaps = [later - sooner for sooner, later in pairwise(due)]
    assert gaps == [timedelta(seconds=2)] * 4
    assert report.last_due_at == due[-1]


def test_a_limit_leaves_the_youngest_and_says_so(store: Store) -> None:
    letters = died(store, 5)
    report = replay(store, limit=3)
    assert (report.matched, report.resolved, report.more) == (3, 3, True)
    with store.reading() as session:
        left = listing.page(session).letters
    assert {letter.id for letter in left} == {*letters[3:]}
    assert not replay(store, limit=2).more


def test_more_than_a_batch_is_replayed_and_what_is_refused_holds_up_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = dead_letters_replay.replay_policy().model_copy(update={"batch": 2})
    monkeypatch.setattr("store.dead_letters.replay.replay_policy", lambda: policy)
    died(store, 3, error_type="InvalidMessage")
    died(store, 4)
    report = replay(store)
    assert (report.matched, report.resolved, sum(report.refused.values())) == (7, 4, 3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("DELETE FROM question", "the question that it works for is gone"),
        ("UPDATE question SET status = 'answered'", "its question has its answer"),
        ("DELETE FROM outbox", "its promise in the outbox is gone"),
        ("UPDATE outbox SET payload = payload - 'question_hash'", "question_hash: missing"),
        ("UPDATE dead_letter SET stage = 'gone'", "there is no such stage any more"),
    ],
)
def test_what_can_never_succeed_is_refused_with_the_reason_even_by_force(
    store: Store, change: str, reason: str
) -> None:
    died(store)
    with store.engine.begin() as connection:
        connection.execute(sa.text(change))
    before = snapshot(store)
    report = replay(store, force=True)
    assert report.resolved == 0
    assert [reason in why for why in report.refused] == [True]
    assert snapshot(store) == before


def test_a_version_that_is_gone_cannot_be_indexed_again(store: Store) -> None:
    versions = {"schema": "embed.v1", "request_id": str(uuid4()), "version_ids": [str(uuid4())]}
    died(store, stage="embed")
    with store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE outbox SET payload = CAST(:payload AS jsonb)"),
            {"payload": str(versions).replace("'", '"')},
        )
    assert dict(replay(store).refused) == {"a document version that it names is gone": 1}


def _dies_again(running: Runtime, cause: str = "it can never work") -> None:
    """Let the one promise that is pending die of `cause`."""

    def never(_: object) -> None:
        raise Permanent(cause)

    (row,) = rows(running.store, "SELECT id, payload FROM outbox WHERE status = 'pending'")
    handle(running.context, Probe(never).spec(), row.payload, row.id)


def test_what_died_again_of_the_same_cause_under_the_same_code_needs_force(
    runtime: Start,
) -> None:
    running = runtime(Probe().spec())
    died(running.store)
    replay(running.store)
    _dies_again(running)
    assert replay(running.store).resolved == 1  # this cause is new
    _dies_again(running)
    report = replay(running.store)
    assert [why.split(":")[0] for why in report.refused] == [
        "it was replayed before and died of the same cause under the same code"
    ]
    assert replay(running.store, force=True).resolved == 1
    (event,) = rows(running.store, "SELECT payload FROM audit_event WHERE payload ? 'forced'")
    assert event.payload["forced"] is True


def test_newer_code_may_try_what_older_code_gave_up_twice(
    runtime: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = runtime(Probe().spec())
    died(running.store)
    replay(running.store)
    for _ in range(2):
        _dies_again(running)
        monkeypatch.setattr("store.dead_letters.dead_letters.CODE_VERSION", f"{CODE_VERSION}.next")
        assert replay(running.store).resolved == 1


def test_what_older_code_could_not_read_is_replayed_if_this_code_can(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    died(store, error_type="UnknownMessage", cause="a schema that was never in use")
    assert replay(store).resolved == 0
    monkeypatch.setattr("store.dead_letters.dead_letters.CODE_VERSION", f"{CODE_VERSION}.next")
    assert replay(store).resolved == 1


def _renamed(fields: Mapping[str, object]) -> dict[str, object]:
    return {
        "request_id": fields["request"],
        "question_id": fields["question_id"],
        "question_hash": fields["question_hash"],
    }


def test_a_message_of_an_old_version_is_upgraded_by_its_replay(runtime: Start) -> None:
    """A made-up version before the first one, which no model reads any more."""
    running = runtime(Probe().spec())
    (outbox_id,) = promise_asked(running.store, asked := message())
    old = {
        "schema": "retrieve.v0",
        "request": str(asked.request_id),
        "question_id": str(asked.question_id),
        "question_hash": asked.question_hash,
    }
    with running.store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE outbox SET payload = CAST(:payload AS jsonb)"),
            {"payload": str(old).replace("'", '"')},
        )
    handle(running.context, Probe().spec(), old, outbox_id)
    given_up = (
        "INSERT INTO stage_run (stage, subject, input_hash, status, attempts, token, worker, "
    )
    with running.store.engine.begin() as connection:  # by the code that could still read it
        connection.execute(
            sa.text(
                given_up + "outbox_id, started_at, finished_at) "
                "VALUES ('retrieve', :subject, 'old', 'dead', 5, 1, 'w', :outbox_id, now(), now())"
            ),
            {"subject": str(asked.question_id), "outbox_id": outbox_id},
        )
    assert replay(running.store, dry_run=True).resolved == 0
    steps = Upgrades(Step("retrieve.v0", _renamed))
    report = replay(running.store, upgrades=steps, dry_run=True)
    assert (report.resolved, report.upgraded) == (1, 1)
    report = replay(running.store, upgrades=steps)
    assert (report.resolved, report.upgraded) == (1, 1)
    (row,) = rows(running.store, "SELECT id, payload FROM outbox")
    assert row.payload == asked.payload()
    probe = Probe()
    handle(running.context, probe.spec(), row.payload, row.id)
    assert done(running.store, asked.question_id) == 1
    assert count(running.store, "stage_run", "input_hash = 'old' AND status = 'dead'") == 1
    (kept,) = rows(running.store, "SELECT upgraded_from FROM dead_letter_resolution")
    assert kept.upgraded_from == "retrieve.v0"


def test_a_discarded_letter_stays_with_the_reason_and_cannot_be_replayed(store: Store) -> None:
    (letter_id,) = died(store)
    with store.unit_of_work("operator") as work:
        dead_letters.discard(work, letter_id, " asked twice ")
    with store.reading() as session:
        kept = session.get_one(DeadLetterResolution, letter_id)
        assert (kept.kind, kept.by, kept.reason) == ("discarded", "operator", "asked twice")
        assert listing.count(session, Chosen(status="discarded")) == 1
    before = snapshot(store)
    with store.unit_of_work("operator") as work:
        dead_letters.discard(work, letter_id, "another reason")
    with (
        pytest.raises(NotReplayable, match="is discarded already"),
        store.unit_of_work("x") as work,
    ):
        dead_letters.replay(work, letter_id, force=True)
    assert snapshot(store) == before
    assert count(store, "question", "status = 'failed'") == 1


def test_a_replayed_letter_cannot_be_discarded_and_no_letter_without_a_reason(
    store: Store,
) -> None:
    first, second = died(store, 2)
    with store.unit_of_work("operator") as work:
        dead_letters.replay(work, first)
    with pytest.raises(AlreadyResolved), store.unit_of_work("operator") as work:
        dead_letters.discard(work, first, "why not")
    with pytest.raises(ValueError, match="say why"), store.unit_of_work("operator") as work:
        dead_letters.discard(work, second, " ")


def test_many_are_discarded_for_one_reason_after_a_dry_run(store: Store) -> None:
    died(store, 3, cause="one")
    (other,) = died(store, cause="two")
    with store.reading() as session:
        fingerprint = listing.page(session).letters[1].fingerprint
    chosen, before = Chosen(fingerprint=fingerprint), snapshot(store)

    def discard(**options: Any) -> Report:
        return dead_letters_replay.discard_matching(store, OPERATOR, chosen, "old", **options)

    assert discard(dry_run=True).resolved == 3
    assert snapshot(store) == before
    assert discard(dry_run=False).resolved == 3
    assert discard(dry_run=False).matched == 0
    with store.reading() as session:
        assert [letter.id for letter in listing.page(session).letters] == [other]
        assert audit.verify(session).whole


@pytest.mark.parametrize(
    ("stage", "table", "field", "failed", "waiting"),
    [
        ("retrieve", "question", "question_id", "failed", "queued"),
        ("check", "verification", "verification_id", "failed", "queued"),
    ],
)
def test_what_waits_for_a_message_ends_with_it_also_outside_of_a_claim(
    store: Store, stage: str, table: str, field: str, failed: str, waiting: str
) -> None:
    from store.questions import questions
    from store.texts import verifications

    with store.unit_of_work("test", uuid4()) as work:
        if table == "question":
            subject = questions.submit(work, "A question?", {}).id
        else:
            subject = verifications.submit(work, "A text.").id
    (row,) = rows(store, "SELECT id, payload FROM outbox")
    assert row.payload[field] == str(subject)
    bury(store, Death(stage, row.payload, "Rejected", "no such actor", outbox_id=row.id))
    (now,) = rows(store, f"SELECT status, error FROM {table}")
    assert (now.status, now.error) == (failed, "no such actor")
    assert replay(store).resolved == 1
    (now,) = rows(store, f"SELECT status, error FROM {table}")
    assert (now.status, now.error) == (waiting, None)


def test_times_of_a_filter_keep_their_zone(store: Store) -> None:
    died(store)
    with store.reading() as session:
        future = datetime.now(UTC) + timedelta(hours=1)
        assert listing.count(session, Chosen(since=future)) == 0
        assert listing.count(session, Chosen(until=future)) == 1
