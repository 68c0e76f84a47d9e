"""The hosts: their pure parts, that cables can be cut, and, with the storms, what survives."""

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict

from tests import standby
from tests.chaos.hosts.network import (
    SUBNET,
    SWITCH,
    NoHosts,
    Plan,
    dead_runs,
    inside,
    network,
    run,
    why_not,
)
from tests.chaos.hosts.scaling import Row, Sample, cores_between, rate_of, roles, table
from tests.chaos.hosts.scenes import (
    CALM,
    CUT,
    DATABASE,
    LASTING,
    Scene,
    longest_pause,
    play,
    script,
)
from tests.chaos.hosts.servers import BROKER, DATA, NOTICED, STANDBY, Servers, url_of
from tests.chaos.hosts.system import GATEWAY, HOSTS, ROLES, WORKERS
from tests.servers import wait_until

REASON = why_not()
hosts = pytest.mark.skipif(REASON is not None, reason=f"no hosts here: {REASON}")
storms = pytest.mark.skipif(
    "ATTEST_TEST_STORMS" not in os.environ,
    reason="takes minutes: `make hosts` does it, or set ATTEST_TEST_STORMS=1",
)
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return MOMENT + timedelta(seconds=seconds)


def test_9_5_every_host_has_a_private_address_and_one_cable_to_a_switch_without_a_way_out() -> None:
    plan = Plan(7, HOSTS)
    addresses = [plan.address(host) for host in HOSTS]
    assert len(set(addresses)) == len(HOSTS)
    assert all(address.startswith(f"{SUBNET}.") for address in addresses)
    cables = [command for command in plan.build() if "veth" in command]
    assert len(cables) == len(HOSTS)
    for command in plan.build():
        # Nothing is made in the machine's own namespace: each is in one of the run's.
        assert any(word.startswith("attest-hosts-7-") for word in command), command
    addressed = {command[2] for command in plan.build() if "addr" in command}
    assert addressed == {plan.namespace(host) for host in HOSTS}, "the switch has none"
    assert not [command for command in plan.build() if "route" in command]


def test_9_5_a_cut_is_healed_by_its_opposite_and_touches_these_two_only() -> None:
    plan = Plan(7, HOSTS)
    cut, heal = plan.cut("workers-a", DATA), plan.heal("workers-a", DATA)
    places = {(command[2], command[5]) for command in cut}
    assert places == {(command[2], command[5]) for command in heal}
    assert places == {
        (plan.namespace("workers-a"), plan.address(DATA)),
        (plan.namespace(DATA), plan.address("workers-a")),
    }


def test_9_5_leftovers_are_those_of_our_dead_runs_and_of_nobody_else() -> None:
    names = ["attest-hosts-1-data", "attest-hosts-2-workers-a", "other", "attest-hosts-x-data"]
    assert dead_runs(names, lambda pid: pid == 2) == ["attest-hosts-1-data"]


def test_9_5_data_workers_and_gateway_are_on_hosts_of_their_own_and_both_have_a_scheduler() -> None:
    at = {name: role.host for name, role in ROLES.items()}
    assert at["gateway"] == GATEWAY
    assert {host for name, host in at.items() if name.startswith("scheduler")} == set(WORKERS)
    assert {host for name, host in at.items() if name.startswith("worker")} == set(WORKERS)
    assert {DATA, STANDBY, BROKER}.isdisjoint(at.values())


def test_9_5_a_seed_draws_the_same_scenes_again_and_every_scene_is_among_them() -> None:
    assert script(5) == script(5)
    drawn = [script(seed) for seed in range(20)]
    assert {scene.host for scenes in drawn for scene in scenes} == {*WORKERS, DATA}
    assert len({tuple(scene.what for scene in scenes) for scenes in drawn}) > 5
    for scenes in drawn:
        assert scenes[0].what == CALM
        assert (scenes[-1].what, scenes[-1].host) == (DATABASE, DATA), "it does not come back"
        assert {scene.what for scene in scenes} == set(LASTING)
        for scene in scenes:
            shortest, longest = LASTING[scene.what]
            assert shortest <= scene.seconds <= longest


def test_9_5_a_pause_reaches_from_the_begin_or_to_the_end_too() -> None:
    moments = [after(-5), after(4), after(1), after(30)]
    assert longest_pause(MOMENT, after(10), moments) == 6
    assert longest_pause(MOMENT, after(10), []) == 10
    assert longest_pause(MOMENT, after(10), [after(7), after(9)]) == 7


def test_9_5_the_rate_leaves_out_how_it_begins_and_ends() -> None:
    steady = [after(100 + n / 5) for n in range(80)]
    rate, begin, end = rate_of([*[after(n) for n in range(8)], *steady, *[after(900)] * 8])
    assert rate == pytest.approx(5, rel=0.05)
    assert after(100) <= begin < end < after(120)
    with pytest.raises(ValueError, match="too few"):
        rate_of([MOMENT] * 9)


def test_9_5_cores_are_counted_between_the_moments_of_the_rate() -> None:
    samples = [Sample(after(n), 10.0 + n, 5.0 + n / 2, 2.0 * n) for n in range(10)]
    used = cores_between([Sample(after(-9), 0, 0, 0), *samples], MOMENT, after(8))
    assert (used.workers, used.servers, used.machine) == (1.0, 0.5, 2.0)
    with pytest.raises(ValueError, match="twice"):
        cores_between(samples, after(0.5), after(1.5))


def test_9_5_workers_are_spread_over_both_hosts_and_the_table_has_a_line_for_each() -> None:
    placed = [role.host for role in roles(4).values()]
    assert [placed.count(host) for host in WORKERS] == [2, 2]
    lines = list(table([Row("questions", n, 10.0 * n, 0.5 * n, 0.5, 2.0, 1.0) for n in (1, 2)]))
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2] == "| questions | 1 | 10.0 | 0.5 | 0.5 | 2.0 | 10.0 | 1.0 |"
    assert "| 20.0 | 1.0 | 0.5 | 2.0 | 13.3 |" in lines[3]


@pytest.mark.parametrize("plain", [False, True])
def test_9_5_the_url_names_both_servers_and_asks_to_notice_hosts_that_are_gone(
    plain: bool,
) -> None:
    """As SQLAlchemy reads it, and as libpq does for the gateway's listener."""
    given = url_of(("10.0.0.1", "10.0.0.2"), "a/b", NOTICED)
    if plain:
        read: Mapping[str, Any] = conninfo_to_dict(given.replace("+psycopg", "", 1))
    else:
        read = sa.create_engine(given).dialect.create_connect_args(sa.make_url(given))[1]
    assert (read["host"], read["port"]) == ("10.0.0.1,10.0.0.2", "5432,5432")
    assert (read["password"], read["target_session_attrs"]) == ("a/b", "read-write")
    assert read["options"] == " ".join(f"-c {name}={value}" for name, value in NOTICED.items())
    assert "options" not in sa.make_url(url_of(("10.0.0.1",), "x", {})).query


def reachable(plan: Plan, one: str, other: str) -> bool:
    with inside(plan.namespace(one)), socket.socket() as probe:
        probe.settimeout(0.4)
        return probe.connect_ex((plan.address(other), 9)) == 0


@hosts
def test_9_5_hosts_reach_each_other_until_they_are_cut_or_unplugged() -> None:
    with network(("one", "two", "three")) as plan:
        with inside(plan.namespace("two")):
            listener = socket.create_server((plan.address("two"), 9))
        with listener:
            wait_until(lambda: reachable(plan, "one", "two"), what="two is reached")
            run(plan.cut("one", "two"))
            assert not reachable(plan, "one", "two")
            wait_until(lambda: reachable(plan, "three", "two"), what="two is reached by three")
            run(plan.heal("one", "two"))
            wait_until(lambda: reachable(plan, "one", "two"), what="two is reached anew")
            run(plan.plug("three", "down"))
            assert not reachable(plan, "three", "two")
            wait_until(lambda: reachable(plan, "one", "two"), what="two is reached by one alone")
            addresses = [one.address for every in psutil.net_if_addrs().values() for one in every]
            assert not [one for one in addresses if one.startswith(SUBNET)], "the machine has one"


@hosts
def test_9_5_a_run_leaves_no_namespace_and_takes_away_what_a_dead_one_left() -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = f"attest-hosts-{dead.pid}-data"
    subprocess.run(["ip", "netns", "add", left], check=True)
    with inside(left):
        sleeper = subprocess.Popen(["sleep", "600"])
    plan = Plan(os.getpid(), ("one",))
    mine = [Path("/run/netns", plan.namespace(name)) for name in ("one", SWITCH)]

    def end_early() -> None:
        with network(plan.hosts):
            assert all(one.exists() for one in mine)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        end_early()
    assert sleeper.wait(60) != 0
    assert not Path("/run/netns", left).exists()
    assert not any(one.exists() for one in mine)


def test_9_5_who_may_not_make_hosts_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NoHosts, match="root"), network(("one",)):
        pytest.fail("it began all the same")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert why_not() == "there is no `ip` (iproute2)"


@storms
@hosts
@pytest.mark.timeout(600)
def test_9_5_the_system_survives_what_its_hosts_do() -> None:
    outcome = play(random.SystemRandom().randrange(10**6))
    assert outcome.found == [], outcome
    assert all(seen.accepted > 0 for seen in outcome.scenes)


@storms
@hosts
@pytest.mark.timeout(600)
def test_9_5_without_the_token_check_a_cut_host_makes_it_red() -> None:
    outcome = play(1, [Scene(CUT, WORKERS[1], 10.0)], ["no token check"])
    assert f"{CUT}: no seal was refused for a lease that was lost" in outcome.found, outcome
    assert not [one for one in outcome.found if "nothing to seal" in one], "it came about"


@storms
@hosts
@pytest.mark.timeout(600)
def test_9_5_a_standby_that_no_commit_waits_for_makes_it_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Servers.stand_by

    def behind(servers: Servers) -> None:
        made(servers)
        run(servers.plan.cut(DATA, STANDBY))

    monkeypatch.setattr(standby, "require", lambda primary: None)
    monkeypatch.setattr(Servers, "stand_by", behind)
    outcome = play(1, [Scene(DATABASE, DATA, 4.0)])
    assert any("an accepted question is lost" in one for one in outcome.found), outcome
