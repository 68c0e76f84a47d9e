"""Runs all tests: computing tests with one process per core, waiting tests at the same time.

    python -m tests.pools [PYTEST_ARGUMENT ...]

A test that waits for servers, leases or a browser uses a tenth of a core, so that several of them
hardly slow down the computing tests. Each pool is a separate run of pytest; the output of the
second follows that of the first. The slowest tests of both are printed last.
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
WAITING_PER_CORE = 2
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
    """The waiting and the computing pool. Every folder with tests is in one of them."""
    tests = ROOT / "tests"
    folders = sorted(
        path.name for path in tests.iterdir() if path.is_dir() and any(path.rglob("test_*.py"))
    )
    computing = [f"tests/{name}" for name in folders if name not in WAITING]
    waiting = [f"tests/{name}" for name in WAITING]
    return (
        Pool("waiting", tuple(waiting), WAITING_PER_CORE * cores),
        Pool("computing", tuple(computing), cores),
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
        first, second = pools(len(os.sched_getaffinity(0)))
        reports = [Path(folder) / f"{pool.name}.xml" for pool in (first, second)]
        output = Path(folder) / "output"
        with output.open("wb") as output_file:
            beside = subprocess.Popen(
                second.command(reports[1], arguments), stdout=output_file, stderr=subprocess.STDOUT
            )
            status = subprocess.run(first.command(reports[0], arguments), check=False).returncode
            beside_status = beside.wait()
        sys.stdout.flush()
        sys.stdout.buffer.write(output.read_bytes())
        for seconds, name in slowest(reports):
            sys.stdout.write(f"{seconds:7.2f} s  {name}\n")
    statuses = {status, beside_status} - {NO_TESTS} or {NO_TESTS}
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
