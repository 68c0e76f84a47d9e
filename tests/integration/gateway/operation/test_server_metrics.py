"""What a scrape says of Redis, the disk, workers and scheduler: as much as `attest status`, and the
truth while a server is away or says nothing."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from messages import Stage
from scheduler.main import build_scheduler
from store.core.settings import Settings
from store.embedded import EmbeddedServers
from tests.integration.gateway.conftest import Running, serving
from tests.servers import Fleet, wait_until
from workers.runtime import liveness
from workers.runtime.broker import WokenBroker


@pytest.fixture
def watched(mortal: EmbeddedServers, tmp_path: Path) -> Iterator[Running]:
    """A gateway over them, with a Redis namespace of its own."""
    settings = Settings(
        data_dir=tmp_path,
        database_url=mortal.database_url,
        redis_url=mortal.redis_url,
        redis_namespace=tmp_path.name,
        encoder="hash",
        log_format="console",
    )
    with serving(settings.model_copy(update={"port": 0})) as running:
        yield running


def scrape(running: Running) -> dict[str, float]:
    """Every sample, by its name and labels; Prometheus waits for ten seconds if nothing is set."""
    lines = running.client.get("/metrics", timeout=10).raise_for_status().text.splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_a_redis_that_is_away_is_a_gauge_though_nobody_asks_anything(
    watched: Running, mortal: EmbeddedServers
) -> None:
    found = scrape(watched)
    assert (found["attest_redis_up"], found["attest_redis_writable"]) == (1, 1)
    mortal.redis.kill()
    try:
        found = scrape(watched)
        assert (found["attest_redis_up"], found["attest_database_up"]) == (0, 1)
        assert not [name for name in found if name.startswith("attest_workers")], "nobody can tell"
        assert "attest_scheduler_up" not in found
    finally:
        mortal.redis.start()
    assert scrape(watched)["attest_redis_up"] == 1


def test_a_redis_that_says_nothing_does_not_hold_the_scrape(
    watched: Running, mortal: EmbeddedServers
) -> None:
    pid = mortal.redis.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        assert scrape(watched)["attest_redis_up"] == 0
    finally:
        os.kill(pid, signal.SIGCONT)
    assert scrape(watched)["attest_redis_up"] == 1


def test_a_redis_that_is_full_or_forgets_is_up_and_not_well(
    watched: Running, mortal: EmbeddedServers
) -> None:
    with redis.Redis.from_url(mortal.redis_url) as client:
        for setting, value, usual in (
            ("maxmemory", "1", "0"),
            ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ):
            client.config_set(setting, value)
            try:
                found = scrape(watched)
            finally:
                client.config_set(setting, usual)
            assert found["attest_redis_up"] == 1
            assert found["attest_redis_writable"] == float(setting != "maxmemory")
            if setting != "maxmemory":
                assert found["attest_redis_evicts"] == 1
    assert scrape(watched)["attest_redis_evicts"] == 0


def test_a_stage_without_a_living_worker_is_zero(watched: Running, tmp_path: Path) -> None:
    fleet = Fleet(watched.settings.model_copy(update={"port": 8321}), tmp_path / "fleet.log")

    def many(stage: Stage) -> float:
        return scrape(watched)[f'attest_workers{{stage="{stage.value}"}}']

    assert {many(stage) for stage in Stage} == {0}
    try:
        worker = fleet.worker(Stage.EMBED)
        wait_until(lambda: many(Stage.EMBED) == 1, 60, "the worker is counted")
        assert many(Stage.RETRIEVE) == 0
        worker.kill()
        worker.wait()
        wait_until(lambda: many(Stage.EMBED) == 0, 60, "the dead worker is missed")
    finally:
        fleet.stop()


def test_a_scheduler_is_up_while_it_says_so_and_its_last_word_is_told(watched: Running) -> None:
    found = scrape(watched)
    assert found["attest_scheduler_up"] == 0
    assert "attest_scheduler_last_beat_timestamp_seconds" not in found, "there never was one"
    broker = WokenBroker(watched.settings)
    scheduler = build_scheduler(watched.settings, watched.store, broker)
    scheduler.start()
    try:
        wait_until(lambda: scrape(watched)["attest_scheduler_up"] == 1, 60, "heard")
        said = scrape(watched)["attest_scheduler_last_beat_timestamp_seconds"]
        assert abs(time.time() - said) < liveness.HEARD_SECONDS
    finally:
        scheduler.shutdown(wait=True)
    with redis.Redis.from_url(str(watched.settings.redis_url)) as client:
        left = liveness.KEPT_SECONDS - liveness.HEARD_SECONDS - 5
        assert client.expire(f"{watched.settings.redis_namespace}:scheduler:said", left)
        found = scrape(watched)
        assert found["attest_scheduler_up"] == 0
        assert 15 < time.time() - found["attest_scheduler_last_beat_timestamp_seconds"] < 60
    broker.close()


def test_the_disk_of_the_data_directory_is_told_and_no_directory_is_no_fault(
    watched: Running, tmp_path: Path, mortal: EmbeddedServers
) -> None:
    found, real = scrape(watched), shutil.disk_usage(tmp_path)
    assert found["attest_disk_size_bytes"] == real.total
    assert abs(found["attest_disk_free_bytes"] - real.free) < 2**30
    gone = watched.settings.model_copy(update={"data_dir": tmp_path / "nowhere", "port": 0})
    with serving(gone) as running:
        assert "attest_disk_free_bytes" not in scrape(running)


def test_a_database_that_is_away_hides_neither_redis_nor_the_disk(
    watched: Running, mortal: EmbeddedServers
) -> None:
    mortal.postgres.stop()
    try:
        found = scrape(watched)
    finally:
        mortal.postgres.start()
    assert (found["attest_database_up"], found["attest_redis_up"]) == (0, 1)
    assert found["attest_scheduler_up"] == 0
    assert found["attest_disk_free_bytes"] > 0
