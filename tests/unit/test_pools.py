"""Tests that run in forks: what becomes of each reaches pytest, of those that are lost too."""

import subprocess
import sys

import pytest

from tests.pools import pools

FILES = {
    "tests/unit/test_a.py": """
import os, pytest

@pytest.fixture(scope="module")
def made():
    yield os.getpid()
    print("module ends")

def test_passes(made, tmp_path):
    assert made == os.getpid() and tmp_path.exists()

def test_fails_and_says_what_it_printed(made):
    print("these words")
    assert made == 0

def test_its_process_ends():
    os._exit(7)

def test_the_next_one_is_run_nevertheless(): pass
""",
    "tests/e2e/test_b.py": """
from pathlib import Path
MARK = Path(__file__).with_name("tried")

def test_passes_alone():
    first = not MARK.exists()
    MARK.touch()
    assert not first

def test_fails_always():
    assert False

def test_is_skipped():
    import pytest
    pytest.skip("why not")
""",
}
SLOW = """
import time

def test_{name}():
    time.sleep(0.05)
"""
MANY = [f"{folder}_{n}" for folder in ("unit", "e2e") for n in range(8)]
FILES |= {f"tests/{name.split('_')[0]}/test_{name}.py": SLOW.format(name=name) for name in MANY}
"""So many that all processes of both pools take some."""
Told = subprocess.CompletedProcess[str]
PROGRAM = """
import sys, pytest
from tests.pools import Pools
sys.exit(pytest.main(sys.argv[1:], plugins=[Pools()]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What a run of `FILES` printed."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [
            *(sys.executable, "-c", PROGRAM, "-rA", "-p", "no:cacheprovider"),
            *(f"--rootdir={folder}", f"--junitxml={folder / 'all.xml'}", str(folder / "tests")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def named(told: Told, outcome: str) -> list[str]:
    """The tests that the summary names with this outcome, in order."""
    names = [line.split(" - ")[0] for line in told.stdout.splitlines() if line.startswith(outcome)]
    return sorted(name.rpartition("::")[2] for name in names)


def test_every_test_is_reported_once_though_a_process_ends_in_one(told: Told) -> None:
    few = ["test_passes", "test_passes_alone", "test_the_next_one_is_run_nevertheless"]
    assert named(told, "PASSED") == sorted([*few, *(f"test_{name}" for name in MANY)])
    assert named(told, "FAILED") == [
        "test_fails_always",
        "test_fails_and_says_what_it_printed",
        "test_its_process_ends",
    ]
    assert f"3 failed, {3 + len(MANY)} passed, 1 skipped" in told.stdout.splitlines()[-1]
    assert told.returncode == 1


def test_how_a_test_failed_is_told(told: Told) -> None:
    assert "its process ended in it (exit code 7)" in told.stdout
    assert "these words" in told.stdout


def test_what_failed_beside_the_others_and_passes_alone_is_named(told: Told) -> None:
    assert "passed alone, mend it: tests/e2e/test_b.py::test_passes_alone" in told.stdout
    assert "assert not first" in told.stdout


def test_every_test_is_in_one_pool(
    request: pytest.FixtureRequest,
) -> None:
    items = request.session.items
    waiting, computing = pools(items, 2)
    assert {*waiting.items, *computing.items} == set(items)
    assert len(waiting.items) + len(computing.items) == len(items)
