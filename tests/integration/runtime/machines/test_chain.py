"""The audit chain against a list of what was committed, and against who tampers with it."""

from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from store.audit import audit
from store.audit.audit import ChainReport
from store.core.unit_of_work import Store
from tests.examples import MANY, examples
from tests.integration.runtime.machines.chain import Chain
from tests.integration.runtime.machines.hunting import hunting

CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
pytestmark = pytest.mark.requirement("DC-6")


def machine_on(store: Store) -> type[Chain]:
    """The machine over this store."""
    return type("ChainHere", (Chain,), {"store": store})


def test_invariant_10_the_chain_is_what_was_committed_and_tampering_is_named(
    shared_store: Store,
) -> None:
    bounded = settings(examples(15), stateful_step_count=20, suppress_health_check=CALM)
    run_state_machine_as_test(machine_on(shared_store), settings=bounded)


def _contents_are_not_read(patch: pytest.MonkeyPatch) -> None:
    """Only the hashes are compared with one another."""
    fault = audit._fault

    def blind(found: Any, seq: int, previous: bytes) -> Any:
        reason = fault(found, seq, previous)
        return None if reason and reason[1].endswith("not what was written") else reason

    patch.setattr(audit, "_fault", blind)


def _the_head_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """A chain that ends too soon is whole."""

    def trusting(_: Any, begun: Any, last: Any, __: Any) -> ChainReport:
        return ChainReport(last.seq - begun.seq, True, None, None, last)

    patch.setattr(audit, "_at_the_end", trusting)


def _links_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    """Each event fits its own hash, whatever it follows."""
    fault = audit._fault
    patch.setattr(audit, "_fault", lambda found, seq, _: fault(found, seq, found.previous_hash))


QUICK = {
    "contents are not read": _contents_are_not_read,
    "the head is not looked at": _the_head_is_not_looked_at,
}
SLOW = {"links are not compared": _links_are_not_compared}
"""Found too, but not always within seconds; `make fuzz` looks."""


@pytest.mark.parametrize("name", QUICK | (SLOW if MANY else {}))
def test_the_machine_sees_each_way_of_not_looking(
    shared_store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (QUICK | SLOW)[name](monkeypatch)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_on(shared_store), settings=hunting(200, 20))


def test_an_empty_chain_whose_head_names_an_event_lacks_the_first_one(store: Store) -> None:
    """Found by the machine: event 0 was named, which is none."""
    with store.engine.begin() as db:
        db.execute(sa.text("ALTER TABLE audit_head DISABLE TRIGGER USER"))
        db.execute(sa.text("UPDATE audit_head SET hash = decode(repeat('ab', 32), 'hex')"))
    with store.reading() as session:
        report = audit.verify(session)
    assert (report.whole, report.first_bad_seq) == (False, 1)
