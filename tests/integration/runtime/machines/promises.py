"""Everything that may happen to promised work, in any order, beside a model of it.

Questions are accepted, workers claim, renew, commit, fail, are killed; leases and waits end; the
relay and its broker fail between publishing and marking; messages are lost, doubled, damaged and
reordered; the reconciler looks; operators replay. After each step the rows are what the model says
and what DESIGN section 2 promises; at the end all that is left is worked off, and nothing is lost.
"""

from typing import Any, ClassVar
from uuid import UUID, uuid4

import sqlalchemy as sa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlmodel import Session

from store.audit import audit
from store.audit.audit import Checkpoint
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import NotReplayable
from tests.integration.runtime.machines.promises_model import Held, Letter, Model
from tests.integration.runtime.machines.promises_system import (
    LONG,
    Broker,
    How,
    Killed,
    Worker,
    ask,
    asking,
    clear,
)
from workers.runtime.relay import reconcile, sweep

QUESTIONS, WORKERS = 2, 3
LOST_AFTER = 300.0
PASSES = Letter("Transient", "it may pass")
MINDS = Letter("Transient", "the database minds")
NEVER = Letter("Permanent", "it cannot be done")
DAMAGED = Letter("UnknownMessage", "")
BROKEN = Letter("RuntimeError", "")

_ROWS = {
    "runs": "SELECT id, stage, subject, status, attempts, token, outbox_id, "
    "coalesce(lease_until < clock_timestamp(), false) AS expired FROM stage_run",
    "promises": "SELECT id, stage, status, not_before <= clock_timestamp() AS due FROM outbox",
    "letters": "SELECT outbox_id, error_type FROM dead_letter WHERE status = 'open'",
    "questions": "SELECT id, status FROM question",
    "effects": "SELECT subject, event FROM audit_event WHERE seq > :since AND event LIKE 'probe.%'",
}
_HOWS: tuple[How, ...] = (
    "succeeds", "succeeds", "fails", "waits", "dies", "is killed", "cannot commit",
    "is killed in the commit", "dies and cannot say so", "is killed before it goes on",
)  # fmt: skip


class Promises(RuleBasedStateMachine):
    """See the module."""

    store: ClassVar[Store]

    def __init__(self) -> None:
        super().__init__()
        clear(self.store)
        self.model, self.broker = Model(), Broker()
        self.through_broker = Store(self.store.engine, self.broker.publish)
        settings = Settings(lease_seconds=LONG)
        self.free = [  # the first runs on, the others do not: a fleet may be mixed
            Worker(self.through_broker, settings, f"w{n}", runs_on=n == 0) for n in range(WORKERS)
        ]
        self.busy: list[tuple[Worker, Held]] = []
        self.questions: list[UUID] = []
        self.sound = True
        self.tokens: dict[int, int] = {}
        self.ended: set[tuple[str, Any]] = set()
        with self.store.reading() as session:
            head = session.execute(sa.text("SELECT seq, hash FROM audit_head")).one()
        self.since = Checkpoint(head.seq, bytes(head.hash))

    # Questions and messages

    @precondition(lambda self: len(self.questions) < QUESTIONS)
    @rule(mood=st.sampled_from(["takes", "refuses", "sender dies before"]))
    def a_question_is_accepted(self, mood: Any) -> None:
        self.questions.append(uuid4())
        self._ask(self.questions[-1], mood, new=True)

    @precondition(lambda self: self.questions and len(self.model.promises) < 6)
    @rule(n=st.integers(0, QUESTIONS - 1))
    def its_work_is_promised_once_more(self, n: int) -> None:
        self._ask(self.questions[n % len(self.questions)], "takes", new=False)

    def _ask(self, question: UUID, mood: Any, *, new: bool) -> None:
        self.broker.mood = mood
        seen: list[UUID] = []
        try:
            seen.append(ask(self.through_broker, asking(question), new=new))
        except Killed:
            seen += self._unknown()
        (promise,) = seen
        self.model.asked(question, promise, published=mood != "refuses")

    def _unknown(self) -> list[UUID]:
        """Promises that whoever made them did not live to tell."""
        with self.store.reading() as session:
            found = session.execute(sa.text("SELECT id FROM outbox")).scalars()
            return [one for one in found if one not in self.model.promises]

    @precondition(lambda self: self.broker.copies and self.free)
    @rule(n=st.integers(0, 99), kept=st.booleans())
    def a_message_is_delivered(self, n: int, kept: bool) -> None:
        self._deliver(self._copy(n, kept))

    @precondition(lambda self: self.broker.copies and self.free)
    @rule(n=st.integers(0, 99))
    def a_damaged_copy_is_delivered(self, n: int) -> None:
        copy = self._copy(n, kept=True)
        assert not self.free[0].deliver(copy, damaged=True)
        self.model.damaged(copy.id, DAMAGED)

    @precondition(lambda self: self.broker.copies)
    @rule()
    def the_broker_loses_all(self) -> None:
        self.broker.copies.clear()

    @precondition(lambda self: self.broker.copies and self.free)
    @rule(n=st.integers(0, 99), kept=st.booleans())
    def a_message_is_worked_off(self, n: int, kept: bool) -> None:
        """All in one step, so that few steps come far."""
        working = len(self.busy)
        self._deliver(self._copy(n, kept))
        while len(self.busy) > working:
            self.a_worker_ends(working, "succeeds", "takes")

    def _copy(self, n: int, kept: bool) -> Promise:
        n %= len(self.broker.copies)
        return self.broker.copies[n] if kept else self.broker.copies.pop(n)

    def _deliver(self, copy: Promise) -> None:
        worker, key = self.free[0], self.model.promises[copy.id].key
        claimable = self.model.may_claim(key)
        working = worker.deliver(copy)
        token = self._token(key) if claimable else 0
        held = self.model.delivered(copy.id, token)
        if working != (held is not None):
            self.sound = False
            if working:  # else its thread would take the next one's word
                worker.end("is killed")
            raise AssertionError(f"{key} is {self.model.works[key]}")
        if held is not None:
            self.busy.append((self.free.pop(0), held))

    def _token(self, key: tuple[str, UUID]) -> int:
        query = sa.text("SELECT token FROM stage_run WHERE stage = :stage AND subject = :subject")
        with self.store.reading() as session:
            given = {"stage": key[0], "subject": str(key[1])}
            token = session.execute(query, given).scalar_one_or_none()
        assert token is not None, f"nobody has claimed {key}"
        return int(token)

    # Workers

    @precondition(lambda self: self.busy)
    @rule(
        n=st.integers(0, WORKERS - 1),
        how=st.sampled_from(_HOWS),
        mood=st.sampled_from(["takes", "refuses", "sender dies before", "sender dies after"]),
    )
    def a_worker_ends(self, n: int, how: How, mood: Any) -> None:
        self.broker.mood = mood
        worker, held = self.busy.pop(n % len(self.busy))
        emitted = worker.end(how)
        if not worker.works_on:
            self.free.insert(0, worker)
        model = self.model
        if how in ("succeeds", "is killed before it goes on"):
            finished = model.finished(held)
            if not finished and worker.works_on:
                worker.end("is killed")
            assert finished or not emitted
            for promise in emitted:
                published = worker.runs_on or mood != "refuses"
                model.promised(promise, ("generate", held.key[1]), published=published)
                if worker.runs_on:  # the claim is in the commit, whoever lives to begin it
                    self._goes_on(worker, promise, how)
        elif how in ("fails", "cannot commit"):
            model.failed(held, PASSES if how == "fails" else MINDS)
        elif how == "waits":
            model.failed(held, PASSES, counts=False)
        elif how == "dies":
            model.died(held, NEVER)
        elif how == "dies and cannot say so":
            model.broke(held, BROKEN)

    def _goes_on(self, worker: Worker, promise: UUID, how: How) -> None:
        assert worker.works_on == (how == "succeeds"), "what it promised it has claimed"
        held = self.model.delivered(promise, self._token(self.model.promises[promise].key))
        assert held is not None, "nobody else knows of this promise yet"
        if worker.works_on:
            self.busy.append((worker, held))

    @precondition(lambda self: self.busy and self.free)
    @rule(n=st.integers(0, WORKERS - 1))
    def a_worker_freezes_past_its_lease(self, n: int) -> None:
        """It is taken for dead, and its message is sent to another; all in one step."""
        _, held = self.busy[n % len(self.busy)]
        self._settle_clocks()
        self.the_reconciler_looks(False)
        self.the_relay_sweeps("takes")
        for copy in self.broker.copies:
            if copy.id == held.promise:
                self._deliver(copy)
                return

    @precondition(lambda self: self.busy)
    @rule(n=st.integers(0, WORKERS - 1))
    def a_worker_renews_its_lease(self, n: int) -> None:
        worker, held = self.busy[n % len(self.busy)]
        holds = self.model.holds(held)
        assert worker.renew() == ({held.token} if holds else set())
        if holds:
            self.model.works[held.key].expired = False

    # Time

    @precondition(lambda self: any(o.status == "running" for o in self.model.works.values()))
    @rule()
    def leases_run_out(self) -> None:
        self._run("UPDATE stage_run SET lease_until = clock_timestamp() - interval '1 s' "
                  "WHERE status = 'running'")  # fmt: skip
        for work in self.model.works.values():
            work.expired = work.status == "running"

    @precondition(lambda self: any(not o.due for o in self.model.promises.values()))
    @rule()
    def waits_are_over(self) -> None:
        self._run("UPDATE outbox SET not_before = clock_timestamp() - interval '1 s' "
                  "WHERE status = 'pending'")  # fmt: skip
        for promise in self.model.promises.values():
            promise.due = promise.due or promise.status == "pending"

    @precondition(lambda self: any(not o.old for o in self.model.promises.values()))
    @rule()
    def a_month_passes_since_publishing(self) -> None:
        self._run("UPDATE outbox SET published_at = published_at - interval '30 days'")
        for promise in self.model.promises.values():
            promise.old = promise.status == "published"

    def _run(self, statement: str) -> None:
        with self.store.engine.begin() as connection:
            connection.execute(sa.text(statement))

    # Relay, reconciler, operators

    @rule(mood=st.sampled_from(["takes", "refuses", "sender dies before", "sender dies after"]))
    def the_relay_sweeps(self, mood: Any) -> None:
        self.broker.mood = mood
        before = len(self.broker.copies)
        try:
            swept = sweep(self.store, self.broker.publish)
        except (Killed, ConnectionError):
            assert mood != "takes"
            swept = None
        order = {promise: n for n, promise in enumerate(self.model.promises)}
        sent = sorted(self.broker.copies[before:], key=lambda copy: order[copy.id])
        self.broker.copies[before:] = sent  # rows come in any order; an example must repeat
        if swept is not None:
            due = self.model.swept()
            assert swept == len(due)
            assert [one.id for one in sent] == due

    @rule(knows=st.booleans())
    def the_reconciler_looks(self, knows: bool) -> None:
        backlog: dict[str, int] = {}
        for copy in self.broker.copies if knows else ():
            backlog[copy.stage] = backlog.get(copy.stage, 0) + 1
        assert reconcile(self.store, backlog, lost_after=LOST_AFTER) == self.model.reconciled()

    @precondition(lambda self: self._letters())
    @rule(n=st.integers(0, 9), force=st.booleans())
    def an_operator_replays(self, n: int, force: bool) -> None:
        self._replay(self._letters()[n % len(self._letters())], force)

    def _letters(self) -> list[UUID]:
        return [key for key, one in self.model.promises.items() if one.letter is not None]

    def _replay(self, promise: UUID, force: bool) -> bool:
        allowed = self.model.may_replay(promise, force=force)
        query = sa.text("SELECT id FROM dead_letter WHERE outbox_id = :id AND status = 'open'")
        try:
            with self.through_broker.unit_of_work("operator") as unit:
                letter = unit.session.execute(query, {"id": promise}).scalar_one()
                dead_letters.replay(unit, letter, force=force)
        except NotReplayable:
            done = False
        else:
            done = True
            if allowed:
                self.model.replayed(promise)
        assert done == allowed
        return done

    # What holds after each step

    @invariant()
    def the_rows_are_what_the_model_says(self) -> None:
        found = self._rows()
        self.sound = False  # until all of this has held
        self._compare(found)
        self._design_holds(found)
        self.sound = True

    def _rows(self) -> dict[str, list[Any]]:
        with Session(self.store.engine) as session:
            return {
                name: list(session.execute(sa.text(query), {"since": self.since.seq}))
                if ":since" in query
                else list(session.execute(sa.text(query)))
                for name, query in _ROWS.items()
            }

    def _compare(self, found: dict[str, list[Any]]) -> None:
        model = self.model
        assert {row.id: row.status for row in found["questions"]} == model.questions
        assert {row.id: (row.status, row.status != "pending" or row.due)
                for row in found["promises"]} == {
            key: (one.status, one.status != "pending" or one.due)
            for key, one in model.promises.items()
        }  # fmt: skip
        assert {
            (row.stage, UUID(row.subject)):
                (row.status, row.attempts, row.token, row.expired, row.outbox_id)
            for row in found["runs"]
        } == {
            key: (one.status, one.attempts, one.token, one.status == "running" and one.expired,
                  one.via)
            for key, one in model.works.items() if one.status != "new"
        }  # fmt: skip
        assert {row.outbox_id: row.error_type for row in found["letters"]} == {
            key: one.letter.error_type for key, one in model.promises.items() if one.letter
        }

    def _design_holds(self, found: dict[str, list[Any]]) -> None:
        """DESIGN section 2, said without the model."""
        effects = [(row.event.removeprefix("probe."), row.subject) for row in found["effects"]]
        assert len(effects) == len(set(effects)), "something was done twice"
        done = {(row.stage, row.subject) for row in found["runs"] if row.status == "done"}
        assert set(effects) == done, "what is done has its effect, and nothing else has"
        following = [row for row in found["promises"] if row.stage == "generate"]
        assert len(following) == sum(stage == "retrieve" for stage, _ in effects)
        for run in found["runs"]:
            assert run.token >= self.tokens.get(run.id, 0), "a token went back"
            self.tokens[run.id] = run.token
        assert len({run.token for run in found["runs"]}) == len(found["runs"])
        ended = {("run", run.id) for run in found["runs"] if run.status == "done"}
        ended |= {("promise", one.id) for one in found["promises"] if one.status == "done"}
        ended |= {("question", one.id) for one in found["questions"] if one.status == "answered"}
        assert self.ended <= ended, "what had ended began again"
        self.ended = ended
        letters = {row.outbox_id for row in found["letters"]}
        over = {(r.stage, r.subject) for r in found["runs"] if r.status in ("done", "dead")}
        keys = {one.id: self.model.promises[one.id].key for one in found["promises"]}
        # A second promise of work that died has no letter of its own: the replay of the one letter
        # is for both, and keeps the first.
        kept = {keys[one.id] for one in found["promises"] if one.status != "dead"}
        for one in found["promises"]:
            stage, question = key = keys[one.id]
            at_rest = one.id in letters or (stage, str(question)) in over or key in kept
            assert one.status != "dead" or at_rest

    # The end

    def teardown(self) -> None:
        """Work off what is left: first as it is, then with every dead letter replayed."""
        if not self.sound:
            for worker, _ in self.busy:
                worker.end("is killed")
            return
        for _ in range(4):
            self._work_off()
            self.the_rows_are_what_the_model_says()
            if not [self._replay(promise, True) for promise in self._letters()]:
                break
        kept = {key for key, one in self.model.promises.items() if one.letter}
        assert set(self.model.questions.values()) <= {"answered"}, f"lost; letters: {kept}"
        with self.store.reading() as session:
            assert audit.verify(session, after=self.since).whole

    def _work_off(self) -> None:
        for _ in range(12):
            while self.busy:
                self.a_worker_ends(0, "succeeds", "takes")
            if self.model.settled():
                return
            self._settle_clocks()
            self.the_reconciler_looks(False)
            self.the_relay_sweeps("takes")
            while self.broker.copies and self.free:
                self._deliver(self._copy(0, kept=False))
        raise AssertionError("promises that nothing keeps")

    def _settle_clocks(self) -> None:
        self.leases_run_out()
        self.waits_are_over()
        self.a_month_passes_since_publishing()
