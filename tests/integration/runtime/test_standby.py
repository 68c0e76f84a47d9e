"""The database server is lost for good under load; its standby is promoted. Nobody is told."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import pytest
import sqlalchemy as sa

from messages import QUESTION_STAGES
from store.audit import audit
from store.core.database import connect, passes_by_itself
from store.core.postgres_watchdog import is_silent
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import DataDir, EmbeddedPostgres, EmbeddedServers
from tests import standby
from tests.integration.runtime.harness import Runtime, count, message, wait_settled
from tests.integration.runtime.test_run_on import Chain
from tests.servers import wait_until

_LOCAL = "fsync = off\nshared_buffers = 32MB\n"
"""No machine of a test fails; commits wait for the standby all the same."""


class Pair:
    """A server with the schema, and a standby that is made from it and required."""

    def __init__(self, first: DataDir, second: DataDir) -> None:
        self.primary, self.standby = EmbeddedPostgres(first), EmbeddedPostgres(second)
        self.primary.initialize()
        (first.postgres / "postgresql.local.conf").write_text(_LOCAL)
        self.primary.start()
        engine = connect(self.primary.database_url)
        migrate(engine)
        engine.dispose()
        self.early = Store(connect(self.primary.database_url, answer_seconds=2.0), lambda _: None)
        standby.copy(self.primary.conninfo(), second)
        assert submit(self.early) is not None, "one that only the first has: nobody requires more"
        self.standby.start()
        standby.require(self.primary.conninfo())

    @property
    def url(self) -> str:
        """Of whichever accepts writes."""
        hosts = ",".join(
            quote(str(one.data.runtime_dir), safe="") for one in (self.primary, self.standby)
        )
        return f"postgresql+psycopg://attest@/attest?host={hosts}&target_session_attrs=read-write"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both, until the last test."""
    path = tmp_path_factory.mktemp("pair")
    with DataDir(path / "first") as first, DataDir(path / "second") as second:
        made = Pair(first, second)
        yield made
        made.early.engine.dispose()
        made.standby.stop()
        made.primary.stop()


class People:
    """They submit questions, one after the other, until they stop."""

    def __init__(self, store: Store) -> None:
        self._store, self._over = store, threading.Event()
        self.accepted: list[UUID] = []
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it does."""
        self._over.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def more(self, count: int) -> None:
        """Wait until so many more have been accepted."""
        wanted = len(self.accepted) + count
        wait_until(lambda: len(self.accepted) >= wanted, 60, f"{count} more are accepted")

    def _ask(self) -> None:
        while not self._over.wait(0.02):
            if (question_id := submit(self._store)) is not None:
                self.accepted.append(question_id)


def submit(store: Store) -> UUID | None:
    """Submit a question; None if nobody says that it was accepted."""
    asked = message()
    try:
        with store.unit_of_work("people") as work:
            work.emit(asked)
    except Exception as error:
        if not passes_by_itself(error):
            raise
        time.sleep(0.1)
        return None
    return asked.question_id


_STEPS = sa.text(
    "SELECT CAST(asked.payload->>'question_id' AS uuid) AS id, ARRAY("
    "SELECT event FROM audit_event WHERE subject = asked.payload->>'question_id' "
    "AND event LIKE 'probe.%' ORDER BY seq) AS steps FROM outbox AS asked WHERE stage = 'retrieve'"
)


def test_a_commit_is_acknowledged_by_both_servers_or_not_at_all(pair: Pair) -> None:
    store = pair.early
    assert submit(store) is not None
    pair.standby.kill()
    wait_until(lambda: count(store, "pg_stat_replication") == 0, 60, "its last process ends")
    with pytest.raises(sa.exc.OperationalError) as refused, store.unit_of_work("people") as work:
        work.emit(message())
    assert is_silent(refused.value), "the server waits for the standby"
    pair.standby.start()
    wait_until(lambda: submit(store) is not None, 60, "both are there again")


def test_a_server_lost_for_good_under_load_takes_nothing_along_and_doubles_nothing(
    pair: Pair, servers: EmbeddedServers, tmp_path: Path
) -> None:
    settings = Settings(
        data_dir=tmp_path / "data",
        database_url=pair.url,
        redis_url=servers.redis_url,
        redis_namespace=tmp_path.name,
        lease_seconds=2.0,
        relay_seconds=0.1,
        lost_after_seconds=0.5,
        idle_wait_ms=100,
    )
    chain = Chain()
    running = Runtime(settings, chain.specs, threads=2).work().schedule()
    people = People(running.store)
    try:
        people.more(20)
        pair.primary.kill()
        standby.promote(pair.standby.conninfo())
        people.more(20)
        people.stop()
        wait_settled(running.store)
        with running.store.reading() as session:
            steps = {row.id: row.steps for row in session.execute(_STEPS)}
            assert audit.verify(session).whole
    finally:
        people.stop()
        running.stop()
    assert set(people.accepted) <= set(steps), "an accepted question is lost"
    once = [f"probe.{stage.value}" for stage in QUESTION_STAGES]
    assert {tuple(one) for one in steps.values()} == {tuple(once)}
