"""`attest status` over real servers: what is away, and what waits for somebody."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
import sqlalchemy as sa

from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers, embedded
from store.pipeline import circuits
from tests.commands import Attest
from tests.servers import TRIAL_QUESTION, Fleet, ask, wait_until


@pytest.fixture
def attest(settings: Settings) -> Attest:
    """Commands on the test's instance, which has no gateway."""
    return Attest.on(settings, ATTEST_PORT="1")


def seen(attest: Attest, **changed: str) -> dict[str, dict[str, Any]]:
    """The parts by their names; none of these instances is whole."""
    done = attest("status", "--json", **changed)
    found = json.loads(done.stdout)
    assert (done.returncode, found["well"]) == (1, False)
    return {one["name"]: one for one in found["checks"]}


def with_a_gateway(data_dir: Path) -> None:
    """Let commands find the servers there, as `attest up` does; nobody answers as a gateway."""
    file = data_dir / "connection.json"
    connection = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**connection, "gateway_url": "http://127.0.0.1:1"}), "utf-8")


def test_nothing_runs_and_each_missing_part_says_how_to_start_it(attest: Attest) -> None:
    found = seen(attest)
    assert {name for name, one in found.items() if not one["well"]} == {
        *("gateway", "workers", "scheduler")
    }
    assert "no gateway answers" in found["gateway"]["said"]
    assert "attest worker --stage refresh" in found["workers"]["do"]
    assert "attest scheduler" in found["scheduler"]["do"]


def test_workers_and_a_scheduler_that_run_are_seen_and_one_that_died_is_missed(
    attest: Attest, fleet: Fleet
) -> None:
    worker = fleet.worker(Stage.EMBED)
    fleet.scheduler()
    wait_until(lambda: seen(attest)["scheduler"]["well"], 60, "scheduler heard")
    wait_until(lambda: "embed" not in seen(attest)["workers"]["said"], 60, "worker heard")
    worker.kill()
    worker.wait()
    wait_until(lambda: "embed" in seen(attest)["workers"]["said"], 60, "worker missed")


def test_a_paused_stage_is_told_with_its_reason(attest: Attest, store: Store) -> None:
    with store.unit_of_work("test") as work:
        circuits.pause(work, "embed", "the index moves")
    found = seen(attest)["stages"]
    assert "embed: paused (the index moves)" in found["said"]
    assert "attest stages resume embed" in found["do"]


@pytest.mark.parametrize(
    ("variable", "url", "part", "missing"),
    [
        ("ATTEST_DATABASE_URL", "postgresql://a:hidden@127.0.0.1:1/x", "postgresql", "queues"),
        ("ATTEST_REDIS_URL", "redis://:hidden@127.0.0.1:1/0", "redis", "workers"),
    ],
)
def test_a_server_that_is_away_is_told_without_its_password_and_hides_nothing_else(
    attest: Attest, variable: str, url: str, part: str, missing: str
) -> None:
    found = seen(attest, **{variable: url})
    assert not found[part]["well"]
    assert missing not in found
    assert "hidden" not in json.dumps(found)
    assert ("postgresql" if part == "redis" else "redis") in found


def test_a_clock_that_was_set_back_is_told_while_what_was_promised_waits_for_it(
    attest: Attest, store: Store
) -> None:
    """The question is not due before then, and its age is less than nothing: no limit sees it."""
    assert seen(attest)["clock"]["well"]
    ask(store, TRIAL_QUESTION)
    with store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
        for table, column in (
            ("audit_event", "at"),
            ("outbox", "not_before"),
            ("question", "created_at"),
        ):
            later = f"UPDATE {table} SET {column} = {column} + interval '1 hour'"
            connection.execute(sa.text(later))
        connection.execute(sa.text("ALTER TABLE audit_event ENABLE TRIGGER ALL"))
    found = seen(attest)
    assert not found["clock"]["well"]
    assert "min later before" in found["clock"]["said"]
    assert "-" not in found["questions"]["said"]


def test_a_server_of_its_own_is_looked_for_in_its_log_and_not_started_again(
    tmp_path: Path,
) -> None:
    """`attest up` runs there already and restarts it; a second one would be refused."""
    with embedded(tmp_path / "data") as servers:
        with_a_gateway(tmp_path / "data")
        servers.redis.stop()
        servers.postgres.stop()
        none = {"ATTEST_DATABASE_URL": "", "ATTEST_REDIS_URL": ""}
        done = Attest(none)("--data-dir", str(tmp_path / "data"), "status", "--json")
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    for part, log in (("postgresql", "postgres.log"), ("redis", "redis.log")):
        assert str(tmp_path / "data" / "log" / log) in found[part]["do"]
        assert "ATTEST_" not in found[part]["do"]


@pytest.mark.parametrize("whole", [True, False], ids=["the folder", "its files"])
def test_servers_whose_sockets_were_removed_are_not_said_to_be_started_again(
    tmp_path: Path, whole: bool
) -> None:
    """They run, so `attest up` sees nothing to mend: stopping and starting it does."""
    data_dir = tmp_path / "data"
    with embedded(data_dir) as servers:
        with_a_gateway(data_dir)
        folder = servers.postgres.data.runtime_dir
        if whole:
            shutil.rmtree(folder)
        else:
            for one in folder.iterdir():
                one.unlink()
        none = {"ATTEST_DATABASE_URL": "", "ATTEST_REDIS_URL": ""}
        done = Attest(none)("--data-dir", str(data_dir), "status", "--json")
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    for part in ("postgresql", "redis"):
        assert str(folder) in found[part]["do"]
        assert "stop attest up with Ctrl-C and start it again" in found[part]["do"]
        assert "starts it again" not in found[part]["do"]
    with embedded(data_dir):  # what it says is true
        pass


def test_a_scheduler_of_the_release_before_is_heard_while_an_upgrade_goes_on(
    attest: Attest, settings: Settings
) -> None:
    assert not seen(attest)["scheduler"]["well"]
    with redis.Redis.from_url(str(settings.redis_url)) as client:
        client.set(f"{settings.redis_namespace}:scheduler", "alive", ex=15)
    assert seen(attest)["scheduler"]["well"]


def test_a_database_that_hangs_is_told_and_holds_the_rest_up_for_seconds(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        with_a_gateway(tmp_path / "data")
        pid = servers.postgres.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            none = {"ATTEST_DATABASE_URL": "", "ATTEST_REDIS_URL": ""}
            done = Attest(none)("--data-dir", str(tmp_path / "data"), "status", "--json")
        finally:
            os.kill(pid, signal.SIGCONT)
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert "hangs" in found["postgresql"]["said"]
    assert "restart it" in found["postgresql"]["do"]
    assert found["redis"]["well"]


def test_a_database_that_refuses_is_told_as_one_that_is_away(
    attest: Attest, servers: EmbeddedServers, settings: Settings
) -> None:
    with psycopg.connect(servers.conninfo, autocommit=True) as connection:
        connection.execute("CREATE ROLE reads_nothing LOGIN")
    try:
        url = sa.make_url(settings.database_url).set(username="reads_nothing")
        found = seen(attest, ATTEST_DATABASE_URL=url.render_as_string(False))
    finally:
        with psycopg.connect(servers.conninfo, autocommit=True) as connection:
            connection.execute("DROP ROLE reads_nothing")
    assert "may not do this" in found["postgresql"]["said"]
    assert "grant it" in found["postgresql"]["do"]


@pytest.mark.parametrize(
    ("setting", "value", "usual", "says"),
    [
        ("maxmemory", "1", "0", "Redis is full"),
        ("maxmemory-policy", "allkeys-lru", "noeviction", "drops messages (allkeys-lru)"),
    ],
)
def test_a_redis_that_answers_and_keeps_nothing_is_not_well(
    attest: Attest, servers: EmbeddedServers, setting: str, value: str, usual: str, says: str
) -> None:
    """Else only the scheduler was missed, which cannot say there that it lives."""
    with redis.Redis.from_url(servers.redis_url) as client:
        client.config_set(setting, value)
        try:
            found = seen(attest)["redis"]
        finally:
            client.config_set(setting, usual)
    assert not found["well"]
    assert says in found["said"]


def test_people_read_a_line_for_each_part(attest: Attest) -> None:
    done = attest.process("status")
    assert done.returncode == 1
    assert "✗ scheduler    none runs" in done.stdout
    assert "✓ audit" in done.stdout
    assert done.stdout.rstrip().endswith("need somebody")
