"""One command starts all of `attest up`, and one signal stops all."""

import json
import os
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from cli.commands.demo import free_port
from store.embedded import read_connection
from tests.e2e.instances import ask, attest, launched, printing, read_until, start
from tests.servers import TRIAL, wait_until


@pytest.mark.parametrize("kind", ["file", "folder", "nowhere"])
def test_what_cannot_be_a_data_directory_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    place, thesis = tmp_path / "place", tmp_path / "place" / "thesis.tex"
    if kind == "file":
        place.write_text("words")
    elif kind == "folder":
        place.mkdir()
        thesis.write_text("words")
    else:
        place = Path("/proc/nowhere")
    done = attest("up", f"--data-dir={place}", f"--port={free_port()}")
    assert done.returncode == 1
    assert "--data-dir" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2
    if kind == "folder":
        assert list(place.iterdir()) == [thesis]


def test_ipv6_is_served_like_any_loopback_address(tmp_path: Path) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no ::1")
    running = launched(tmp_path / "data", "--host=::1")
    try:
        url = f"http://[::1]:{running.port}"
        wait_until(lambda: f"Attest answers at {url} " in running.text(), 90, "it is ready")
        assert "No keys are asked for on ::1" in running.text()
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert ask(running)["answer"]["abstain_reason"] == "no_evidence"
        other = attest("up", f"--data-dir={tmp_path / 'b'}", "--host=::1", f"--port={running.port}")
        assert other.returncode == 1
        assert "--port" in other.stderr
        assert not (tmp_path / "b").exists()
    finally:
        assert running.stop() == 0


def test_a_host_that_is_not_of_this_machine_is_refused_in_one_line(tmp_path: Path) -> None:
    for host in ("192.0.2.1", "2001:db8::1", "no-such-host.invalid"):
        done = attest("up", f"--data-dir={tmp_path / 'other'}", f"--host={host}")
        assert done.returncode == 1
        assert f"{host} is no address of this machine" in done.stderr.splitlines()[-1]
        assert "--host" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "other").exists()


@pytest.mark.requirement("OP-3.3")
def test_op_3_3_beyond_loopback_nobody_is_let_in_before_there_is_a_key(tmp_path: Path) -> None:
    """The gateway waits for the first key, which can be made meanwhile, and then asks for it."""
    running = launched(tmp_path / "data", "--host=0.0.0.0")
    try:
        wait_until(lambda: "attest keys create" in running.text(), 90, "it says what is missing")
        wait_until(lambda: read_connection(running.data_dir) is not None, 90, "it can be found")
        made = running.attest("keys", "create", "--name=first", "--scopes=read", "--json")
        assert made.returncode == 0, made.stderr
        running.wait_ready()
        path = f"{running.url}/v1/questions"
        assert httpx.get(path).status_code == 401
        secret = json.loads(made.stdout)["key"]
        assert httpx.get(path, headers={"Authorization": f"Bearer {secret}"}).status_code == 200
        assert secret not in running.text()
    finally:
        running.stop()


def test_state_survives_a_restart_and_a_signal_leaves_no_process(tmp_path: Path) -> None:
    first = start(tmp_path / "data")
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps(TRIAL) + "\n", "utf-8")
    assert first.attest("ingest", str(records)).returncode == 0
    question_id = ask(first)["id"]
    family = first.family()
    assert len(family) >= 7
    assert first.stop() == 0
    time.sleep(0.2)
    assert [one for one in family if one.is_running()] == []
    second = start(tmp_path / "data")
    try:
        body = httpx.get(f"{second.url}/v1/questions/{question_id}").json()
        assert body["status"] == "answered"
        assert ask(second)["answer"]["abstained"] is False
    finally:
        second.process.send_signal(signal.SIGINT)
        assert second.process.wait(timeout=60) == 0


def test_a_terminal_that_is_closed_stops_all_in_order(tmp_path: Path) -> None:
    """The kernel says so once; whatever is said afterwards, nobody reads."""
    data, (window, terminal) = tmp_path / "data", os.openpty()
    shell = f'exec "$@" <{os.ttyname(terminal)} >{os.ttyname(terminal)} 2>&1'
    running = printing(data, terminal, shell=shell)
    os.close(terminal)
    try:
        read_until(window, b"answers at")
        os.close(window)
        assert running.process.wait(timeout=60) == 0
    finally:
        running.process.kill()
    assert "database system is shut down" in (data / "log" / "postgres.log").read_text()


def test_a_reader_that_goes_away_ends_no_process(tmp_path: Path) -> None:
    """What is told of a restart reaches nobody: it happens nevertheless, and the end is orderly."""
    data, (reader, writer) = tmp_path / "data", os.pipe()
    running = printing(data, writer)
    os.close(writer)
    try:
        read_until(reader, b"answers at")
        os.close(reader)
        for _ in range(2):  # the second message finds a pipe that is known to be closed
            (victim,) = killed = running.pids("scheduler")
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: bool(running.pids("scheduler") - killed), 20, "it runs again")  # noqa: B023
        assert httpx.get(f"{running.url}/readyz", timeout=10).status_code == 200
        assert running.stop() == 0
    finally:
        running.process.kill()
    assert "database system is shut down" in (data / "log" / "postgres.log").read_text()


def test_the_demonstration_runs_and_shows_what_it_promises() -> None:
    others = {
        "ATTEST_DATABASE_URL": "postgresql://127.0.0.1:1/not-the-demonstrations",
        "ATTEST_REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = attest("demo", "--json", ATTEST_ENCODER="minilm", **others)
    assert done.returncode == 0, done.stderr
    questions = [json.loads(line) for line in done.stdout.splitlines()]
    assert [question["answer"]["query_type"] for question in questions[:3]] == [
        "clinical_trials",
        "guidelines",
        "comparison",
    ]
    assert questions[3]["answer"]["abstain_reason"] == "no_evidence"
