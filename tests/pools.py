"""Runs tests in processes that are forked from one that has imported and collected everything.

    python -m tests.pools [PYTEST_ARGUMENT ...]

Collecting all tests takes ten seconds of CPU, and imports as many: one process does it once, and
its forks share what it holds: policy that was read and patterns that were compiled, too, four
seconds for each of six forks. Each fork takes the next file of its pool, runs it and sends the
reports. The tests of one file stay together, in their order.

Tests that wait for servers, leases or a browser get two processes more than there are cores: with
one more a sixth of two cores was left idle at the end. Tests that compute, one process a core, are
only given the time that nobody else wants (ADR 0039).

What fails among the tests that wait is run once more after all others, one test at a time. A test
that passes then is named at the end, and the run counts as passed: on a machine that had no time
for it, it says nothing of the product. Whoever reads its name mends the test. More than `FEW`
failures are no accident and stay failures.
"""

import gc
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from multiprocessing.sharedctypes import Synchronized

import pytest
from _pytest.runner import runtestprotocol

from tests.processes import share_server, start_server

WAITING = ("e2e", "chaos", "integration", "contract")
"""Folders whose tests mostly wait, the longest first; tests of all other folders compute."""
TOGETHER = "tests/e2e/pages/"
"""A folder whose files share an instance and a browser: they stay together as one file does."""
SLOWEST = 20
MANY = 1000
"""For as many tests the parent reads policy and compiles patterns before it forks."""
FEW = 5
"""As many tests that wait may fail beside the others and be run again alone."""
LEAST = 19
"""The niceness of who gives way to everybody (sched(7))."""
IDLE_SECONDS = 900
"""The time limit of a test that only gets the time that others leave."""
END_SECONDS = 30
"""A process that has run its tests and does not end by then is killed."""
_FORK = get_context("fork")
Reports = list[pytest.TestReport]
"""What a test's setup, call and teardown came to."""


@dataclass(frozen=True)
class Pool:
    """Tests, and how they are run: in how many processes, and how much these give way."""

    name: str
    items: Sequence[pytest.Item]
    processes: int
    niceness: int = 0

    @property
    def files(self) -> list[list[pytest.Item]]:
        """Its tests by file: those that stay together, in their order."""
        found: dict[str, list[pytest.Item]] = {}
        for item in self.items:
            file = item.nodeid.split("::")[0]
            found.setdefault(TOGETHER if file.startswith(TOGETHER) else file, []).append(item)
        return list(found.values())


def pools(items: Sequence[pytest.Item], cores: int) -> tuple[Pool, Pool]:
    """The waiting pool, the longest folders first, and the computing one."""
    folders = {item: item.nodeid.split("/")[1] for item in items}
    computing = [item for item in items if folders[item] not in WAITING]
    waiting = [item for folder in WAITING for item in items if folders[item] == folder]
    return Pool("waiting", waiting, cores + 2), Pool("computing", computing, cores, LEAST)


class Pools:
    """The plugin of pytest that runs the tests of a session in forks of its process."""

    def __init__(self) -> None:
        self.accidents: list[Reports] = []
        """Of tests that failed beside the others and passed alone: how they failed."""
        self.seconds: dict[str, float] = {}
        """When each pool had run all its tests: the longer one is what a run takes."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run both pools, one beside the other, and what failed of the waiting one again."""
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest's own loop tells what there is to tell
        waiting, computing = pools(session.items, len(os.sched_getaffinity(0)))
        if waiting.items:
            start_server()
        if len(session.items) >= MANY:
            import_module("tests.warm")
            gc.enable()
        gc.collect()
        gc.freeze()  # or each fork looks through all that was imported, again and again
        run = Run(session, doubted=set(waiting.items))
        run.finish(waiting, computing)
        self.seconds = run.seconds
        failed = run.failed
        if 0 < len(failed) <= FEW:
            alone = Run(session, doubted=set(failed))
            alone.finish(Pool("alone", list(failed), 1))
            self.accidents = [failed[item] for item in failed if item not in alone.failed]
            failed = alone.failed
        for item, reports in failed.items():
            tell(item, reports)
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say when the pools ended, how those failed that passed alone, and name them."""
        for name, seconds in self.seconds.items():
            terminalreporter.write_line(f"{name} tests ended after {seconds:.0f} s")
        for report in (one for reports in self.accidents for one in reports if one.failed):
            terminalreporter.section(f"beside the others: {report.nodeid}", sep="_")
            terminalreporter.write_line(report.longreprtext)
        for reports in self.accidents:
            name = reports[0].nodeid
            terminalreporter.write_line(f"failed beside the others, passed alone, mend it: {name}")


def tell(item: pytest.Item, reports: Reports) -> None:
    """Let pytest print and count these reports, and keep them where it keeps any."""
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    if item.session.shouldfail:  # -x, --maxfail
        raise item.session.Failed(item.session.shouldfail)


@dataclass
class Child:
    """A process that runs tests, and the one that it has begun."""

    process: ForkProcess
    pool: str
    begun: pytest.Item | None = None


@dataclass
class Run:
    """Tests of a session that are run in forks, and what is known of them so far."""

    session: pytest.Session
    doubted: set[pytest.Item]
    """Their failures are not told, but kept in `failed`."""
    failed: dict[pytest.Item, Reports] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    """When each pool had run all its tests, after the beginning."""
    _began: float = field(default_factory=time.monotonic)
    _ended: set[pytest.Item] = field(default_factory=set)
    _children: dict[Connection, Child] = field(default_factory=dict)
    _taken: list["Synchronized[int]"] = field(default_factory=list)

    def finish(self, *pools: Pool) -> None:
        """Run all tests of these pools. A process that ends in a test fails it, and another one
        runs those that it leaves.

        Raises:
            RuntimeError: processes end before they have begun a test.
        """
        named = {item.nodeid: item for pool in pools for item in pool.items}
        base = self.session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        while len(self._ended) < len(named):
            before = len(self._ended)
            left = [
                replace(pool, items=[item for item in pool.items if item not in self._ended])
                for pool in pools
            ]
            try:
                for pool in left:
                    self._start(pool)
                while self._children:
                    for connection in wait(list(self._children)):
                        assert isinstance(connection, Connection)
                        self._hear(connection, named)
            finally:
                for child in self._children.values():
                    child.process.terminate()
            if len(self._ended) == before:
                raise RuntimeError(f"processes of tests end at once, see {base}")

    def _start(self, pool: Pool) -> None:
        self.session.config.get_terminal_writer().flush()  # or each fork prints it once more
        taken = _FORK.Value("i", 0)
        self._taken.append(taken)  # its memory would be given to the next one
        for _ in range(min(pool.processes, len(pool.files))):
            ours, theirs = _FORK.Pipe(duplex=False)
            process = _FORK.Process(target=work, args=(self.session, pool, taken, theirs))
            with warnings.catch_warnings():
                # Python 3.12 warns of threads: libraries of the encoder have some, which wait.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()  # so that its end is heard
            self._children[ours] = Child(process, pool.name)

    def _hear(self, connection: Connection, named: dict[str, pytest.Item]) -> None:
        child = self._children[connection]
        try:
            said = connection.recv()
        except EOFError:
            del self._children[connection]
            self.seconds[child.pool] = time.monotonic() - self._began
            child.process.join(END_SECONDS)
            child.process.kill()
            if child.begun is not None:
                self._end(child.begun, [lost(child.begun, child.process.exitcode)])
            return
        if isinstance(said, str):
            child.begun = named[said]
        elif child.begun is not None:
            hook = child.begun.config.hook
            read = [
                hook.pytest_report_from_serializable(config=child.begun.config, data=data)
                for data in said
            ]
            self._end(child.begun, read)
            child.begun = None

    def _end(self, item: pytest.Item, reports: Reports) -> None:
        self._ended.add(item)
        if item in self.doubted and any(report.failed for report in reports):
            self.failed[item] = reports
        else:
            tell(item, reports)


def lost(item: pytest.Item, code: int | None) -> pytest.TestReport:
    """The report of a test in which its process ended."""
    return pytest.TestReport(
        item.nodeid,
        item.location,
        {},
        "failed",
        f"its process ended in it (exit code {code})",
        "call",
    )


def work(
    session: pytest.Session, pool: Pool, taken: "Synchronized[int]", parent: Connection
) -> None:
    """Run tests of the pool as long as there are files that nobody has taken; in a fork."""
    os.nice(pool.niceness)
    config = session.config
    # Its own file for what tests print, and its own folder for what they write.
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.suspend_global_capture()
    before, capture._global_capturing = capture._global_capturing, None
    capture.start_global_capturing()
    capture.suspend_global_capture()
    folders = config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = folders.mktemp(pool.name)
    config.pluginmanager.register(Telling(parent, before))
    share_server()

    following = _taking(pool, taken)
    item = next(following, None)
    while item is not None:
        parent.send(item.nodeid)
        after = next(following, None)
        if pool.niceness:
            item.add_marker(pytest.mark.timeout(IDLE_SECONDS))
        item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        item = after


def _taking(pool: Pool, taken: "Synchronized[int]") -> Iterator[pytest.Item]:
    files = pool.files
    while True:
        with taken.get_lock():
            place = taken.value
            taken.value += 1
        if place >= len(files):
            return
        yield from files[place]


@dataclass(frozen=True)
class Telling:
    """The plugin of a fork: it reports to the parent, which prints and counts."""

    parent: Connection
    before: object
    """What captured before the fork. It stays open, for modules hold its stderr."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run the test and send its reports."""
        hook = item.config.hook
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        self.parent.send(
            [hook.pytest_report_to_serializable(config=item.config, report=one) for one in reports]
        )
        return True


def main(arguments: Sequence[str]) -> int:
    """Run the tests; returns pytest's exit status."""
    if not arguments:  # all tests: what processes are forked from gets ready beside the collection
        start_server()
    return pytest.main([f"--durations={SLOWEST}", *arguments], plugins=[Pools()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
