"""What the runtime's tests share: a database for a whole file, and the stages under test."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers
from tests import servers as fixtures
from tests.integration.runtime.harness import Runtime
from workers.runtime.stage import StageSpec


@pytest.fixture(scope="module")
def shared_store(servers: EmbeddedServers) -> Iterator[Store]:
    """A store on one database for all tests of a file that leave nothing behind."""
    name = f"test_{uuid4().hex[:12]}"
    fixtures.create_database(servers, name, fixtures.TEMPLATE)
    engine = connect(fixtures.url_of(servers, name))
    yield Store(engine, lambda promises: None)
    engine.dispose()
    fixtures.drop_database(servers, name)


@pytest.fixture
def runtime(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Runtime]]:
    """Starts workers in this process, over the real broker; stops them at the end."""
    # dramatiq's own waits after a lost connection, 3 and 5 s, are constants of its module.
    monkeypatch.setattr("dramatiq.worker.CONSUMER_RESTART_DELAY_SECS", 0.2)
    monkeypatch.setattr("dramatiq.worker.POST_PROCESS_MESSAGE_RETRY_DELAY_SECS", 0.2)
    started: list[Runtime] = []

    def start(*specs: StageSpec, threads: int = 2, **options: object) -> Runtime:  # type: ignore[type-arg]
        running = Runtime(settings, specs, threads, **options)  # type: ignore[arg-type]
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()
