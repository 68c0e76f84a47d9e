"""`make bench`, second part: reading sources, on this machine, printed as figures.

1. parse: from bytes to records, one thread;
2. import: a stream of `--gigabytes` of PubMed XML is cut, promised and stored, as `attest import`
   and the ingest stage do it, on a PostgreSQL of its own and before anything is embedded: CPU of
   the one worker thread, of the importer and of PostgreSQL, all of it together, and how far the
   memory grows;
3. refresh: steps of a refresh against a fake of PubMed on loopback, with the fake's time running as
   fast as it is waited for: what HTTP, turns and bookkeeping cost a page.

A shared machine may run a thread at half its speed for minutes. So a loop that is always the same
is timed beside every slice, and next to each rate stands what it is for a core at the full speed
that the loop ever showed.
"""

import argparse
import io
import json
import math
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

import psutil
import sqlalchemy as sa
import structlog
from rich.console import Console

from benchmarks.pubmed_corpus import RECORDS_PER_SLICE, made_up, numbered, of_file, sets
from messages import Stage
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.embedded import embedded
from store.sources import imports, refreshes, watches
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from workers.ingest.parsers.pubmed.bulk import slices
from workers.ingest.parsers.pubmed.records import parse
from workers.registry import spec_of
from workers.runtime.leases import LeaseKeeper
from workers.runtime.memory import settle_memory
from workers.runtime.stage import Context, StageSpec, handle

console = Console(stderr=True)
DAY = datetime(2026, 1, 1, tzinfo=UTC)
WARM_UP = 4
"""Slices that are not counted: caches, plans and connections are made with them."""


def parsing(templates: list[bytes], records: int) -> dict[str, float]:
    """From bytes to records."""
    pace, times = Pace(), []
    for payload in sets(numbered(templates, records)):
        pace.beat()
        begun = time.thread_time()
        parse(payload)
        times.append(time.thread_time() - begun)
    return _rates(times, pace)


class Pace:
    """How fast the core is while something is measured."""

    full: ClassVar[float] = math.inf
    """CPU seconds of the loop on a core at its full speed, as far as it was seen."""

    def __init__(self) -> None:
        self.beats: list[float] = []
        self.spent = 0.0
        """CPU seconds that the loop took itself."""

    def beat(self) -> None:
        """Time the loop."""
        at = len(self.beats)
        for _ in range(3):
            begun, total = time.thread_time(), 0
            for number in range(20_000):
                total += number * number
            self.beats.append(time.thread_time() - begun)
        Pace.full = min(Pace.full, *self.beats[at:])
        self.spent += sum(self.beats[at:])

    @property
    def slowdown(self) -> float:
        """How much longer everything took than at full speed."""
        return statistics.fmean(self.beats) / Pace.full


def _rates(times: Sequence[float], pace: Pace) -> dict[str, float]:
    """CPU seconds of whole slices, as microseconds a record and records a second."""
    mean = statistics.fmean(times) / RECORDS_PER_SLICE
    return {
        "cpu_us_per_record": round(mean * 1e6),
        "records_per_cpu_second": round(1 / mean),
        "slowdown": round(pace.slowdown, 2),
        "records_per_cpu_second_at_full_speed": round(pace.slowdown / mean),
    }


@dataclass
class Bench:
    """A worker without threads: what is promised is handled when the benchmark says so."""

    context: Context
    promised: list[Promise]
    postgres: psutil.Process
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return self.context.store

    def handle(self, stage: Stage) -> float:
        """Do what is promised to `stage` first; gives the CPU seconds of this thread."""
        promise = next(one for one in self.promised if one.stage == stage.value)
        self.promised.clear()
        spec: StageSpec[Any, Any] = spec_of(stage)
        timed = replace(
            spec, work=self._timed("work", spec.work), commit=self._timed("commit", spec.commit)
        )
        begun = time.thread_time()
        handle(self.context, timed, promise.payload, promise.id)
        return time.thread_time() - begun

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begun = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.thread_time() - begun

        return timed

    def postgres_seconds(self) -> float:
        """CPU seconds of PostgreSQL so far: of its processes, and of those that have ended."""
        own = self.postgres.cpu_times()
        living = (sum(one.cpu_times()[:2]) for one in self.postgres.children(recursive=True))
        return own.user + own.system + own.children_user + own.children_system + sum(living)


@contextmanager
def bench(clock: Clock | None = None, mirrors: dict[str, str] | None = None) -> Iterator[Bench]:
    """A worker over a database of its own; `clock` is the time of its sources."""
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
        data = Path(directory) / "data"
        with embedded(data) as servers:
            engine = connect(servers.database_url)
            migrate(engine)
            with engine.connect() as connection:
                backend = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
            postgres = psutil.Process(backend).parent()
            assert postgres is not None, "a backend is a child of the server"
            promised: list[Promise] = []
            store = Store(engine, promised.extend)
            leases = LeaseKeeper(store, 15.0)
            settings = Settings(data_dir=data, source_mirrors=mirrors or {})
            times = {"now": clock, "sleep": clock.sleep} if clock else {}
            context = Context(store, settings, "bench", leases, **cast("Any", times))
            leases.start()
            yield Bench(context, promised, postgres)
            leases.stop()
            engine.dispose()


class _Made(io.RawIOBase):
    """A file of so many bytes that is nowhere: its records are made while it is read."""

    def __init__(self, templates: list[bytes], size: int) -> None:
        self._parts = self._made(templates, size)
        self._rest = b""
        self.spent = 0.0
        """CPU seconds that making them took: no part of an import."""

    @staticmethod
    def _made(templates: list[bytes], size: int) -> Iterator[bytes]:
        yield b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
        for record in numbered(templates, 10**9):
            yield record
            size -= len(record)
            if size <= 0:
                break
        yield b"</PubmedArticleSet>\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        begun = time.thread_time()
        try:
            return self._into(buffer)
        finally:
            self.spent += time.thread_time() - begun

    def _into(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = part
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def importing(templates: list[bytes], gigabytes: float) -> dict[str, Any]:
    """A stream through the importer and the ingest stage."""
    made = _Made(templates, int(gigabytes * 1e9))
    stream = cast("BinaryIO", io.BufferedReader(made, 2**18))
    times: list[float] = []
    pace = Pace()
    with bench() as worker:

        def everything() -> float:
            """CPU seconds of worker, importer and PostgreSQL, without those of measuring."""
            return time.process_time() - pace.spent - made.spent + worker.postgres_seconds()

        with worker.store.unit_of_work("bench") as work:
            file = imports.begin(work, "pubmed", "bench", "bench.xml")
        begun = importer = postgres = everything_before = 0.0
        records = grown_from = 0
        for number, (payload, count) in enumerate(slices(stream, RECORDS_PER_SLICE)):
            if number == WARM_UP:
                worker.spent.clear()
                times.clear()
                pace.beats.clear()
                begun, importer, postgres = time.perf_counter(), 0.0, worker.postgres_seconds()
                records, grown_from, everything_before = 0, _peak(), everything()
            promise_begun = time.thread_time()
            with worker.store.unit_of_work("bench", request_id=file.batch_id) as work:
                file = imports.put_slice(work, file, payload, count, DAY)
            importer += time.thread_time() - promise_begun
            pace.beat()
            seconds = worker.handle(Stage.INGEST)
            records += count
            if count == RECORDS_PER_SLICE:
                times.append(seconds)
            imports.keep_statistics(worker.store.engine)
        wall = time.perf_counter() - begun
        whole = (everything() - everything_before) / records
        with worker.store.reading() as session:
            stored = imports.progress(session, file.batch_id).outcomes["new"]
        if stored != file.records:
            raise RuntimeError(f"only {stored} of {file.records} records were stored")
        return {
            "gigabytes": gigabytes,
            "records": stored,
            **_rates(times, pace),
            "work_us": round(worker.spent["work"] / records * 1e6),
            "commit_us": round(worker.spent["commit"] / records * 1e6),
            "importer_us": round(importer / records * 1e6),
            "postgres_us": round((worker.postgres_seconds() - postgres) / records * 1e6),
            "everything_us": round(whole * 1e6),
            "records_per_second_of_one_core_for_everything": round(1 / whole),
            "and_at_its_full_speed": round(pace.slowdown / whole),
            "records_per_second": round(records / wall),
            "peak_mb": round(_peak() / 1024),
            "grown_by_mb": round((_peak() - grown_from) / 1024, 1),
        }


def _peak() -> int:
    """The greatest resident size of this process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def refreshing(records: int) -> dict[str, float]:
    """Steps of one refresh: each fetches a page of 200 records and promises to read it."""
    clock = Clock(DAY)
    pubmed = Eutils(clock)
    for pmid in range(1, records + 1):
        pubmed.put(pmid)
    with FakeWeb(pubmed) as web, bench(clock, web.mirrors) as worker:
        with worker.store.unit_of_work("bench") as work:
            watch = watches.follow(work, "pubmed", "made-up", "user", clock())
            refreshes.request(work, watch, "user", clock())
        worker.handle(Stage.REFRESH)  # the first step loads modules and opens the connection
        begun, cpu, steps = time.perf_counter(), 0.0, 0
        while any(one.stage == Stage.REFRESH.value for one in worker.promised):
            cpu += worker.handle(Stage.REFRESH)
            steps += 1
        wall = time.perf_counter() - begun
    return {
        "steps": steps,
        "requests": len(web.requests),
        "pages_per_second": round(steps / wall, 1),
        "cpu_ms_per_page": round(cpu / steps * 1000, 2),
    }


def main() -> None:
    """Measure, print a line for each part, and all of it as JSON."""
    parser = argparse.ArgumentParser(description="Measure how sources are read.")
    parser.add_argument("--gigabytes", type=float, default=0.1, help="of the import")
    parser.add_argument("--file", type=Path, help="a PubMed file whose records are used")
    chosen = parser.parse_args()
    settle_memory()  # as every worker does
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    templates = of_file(chosen.file) if chosen.file else made_up()
    size = round(sum(map(len, templates)) / len(templates))
    parsed = parsing(templates, 40 * RECORDS_PER_SLICE)
    stored = importing(templates, chosen.gigabytes)
    pages = refreshing(4000)
    line = "{:<8} {:>7,} records/s of one core, {:,} at its full speed; {}"
    rates = ("records_per_cpu_second", "records_per_cpu_second_at_full_speed")
    print(f"PubMed records of {size:,} bytes, {RECORDS_PER_SLICE} a slice")
    print(line.format("parse", *(parsed[one] for one in rates), "bytes to records"))
    print(
        line.format(
            "import",
            *(stored[one] for one in rates),
            f"{stored['records_per_second']:,} by the clock",
        )
    )
    print(
        f"         us of CPU a record: worker {stored['cpu_us_per_record']} (work "
        f"{stored['work_us']}, commit {stored['commit_us']}), importer {stored['importer_us']}, "
        f"PostgreSQL {stored['postgres_us']}; the core was {stored['slowdown']} times slower than "
        "at its best"
    )
    print(
        f"         {stored['records_per_second_of_one_core_for_everything']:,} records/s of one "
        f"core for everything, PostgreSQL included ({stored['everything_us']} us a record with the "
        f"cutting of the file); {stored['and_at_its_full_speed']:,} at its full speed"
    )
    print(
        f"         memory: {stored['peak_mb']} MB at most, grown by {stored['grown_by_mb']} MB "
        f"over {stored['gigabytes']} GB"
    )
    print(
        f"refresh  {pages['pages_per_second']} pages/s with the fake in the same process, "
        f"{pages['cpu_ms_per_page']} ms of CPU a page"
    )
    body = {"bench": "sources", "record_bytes": size, "parse": parsed}
    print(json.dumps({**body, "import": stored, "refresh": pages}))


if __name__ == "__main__":
    main()
