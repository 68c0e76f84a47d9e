"""One command starts all of `attest up`, and one signal stops all."""

import json
import os
import signal
from pathlib import Path

import httpx
import pytest

from cli.commands.demo import free_port
from store.embedded import read_connection
from tests.commands import Attest
from tests.e2e.instances import HASH, attest, printing, read_until
from tests.servers import wait_until


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
    done = Attest(HASH)("up", f"--data-dir={place}", f"--port={free_port()}")
    assert done.returncode == 1
    assert "--data-dir" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2
    if kind == "folder":
        assert list(place.iterdir()) == [thesis]


def test_a_host_that_is_not_of_this_machine_is_refused_in_one_line(tmp_path: Path) -> None:
    for host in ("192.0.2.1", "2001:db8::1", "no-such-host.invalid"):
        done = Attest(HASH)("up", f"--data-dir={tmp_path / 'other'}", f"--host={host}")
        assert done.returncode == 1
        assert f"{host} is no address of this machine" in done.stderr.splitlines()[-1]
        assert "--host" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "other").exists()


@pytest.mark.requirement("OP-3.3")
def test_op_3_3_beyond_loopback_nobody_is_let_in_before_there_is_a_key_and_no_reader_is_needed(
    tmp_path: Path,
) -> None:
    """The gateway waits for the first key, which can be made meanwhile, and then asks for it.

    Whoever read what it says goes away then: what is told of a restart reaches nobody, it happens
    nevertheless, and the end is orderly.
    """
    data, (reader, writer) = tmp_path / "data", os.pipe()
    running = printing(data, writer, "--host=0.0.0.0")
    os.close(writer)
    try:
        said = read_until(reader, b"attest keys create")
        wait_until(lambda: read_connection(data) is not None, 90, "it can be found")
        made = running.attest("keys", "create", "--name=first", "--scopes=read", "--json")
        assert made.returncode == 0, made.stderr
        said += read_until(reader, b"answers at")
        path = f"{running.url}/v1/questions"
        assert httpx.get(path).status_code == 401
        secret = json.loads(made.stdout)["key"]
        assert httpx.get(path, headers={"Authorization": f"Bearer {secret}"}).status_code == 200
        assert secret not in said + running.text()
        os.close(reader)
        for _ in range(2):  # the second message finds a pipe that is known to be closed
            killed = running.pids("scheduler")
            (victim,) = killed
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: bool(running.pids("scheduler") - killed), 60, "it runs again")  # noqa: B023
        assert httpx.get(f"{running.url}/readyz", timeout=30).status_code == 200
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
