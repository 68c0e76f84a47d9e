"""The ledger against a model of eight lines, over any order of what workers may do to it."""

from collections.abc import Callable
from uuid import uuid4

import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.pipeline import ledger
from store.pipeline.ledger import Claim, LeaseLost, Standing
from tests.integration.runtime.harness import HASH


class Ledger(RuleBasedStateMachine):
    """One piece of work, any number of workers, of which some hold claims that are long stale."""

    claims = Bundle("claims")
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.subject = str(uuid4())
        self.status, self.attempts, self.token, self.expired = "new", 0, 0, False

    @rule(target=claims)
    def claim(self) -> object:
        with Session(self.store.engine) as session:
            held = ledger.claim(
                session,
                stage="retrieve",
                subject=self.subject,
                input_hash=HASH,
                worker="w",
                outbox_id=None,
                lease_seconds=600,
            )
            session.commit()
        free = self.status in ("new", "waiting") or (self.status == "running" and self.expired)
        if not free:
            assert held is Standing(self.status)
            return multiple()
        assert isinstance(held, Claim)
        assert held.token > self.token
        assert held.attempts == self.attempts + 1
        self.status, self.expired = "running", False
        self.attempts, self.token = held.attempts, held.token
        return held

    @rule()
    def expire(self) -> None:
        if self.status == "running":
            self.expired = True
        with Session(self.store.engine) as session:
            session.execute(
                sa.text(
                    "UPDATE stage_run SET lease_until = clock_timestamp() - interval '1 s' "
                    "WHERE subject = :subject AND status = 'running'"
                ),
                {"subject": self.subject},
            )
            session.commit()

    @rule(held=claims)
    def renew(self, held: Claim) -> None:
        with Session(self.store.engine) as session:
            kept = ledger.renew(session, [held], 600)
            session.commit()
        assert kept == ({held.token} if self._holds(held) else set())
        if self._holds(held):
            self.expired = False

    @rule(held=claims)
    def finish(self, held: Claim) -> None:
        if self._end(held, lambda session: ledger.finish(session, held)):
            self.status = "done"

    @rule(held=claims, counts=st.booleans())
    def put_back(self, held: Claim, counts: bool) -> None:
        if self._end(held, lambda session: ledger.put_back(session, held, "why", counts=counts)):
            self.status = "waiting"
            self.attempts -= not counts

    @rule(held=consumes(claims))
    def bury(self, held: Claim) -> None:
        if self._end(held, lambda session: ledger.bury(session, held, "why")):
            self.status = "dead"

    def _holds(self, held: Claim) -> bool:
        return self.status == "running" and held.token == self.token

    def _end(self, held: Claim, end: Callable[[Session], object]) -> bool:
        """Whether `end` was accepted, which must be exactly when the token is the newest."""
        with Session(self.store.engine) as session:
            try:
                end(session)
                session.commit()
            except LeaseLost:
                assert not self._holds(held)
                return False
        assert self._holds(held)
        return True

    @invariant()
    def the_row_is_what_the_model_says(self) -> None:
        with Session(self.store.engine) as session:
            found = session.execute(
                sa.text(
                    "SELECT status, attempts, token, coalesce(lease_until < clock_timestamp(), "
                    "false) AS expired, lease_until IS NULL AS free FROM stage_run "
                    "WHERE subject = :subject"
                ),
                {"subject": self.subject},
            ).one_or_none()
        if found is None:
            assert self.status == "new"
            return
        assert (found.status, found.attempts, found.token) == (
            self.status,
            self.attempts,
            self.token,
        )
        assert found.free == (self.status != "running")
        assert found.expired == (self.status == "running" and self.expired)


def test_invariant_2_the_ledger_is_what_its_model_says(shared_store: Store) -> None:
    machine = type("LedgerHere", (Ledger,), {"store": shared_store})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
