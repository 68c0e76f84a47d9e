"""Between acceptance and seal no commit of a question waits for the disk (ADR 0063): a server that
is killed loses them all or none, and what was accepted is done again."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from messages import QUESTION_STAGES, Stage
from store.audit import audit
from tests.chaos.conftest import World
from tests.integration.runtime.harness import count, expire
from tests.integration.runtime.test_run_on import Killed
from tests.integration.runtime.test_run_on import World as Chain

pytestmark = pytest.mark.requirement("DC-2")
TRIES = 5
"""Of the server's own processes one may write the log to disk at any time."""


@pytest.fixture
def chain(world: World) -> Iterator[Chain]:
    """A worker that runs on, on a server whose writer of the log sleeps."""
    _configure(world, "SET wal_writer_delay = '10s'", "SET wal_writer_flush_after = '1GB'")
    found = Chain(world.settings)
    try:
        yield found
    finally:
        found.running.stop()
        _configure(world, "RESET wal_writer_delay", "RESET wal_writer_flush_after")


def _configure(world: World, *changes: str) -> None:
    engine = world.store.engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for change in changes:
            connection.execute(sa.text(f"ALTER SYSTEM {change}"))
        connection.execute(sa.text("SELECT pg_reload_conf()"))


@pytest.mark.parametrize("stage", QUESTION_STAGES[1:], ids=lambda stage: stage.value)
def test_what_a_killed_server_loses_of_a_question_is_done_again(
    world: World, chain: Chain, stage: Stage
) -> None:
    def killed(seconds: float) -> None:
        if seconds == 100.0 + QUESTION_STAGES.index(stage):
            raise Killed

    for _ in range(TRIES):
        chain.context.run_on.limit = killed
        chain.chain.worked.clear()
        asked = chain.ask()
        assert chain.chain.worked == list(QUESTION_STAGES[: QUESTION_STAGES.index(stage)])
        world.servers.postgres.kill()
        world.servers.postgres.start()
        assert count(world.store, "outbox", "stage = 'retrieve' AND status = 'published'") == 1
        was_lost = count(world.store, "stage_run", "status = 'running'") == 0
        if was_lost:
            break
        expire(world.store, asked.question_id)
        chain.relay()
    assert was_lost, "every commit behind the acceptance waited for the disk"
    with world.store.reading() as session:
        assert audit.verify(session).whole
    chain.relay()
    assert chain.chain.worked[-len(QUESTION_STAGES) :] == list(QUESTION_STAGES)
    chain.check(asked)
    assert count(world.store, "dead_letter") == 0


def test_a_head_of_the_audit_that_was_verified_is_on_disk(world: World, chain: Chain) -> None:
    def killed(_: float) -> None:
        raise Killed

    chain.context.run_on.limit = killed
    chain.ask()
    with world.store.reading() as session:
        kept = audit.verify(session).checked
    world.servers.postgres.kill()
    world.servers.postgres.start()
    with world.store.reading() as session:
        assert audit.verify(session, after=kept).whole
