"""Worlds to break: a fleet of real processes, and servers that a test may kill."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers, embedded
from tests.chaos.hold import Hold
from tests.integration.runtime.harness import Runtime
from tests.servers import TEMPLATE, Fleet, create_database, make_template, url_of
from workers.runtime.broker import WokenBroker
from workers.runtime.stage import StageSpec


@dataclass
class World:
    """Servers of its own, one database on them, and the processes that use it."""

    servers: EmbeddedServers
    settings: Settings
    store: Store
    fleet: Fleet


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServers]:
    """Servers that tests may kill and must start again."""
    with embedded(tmp_path_factory.mktemp("mortal") / "data") as running:
        make_template(running)
        yield running


@pytest.fixture
def world(mortal: EmbeddedServers, tmp_path: Path) -> Iterator[World]:
    """A fresh database on servers that the test may kill."""
    name = f"test_{uuid4().hex[:12]}"
    create_database(mortal, name, TEMPLATE)
    url = url_of(mortal, name)
    settings = Settings(
        data_dir=tmp_path / "data",
        database_url=url,
        redis_url=mortal.redis_url,
        redis_namespace=name,
        encoder="hash",
        lease_seconds=2.5,
        relay_seconds=0.1,
        lost_after_seconds=0.5,
        idle_wait_ms=100,
        shutdown_seconds=3.0,
        log_format="console",
    )
    engine = connect(url)
    broker = WokenBroker(settings)
    fleet = Fleet(settings, tmp_path / "fleet.log")
    yield World(mortal, settings, Store(engine, broker.publish), fleet)
    fleet.stop()
    broker.close()
    engine.dispose()


@pytest.fixture
def hold(engine: sa.Engine) -> Iterator[Hold]:
    """Holds stages of the fleet's database."""
    with Hold(engine) as holding:
        yield holding


@pytest.fixture
def runtime(settings: Settings) -> Iterator[Callable[..., Runtime]]:
    """Starts workers in this process; stops them at the end."""
    started: list[Runtime] = []

    def start(*specs: StageSpec, threads: int = 2, **options: object) -> Runtime:  # type: ignore[type-arg]
        running = Runtime(settings, specs, threads, **options)  # type: ignore[arg-type]
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()
