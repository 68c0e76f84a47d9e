"""The ledger, the outbox and their fences against a model, over any order of what may happen."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from messages import Stage
from store.core.unit_of_work import Store, UnitOfWork
from store.pipeline import ledger, outbox
from tests.chaos.storm.launch import SABOTAGES
from tests.examples import MANY, examples
from tests.integration.runtime.machines.hunting import hunting
from tests.integration.runtime.machines.promises import Promises

CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def machine_on(store: Store) -> type[Promises]:
    """The machine over this store."""
    return type("PromisesHere", (Promises,), {"store": store})


def test_invariants_1_2_3_whatever_happens_is_done_once_and_nothing_is_lost(
    shared_store: Store,
) -> None:
    bounded = settings(examples(20), stateful_step_count=30, suppress_health_check=CALM)
    run_state_machine_as_test(machine_on(shared_store), settings=bounded)


def test_a_question_that_has_its_answer_does_not_fail_any_more(shared_store: Store) -> None:
    """Found by the machine: a damaged copy of a second promise of its first stage came late."""
    story = machine_on(shared_store)()
    story.free.pop(0)  # it runs on, and leaves no copy
    story.a_question_is_accepted("takes")
    story.its_work_is_promised_once_more(0)
    story.a_message_is_worked_off(0, False)
    story.a_message_is_worked_off(1, False)
    assert list(story.model.questions.values()) == ["answered"]
    story.a_damaged_copy_is_delivered(0)
    story.the_rows_are_what_the_model_says()
    story.teardown()


def _no_token_check(patch: pytest.MonkeyPatch) -> None:
    """Who lost the lease commits all the same, as if the newest token were its own."""
    finish = ledger.finish

    def with_any_token(session: Any, held: Any, *more: Any) -> None:
        query = sa.text("UPDATE stage_run SET status = 'running' WHERE id = :id RETURNING token")
        token = session.execute(query, {"id": held.run_id}).scalar_one()
        finish(session, replace(held, token=token), *more)

    patch.setattr(ledger, "finish", with_any_token)


def _the_reconciler_sleeps(patch: pytest.MonkeyPatch) -> None:
    """What is lost stays lost."""
    patch.setattr(outbox, "take_back_lost", lambda *_: 0)


def _the_relay_marks_first(patch: pytest.MonkeyPatch) -> None:
    """Rows are marked in a transaction of their own, before they are published."""
    take = outbox.take_due

    def hasty(session: Any, limit: int = 500) -> Any:
        rows = take(session, limit)
        session.commit()
        return rows

    patch.setattr(outbox, "take_due", hasty)


def _a_retry_does_not_wait(patch: pytest.MonkeyPatch) -> None:
    """A second delivery shortens the back-off."""
    kept = str(ledger._CLAIM).replace("AND outbox.not_before > clock_timestamp()", "AND false")
    patch.setattr(ledger, "_CLAIM", sa.text(kept))


def _a_late_copy_kills(patch: pytest.MonkeyPatch) -> None:
    """What nobody can read ends its promise though somebody works on it."""
    patch.setattr(outbox, "dead_if_idle", outbox.dead)


def _from_the_storm(name: str, *places: tuple[Any, str]) -> Callable[[pytest.MonkeyPatch], None]:
    """A sabotage of the storms, undone afterwards."""

    def sabotage(patch: pytest.MonkeyPatch) -> None:
        for owner, attribute in places:
            patch.setattr(owner, attribute, getattr(owner, attribute))
        SABOTAGES[name]()

    return sabotage


def _the_next_promise_is_lost(patch: pytest.MonkeyPatch) -> None:
    """A stage commits without its message to the next one."""
    emit = UnitOfWork.emit

    def forgetful(self: UnitOfWork, message: Any, **options: Any) -> Any:
        row_id = emit(self, message, **options)
        if message.stage is Stage.GENERATE:
            self._outbox.pop()
        return row_id

    patch.setattr(UnitOfWork, "emit", forgetful)


QUICK = {
    "done is done again": _from_the_storm("done is done again", (ledger, "_CLAIM")),
    "the next promise is lost": _the_next_promise_is_lost,
    "what is run on is not promised": _from_the_storm(
        "what is run on is not promised", (UnitOfWork, "_finish")
    ),
    "the reconciler sleeps": _the_reconciler_sleeps,
}
SLOW = {
    "no token check": _no_token_check,
    "the relay marks first": _the_relay_marks_first,
    "a retry does not wait": _a_retry_does_not_wait,
    "a late copy kills": _a_late_copy_kills,
}
"""Found too, but not within seconds; `make fuzz` looks."""


@pytest.mark.parametrize("name", QUICK | (SLOW if MANY else {}))
def test_the_machine_sees_each_broken_invariant(
    shared_store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (QUICK | SLOW)[name](monkeypatch)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_on(shared_store), settings=hunting(500, 30))


def test_the_machine_sees_a_commit_with_a_lost_token_at_once(
    shared_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    SLOW["no token check"](monkeypatch)
    story = machine_on(shared_store)()
    story.a_question_is_accepted("takes")
    story.a_message_is_delivered(0, True)
    story.a_worker_freezes_past_its_lease(0)
    assert len(story.busy) == 2
    with pytest.raises(AssertionError):
        story.a_worker_ends(0, "succeeds", "takes")
    story.sound = False
    story.teardown()
