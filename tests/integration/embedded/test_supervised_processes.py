"""The supervisor with real processes: order, restarts, and that nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis

from store.embedded import embedded, read_connection
from tests.servers import wait_until

ROOT = Path(__file__).parents[3]
DRIVER = Path(__file__).with_name("supervise.py")
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# Says when it is ready to be stopped, so that no test stops a process that is still starting.
DEAF = [
    sys.executable,
    "-c",
    "import signal, time\n"
    "for s in (signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n"
    "print('deaf', flush=True)\n"
    "time.sleep(600)",
]


def spec(name: str, argv: list[str], **more: Any) -> dict[str, Any]:
    return {"name": name, "argv": argv, **more}


def eventually(condition: Callable[[], bool], seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Supervised:
    """A supervisor in a process of its own."""

    def __init__(self, directory: Path, options: dict[str, Any]) -> None:
        self.directory = directory
        self.errors = directory.parent / f"{directory.name}.stderr"
        self.events = directory.parent / f"{directory.name}.stdout"
        with self.errors.open("wb") as errors, self.events.open("wb") as events:
            self.process = subprocess.Popen(
                [sys.executable, str(DRIVER), str(directory), json.dumps(options)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=events,
                stderr=errors,
            )
        self._seen: dict[int, psutil.Process] = {}

    def lines(self) -> list[str]:
        return [
            line.removeprefix("event ")
            for line in self.events.read_text(errors="replace").splitlines()
        ]

    def wait_for(self, line: str, count: int = 1) -> None:
        def found() -> bool:
            return self.lines().count(line) >= count or self.process.poll() is not None

        eventually(found, 20)
        assert self.lines().count(line) >= count, (self.lines(), self.errors.read_text())

    def wait_for_output(self, text: str) -> None:
        assert eventually(lambda: text in self.errors.read_text()), self.errors.read_text()

    def family(self) -> list[psutil.Process]:
        """All living processes below the supervisor, whatever became of their parents."""
        for process in psutil.Process(self.process.pid).children(recursive=True):
            self._seen[process.pid] = process
        return list(self._seen.values())

    def named(self, name: str, count: int = 1) -> list[psutil.Process]:
        """The `count` living processes of this name, once all are: each was its parent at first."""

        def found() -> list[psutil.Process]:
            return [one for one in self.family() if one.is_running() and one.name() == name]

        wait_until(lambda: len(found()) == count, 60, f"{count} processes are {name}")
        return found()

    def stop(self, *signals: signal.Signals) -> int:
        for number in signals or (signal.SIGTERM,):
            self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Callable[..., Supervised]]:
    """Start supervisors in processes of their own; kill what a failed test leaves."""
    started: list[Supervised] = []

    def start(*specs: dict[str, Any], name: str = "data", **options: Any) -> Supervised:
        one = Supervised(tmp_path / name, {"specs": specs, **options})
        started.append(one)
        return one

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait(10)


def gone(processes: list[psutil.Process], seconds: float = 15.0) -> bool:
    return not psutil.wait_procs(processes, timeout=seconds)[1]


def test_a_server_stops_after_those_that_started_behind_a_step_that_is_done(
    supervise: Callable[..., Supervised],
) -> None:
    """The migration is long done; the workers behind it need the database to the end."""
    slow = [
        sys.executable,
        "-c",
        "import signal, time, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))\n"
        "print('set', flush=True)\n"
        "time.sleep(600)",
    ]
    run = supervise(
        spec("server", SLEEP),
        spec("step", [sys.executable, "-c", ""], after=["server"], restart=False),
        spec("worker", slow, after=["step"]),
    )
    run.wait_for("worker ready")
    run.wait_for_output("set")
    assert run.stop() == 0
    stopping = [line for line in run.lines() if line.endswith(("stopping", "stopped"))]
    assert stopping == ["worker stopping", "worker stopped", "server stopping", "server stopped"]


def test_processes_start_in_order_and_stop_in_reverse(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("c", SLEEP, after=["b"]), spec("a", SLEEP), spec("b", SLEEP, after=["a"]))
    run.wait_for("c ready")
    assert run.stop() == 0
    started = [line for line in run.lines() if line.endswith("ready")]
    stopped = [line for line in run.lines() if line.endswith("stopped")]
    assert started == ["a ready", "b ready", "c ready"]
    assert stopped == ["c stopped", "b stopped", "a stopped"]


def test_a_step_runs_once_before_what_depends_on_it(
    supervise: Callable[..., Supervised], tmp_path: Path
) -> None:
    done = tmp_path / "done"
    step = [sys.executable, "-c", f"import pathlib; pathlib.Path({str(done)!r}).touch()"]
    look = [sys.executable, "-c", f"import os; print(os.path.exists({str(done)!r}), flush=True)"]
    run = supervise(
        spec("look", look, after=["step"], restart=False), spec("step", step, restart=False)
    )
    assert run.process.wait(60) == 0
    assert "look | True" in run.errors.read_text()


def test_a_failed_step_stops_everything_with_exit_code_1(
    supervise: Callable[..., Supervised],
) -> None:
    fail = [sys.executable, "-c", "raise SystemExit(3)"]
    run = supervise(
        spec("base", SLEEP),
        spec("step", fail, after=["base"], restart=False),
        spec("never", SLEEP, after=["step"]),
    )
    assert run.process.wait(60) == 1
    assert "step exited with code 3" in run.lines()
    assert "base stopped" in run.lines()
    assert "never starting" not in run.lines()


def test_a_crashed_process_is_restarted_with_growing_delays(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("crash", [sys.executable, "-c", "raise SystemExit(7)"]))
    run.wait_for("crash exited with code 7, restarting in 1 s")
    run.wait_for("crash starting", count=3)
    assert run.stop() == 0
    exits = [line for line in run.lines() if "exited" in line]
    assert exits[:2] == [
        "crash exited with code 7, restarting in 0.5 s",
        "crash exited with code 7, restarting in 1 s",
    ]


def test_a_program_that_cannot_start_is_tried_again_and_does_not_end_the_others(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("good", SLEEP), spec("bad", ["/nonexistent/program"]))
    run.wait_for("bad exited with code 127, restarting in 1 s")
    assert any("cannot start" in line for line in run.lines())
    assert run.stop() == 0
    assert "good stopped" in run.lines()


def test_a_terminated_supervisor_leaves_no_grandchild(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("parent", ["/bin/sh", "-c", "sleep 600 & sleep 600 & echo up; wait"]))
    run.wait_for_output("parent | up")
    run.named("sleep", 2)
    family = run.family()
    assert run.stop() == 0
    assert gone(family)


def test_grandchildren_of_a_crashed_process_do_not_outlive_it(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("parent", ["/bin/sh", "-c", "sleep 600 & echo up; wait"]))
    run.wait_for_output("parent | up")
    (sleeping,) = run.named("sleep")
    (shell,) = run.named("sh")
    shell.kill()
    assert gone([sleeping])
    run.wait_for("parent exited by SIGKILL, restarting in 0.5 s")
    assert run.stop() == 0


def test_a_process_that_ignores_the_stop_signal_is_killed_after_its_time(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("deaf", DEAF, stop_timeout_seconds=0.3))
    run.wait_for_output("deaf | deaf")
    family = run.family()
    assert run.stop() == 0
    assert "deaf killed: did not stop in time" in run.lines()
    assert gone(family)


def test_a_second_request_kills_at_once(supervise: Callable[..., Supervised]) -> None:
    run = supervise(spec("deaf", DEAF, stop_timeout_seconds=600))
    run.wait_for_output("deaf | deaf")
    family = run.family()
    run.process.send_signal(signal.SIGINT)
    run.wait_for("deaf stopping")
    time.sleep(0.6)  # a request passed on twice counts once
    assert run.stop(signal.SIGINT) == 130
    assert gone(family)


def test_a_request_passed_on_twice_counts_once(supervise: Callable[..., Supervised]) -> None:
    run = supervise(spec("a", SLEEP))
    run.wait_for("a ready")
    assert run.stop(signal.SIGINT, signal.SIGTERM) == 0
    assert "a stopped" in run.lines()


def test_a_killed_supervisor_leaves_no_process_not_even_deaf_ones_and_grandchildren(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(
        spec("no-ear", DEAF, stop_timeout_seconds=1.0),
        spec("parent", ["/bin/sh", "-c", "sleep 600 & echo up; wait"], stop_timeout_seconds=1.0),
    )
    run.wait_for_output("no-ear | deaf")
    run.wait_for_output("parent | up")
    run.named("sleep")
    family = run.family()
    assert len(family) >= 4  # deaf, sh, sleep and the guard
    run.process.kill()
    assert gone(family)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal is Linux's")
def test_children_learn_of_the_supervisors_death_even_if_the_guard_is_dead(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("a", SLEEP))
    run.wait_for("a ready")
    family = run.family()
    guard = next(process for process in family if "guard.py" in " ".join(process.cmdline()))
    guard.kill()
    run.process.kill()
    assert gone(family)


def test_output_goes_to_a_file_for_each_process(
    supervise: Callable[..., Supervised], tmp_path: Path
) -> None:
    say = [sys.executable, "-c", "import sys; print('out'); sys.stderr.write('no newline')"]
    run = supervise(spec("say", say, restart=False), log_dir=str(tmp_path / "log"))
    assert run.process.wait(60) == 0
    text = (tmp_path / "log" / "say.log").read_text()
    assert sorted(text.splitlines()) == ["no newline", "out"]


def test_output_of_every_size_is_passed_on_in_its_order(
    supervise: Callable[..., Supervised], tmp_path: Path
) -> None:
    """Few lines may wait for those that follow; much is passed on at once, or its writer waits."""
    program = """
import time
for n in range(30):
    print("few", n, flush=True)
    time.sleep(0.01)
print("much " * 1_000_000)
print("end")
"""
    command = [sys.executable, "-c", program]
    run = supervise(spec("say", command, restart=False), log_dir=str(tmp_path / "log"))
    assert run.process.wait(60) == 0
    lines = (tmp_path / "log" / "say.log").read_text().splitlines()
    assert lines[:30] == [f"few {n}" for n in range(30)]
    assert "".join(lines[30:]) == "much " * 1_000_000 + "end"


def test_a_killed_postgres_comes_back_and_nothing_is_left_after_a_stop(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("last", SLEEP, after=["postgres", "redis"]), servers=True)
    run.wait_for("published")
    connection = read_connection(run.directory)
    assert connection is not None
    family = run.family()
    assert {"postgres", "valkey-server"} <= {process.name() for process in family}
    with psycopg.connect(connection.conninfo) as session:
        session.execute("CREATE TABLE kept AS SELECT 42 AS value")
    postmaster = next(p for p in family if p.name() == "postgres" and p.ppid() == run.process.pid)

    postmaster.kill()
    run.wait_for("postgres ready", count=2)
    with psycopg.connect(connection.conninfo) as session:
        assert session.execute("SELECT value FROM kept").fetchone() == (42,)
    family = run.family()

    assert run.stop() == 0
    assert gone(family)
    assert read_connection(run.directory) is None
    stops = [line for line in run.lines() if line.endswith("stopped")]
    assert stops[0] == "last stopped"
    assert not Path(connection.redis_url.removeprefix("unix://").split("?")[0]).parent.exists()


def test_a_killed_supervisor_leaves_no_server_and_the_next_start_finds_the_data(
    supervise: Callable[..., Supervised],
) -> None:
    run = supervise(spec("last", SLEEP, after=["postgres", "redis"]), servers=True)
    run.wait_for("published")
    connection = read_connection(run.directory)
    assert connection is not None
    with psycopg.connect(connection.conninfo) as session:
        session.execute("CREATE TABLE kept AS SELECT 42 AS value")
    with redis.Redis.from_url(connection.redis_url) as client:
        client.set("kept", "42")
    family = run.family()

    run.process.kill()
    run.process.wait()
    assert read_connection(run.directory) is None
    with embedded(run.directory) as servers:  # at once: it waits for what is still stopping
        with psycopg.connect(servers.conninfo) as session:
            assert session.execute("SELECT value FROM kept").fetchone() == (42,)
        with redis.Redis.from_url(servers.redis_url) as client:
            assert client.get("kept") == b"42"
        assert gone(family)


def test_a_second_start_on_the_same_directory_is_refused_with_the_process_to_stop(
    supervise: Callable[..., Supervised], tmp_path: Path
) -> None:
    first = supervise(spec("last", SLEEP, after=["postgres", "redis"]), servers=True)
    first.wait_for("published")
    second = subprocess.run(
        [sys.executable, str(DRIVER), str(first.directory), '{"specs": [], "servers": true}'],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert second.returncode == 1
    assert f"is in use by process {first.process.pid}: stop it" in second.stderr
    assert "--data-dir" in second.stderr
    assert "Traceback" not in second.stderr
    assert first.stop() == 0
