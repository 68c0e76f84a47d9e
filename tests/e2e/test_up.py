"""`attest up` as an operator runs it: one command starts all, one signal stops all."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import psutil
import pytest

from cli.demo import free_port
from store.embedded import read_connection
from tests.commands import hear_hangups
from tests.servers import TRIAL, TRIAL_QUESTION, wait_until

COMMAND = [sys.executable, "-m", "cli.main"]


@dataclass
class Up:
    """A running `attest up`."""

    process: "subprocess.Popen[bytes]"
    data_dir: Path
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def attest(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run an `attest` command against this instance."""
        return attest(f"--data-dir={self.data_dir}", *arguments)

    def family(self) -> list[psutil.Process]:
        """The supervisor and everything below it."""
        top = psutil.Process(self.process.pid)
        return [top, *top.children(recursive=True)]

    def pids(self, role: str) -> set[int]:
        """The processes that run `attest ROLE` for it."""
        found = set()
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                if role in child.cmdline():
                    found.add(child.pid)
        return found

    def text(self) -> str:
        """What it has printed, and the logs of its processes."""
        logs = [self.log, *(self.data_dir / "log").glob("*.log")]
        return "".join(log.read_text("utf-8", errors="replace") for log in logs)

    def wait_ready(self) -> None:
        """Wait until the gateway answers."""

        def ready() -> bool:
            if self.process.poll() is not None:
                pytest.fail(self.text())
            try:
                return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
            except httpx.TransportError:
                return False

        wait_until(ready, 90, "attest up is ready")

    def stop(self) -> int:
        """SIGTERM, and wait for the end."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def attest(*arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run one `attest` command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "ATTEST_ENCODER": "hash", **env},
        check=False,
    )


def start(data_dir: Path, *arguments: str) -> Up:
    """Start `attest up` and wait until it answers."""
    running = launched(data_dir, *arguments)
    running.wait_ready()
    return running


def launched(data_dir: Path, *arguments: str) -> Up:
    """Start `attest up`, wherever that leads."""
    log = data_dir.parent / f"{data_dir.name}.log"
    with log.open("ab") as output:
        return printing(data_dir, output, *arguments)


def printing(data_dir: Path, output: IO[bytes] | int, *arguments: str, shell: str = "") -> Up:
    """Start `attest up`, printing there; `shell` may start it, as a session of its own does."""
    port = free_port()
    command = [*COMMAND, "up", f"--data-dir={data_dir}", f"--port={port}", *arguments]
    process = subprocess.Popen(
        ["/bin/sh", "-c", shell, "sh", *command] if shell else command,
        stdout=output,
        stderr=output,
        start_new_session=bool(shell),
        env={**os.environ, "ATTEST_ENCODER": "hash", "ATTEST_LEASE_SECONDS": "3"},
        preexec_fn=hear_hangups,
    )
    return Up(process, data_dir, port, data_dir.parent / f"{data_dir.name}.log")


def read_until(descriptor: int, words: bytes) -> None:
    """Read what a child prints until it has said these words."""
    said = b""
    while words not in said:
        try:
            more = os.read(descriptor, 4096)
        except OSError:  # a terminal whose last program ended
            more = b""
        if not more:
            pytest.fail(f"it ended with: {said.decode(errors='replace')}")
        said += more


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


def ask(running: Up, text: str = TRIAL_QUESTION) -> dict[str, Any]:
    done = running.attest("ask", text, "--json")
    assert done.returncode == 0, done.stderr
    body: dict[str, Any] = json.loads(done.stdout)
    return body


@pytest.mark.requirement("DC-3")
def test_dc_3_a_question_on_the_command_line_comes_back_answered_and_cited(up: Up) -> None:
    question = ask(up)
    assert question["status"] == "answered"
    assert question["answer"]["claims"][0]["citations"][0]["quote"] in TRIAL["text"]
    assert set(question["answer"]["provenance"]["stage_timings_ms"]) == {
        "retrieve",
        "generate",
        "verify",
        "audit",
    }


def test_people_see_the_answer_with_its_citation_and_both_clocks(up: Up) -> None:
    done = up.attest("ask", TRIAL_QUESTION)
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


def test_a_port_in_use_is_refused_before_anything_starts(up: Up, tmp_path: Path) -> None:
    done = attest("up", f"--data-dir={tmp_path / 'other'}", f"--port={up.port}")
    assert done.returncode == 1
    assert "--port" in done.stderr
    assert not (tmp_path / "other").exists()


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


def test_a_command_without_an_instance_says_how_to_start_one(tmp_path: Path) -> None:
    done = attest(f"--data-dir={tmp_path}", "audit", "verify")
    assert done.returncode == 1
    assert "attest up" in done.stderr


def test_two_instances_run_side_by_side(up: Up, tmp_path: Path) -> None:
    other = start(tmp_path / "second")
    try:
        assert ask(up)["answer"]["abstained"] is False
        question = ask(other)
        assert question["answer"]["abstain_reason"] == "no_evidence"
    finally:
        assert other.stop() == 0


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
    found = [child for child in direct if matches[victim](child.cmdline() or [""])]
    assert found, f"no {victim} among {[child.cmdline() for child in direct]}"
    found[0].kill()
    wait_until(lambda: not found[0].is_running(), 10, "the victim is gone")

    def answered() -> bool:
        done = up.attest("ask", TRIAL_QUESTION, "--json")
        return done.returncode == 0 and json.loads(done.stdout)["status"] == "answered"

    wait_until(answered, 60, f"answers after {victim} was killed")
    report = json.loads(up.attest("audit", "verify", "--json").stdout)
    assert report["whole"] is True


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
