"""`attest up` as an operator runs it: one instance, asked and broken."""

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from cli.commands.demo import free_port
from tests.e2e.instances import Up, ask, attest, printing, read_until, start
from tests.servers import TRIAL, TRIAL_QUESTION, wait_until


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """An instance with one ingested record."""
    folder = tmp_path_factory.mktemp("up")
    running = start(folder / "data")
    records = folder / "records.jsonl"
    records.write_text(json.dumps(TRIAL) + "\n", "utf-8")
    done = running.attest("ingest", str(records), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["indexed"] == 1
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.mark.requirement("DC-3")
def test_dc_3_a_question_on_the_command_line_comes_back_answered_and_cited(up: Up) -> None:
    done = up.attest_process("ask", TRIAL_QUESTION, "--json")
    assert done.returncode == 0, done.stderr
    question = json.loads(done.stdout)
    assert question["status"] == "answered"
    assert question["answer"]["claims"][0]["citations"][0]["quote"] in TRIAL["text"]
    assert set(question["answer"]["provenance"]["stage_timings_ms"]) == {
        "retrieve",
        "generate",
        "verify",
        "audit",
    }


def test_people_see_the_answer_with_its_citation_and_both_clocks(up: Up) -> None:
    done = up.attest_process("ask", TRIAL_QUESTION)
    assert done.returncode == 0
    assert "recurrence-free survival" in done.stdout
    assert "chunk_" in done.stdout
    assert "published 2022-06-04" in done.stdout
    assert "fresh (SLA 7 d)" in " ".join(done.stdout.split())


def test_search_audit_and_dead_letters_answer_programs(up: Up) -> None:
    found = json.loads(up.attest("search", "primary endpoint", "--k", "1", "--json").stdout)
    assert found[0]["text"] in TRIAL["text"]
    ask(up)
    events = json.loads(up.attest("audit", "query", "--event=answer.sealed", "--json").stdout)
    assert events[0]["actor"] == "stage:audit"
    report = json.loads(up.attest("audit", "verify", "--json").stdout)
    assert report["whole"] is True
    assert json.loads(up.attest("dead-letters", "list", "--json").stdout) == []


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("paper.pdf", b"PK\x03\x04 a zip in disguise", "PDF"),
        ("empty.txt", b"", "empty"),
        ("nul.txt", b"a\x00b", "NUL"),
        ("latin.txt", b"caf\xe9", "UTF-8"),
        ("record.json", b'{"title": "t", "text": "x", "colour": "red"}', "colour"),
    ],
)
def test_an_unreadable_file_is_one_line_and_nothing_stays_stuck(
    up: Up, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    done = up.attest("ingest", str(path), "--json")
    assert done.returncode == 1
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert json.loads(done.stdout)["failed"][0]["file"] == name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ask", " "], "question"),
        (["ask", "x" * 5000], "question"),
        (["ingest", "/no/such/file"], "does not exist"),
        (["ingest", ".", "--source-type=rumour"], "source type"),
        (["dead-letters", "show", "00000000-0000-0000-0000-000000000000"], "no dead letter"),
    ],
)
def test_a_mistake_is_answered_in_one_line(up: Up, arguments: list[str], says: str) -> None:
    done = up.attest(*arguments)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_second_instance_on_the_same_directory_is_refused_by_name(up: Up) -> None:
    done = attest("up", f"--data-dir={up.data_dir}", f"--port={free_port()}")
    assert done.returncode == 1
    assert str(up.process.pid) in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2  # the first says who may ask


def test_a_port_in_use_is_refused_before_anything_starts(up: Up, tmp_path: Path) -> None:
    done = attest("up", f"--data-dir={tmp_path / 'other'}", f"--port={up.port}")
    assert done.returncode == 1
    assert "--port" in done.stderr
    assert not (tmp_path / "other").exists()


def test_a_command_without_an_instance_says_how_to_start_one(tmp_path: Path) -> None:
    done = attest(f"--data-dir={tmp_path}", "audit", "verify")
    assert done.returncode == 1
    assert f"`attest --data-dir {tmp_path} up`" in done.stderr


@pytest.mark.parametrize("victim", ["questions", "postgres", "redis", "gateway", "scheduler"])
def test_a_crashed_child_is_restarted_and_questions_are_answered_again(up: Up, victim: str) -> None:
    matches: dict[str, Callable[[list[str]], bool]] = {
        "questions": lambda argv: "--stage=retrieve" in argv,
        "postgres": lambda argv: argv[0].endswith("/postgres"),
        "redis": lambda argv: argv[0].endswith("/valkey-server"),
        "gateway": lambda argv: "gateway" in argv,
        "scheduler": lambda argv: "scheduler" in argv,
    }
    direct = psutil.Process(up.process.pid).children()
    found = [
        child for child in direct if matches[victim](" ".join(child.cmdline()).split() or [""])
    ]
    assert found, f"no {victim} among {[child.cmdline() for child in direct]}"
    found[0].kill()
    wait_until(lambda: not found[0].is_running(), 60, "the victim is gone")

    def answered() -> bool:
        done = up.attest("ask", TRIAL_QUESTION, "--json")
        return done.returncode == 0 and json.loads(done.stdout)["status"] == "answered"

    wait_until(answered, 60, f"answers after {victim} was killed")
    report = json.loads(up.attest("audit", "verify", "--json").stdout)
    assert report["whole"] is True


def loopback() -> str:
    """The loopback address of this machine that is not everybody's: ::1, if it has one."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return "127.0.0.1"
    return "::1"


def test_a_second_instance_runs_beside_it_on_ipv6_until_its_terminal_is_closed(
    up: Up, tmp_path: Path
) -> None:
    """The kernel says once that a terminal is closed; what is said afterwards, nobody reads."""
    host, data, (window, terminal) = loopback(), tmp_path / "second", os.openpty()
    shell = f'exec "$@" <{os.ttyname(terminal)} >{os.ttyname(terminal)} 2>&1'
    other = printing(data, terminal, f"--host={host}", shell=shell)
    os.close(terminal)
    try:
        said = read_until(window, b"(Ctrl-C stops)")
        url = f"http://[{host}]:{other.port}" if ":" in host else other.url
        assert f"Attest answers at {url} " in said
        assert f"No keys are asked for on {host}" in said
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert ask(up)["answer"]["abstained"] is False
        assert ask(other)["answer"]["abstain_reason"] == "no_evidence"
        third = tmp_path / "third"
        refused = attest("up", f"--data-dir={third}", f"--host={host}", f"--port={other.port}")
        assert refused.returncode == 1
        assert "--port" in refused.stderr
        assert not third.exists()
        os.close(window)
        assert other.process.wait(timeout=60) == 0
    finally:
        other.process.kill()
    assert "database system is shut down" in (data / "log" / "postgres.log").read_text()


def get(url: str, path: str) -> dict[str, Any]:
    body: dict[str, Any] = httpx.get(f"{url}{path}", timeout=30).json()
    return body


@pytest.mark.requirement("OP-6.4")
@pytest.mark.timeout(600)
def test_op_6_4_state_survives_a_restart_and_a_backup_under_load_that_is_restored_elsewhere(
    up: Up, tmp_path: Path
) -> None:
    """The last test of its instance, which it ends."""
    first = ask(up)
    family = up.family()
    assert len(family) >= 7
    assert up.stop() == 0
    assert psutil.wait_procs(family, 20)[1] == [], "a signal leaves no process"

    running = start(up.data_dir)
    assert get(running.url, f"/v1/questions/{first['id']}")["status"] == "answered"
    assert ask(running)["answer"]["abstained"] is False
    stop, asked = threading.Event(), []

    def keep_asking() -> None:
        while not stop.wait(0.5):
            body = {"question": "What is the primary endpoint of the trial?"}
            asked.append(httpx.post(f"{running.url}/v1/questions", json=body).json()["id"])

    asking = threading.Thread(target=keep_asking)
    asking.start()
    file = tmp_path / "attest.backup"
    made = running.attest_process("backup", str(file), "--json")
    stop.set()
    asking.join()
    assert made.returncode == 0, made.stderr
    header = json.loads(made.stdout)
    assert header["rows"]["question"] >= 1
    before = get(running.url, f"/v1/questions/{first['id']}")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=60) == 0

    again = running.attest("restore", str(file))
    assert again.returncode == 1
    assert "not empty" in again.stderr
    done = attest("restore", str(file), f"--data-dir={tmp_path / 'elsewhere'}", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["events_verified"] == header["audit"]["seq"]
    there = start(tmp_path / "elsewhere")
    try:
        assert get(there.url, f"/v1/questions/{first['id']}") == before

        def all_ended() -> bool:
            page = get(there.url, "/v1/questions?limit=200")
            return all(
                one["status"] == "answered" for one in page["questions"] if one["id"] in asked
            )

        wait_until(all_ended, 90, "what was under way has ended")
        assert json.loads(there.attest("audit", "verify", "--json").stdout)["whole"] is True
        erased = there.attest(
            "erase", "question", first["id"], "--reason=patient-request", "--json"
        )
        assert json.loads(erased.stdout)["erased"] == [first["id"]]
        assert httpx.get(f"{there.url}/v1/questions/{first['id']}").status_code == 410
        refused = there.attest("erase", "question", first["id"], "--reason=because he asked")
        assert refused.returncode == 1
        assert "patient-request" in refused.stderr
    finally:
        there.stop()
