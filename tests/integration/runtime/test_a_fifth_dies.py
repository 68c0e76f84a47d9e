"""A fifth of the questions is made to die, in every stage and in every way; all come back once.

`ATTEST_TEST_QUESTIONS=1000` runs it at the size that the requirement names.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from dramatiq.middleware import TimeLimitExceeded

from messages import QUESTION_STAGES, Stage
from store.audit import audit
from store.core.unit_of_work import Promise, Store
from store.dead_letters import listing
from store.dead_letters import replay as dead_letters_replay
from store.dead_letters.listing import Chosen
from store.dead_letters.replay import Operator
from tests.integration.runtime.harness import (
    Runtime,
    count,
    encoded,
    push,
    rows,
    wait_settled,
)
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest, wait_until
from workers.inline import InlineWorker
from workers.registry import spec_of
from workers.runtime.broker import WokenBroker
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec

QUESTIONS = int(os.environ.get("ATTEST_TEST_QUESTIONS", "50"))
SECONDS = 60.0 + QUESTIONS * 1.5
Start = Callable[..., Runtime]

WAYS: Mapping[str, tuple[str, str, str]] = {
    "cannot work": ("retrieve", "Permanent", "the index has another encoder"),
    "sent by newer code": ("retrieve", "FutureMessage", "is newer than this worker"),
    "no such actor": ("retrieve", "ActorNotFound", "no worker of this version knows its actor"),
    "a bug": ("generate", "ZeroDivisionError", "ZeroDivisionError at "),
    "refused by the database": ("verify", "InternalError", "InternalError at "),
    "takes too long": ("audit", "TimeLimitExceeded", "stopped its worker: it had not ended"),
}
"""How a question dies → the stage, the error and a part of the cause that its letter must name."""


class Faults:
    """What goes wrong for which question, until it is mended."""

    def __init__(self) -> None:
        self.of: dict[UUID, str] = {}

    def way(self, question_id: object) -> str | None:
        """How this question dies."""
        return self.of.get(UUID(str(question_id)))

    def mend(self, store: Store) -> None:
        """End all faults."""
        self.of.clear()
        with store.engine.begin() as connection:
            connection.execute(sa.text("DROP TRIGGER refuse ON answer"))

    def spec(self, stage: Stage) -> StageSpec[Any, Any]:
        """The product's stage, whose work fails as it was told."""
        found = spec_of(stage)

        def work(context: Context, message: Any) -> Any:
            way = self.way(message.question_id) if stage in QUESTION_STAGES else None
            if way is not None and WAYS[way][0] == stage.value:
                self.strike(way)
            return found.work(context, message)

        return replace(found, work=work, backoff_seconds=0.02, backoff_cap_seconds=0.1)

    def strike(self, way: str) -> None:
        """Fail so."""
        if way == "cannot work":
            raise Permanent("the index has another encoder")
        if way == "a bug":
            _ = 1 / len("")
        if way == "takes too long":
            raise TimeLimitExceeded


def refuse(store: Store, ids: Sequence[UUID]) -> None:
    """Let the database refuse answers to these questions."""
    with store.engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE refused (id uuid)"))
        connection.execute(
            sa.text("INSERT INTO refused SELECT unnest(CAST(:ids AS uuid[]))"), {"ids": list(ids)}
        )
        connection.execute(
            sa.text(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "IF EXISTS (SELECT FROM refused WHERE id = NEW.question_id) THEN "
                "RAISE EXCEPTION 'refused' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$"
            )
        )
        connection.execute(
            sa.text(
                "CREATE TRIGGER refuse BEFORE INSERT ON answer "
                "FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
        )


def sender(faults: Faults) -> type[WokenBroker]:
    """A broker that sends some messages as another version of this system would."""

    class Tampering(WokenBroker):
        def publish(self, promises: Sequence[Promise]) -> None:
            super().publish([one for one in map(self._changed, promises) if one is not None])

        def _changed(self, one: Promise) -> Promise | None:
            way = faults.way(one.payload.get("question_id", uuid4()))
            if one.stage != "retrieve" or way not in ("sent by newer code", "no such actor"):
                return one
            if way == "sent by newer code":
                return replace(one, payload={**one.payload, "schema": "retrieve.v2"})
            redis_id = str(uuid4())
            fields = {"actor_name": "unheard_of", "message_id": str(one.id)}
            body = encoded(dict(one.payload), redis_id=redis_id, **fields)
            push(self.client, self.namespace, "retrieve", body, redis_id)
            return None

    return Tampering


def statuses(store: Store) -> Counter[str]:
    """How many questions stand where."""
    found = rows(store, "SELECT status, count(*) AS n FROM question GROUP BY status")
    return Counter({row.status: row.n for row in found})


def replay(store: Store, **options: Any) -> dead_letters_replay.Report:
    """Replay all open dead letters."""
    options = {"dry_run": False, "per_second": 200.0} | options
    return dead_letters_replay.replay_matching(store, Operator("operator"), Chosen(), **options)


@pytest.mark.requirement("DC-5")
@pytest.mark.timeout(SECONDS * 3)
def test_all_that_died_has_a_letter_with_its_cause_and_comes_back_once(
    runtime: Start, inline: InlineWorker
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    faults = Faults()
    specs = [faults.spec(stage) for stage in Stage]
    running = runtime(*specs, threads=4, broker=sender(faults))
    store = running.store
    quiet = Store(store.engine, lambda promises: None)
    asked = [ask(quiet, f"{TRIAL_QUESTION} ({n})") for n in range(QUESTIONS)]
    ways = list(WAYS)
    faults.of = {one: ways[n % len(ways)] for n, one in enumerate(asked[::5])}
    refuse(store, [one for one, way in faults.of.items() if way == "refused by the database"])
    running.work().schedule()
    expected = dict(faults.of)

    wait_settled(store, SECONDS)
    assert statuses(store) == Counter(answered=QUESTIONS - len(expected), failed=len(expected))
    letters = rows(store, "SELECT * FROM dead_letter WHERE status = 'open'")
    assert Counter(UUID(letter.subject) for letter in letters) == Counter(list(expected))
    for letter in letters:
        stage, error_type, cause = WAYS[expected[UUID(letter.subject)]]
        assert (letter.stage, letter.error_type) == (stage, error_type), letter.cause
        assert cause in letter.cause
        assert letter.payload["question_id"] == letter.subject
        assert letter.first_failed_at <= letter.died_at
    with store.reading() as session:
        groups = listing.groups(session).groups
    assert sum(group.open for group in groups) == len(expected)
    assert len(groups) == len(WAYS)

    faults.mend(store)
    assert replay(store, dry_run=True).resolved == len(expected)
    first, second = replay(store), replay(store)
    assert (first.resolved, first.refused) == (len(expected), Counter())
    assert (second.matched, second.resolved) == (0, 0)
    wait_until(lambda: statuses(store) == Counter(answered=QUESTIONS), SECONDS, "all answered")
    wait_settled(store)
    sealed = rows(store, "SELECT subject FROM audit_event WHERE event = 'answer.sealed'")
    assert Counter(row.subject for row in sealed) == Counter(str(one) for one in asked)
    assert count(store, "answer") == QUESTIONS
    for stage in QUESTION_STAGES:
        runs = count(store, "stage_run", "stage = :s AND status = 'done'", s=stage.value)
        assert runs == QUESTIONS
    assert replay(store).matched == 0
    with store.reading() as session:
        assert audit.verify(session).whole
