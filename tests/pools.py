"""Runs all tests: those that compute with one process a core, then those that wait, with one more.

    python -m tests.pools [PYTEST_ARGUMENT ...]

Tests that wait for servers, leases or a browser leave room for one more process. With more than
that, or beside the tests that compute, leases of seconds run out and clocks tell nothing (two
cores: no faster, and two tests of 16,000 failed). The slowest tests of both are printed last.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
WAITING = ("e2e", "chaos", "integration", "contract")
"""Folders whose tests mostly wait, the longest first; tests of all other folders compute."""
SLOWEST = 20
NO_TESTS = 5
"""pytest's exit status if no test was selected."""


@dataclass(frozen=True)
class Pool:
    """A run of pytest over some folders, in several processes."""

    name: str
    folders: tuple[str, ...]
    processes: int

    def command(self, report: Path, arguments: Sequence[str]) -> list[str]:
        """The command line; tests of one file stay together, and files keep their order."""
        return [
            *(sys.executable, "-m", "pytest", *self.folders, f"--numprocesses={self.processes}"),
            *("--dist=loadfile", "--no-loadscope-reorder", f"--junitxml={report}"),
            "--override-ini=junit_duration_report=total",
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
        Pool("computing", tuple(computing), cores),
        Pool("waiting", tuple(waiting), cores + 1),
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


def main(arguments: Sequence[str]) -> int:
    """Run both pools; returns 0 only if all tests passed."""
    with tempfile.TemporaryDirectory() as folder:
        statuses, reports = set(), []
        for pool in pools(len(os.sched_getaffinity(0))):
            reports.append(Path(folder) / f"{pool.name}.xml")
            command = pool.command(reports[-1], arguments)
            statuses.add(subprocess.run(command, check=False).returncode)
        for seconds, name in slowest(reports):
            sys.stdout.write(f"{seconds:7.2f} s  {name}\n")
    return max(statuses - {NO_TESTS} or {NO_TESTS})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
