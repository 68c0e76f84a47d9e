"""Hosts whose clocks are wrong: what is due, lost or dead lately is so by PostgreSQL's clock."""

import subprocess
import sys

import pytest
import sqlalchemy as sa

from knowledge.operation.operating import circuit_policy
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.pipeline.circuits import states
from tests.integration.runtime.harness import rows
from workers.runtime.relay import reconcile, sweep

pytestmark = pytest.mark.parametrize("hours", [-1.0, 1.0])

HOST = """
import sys
from tests.chaos.storm.launch import skew
skew(float(sys.argv[2]))

from uuid import uuid4
from store.dead_letters import dead_letters
from store.pipeline import outbox
from store.core.database import connect
from store.core.unit_of_work import Store
from tests.integration.runtime.harness import promise, promise_asked
from workers.runtime.errors import Permanent

store = Store(connect(sys.argv[1]), lambda promises: None)


def died():
    (outbox_id,) = promise_asked(store)
    death = dead_letters.Death("retrieve", {}, Permanent.__name__, "cannot", outbox_id=outbox_id)
    with store.unit_of_work("test") as work:
        outbox.dead(work.session, outbox_id)
        return dead_letters.add(work, death)

"""


def on_a_host(settings: Settings, hours: float, act: str) -> None:
    """Do this in a process whose clock is wrong by so many hours."""
    command = [sys.executable, "-c", HOST + act, settings.database_url, str(hours)]
    subprocess.run(command, check=True, timeout=60)


def off(store: Store, moment: str, table: str) -> float:
    """By how many seconds a moment is ahead of the database's clock."""
    (row,) = rows(store, f"SELECT extract(epoch FROM max({moment}) - now()) AS s FROM {table}")
    return float(row.s)


def test_what_redis_lost_of_a_host_with_a_wrong_clock_is_found_no_later(
    settings: Settings, engine: sa.Engine, hours: float
) -> None:
    store, sent = Store(engine), []
    on_a_host(settings, hours, "promise(store)")
    assert reconcile(store, {}, lost_after=60) == 0
    with engine.begin() as session:
        session.execute(sa.text("UPDATE outbox SET published_at = published_at - interval '90 s'"))
    assert reconcile(store, {}, lost_after=60) == 1
    assert sweep(store, lambda promises: sent.extend(promises)) == 1
    assert len(sent) == 1


def test_deaths_on_such_a_host_are_counted_and_the_circuit_is_tried_no_later(
    settings: Settings, engine: sa.Engine, hours: float
) -> None:
    store, policy = Store(engine), circuit_policy()
    on_a_host(settings, hours, f"for _ in range({policy.least_deaths}): died()")
    with store.reading() as session:
        (found,) = [one for one in states(session) if one.stage == "retrieve"]
    assert (found.state, found.deaths) == ("open", policy.least_deaths)
    assert abs(off(store, "died_at", "dead_letter")) < 60
    assert abs(off(store, "probe_at", "stage_circuit") - policy.wait_seconds(0)) < 60


def test_what_such_a_host_replays_is_due_at_once(
    settings: Settings, engine: sa.Engine, hours: float
) -> None:
    store = Store(engine)
    act = "with store.unit_of_work('test') as work: dead_letters.replay(work, letter)"
    on_a_host(settings, hours, f"letter = died()\n{act}")
    assert abs(off(store, "not_before", "outbox")) < 60
    assert sweep(store, lambda promises: None) == 1
