"""A real gateway on loopback over real servers; stages are played by hand, row by row."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import sqlalchemy as sa

from api_gateway.main import GatewayServer, build_server
from messages import Stage
from store.core.database import connect
from store.core.hashes import json_hash
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers, embedded
from store.models import Answer, Document, DocumentVersion, Question, StageRun
from tests.servers import TEMPLATE, create_database, drop_database, url_of
from workers.inline import InlineWorker


@dataclass
class Running:
    """A gateway that serves, a client for it, and the store below it."""

    client: httpx.Client
    store: Store
    settings: Settings
    server: GatewayServer

    @property
    def url(self) -> str:
        return str(self.client.base_url)

    def ask(self, text: str = "Does ctDNA predict recurrence?", **options: Any) -> str:
        """Submit a question; its id."""
        response = self.client.post("/v1/questions", json={"question": text, **options})
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    def count(self, table: str, where: str = "true", **values: Any) -> int:
        with self.store.engine.connect() as connection:
            found = connection.execute(
                sa.text(f"SELECT count(*) FROM {table} WHERE {where}"), values
            )
            return int(found.scalar_one())

    def scalar(self, statement: str, **values: Any) -> Any:
        with self.store.engine.connect() as connection:
            return connection.execute(sa.text(statement), values).scalar_one()

    def execute(self, statement: str, **values: Any) -> None:
        with self.store.engine.begin() as connection:
            connection.execute(sa.text(statement), values)

    def run_stage(self, question_id: str, stage: Stage, *, status: str = "done") -> None:
        """Write what a stage writes when it ends, and wake listeners as it does."""
        moment = datetime.now(UTC)
        with self.store.unit_of_work(f"stage:{stage.value}") as work:
            question = work.session.get_one(Question, UUID(question_id))
            question.status, question.stage = "running", stage.value
            work.session.add(question)
            work.session.add(
                StageRun(
                    stage=stage.value,
                    subject=question_id,
                    input_hash=uuid4().hex,
                    status=status,
                    attempts=1,
                    token=0,
                    worker="test",
                    started_at=moment,
                    finished_at=moment,
                )
            )
            work.notify("question", question_id)

    def answer(self, question_id: str, body: dict[str, Any], *, sealed: bool = True) -> None:
        """Write an answer as verify does and, if `sealed`, as audit does."""
        moment = datetime.now(UTC)
        with self.store.unit_of_work("stage:audit") as work:
            work.session.add(
                Answer(
                    question_id=UUID(question_id),
                    body=body,
                    hash=json_hash(body),
                    sealed_at=moment if sealed else None,
                )
            )
            question = work.session.get_one(Question, UUID(question_id))
            question.status, question.stage, question.finished_at = "answered", "audit", moment
            work.session.add(question)
            work.notify("question", question_id)

    def fail(self, question_id: str, cause: str) -> None:
        """Give a question up, as a stage's `on_dead` does."""
        with self.store.unit_of_work("stage:retrieve") as work:
            question = work.session.get_one(Question, UUID(question_id))
            question.status, question.error = "failed", cause
            question.finished_at = datetime.now(UTC)
            work.session.add(question)
            work.notify("question", question_id)

    def put_document(self, *texts: str, source_type: str = "pubmed", **fields: Any) -> UUID:
        """Store a document whose versions say `texts`, the last one current."""
        moment = fields.pop("fetched_at", datetime.now(UTC))
        checked_at = fields.pop("checked_at", moment)
        document = Document(
            source_type=source_type, source_key=f"test:{uuid4()}", checked_at=checked_at
        )
        with self.store.unit_of_work("stage:ingest") as work:
            work.session.add(document)
            work.session.flush()
            for n, text in enumerate(texts, start=1):
                work.session.add(
                    DocumentVersion(
                        document_id=document.id,
                        n=n,
                        content_hash=json_hash(text),
                        title=fields.get("title", "A title"),
                        text=text,
                        structure={},
                        source_type=source_type,
                        url=None,
                        publisher=None,
                        publication_type=None,
                        evidence_level=None,
                        version_label=None,
                        identifiers={},
                        authors=[],
                        labels=[],
                        published_at=fields.get("published_at"),
                        fetched_at=moment,
                        status="current" if n == len(texts) else "superseded",
                    )
                )
        return document.id


@pytest.fixture(scope="module")
def new_database(servers: EmbeddedServers) -> Iterator[Callable[[], str]]:
    """Makes an empty, migrated database; its URL. It is dropped behind the module's tests."""
    made: list[str] = []

    def make() -> str:
        made.append(f"test_{uuid4().hex}")
        create_database(servers, made[-1], TEMPLATE)
        return url_of(servers, made[-1])

    yield make
    for name in made:
        drop_database(servers, name)


@contextmanager
def serving(settings: Settings) -> Iterator[Running]:
    """Run a gateway in a thread until the block ends."""
    server = build_server(settings)
    thread = threading.Thread(target=server.run, name="gateway")
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive(), "the gateway ended instead of starting"
            assert time.monotonic() < deadline, "the gateway did not start in time"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        store = Store(connect(settings.database_url))
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield Running(client, store, settings, server)
        store.engine.dispose()
    finally:
        server.should_exit = True
        thread.join(30)  # half of what those who wait are willing to
        assert not thread.is_alive(), "the gateway did not stop"


@contextmanager
def working(running: Running) -> Iterator[None]:
    """Do what the gateway promises, in a thread of this process, until the block ends."""
    worker = InlineWorker(running.settings, running.store)
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(0.05):
            running.execute(
                "UPDATE outbox SET status = 'pending', not_before = now() "
                "WHERE status = 'published'"
            )
            worker.run()

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)
        worker.close()


@pytest.fixture(scope="session")
def settings_for(servers: EmbeddedServers, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Settings for a new database; keyword arguments override."""

    def make(database_url: str, **changes: Any) -> Settings:
        given = {
            "data_dir": Path(tmp_path_factory.getbasetemp()),
            "database_url": database_url,
            "redis_url": servers.redis_url,
            "redis_namespace": f"test-{uuid4().hex[:8]}",
            "port": 1,
            **changes,
        }
        # Port 0 lets the kernel choose; the settings of a real gateway do not allow it.
        return Settings(**given).model_copy(update={"port": 0})

    return make


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServers]:
    """Servers of a module's own, that it stops and freezes."""
    with embedded(tmp_path_factory.mktemp("mortal") / "data") as running:
        engine = connect(running.database_url)
        migrate(engine)
        engine.dispose()
        yield running


@pytest.fixture(scope="module")
def gateway(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over a database of this module."""
    with serving(settings_for(new_database())) as running:
        yield running


@pytest.fixture(scope="module")
def locked(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over a database of this module that asks for keys, on loopback too."""
    with serving(settings_for(new_database(), require_keys=True)) as running:
        yield running
