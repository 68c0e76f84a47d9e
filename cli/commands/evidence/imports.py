"""`attest import`: imports bulk files of a source, for the first fill and for missed days."""

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from sqlmodel import Session

from cli.commands.evidence.bulk_files import FORMATS, Format, Slice, dated, files_in, fingerprint
from cli.instance.context import Instance, JsonOption, print_json
from cli.output.bars import terminal_bars
from cli.output.printing import say, say_beside
from store.core.unit_of_work import Store
from store.models import now
from store.sources import imports
from store.sources.imports import ImportFile
from workers.http.errors import SourceError

AHEAD = 40
"""Slices that may wait to be read: enough for all workers, and little disk space."""
POLL_SECONDS = 0.1
STATISTICS_SECONDS = 2.0
PATIENCE_SECONDS = 10.0
"""Seconds without a slice read after which the bar says that it waits for the workers."""


@dataclass
class Report:
    """The result of one file. `before`: the slices that an earlier run had imported."""

    path: Path
    as_of: datetime
    file: ImportFile
    before: int
    progress: imports.Progress | None = None
    error: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The report for programs."""
        progress = self.progress
        return {
            "file": str(self.path),
            "as_of": self.as_of.isoformat(),
            "batch_id": str(self.file.batch_id),
            "slices": self.file.slices,
            "slices_before": self.before,
            "records": self.file.records,
            "complete": self.file.finished_at is not None,
            "documents": dict(progress.outcomes) if progress else {},
            "failed": [{"file": name, "error": why} for name, why in progress.failed]
            if progress
            else [],
            "error": self.error,
        }


def import_files(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(help=f"one of {', '.join(FORMATS)}")],
    paths: Annotated[list[Path], typer.Argument(help="bulk files, and folders of them")],
    as_of: Annotated[
        str | None,
        typer.Option(help="the day the files are of; each file's own date if left out"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Import bulk files; the same command goes on where an earlier run stopped."""
    if source not in FORMATS:
        raise ValueError(f"no files of {source!r} are imported: use one of {', '.join(FORMATS)}")
    files = dated(source, files_in(paths, FORMATS[source].endings), _moment(as_of))
    store = Instance.of(ctx).store
    reports: list[Report] = []
    try:
        with progress_bars() as bars:
            for path, at in files:
                reports.append(import_file(store, source, path, at, bars))
                if reports[-1].error:
                    break  # later files keep their own dates when they are imported in order
    except KeyboardInterrupt:
        again = shlex.join(["attest", *sys.argv[1:]])
        text = f"stopped; what is imported stays, and this goes on from there: {again}"
        say_beside(text)
        raise typer.Exit(130) from None
    if as_json:
        print_json({"source": source, "files": [report.body for report in reports]})
    else:
        for report in reports:
            say(_in_words(report))
    _complain(reports)


def _complain(reports: Sequence[Report]) -> None:
    """Print a line for the broken file and for each unread slice; exit code 1 if there is any."""
    lines = [
        f"{name}: {why}"
        for report in reports
        if report.progress
        for name, why in report.progress.failed
    ]
    lines += [f"attest: {report.path.name}: {report.error}" for report in reports if report.error]
    for line in lines:
        say_beside(line, style="red")
    if lines:
        raise typer.Exit(1)


def _moment(as_of: str | None) -> datetime | None:
    """Return the beginning of the day, so that no record seems fresher than it is."""
    if as_of is None:
        return None
    try:
        at = datetime.combine(date.fromisoformat(as_of), datetime.min.time(), UTC)
    except ValueError:
        raise ValueError(f"--as-of: {as_of!r} is no day; write it as 2026-01-31") from None
    if at > now():
        raise ValueError(f"--as-of: {as_of} lies in the future")
    return at


def progress_bars() -> Bars:
    """Return the display of all bars, on stderr; it vanishes when the command ends."""
    return terminal_bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )


class _Bar:
    """The bar of one file: bytes, records, records per second in this run, time left."""

    def __init__(self, bars: Bars, name: str, total: int) -> None:
        self._bars, self._name = bars, name
        self._task: TaskID = bars.add_task(name, total=total, told="")
        self._begun = time.monotonic()
        self._records = self._fresh = 0

    def moved(self, one: Slice, *, skipped: bool) -> None:
        """Count a finished slice."""
        self._records += one.records
        self._fresh += 0 if skipped else one.records
        rate = self._fresh / max(time.monotonic() - self._begun, 0.001)
        text = f"{self._records:,} records, {rate:,.0f}/s"
        self._bars.update(self._task, completed=one.behind, told=text)

    def says(self, what: str) -> None:
        """Show `what` beside the name."""
        self._bars.update(self._task, description=f"{self._name} {what}".rstrip())

    def close(self) -> None:
        """Remove the bar."""
        self._bars.remove_task(self._task)


class _Readers:
    """Waits for the workers, so that no more than AHEAD slices are unread at any time."""

    def __init__(self, store: Store, batch_id: UUID, bar: _Bar) -> None:
        self._store, self._batch_id, self._bar = store, batch_id, bar
        self._room = 0
        self._counted_at = 0.0

    def make_room(self) -> None:
        """Wait until another slice may be put."""
        if self._room == 0:
            self._room = AHEAD - self._wait(AHEAD - 1)
        self._room -= 1

    def finish(self) -> None:
        """Wait until everything is read."""
        self._wait(0)

    def _wait(self, most: int) -> int:
        """Wait until at most `most` slices are unread; return how many are."""
        moved, before = time.monotonic(), -1
        doing = "" if most else "(storing the rest)"
        while True:
            with Session(self._store.engine) as session:
                unread = imports.unread(session, self._batch_id)
            moment = time.monotonic()
            if moment - self._counted_at > STATISTICS_SECONDS:
                imports.keep_statistics(self._store.engine)
                self._counted_at = moment
            if unread <= most:
                self._bar.says("")
                return unread
            if unread != before:
                moved, before = moment, unread
                self._bar.says(doing)
            elif moment - moved > PATIENCE_SECONDS:
                self._bar.says("(waiting for the workers)")
            time.sleep(POLL_SECONDS)


def import_file(store: Store, source: str, path: Path, as_of: datetime, bars: Bars) -> Report:
    """Import the slices of a file that are not imported yet, and wait until they are read.

    Raises ImportedElsewhere, or ValueError if the file changed since its import began. A broken
    file is an error in the report.
    """
    form = FORMATS[source]
    with store.unit_of_work("cli") as work:
        file = imports.begin(work, source, fingerprint(path, form.rule), path.name)
    report = Report(path, as_of, file, file.slices)
    bar = _Bar(bars, path.name, form.size(path))
    readers = _Readers(store, file.batch_id, bar)
    try:
        if file.finished_at is None:
            _put(store, report, form, readers, bar)
    except SourceError as error:
        kept = f"its first {report.file.slices:,} slices with {report.file.records:,} records"
        report.error = f"{error} ({kept} are imported)"
    readers.finish()
    bar.close()
    with Session(store.engine) as session:
        report.progress = imports.progress(session, file.batch_id)
    return report


def _put(store: Store, report: Report, form: Format, readers: _Readers, bar: _Bar) -> None:
    """Put the remaining slices one by one, then mark the file as complete."""
    slices = form.cut(report.path)
    held = 0
    for part in islice(slices, report.before):
        held += part.records
        bar.moved(part, skipped=True)
    if held != report.file.records:
        raise ValueError(
            f"{report.path.name} is not what it was when its import began: rename it to import it "
            "anew"
        )
    for part in slices:
        file = report.file
        readers.make_room()
        with store.unit_of_work("cli", request_id=file.batch_id) as work:
            report.file = imports.put_slice(work, file, part.content, part.records, report.as_of)
        bar.moved(part, skipped=False)
    with store.unit_of_work("cli", request_id=report.file.batch_id) as work:
        report.file = imports.finish(work, report.file)


def _in_words(report: Report) -> str:
    file, progress = report.file, report.progress
    assert progress is not None, "asked for at its end"
    counts = ", ".join(
        f"{progress.outcomes[name]:,} {name}"
        for name in ("new", "changed", "unchanged", "outdated", "deferred")
        if progress.outcomes[name] or name in ("new", "changed", "unchanged")
    )
    done = file.finished_at is not None and report.before == file.slices
    already = "imported already: " if done else ""
    rest = file.records - progress.outcomes.total()
    rest_text = f", {rest:,} deletions or unreadable (attest findings)" if rest else ""
    return (
        f"{report.path.name}: {already}{file.records:,} records as of {report.as_of:%Y-%m-%d}: "
        f"{counts}{rest_text}"
    )
