"""Processes of `attest up` are forks of one that imported everything, and children of who asked."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from cli.commands.demo import free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")

ASKS = """
import json, os, sys, time
from pathlib import Path
from cli.supervise.nursery import Nursery
from store.embedded.process import Command

def ours(*arguments, **more):
    return Command((sys.executable, "-m", "cli.main", *arguments), dict(os.environ), **more)

with Nursery() as nursery:
    {body}
"""


def run(body: str, tmp_path: Path) -> str:
    """What a supervisor prints that does this with a nursery."""
    script = tmp_path / "supervisor.py"
    script.write_text(ASKS.format(body=body))
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_command_is_run_with_its_output_arguments_and_exit_code(tmp_path: Path) -> None:
    body = """
    for arguments in (["--version"], ["no-such-command"]):
        with Path("{log}").open("ab") as log:
            process = nursery.start(ours(*arguments), log.fileno())
        print(process.wait())
    """.replace("{log}", str(tmp_path / "log"))

    assert run(body, tmp_path).split() == ["0", "2"]
    told = (tmp_path / "log").read_text()
    assert told.startswith("attest ")
    assert "no-such-command" in told


def test_what_is_forked_is_a_child_in_a_session_of_its_own_and_shows_what_it_does(
    tmp_path: Path,
) -> None:
    body = """
    import psutil
    with open(os.devnull, "wb") as nothing:
        process = nursery.start(ours("--data-dir=DIR", "up", "--port=1"), nothing.fileno())
    seen = psutil.Process(process.pid)
    while "up" not in " ".join(seen.cmdline()).split():
        time.sleep(0.01)
    print(json.dumps([seen.ppid() == os.getpid(), os.getsid(process.pid) == process.pid]))
    process.send_signal(9)
    print(process.wait())
    """.replace("DIR", str(tmp_path / "data"))

    children, ended = run(body, tmp_path).splitlines()
    assert json.loads(children) == [True, True]
    assert int(ended) == -signal.SIGKILL


def test_without_a_nursery_and_for_others_programs_nothing_is_forked(tmp_path: Path) -> None:
    body = """
    out = sys.stdout.fileno()
    print(nursery.start(Command(("/bin/true",), {}), out), nursery.start(ours(user=1), out))
    nursery._process.kill()
    nursery._process.wait()
    print(nursery.start(ours("--version"), out), nursery.start(ours("--version"), out))
    """

    assert run(body, tmp_path).split() == ["None"] * 4


def test_a_nursery_that_answers_too_late_is_ended_so_that_it_cannot_fork_a_second_copy(
    tmp_path: Path,
) -> None:
    body = """
    nursery._channel.settimeout(0.5)
    nursery._process.send_signal(19)
    print(nursery.start(ours("--version"), sys.stdout.fileno()), nursery._process.returncode)
    """

    assert run(body, tmp_path).split() == ["None", str(-signal.SIGKILL)]


def test_orphans_of_the_family_are_buried_and_nobody_elses_children(tmp_path: Path) -> None:
    body = """
    import subprocess
    mine = subprocess.Popen(["/bin/true"])
    orphan = subprocess.run(
        ["/bin/sh", "-c", "sleep 0.2 & echo $!"], stdout=subprocess.PIPE, check=True
    )
    while os.path.exists(f"/proc/{int(orphan.stdout)}"):
        nursery.bury_strangers({mine.pid})
        if mine.poll() is not None:
            mine = subprocess.Popen(["/bin/true"])
        time.sleep(0.02)
    print(mine.wait())
    """

    assert run(body, tmp_path).split() == ["0"]


def test_importing_everything_starts_no_thread(tmp_path: Path) -> None:
    """A fork has only the thread that forked it: others' locks would stay locked for ever."""
    body = """
    import psutil
    with open(os.devnull, "wb") as nothing:
        nursery.start(ours("--version"), nothing.fileno()).wait()
    print(psutil.Process(nursery._process.pid).num_threads())
    """

    assert run(body, tmp_path).split() == ["1"]


@pytest.mark.parametrize("ignored", ["", "import signal; signal.signal(15, signal.SIG_IGN)"])
def test_a_killed_supervisor_leaves_nobody(tmp_path: Path, ignored: str) -> None:
    # Also where whoever started it ignores what ends it: that is inherited.
    script = tmp_path / "supervisor.py"
    body = """
    with open(os.devnull, "wb") as nothing:
        process = nursery.start(ours("--data-dir=DIR", "up", "--port=PORT"), nothing.fileno())
    print(nursery._process.pid, process.pid, flush=True)
    time.sleep(60)
    """
    body = body.replace("DIR", str(tmp_path / "data")).replace("PORT", str(free_port()))
    asks = ASKS.format(body=body)
    script.write_text(f"{ignored}\n{asks}")
    supervisor = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert supervisor.stdout is not None
    with supervisor.stdout as said:
        family = [psutil.Process(int(pid)) for pid in said.readline().split()]
    supervisor.kill()
    supervisor.wait()
    _, left = psutil.wait_procs(family, timeout=60)
    told = [one.as_dict(["pid", "ppid", "status", "cmdline", "cpu_times"]) for one in left]
    for one in left:  # it would stand in the way of others
        one.kill()
    assert told == []


@pytest.mark.parametrize(("ends", "code"), [("3", 3), ("", 0), ("None", 0), ("'why'", 1)])
def test_a_fork_ends_as_a_process_does_with_its_threads_and_what_is_registered(
    ends: str, code: int
) -> None:
    script = f"""
import atexit, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from cli.supervise.nursery import run_to_the_end

def told_late():
    time.sleep(0.2)
    sys.stdout.write("thread ")

def run():
    atexit.register(sys.stdout.write, "exit")
    ThreadPoolExecutor(1).submit(sys.stdout.write, "pool ").result()
    threading.Thread(target=told_late).start()
    {f"sys.exit({ends})" if ends else ""}

run_to_the_end(run)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
        timeout=60,
    )
    assert (done.stdout, done.returncode) == ("pool thread exit", code)
    assert done.stderr == ("why\n" if code == 1 else "")


def test_a_fork_whose_supervisor_is_gone_ends_whoever_adopts_it() -> None:
    # As below a service manager, which adopts what its services leave: its number is not 1.
    script = """
import os
from cli.supervise import nursery

nursery._prctl(nursery._PR_SET_CHILD_SUBREAPER, 1)
if os.fork() == 0:
    between = os.getpid()
    if os.fork() == 0:
        nursery._become({"stop_signal": 15}, 1, supervisor=2**30, between=between)
    os._exit(0)
print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        timeout=60,
    )
    assert done.stdout.strip() == "[0, 1]"
