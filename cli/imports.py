"""`attest import`: the bulk files of a source, for the first fill and for days that were missed."""

import hashlib
import shlex
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from sqlmodel import Session

from cli.context import Instance, JsonOption, print_json
from store import imports
from store.imports import ImportFile
from store.models import now
from store.unit_of_work import Store
from workers.ingest.parsers import bulk_json, pubmed_bulk
from workers.ingest.source_errors import SourceError

RECORDS_PER_SLICE = 250
"""Of PubMed: a message works on so many, well inside a lease; some 3 MB."""
AHEAD = 40
"""Slices that may wait to be read: enough for all workers, little on the disk."""
POLL_SECONDS = 0.1
STATISTICS_SECONDS = 2.0
PATIENCE_SECONDS = 10.0
"""After so long without a slice read, the bar says that it waits for the workers."""
_ENDS = 1024 * 1024  # bytes of each end of a file that its fingerprint covers


class Slice(NamedTuple):
    """A payload, how many records are in it, and how many bytes of the file are behind it."""

    content: bytes
    records: int
    behind: int


@dataclass(frozen=True)
class Format:
    """How the files of a source end, how they are cut, and how many bytes there are to cut."""

    endings: tuple[str, ...]
    cut: Callable[[Path], Iterator[Slice]]
    size: Callable[[Path], int]
    rule: str
    """Where the cuts are: part of the fingerprint, so that slices cut otherwise count anew."""


def _cut_pubmed(path: Path) -> Iterator[Slice]:
    with path.open("rb") as file:
        for content, records in pubmed_bulk.slices(file, RECORDS_PER_SLICE):
            yield Slice(content, records, file.tell())


def _cut_json(slices: Callable[[Path], bulk_json.Slices]) -> Callable[[Path], Iterator[Slice]]:
    def cut(path: Path) -> Iterator[Slice]:
        behind = 0
        for content, records in slices(path):
            behind += len(content)
            yield Slice(content, records, behind)

    return cut


def _size(path: Path) -> int:
    return path.stat().st_size


def _unpacked_size(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return _size(path)


_JSON_RULE = f"{bulk_json.MAX_RECORDS} records, {bulk_json.MAX_SLICE_BYTES} bytes"
_OPENFDA = Format(
    (".json", ".json.zip"), _cut_json(bulk_json.openfda_slices), _unpacked_size, _JSON_RULE
)
FORMATS: dict[str, Format] = {
    "pubmed": Format((".xml", ".xml.gz"), _cut_pubmed, _size, f"{RECORDS_PER_SLICE} records"),
    "clinicaltrials": Format(
        (".zip",), _cut_json(bulk_json.ctgov_slices), _unpacked_size, _JSON_RULE
    ),
    "openfda-label": _OPENFDA,
    "openfda-drugsfda": _OPENFDA,
    "openfda-enforcement": _OPENFDA,
}


@dataclass
class Report:
    """What became of one file. `before`: slices that an earlier run had imported already."""

    path: Path
    as_of: datetime
    file: ImportFile
    before: int
    progress: imports.Progress | None = None
    error: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        """For programs."""
        found = self.progress
        return {
            "file": str(self.path),
            "as_of": self.as_of.isoformat(),
            "batch_id": str(self.file.batch_id),
            "slices": self.file.slices,
            "slices_before": self.before,
            "records": self.file.records,
            "complete": self.file.finished_at is not None,
            "documents": dict(found.outcomes) if found else {},
            "failed": [{"file": name, "error": why} for name, why in found.failed] if found else [],
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
        with _bars() as bars:
            for path, at in files:
                reports.append(_import(store, source, path, at, bars))
                if reports[-1].error:
                    break  # the files behind it count from their own dates when they come in order
    except KeyboardInterrupt:
        again = shlex.join(["attest", *sys.argv[1:]])
        text = f"stopped; what is imported stays, and this goes on from there: {again}"
        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(130) from None
    if as_json:
        print_json({"source": source, "files": [one.body for one in reports]})
    else:
        for one in reports:
            print(_in_words(one))
    _complain(reports)


def _complain(reports: Sequence[Report]) -> None:
    """One line for the broken file and for each slice nobody could read; exit code 1 for any."""
    errors = Console(stderr=True)
    lines = [
        f"{name}: {why}" for one in reports if one.progress for name, why in one.progress.failed
    ]
    lines += [f"attest: {one.path.name}: {one.error}" for one in reports if one.error]
    for line in lines:
        errors.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if lines:
        raise typer.Exit(1)


def files_in(paths: Sequence[Path], endings: tuple[str, ...]) -> list[Path]:
    """The files to import, those of folders by name.

    Raises ValueError: one does not exist or ends otherwise, or a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.name.lower().endswith(endings))
            if not inside:
                raise ValueError(f"{path} holds no file that ends in {' or '.join(endings)}")
            found += inside
        elif not path.is_file():
            raise ValueError(f"{path} does not exist")
        elif not path.name.lower().endswith(endings):
            raise ValueError(f"{path} does not end in {' or '.join(endings)}")
        else:
            found.append(path)
    return found


def dated(
    source: str, files: Sequence[Path], as_of: datetime | None
) -> list[tuple[Path, datetime]]:
    """The files, oldest first, each with the moment its contents are of.

    Files of PubMed are numbered, and a later number corrects an earlier one, whenever each was
    downloaded: so they come by name, and none counts as newer than one behind it.

    Raises ValueError: a date lies in the future; what came later would count as outdated.
    """
    if source == "pubmed":
        files = sorted(files, key=lambda path: path.name)
    if as_of is not None:
        return [(path, as_of) for path in files]
    own = [(path, datetime.fromtimestamp(path.stat().st_mtime, UTC)) for path in files]
    for path, at in own:
        if at > now():
            raise ValueError(f"{path} has a date in the future: name the day with --as-of")
    if source != "pubmed":
        return sorted(own, key=lambda one: (one[1], one[0].name))
    latest = own[-1][1]
    found: list[tuple[Path, datetime]] = []
    for path, at in reversed(own):
        latest = min(latest, at)
        found.append((path, latest))
    return found[::-1]


def _moment(as_of: str | None) -> datetime | None:
    """A day counts from its beginning: no record seems fresher than it is."""
    if as_of is None:
        return None
    try:
        at = datetime.combine(date.fromisoformat(as_of), datetime.min.time(), UTC)
    except ValueError:
        raise ValueError(f"--as-of: {as_of!r} is no day; write it as 2026-01-31") from None
    if at > now():
        raise ValueError(f"--as-of: {as_of} lies in the future")
    return at


def fingerprint(path: Path, rule: str) -> str:
    """What tells a file from others: its name, its size, its first and last MiB, and its cuts.

    Reading gigabytes twice would cost minutes and tell no more: gzip and zip files end with check
    sums of all that is in them.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(f"{path.name}\n{size}\n{rule}\n".encode())
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, size - _ENDS))
        digest.update(file.read(_ENDS))
    return digest.hexdigest()


def _bars() -> Bars:
    return Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


class _Bar:
    """The bar of one file: bytes, records, records a second in this run, time left."""

    def __init__(self, bars: Bars, name: str, total: int) -> None:
        self._bars, self._name = bars, name
        self._task: TaskID = bars.add_task(name, total=total, told="")
        self._begun = time.monotonic()
        self._records = self._fresh = 0

    def moved(self, one: Slice, *, skipped: bool) -> None:
        """A slice is behind us."""
        self._records += one.records
        self._fresh += 0 if skipped else one.records
        rate = self._fresh / max(time.monotonic() - self._begun, 0.001)
        told = f"{self._records:,} records, {rate:,.0f}/s"
        self._bars.update(self._task, completed=one.behind, told=told)

    def says(self, what: str) -> None:
        """Show `what` beside the name."""
        self._bars.update(self._task, description=f"{self._name} {what}".rstrip())

    def close(self) -> None:
        """Take it away."""
        self._bars.remove_task(self._task)


class _Readers:
    """Waits for the workers, so that no more than AHEAD slices are unread at any time."""

    def __init__(self, store: Store, batch_id: UUID, bar: _Bar) -> None:
        self._store, self._batch_id, self._bar = store, batch_id, bar
        self._room = 0
        self._counted_at = 0.0

    def make_room(self) -> None:
        """Come back when one more slice may be put."""
        if self._room == 0:
            self._room = AHEAD - self._wait(AHEAD - 1)
        self._room -= 1

    def finish(self) -> None:
        """Come back when everything is read."""
        self._wait(0)

    def _wait(self, most: int) -> int:
        """Wait until at most so many slices are unread; gives how many are."""
        moved, before = time.monotonic(), -1
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
                self._bar.says("")
            elif moment - moved > PATIENCE_SECONDS:
                self._bar.says("(waiting for the workers)")
            time.sleep(POLL_SECONDS)


def _import(store: Store, source: str, path: Path, as_of: datetime, bars: Bars) -> Report:
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
    """Put what is not put yet, slice by slice, and say that the file is complete."""
    slices = form.cut(report.path)
    held = 0
    for one in islice(slices, report.before):
        held += one.records
        bar.moved(one, skipped=True)
    if held != report.file.records:
        raise ValueError(
            f"{report.path.name} is not what it was when its import began: rename it to import it "
            "anew"
        )
    for one in slices:
        file = report.file
        readers.make_room()
        with store.unit_of_work("cli", request_id=file.batch_id) as work:
            report.file = imports.put_slice(work, file, one.content, one.records, report.as_of)
        bar.moved(one, skipped=False)
    with store.unit_of_work("cli", request_id=report.file.batch_id) as work:
        report.file = imports.finish(work, report.file)


def _in_words(report: Report) -> str:
    file, found = report.file, report.progress
    assert found is not None, "asked for at its end"
    counts = ", ".join(
        f"{found.outcomes[name]:,} {name}"
        for name in ("new", "changed", "unchanged", "outdated", "deferred")
        if found.outcomes[name] or name in ("new", "changed", "unchanged")
    )
    done = file.finished_at is not None and report.before == file.slices
    already = "imported already: " if done else ""
    rest = file.records - found.outcomes.total()
    other = f", {rest:,} deletions or unreadable (attest findings)" if rest else ""
    return (
        f"{report.path.name}: {already}{file.records:,} records as of {report.as_of:%Y-%m-%d}: "
        f"{counts}{other}"
    )
