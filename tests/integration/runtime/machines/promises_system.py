"""The real store, relay, reconciler and stage wrapper, over a broker that can be made to fail.

A worker is a thread in the wrapper, `handle`; it stops inside the stage's work until the test says
how that ends, so that any number of workers can be caught at any place in any order.
"""

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session

from messages import GenerateV1, RetrieveV1, Stage
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store, UnitOfWork
from store.models import Question
from store.pipeline import ledger
from store.questions import states
from tests.integration.runtime.harness import HASH
from tests.integration.runtime.machines.promises_model import MAX_ATTEMPTS
from workers.runtime.errors import Later, Permanent, Transient
from workers.runtime.leases import LeaseKeeper
from workers.runtime.stage import Context, StageSpec, handle

LONG = 3600.0
"""Seconds: longer than any test; leases and waits end when the test moves them."""

How = Literal[
    "succeeds", "fails", "waits", "dies", "is killed", "cannot commit", "is killed in the commit",
    "dies and cannot say so", "is killed before it goes on",
]  # fmt: skip


class Killed(BaseException):
    """kill -9: nothing that catches an Exception sees it."""


@dataclass
class Broker:
    """What Redis may hold: copies of messages, until it is flushed."""

    copies: list[Promise] = field(default_factory=list)
    mood: Literal["takes", "refuses", "sender dies before", "sender dies after"] = "takes"

    def publish(self, promises: Sequence[Promise]) -> None:
        """Take them, or fail as the test wants it."""
        if self.mood == "refuses":
            raise ConnectionError("the broker is away")
        if self.mood != "sender dies before":
            self.copies += promises
        if self.mood != "takes":
            raise Killed


class Worker:
    """A worker with room for one message."""

    def __init__(
        self, store: Store, settings: Settings, name: str, *, runs_on: bool = False
    ) -> None:
        leases = LeaseKeeper(store, settings.lease_seconds)  # not started: the test renews
        self.context = Context(store, settings, name, leases)
        self.emitted: list[UUID] = []
        self._specs = {
            stage: StageSpec[Any, Any](
                stage=stage,
                work=self._work,
                commit=self._commit,
                on_dead=self._on_dead,
                max_attempts=MAX_ATTEMPTS,
                backoff_seconds=LONG,
                backoff_cap_seconds=LONG,
                time_limit_seconds=LONG,
            )
            for stage in (Stage.RETRIEVE, Stage.GENERATE)
        }
        self._told: queue.Queue[How] = queue.Queue()
        self._says: queue.Queue[str] = queue.Queue()
        self._how: How = "succeeds"
        self._thread: threading.Thread | None = None
        self.runs_on, self.works_on = runs_on, False
        if runs_on:
            self.context.run_on.specs.update(self._specs)
            self.context.run_on.limit = self._goes_on

    def _goes_on(self, _: float) -> None:
        if self._how == "is killed before it goes on":
            raise Killed

    def deliver(self, copy: Promise, *, damaged: bool = False) -> bool:
        """Hand over a message; whether it got the work (else the wrapper has returned)."""
        payload = {"schema": "unknown.v1"} if damaged else dict(copy.payload)
        self._how = "succeeds"  # what ended the last one says nothing of this one
        spec = self._specs[Stage(copy.stage)]
        self._thread = threading.Thread(
            target=self._run, args=(spec, payload, copy.id), daemon=True
        )
        self._thread.start()
        if self._says.get(timeout=60) == "working":
            return True
        self._thread.join()
        return False

    def end(self, how: How) -> list[UUID]:
        """Let the work end so; gives the promises that it tried to make. `works_on` says whether
        the worker got the work of the next stage at once."""
        assert self._thread is not None
        self.emitted = []
        self._told.put(how)
        self.works_on = self._says.get(timeout=60) == "working"
        if not self.works_on:
            self._thread.join(60)
            assert not self._thread.is_alive(), "another thread of this worker ended"
        return self.emitted

    def renew(self) -> set[int]:
        """What the lease keeper does three times a lease: the tokens that still hold."""
        with Session(self.context.store.engine) as session:
            kept = ledger.renew(session, self.context.leases._due(), LONG)
            session.commit()
        return kept

    def _run(self, spec: StageSpec[Any, Any], payload: object, promise: UUID) -> None:
        try:
            handle(self.context, spec, payload, promise)
        except Killed:
            pass
        finally:
            self._says.put("ended")

    def _work(self, _: Context, message: Any) -> object:
        self._says.put("working")
        self._how = self._told.get()
        if self._how == "is killed":
            raise Killed
        if self._how == "fails":
            raise Transient("it may pass")
        if self._how == "waits":
            raise Later("they said when", LONG)
        if self._how in ("dies", "dies and cannot say so"):
            raise Permanent("it cannot be done")
        return message

    def _commit(self, unit: UnitOfWork, message: Any, _: object) -> None:
        unit.record(f"probe.{message.stage.value}", message.question_id)
        if isinstance(message, RetrieveV1):
            unit.session.execute(_MOVE, states.moving(message.question_id, Stage.GENERATE))
            following = GenerateV1(
                request_id=message.request_id, question_id=message.question_id, retrieval_hash=HASH
            )
            self.emitted.append(unit.emit(following))
        else:
            unit.session.execute(_ANSWERED, {"id": message.question_id})
        if self._how == "is killed in the commit":
            unit.session.flush()
            raise Killed
        if self._how == "cannot commit":
            raise Transient("the database minds")

    def _on_dead(self, unit: UnitOfWork, message: Any, cause: str) -> None:
        states.failed(unit, message.question_id, cause)
        if self._how == "dies and cannot say so":
            raise RuntimeError("a fault in the stage's own code")


_MOVE = sa.text(states.MOVE)
_ANSWERED = sa.text("UPDATE question SET status = 'answered' WHERE id = :id")
_TABLES = ("dead_letter_resolution", "dead_letter", "stage_run", "outbox", "question")


def clear(store: Store) -> None:
    """Begin anew. The audit chain stays: nobody can take it away."""
    with store.engine.begin() as connection:
        for table in _TABLES:  # rows are few: quicker than TRUNCATE
            connection.execute(sa.text(f"DELETE FROM {table}"))


def ask(store: Store, message: RetrieveV1, *, new: bool) -> UUID:
    """Accept a question, or promise its work a second time; the promise."""
    with store.unit_of_work("gateway", message.request_id) as unit:
        if new:
            unit.session.add(
                Question(
                    id=message.question_id,
                    text="?",
                    text_hash=HASH,
                    options={},
                    request_id=message.request_id,
                    request_hash=HASH,
                )
            )
        return unit.emit(message)


def asking(question: UUID) -> RetrieveV1:
    """The first message of a question."""
    return RetrieveV1(request_id=uuid4(), question_id=question, question_hash=HASH)
