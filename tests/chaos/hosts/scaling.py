"""How much more two worker hosts answer and ingest with each further process, until the cores end.

All that is to be done waits in PostgreSQL before the first worker starts, so that nobody who asks
takes part; what counts is what was finished between a tenth and nine tenths of it.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import psutil
import sqlalchemy as sa

from benchmarks.corpus import documents
from tests.chaos.hosts.system import WORKERS, Role, System, running
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest

SECONDS = 180.0
PACKET = 50
CHARACTERS = 2000
DONE = {
    "questions": "SELECT sealed_at AS at FROM answer WHERE sealed_at IS NOT NULL",
    "documents": "SELECT (SELECT min(e.at) FROM audit_event e WHERE e.event = 'versions.indexed' "
    "AND e.payload->'version_ids' ? v.id::text) AS at FROM document_version v",
}


@dataclass(frozen=True)
class Row:
    """One line of the table. CPU in cores, 2.0 is two full ones; `rate` in things a second."""

    what: str
    processes: int
    rate: float
    workers_cpu: float
    servers_cpu: float
    machine_cpu: float
    load: float

    @property
    def per_core(self) -> float:
        """Things a second for each core that workers and servers had: other programs do not
        change it much, as they do the rate."""
        return round(self.rate / (self.workers_cpu + self.servers_cpu), 1)


@dataclass(frozen=True)
class Sample:
    """Seconds of CPU since they began, of the workers, of the data host's servers, of all."""

    at: datetime
    workers: float
    servers: float
    machine: float


def rate_of(moments: Sequence[datetime]) -> tuple[float, datetime, datetime]:
    """Things a second between a tenth and nine tenths of them, and these two moments.

    Raises ValueError for fewer than ten.
    """
    if len(moments) < 10:
        raise ValueError(f"{len(moments)} are too few to give a rate")
    inner = sorted(moments)
    first, last = len(inner) // 10, len(inner) - 1 - len(inner) // 10
    seconds = (inner[last] - inner[first]).total_seconds()
    return (last - first) / max(seconds, 1e-6), inner[first], inner[last]


def cores_between(samples: Sequence[Sample], begin: datetime, end: datetime) -> Sample:
    """Cores that were busy on average between two moments, from samples around them.

    Raises ValueError where fewer than two samples fall between.
    """
    inner = [one for one in samples if begin <= one.at <= end]
    if len(inner) < 2:
        raise ValueError("it was over before the processors were looked at twice")
    first, last = inner[0], inner[-1]
    seconds = (last.at - first.at).total_seconds()
    return Sample(
        last.at,
        (last.workers - first.workers) / seconds,
        (last.servers - first.servers) / seconds,
        (last.machine - first.machine) / seconds,
    )


def roles(processes: int) -> dict[str, Role]:
    """So many workers, by turns on both hosts, each with two threads."""
    return {
        f"worker {number}": Role(WORKERS[number % 2], ("worker", "--threads=2"))
        for number in range(processes)
    }


def measure(what: str, processes: int, count: int) -> Row:
    """One run of `count` things with so many worker processes.

    Raises RuntimeError if they were not all done in time.
    """
    with running(lease_seconds=15.0) as system:
        if what == "questions":
            ingest(system.store, TRIAL)
            _wait(system, "documents", 1)
        for name in [name for name in system.roles if name.startswith("worker")]:
            del system.roles[name]
            system.kill(name)
        _fill(system, what, count)
        system.roles |= roles(processes)
        system.supervise()
        samples = _wait(system, what, count)
        rate, begin, end = rate_of(_moments(system, what))
    used = cores_between(samples, begin, end)
    return Row(
        what,
        processes,
        round(rate, 1),
        round(used.workers, 2),
        round(used.servers, 2),
        round(used.machine, 2),
        round(os.getloadavg()[0], 1),
    )


def _fill(system: System, what: str, count: int) -> None:
    if what == "questions":
        for number in range(count):
            ask(system.store, f"{TRIAL_QUESTION} ({number})")
        return
    records = list(documents(count, CHARACTERS))
    for first in range(0, count, PACKET):
        ingest(system.store, *records[first : first + PACKET])


def _moments(system: System, what: str) -> list[datetime]:
    with system.store.reading() as session:
        found = session.execute(sa.text(DONE[what])).scalars()
        return [one for one in found if one is not None]


def _wait(system: System, what: str, count: int) -> list[Sample]:
    """Wait for so many, looking at the processors twice a second."""
    samples, until = [], time.monotonic() + SECONDS
    while len(_moments(system, what)) < count:
        if time.monotonic() > until:
            raise RuntimeError(f"{count} {what} were not done in {SECONDS:.0f} s")
        samples.append(_sample(system))
        time.sleep(0.5)
    return [*samples, _sample(system)]


def _sample(system: System) -> Sample:
    with system.store.reading() as session:
        at = session.execute(sa.text("SELECT clock_timestamp()")).scalar_one()
    workers = [one.pid for name, one in system.processes.items() if name.startswith("worker")]
    servers = [one.pid for one in (system.servers.postgres, system.servers.redis) if one.pid]
    whole = psutil.cpu_times()
    return Sample(
        at,
        sum(map(_cpu, workers)),
        sum(map(_cpu, servers)),
        sum(whole) - whole.idle - getattr(whole, "iowait", 0.0) - getattr(whole, "guest", 0.0),
    )


def _cpu(pid: int) -> float:
    """Seconds of CPU of a process and of its children, dead or alive."""
    total = 0.0
    try:
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            spent = one.cpu_times()
            total += spent.user + spent.system
            if one is process:
                total += spent.children_user + spent.children_system
    except psutil.NoSuchProcess:
        pass
    return total


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines of Markdown."""
    names = (
        "",
        "worker processes",
        "a second",
        "workers",
        "servers",
        "machine",
        "a second and core",
        "load",
    )
    yield f"| {' | '.join(names)} |"
    yield f"|{' --- |' * len(names)}"
    for row in rows:
        yield (
            f"| {row.what} | {row.processes} | {row.rate} | {row.workers_cpu} | "
            f"{row.servers_cpu} | {row.machine_cpu} | {row.per_core} | {row.load} |"
        )
