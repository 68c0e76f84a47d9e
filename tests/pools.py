"""Runs all tests: those that wait, and in the time that these leave idle those that compute.

    python -m tests.pools [PYTEST_ARGUMENT ...]

Tests that wait for servers, leases or a browser leave room for one process more than there are
cores. With more than that leases of seconds run out and clocks tell nothing (two cores: no faster,
and two tests of 16,000 failed). So the tests that compute, one process a core, are only given the
time that nobody else wants. The slowest tests of both are printed last.

What fails among the tests that wait is run once more after all others, one test at a time. A test
that passes then is named at the end, and the run counts as passed: on a machine that had no time
for it, it says nothing of the product. Whoever reads its name mends the test. More than `FEW`
failures are no accident and stay failures.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
WAITING = ("e2e", "chaos", "integration", "contract")
"""Folders whose tests mostly wait, the longest first; tests of all other folders compute."""
SLOWEST = 20
FEW = 5
"""As many tests that wait may fail beside the others and be run again alone."""
LEAST = 19
"""The niceness of who gives way to everybody (sched(7))."""
SOME_FAILED = 1
"""pytest's exit status if tests failed, and nothing else went wrong."""
NO_TESTS = 5
"""pytest's exit status if no test was selected."""


@dataclass(frozen=True)
class Pool:
    """A run of pytest over some folders, in several processes."""

    name: str
    folders: tuple[str, ...]
    processes: int
    when_idle: bool
    """It takes only the time that others leave, and so much longer for a test."""

    def command(self, report: Path, arguments: Sequence[str]) -> list[str]:
        """The command line; tests of one file stay together, and files keep their order."""
        return [
            *(sys.executable, "-m", "pytest", *self.folders, f"--numprocesses={self.processes}"),
            *("--dist=loadfile", "--no-loadscope-reorder", f"--junitxml={report}"),
            "--override-ini=junit_duration_report=total",
            *(["--timeout=900"] if self.when_idle else []),
            *("-o", f"cache_dir={report.with_suffix('.cache')}", *arguments),
        ]

    def again(self, report: Path, arguments: Sequence[str]) -> list[str]:
        """The command line that runs what failed in `command`, and nothing else, one by one."""
        cache = report.with_suffix(".cache")
        return [
            *(sys.executable, "-m", "pytest", *self.folders, "--numprocesses=0"),
            *("--last-failed", "--last-failed-no-failures=none", "-o", f"cache_dir={cache}"),
            *arguments,
        ]


def pools(cores: int) -> tuple[Pool, Pool]:
    """The computing and the waiting pool. Every folder with tests is in one of them."""
    tests = ROOT / "tests"
    folders = sorted(
        path.name for path in tests.iterdir() if path.is_dir() and any(path.rglob("test_*.py"))
    )
    computing = [f"tests/{name}" for name in folders if name not in WAITING]
    waiting = [f"tests/{name}" for name in WAITING]
    return (
        Pool("computing", tuple(computing), cores, when_idle=True),
        Pool("waiting", tuple(waiting), cores + 1, when_idle=False),
    )


def slowest(reports: Sequence[Path]) -> list[tuple[float, str]]:
    """The slowest tests in these JUnit reports: seconds and name."""
    durations = [
        (float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}")
        for report in reports
        if report.exists()
        for case in ElementTree.parse(report).iter("testcase")
    ]
    return sorted(durations, reverse=True)[:SLOWEST]


def failed(report: Path) -> list[str]:
    """The names of the tests that failed or broke, of a JUnit report."""
    if not report.exists():
        return []
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in ElementTree.parse(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]


def main(arguments: Sequence[str]) -> int:
    """Run both pools, one beside the other; returns 0 only if all tests passed."""
    computing, waiting = pools(len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        reports = [Path(folder) / f"{pool.name}.xml" for pool in (computing, waiting)]
        said = Path(folder) / "computing.txt"
        with said.open("wb") as output:
            beside = subprocess.Popen(
                computing.command(reports[0], arguments),
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(os.nice, LEAST),
            )
            try:
                status = subprocess.run(
                    waiting.command(reports[1], arguments), check=False
                ).returncode
                statuses = {beside.wait()}
            finally:
                beside.terminate()  # after Ctrl-C; else it has ended
        sys.stdout.write(said.read_text("utf-8", errors="replace"))
        sys.stdout.flush()
        accidents = failed(reports[1])
        if status == SOME_FAILED and 0 < len(accidents) <= FEW:
            status = subprocess.run(waiting.again(reports[1], arguments), check=False).returncode
            if status == 0:
                for name in accidents:
                    sys.stdout.write(
                        f"failed beside the others and passed alone, mend it: {name}\n"
                    )
        statuses.add(status)
        for seconds, name in slowest(reports):
            sys.stdout.write(f"{seconds:7.2f} s  {name}\n")
    return max(statuses - {NO_TESTS} or {NO_TESTS})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
