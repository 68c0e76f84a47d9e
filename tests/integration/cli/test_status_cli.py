"""`attest status` over real servers: what is away, and what waits for somebody."""

import json
from typing import Any

import pytest

from messages import Stage
from store import circuits
from store.settings import Settings
from store.unit_of_work import Store
from tests.commands import Attest
from tests.servers import Fleet, wait_until


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
    wait_until(lambda: seen(attest)["scheduler"]["well"], 20, "scheduler heard")
    wait_until(lambda: "embed" not in seen(attest)["workers"]["said"], 20, "worker heard")
    worker.kill()
    worker.wait()
    wait_until(lambda: "embed" in seen(attest)["workers"]["said"], 20, "worker missed")


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


def test_people_read_a_line_for_each_part(attest: Attest) -> None:
    done = attest.process("status")
    assert done.returncode == 1
    assert "✗ scheduler    none runs" in done.stdout
    assert "✓ audit" in done.stdout
    assert done.stdout.rstrip().endswith("need somebody")
