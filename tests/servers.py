"""Real PostgreSQL and Redis for tests: one pair per session, a fresh database for each test."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import sqlalchemy as sa

from messages import Stage
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.records import SourceRecord
from store.documents.submissions import submit_item
from store.embedded import DataDir, EmbeddedPostgres, EmbeddedServers, embedded
from store.models import Question
from store.questions import questions
from tests.processes import Forked, attest
from workers.encoder import MiniLM
from workers.inline import InlineWorker
from workers.runtime.broker import WokenBroker

TEMPLATE = "attest_template"
_FOR_TESTS = """\
# Test data need not survive a crash, and waiting for the disk takes much of the time.
fsync = off
synchronous_commit = off
# Whoever drops a database looks through all of it.
shared_buffers = 128MB
"""
FINISHED = ("answered", "failed")
_KEPT: dict[str, psycopg.Connection[Any]] = {}
"""Connections of whole sessions, by server: a test makes and drops a database, each by one call."""


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServers]:
    """The servers of the test session. Tests that kill or restart servers start their own."""
    with serving_tests(tmp_path_factory.mktemp("servers") / "data") as running:
        yield running


@contextmanager
def serving_tests(data_dir: Path) -> Iterator[EmbeddedServers]:
    """Both servers with the template, set for tests, until the block ends."""
    with DataDir(data_dir) as data:
        EmbeddedPostgres(data).initialize()
        (data.postgres / "postgresql.local.conf").write_text(_FOR_TESTS)
    with (
        embedded(data_dir) as running,
        psycopg.connect(running.conninfo, autocommit=True) as connection,
    ):
        _KEPT[running.conninfo] = connection
        try:
            make_template(running)
            yield running
        finally:
            del _KEPT[running.conninfo]


def make_template(servers: EmbeddedServers) -> None:
    """Create the migrated template database; each test gets a copy of it."""
    create_database(servers, TEMPLATE, "template0")
    engine = connect(url_of(servers, TEMPLATE))
    migrate(engine)
    engine.dispose()


def url_of(servers: EmbeddedServers, database: str) -> str:
    """The URL of another database of these servers."""
    return sa.make_url(servers.database_url).set(database=database).render_as_string(False)


def create_database(servers: EmbeddedServers, name: str, template: str) -> None:
    """Create a database as a copy of another one."""
    # Copying the files is faster than writing them to the log first, which is the default.
    _execute(servers, f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')


def drop_database(servers: EmbeddedServers, name: str) -> None:
    """Drop a database whoever is connected to it: each takes 10 MB, of memory perhaps."""
    _execute(servers, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _execute(servers: EmbeddedServers, statement: str) -> None:
    kept = _KEPT.get(servers.conninfo)
    with (
        nullcontext(kept) if kept else psycopg.connect(servers.conninfo, autocommit=True)
    ) as connection:
        connection.execute(statement)


@contextmanager
def fresh(servers: EmbeddedServers, data_dir: Path) -> Iterator[Settings]:
    """Settings with short waits, for a fresh database and a separate Redis namespace."""
    name = f"test_{uuid4().hex[:12]}"
    create_database(servers, name, TEMPLATE)
    yield Settings(
        data_dir=data_dir,
        database_url=url_of(servers, name),
        redis_url=servers.redis_url,
        redis_namespace=name,
        encoder="hash",
        lease_seconds=2.0,
        relay_seconds=0.1,
        lost_after_seconds=0.5,
        idle_wait_ms=100,
        shutdown_seconds=5.0,
        log_format="console",
    )
    drop_database(servers, name)


@pytest.fixture
def settings(servers: EmbeddedServers, tmp_path: Path) -> Iterator[Settings]:
    """Settings with a fresh database for this test."""
    with fresh(servers, tmp_path / "data") as found:
        yield found


@pytest.fixture
def engine(settings: Settings) -> Iterator[sa.Engine]:
    """An engine on the test's database."""
    test_engine = connect(settings.database_url)
    yield test_engine
    test_engine.dispose()


@pytest.fixture
def store(engine: sa.Engine) -> Store:
    """A store without a broker: its messages stay in the outbox."""
    return Store(engine, lambda promises: None)


@pytest.fixture
def inline(settings: Settings, engine: sa.Engine) -> Iterator[InlineWorker]:
    """All stages in this process; `run()` works until nothing is due."""
    worker = InlineWorker(settings, Store(engine))
    yield worker
    worker.close()


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    """The packaged model: its weights are packed, and loaded, once a session."""
    return MiniLM(tmp_path_factory.mktemp("packed"), threads=2)


@contextmanager
def working_with(model: MiniLM, settings: Settings, store: Store) -> Iterator[InlineWorker]:
    """As `inline`, with the packaged model instead of hashed words."""
    worker = InlineWorker(settings.model_copy(update={"encoder": "minilm"}), store)
    vars(worker.context)["encoder"] = model  # what it would load at its first text
    yield worker
    worker.close()


@pytest.fixture
def minilm(settings: Settings, engine: sa.Engine, packed: MiniLM) -> Iterator[InlineWorker]:
    """All stages in this process, with the packaged model."""
    with working_with(packed, settings, Store(engine)) as worker:
        yield worker


def ingest(store: Store, *records: SourceRecord | dict[str, Any]) -> UUID:
    """Submit records as one packet; returns the item's id."""
    parsed = [SourceRecord.model_validate(record) for record in records]
    content = "\n".join(record.model_dump_json(exclude_none=True) for record in parsed)
    with store.unit_of_work("test", request_id=uuid4()) as work:
        item = submit_item(
            work,
            filename="records.jsonl",
            media_type=None,
            content=content.encode(),
            source_type=None,
            batch_id=uuid4(),
        )
    return item.id


def ask(store: Store, text: str, **options: Any) -> UUID:
    """Submit a question; returns its id."""
    with store.unit_of_work("test", request_id=uuid4()) as work:
        return questions.submit(work, text, options).id


def get_question(store: Store, question_id: UUID) -> Question:
    """The current row of the question."""
    with store.reading() as session:
        return session.get_one(Question, question_id)


def wait_until(condition: Callable[[], bool], seconds: float = 60.0, what: str = "") -> None:
    """Poll `condition` until it is true; fails the test after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s: {what or condition}")
        time.sleep(0.05)


def wait_finished(store: Store, ids: list[UUID], seconds: float = 90.0) -> None:
    """Wait until all these questions are answered or failed."""

    def ended() -> bool:
        return all(get_question(store, question_id).status in FINISHED for question_id in ids)

    wait_until(ended, seconds, "questions ended")


@dataclass
class Fleet:
    """Real worker and scheduler processes over the test's database and Redis namespace."""

    settings: Settings
    log: Path
    processes: list[Forked] = field(default_factory=list)

    def start(self, *arguments: str) -> Forked:
        """Start `attest ARGUMENTS` with the settings of this test in its environment."""
        env = {**os.environ}
        for key, value in self.settings.model_dump(exclude_none=True).items():
            env[f"ATTEST_{key.upper()}"] = (
                json.dumps(value) if isinstance(value, dict) else str(value)
            )
        process = attest(arguments, env, self.log)
        self.processes.append(process)
        return process

    def worker(self, *stages: Stage, threads: int = 2) -> Forked:
        """Start a worker and wait until it logs that it is ready."""
        before = self.text().count("worker_ready")
        wanted = [f"--stage={stage.value}" for stage in stages]
        process = self.start("worker", *wanted, f"--threads={threads}")
        wait_until(lambda: self.text().count("worker_ready") > before, 90, "worker ready")
        return process

    def scheduler(self) -> Forked:
        """Start a scheduler and wait until it logs that it is ready."""
        before = self.text().count("scheduler_ready")
        process = self.start("scheduler")
        wait_until(lambda: self.text().count("scheduler_ready") > before, 90, "scheduler ready")
        return process

    def text(self) -> str:
        """The output of the processes so far."""
        return self.log.read_text("utf-8", errors="replace") if self.log.exists() else ""

    def stop(self) -> None:
        """Kill the processes that still run."""
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture
def fleet(settings: Settings, tmp_path: Path) -> Iterator[Fleet]:
    """Starts processes; those that still run at the end of the test are killed."""
    running = Fleet(settings, tmp_path / "fleet.log")
    yield running
    running.stop()


@pytest.fixture
def published(settings: Settings, engine: sa.Engine) -> Iterator[Store]:
    """A store that publishes through a real broker, as the gateway does."""
    broker = WokenBroker(settings)
    yield Store(engine, broker.publish)
    broker.client.close()


TRIAL = {
    "source_type": "clinicaltrials",
    "title": "Example registry record of a ctDNA-guided trial in colon cancer",
    "text": (
        "## Design\n\nThis made-up record describes a randomized trial of ctDNA-guided adjuvant "
        "chemotherapy in stage II colon cancer. It enrolled 455 patients in 23 centres.\n\n"
        "## Endpoints\n\nThe primary endpoint of the ctDNA-guided trial was recurrence-free "
        "survival at 2 years in colon cancer.\n\n"
        "## Results\n\nIn stage II colon cancer, adjuvant chemotherapy was given to 15% of the "
        "ctDNA-guided patients and to 28% of the others.\n"
    ),
    "source_key": "test-trial",
    "url": "https://example.org/trials/1",
    "published_at": "2022-06-04T00:00:00Z",
}
"""A made-up record for tests, without real trials or figures."""

TRIAL_QUESTION = "What is the primary endpoint of the ctDNA-guided trial in stage II colon cancer?"


def until_somebody_waits(store: Store) -> None:
    """Return once a transaction waits for a lock of another transaction."""
    waiting = sa.text(
        "SELECT EXISTS (SELECT FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock')"
    )
    for _ in range(3000):
        with store.reading() as session:
            if session.execute(waiting).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")
