"""Bulk files: each slice is promised once, wherever an import dies and however often it is run."""

import gzip
import json
import os
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from cli.commands.evidence import bulk_files
from cli.commands.evidence import imports as command
from cli.commands.evidence.bulk_files import FORMATS, dated, files_in, fingerprint
from cli.commands.evidence.imports import Report, import_file, progress_bars
from store.core.unit_of_work import Store
from store.models import now
from store.sources import imports
from store.sources.imports import ImportedElsewhere
from tests.fakes.clinicaltrials import made_up_study
from tests.fakes.openfda import made_up_application, made_up_label, made_up_recall
from tests.fakes.pubmed_records import Citation, article_set
from workers.inline import InlineWorker

DAY = datetime(2026, 3, 2, tzinfo=UTC)
RULE = FORMATS["pubmed"].rule

Import = Callable[..., Report]


class Killed(BaseException):
    """The importer dies here."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of three records, two of them ahead of the workers."""
    monkeypatch.setattr(bulk_files, "RECORDS_PER_SLICE", 3)
    monkeypatch.setattr(command, "AHEAD", 2)
    monkeypatch.setattr(command, "POLL_SECONDS", 0.01)


@pytest.fixture
def importing(inline: InlineWorker) -> Iterator[Import]:
    """Imports a file while a worker reads."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.01):
            inline.run()

    def run(path: Path, source: str = "pubmed", as_of: datetime = DAY) -> Report:
        with progress_bars() as bars:
            return import_file(inline.store, source, path, as_of, bars)

    worker = threading.Thread(target=work)
    worker.start()
    yield run
    stop.set()
    worker.join()


def _file(
    folder: Path, pmids: Sequence[int], name: str = "pubmed26n0001.xml.gz", **fields: Any
) -> Path:
    """A file of PubMed; `deleted` and fields of all its records."""
    deleted = fields.pop("deleted", ())
    data = article_set([Citation(pmid, **fields) for pmid in pmids], deleted)
    path = folder / name
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return path


def _rows(store: Store, query: str, **values: Any) -> list[Any]:
    with store.reading() as session:
        return list(session.execute(sa.text(query), values))


def _held(store: Store) -> list[tuple[str, str, int]]:
    """Key, status and number of each version."""
    query = (
        "SELECT d.source_key, v.status, v.n FROM document d "
        "JOIN document_version v ON v.document_id = d.id ORDER BY 1, 3"
    )
    return [tuple(row) for row in _rows(store, query)]


def _outcomes(report: Report) -> dict[str, int]:
    assert report.progress is not None
    assert report.progress.unread == 0
    return dict(report.progress.outcomes)


def _once(store: Store, pmids: Sequence[int]) -> bool:
    """Whether each of these is held in one version, and each slice was promised and read once."""
    slices = _rows(store, "SELECT filename, status, content FROM ingest_item ORDER BY created_at")
    [file] = _rows(store, "SELECT * FROM import_file")
    assert [row.filename for row in slices] == [
        f"{file.filename}.slice-{n + 1}" for n in range(file.slices)
    ]
    assert all(row.status == "done" and row.content is None for row in slices)
    [messages] = _rows(store, "SELECT count(*) AS n FROM outbox WHERE stage = 'ingest'")
    assert messages.n == file.slices
    return _held(store) == sorted((f"pmid:{pmid}", "current", 1) for pmid in pmids)


@pytest.mark.parametrize("name", ["pubmed26n0001.xml.gz", "pubmed26n0001.xml"])
def test_a_file_of_pubmed_becomes_documents_as_of_its_day(
    importing: Import, store: Store, tmp_path: Path, name: str
) -> None:
    report = importing(_file(tmp_path, range(1, 11), name))
    assert (report.file.slices, report.file.records, report.before) == (4, 10, 0)
    assert report.file.finished_at is not None
    assert report.error is None
    assert _outcomes(report) == {"new": 10}
    assert _once(store, range(1, 11))
    [clock] = _rows(store, "SELECT DISTINCT checked_at FROM document")
    assert clock.checked_at == DAY
    assert _rows(store, "SELECT DISTINCT source, fetched_at FROM document_version") == [
        ("pubmed", DAY)
    ]
    [requests] = _rows(
        store, "SELECT array_agg(DISTINCT request_id) AS ids FROM outbox WHERE stage = 'ingest'"
    )
    assert requests.ids == [report.file.batch_id]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("clinicaltrials", "studies.zip"),
        ("openfda-label", "drug-label-0001-of-0001.json.zip"),
        ("openfda-drugsfda", "drug-drugsfda-0001-of-0001.json"),
        ("openfda-enforcement", "drug-enforcement-0001-of-0001.json.zip"),
    ],
)
def test_files_of_the_other_sources_become_documents_too(
    importing: Import, store: Store, tmp_path: Path, source: str, name: str
) -> None:
    path = tmp_path / name
    if source == "clinicaltrials":
        ids = [f"NCT{n:08d}" for n in range(1, 131)]
        members = {
            f"{nct_id}.json": json.dumps(made_up_study(nct_id, date(2026, 3, 1))) for nct_id in ids
        }
    else:
        made_up = {
            "openfda-label": made_up_label,
            "openfda-drugsfda": made_up_application,
            "openfda-enforcement": made_up_recall,
        }[source]
        rows = [made_up(n) for n in range(1, 131)]
        members = {
            name.removesuffix(".zip"): json.dumps(
                {"meta": {"last_updated": "2026-03-01"}, "results": rows}
            )
        }
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
    else:
        path.write_text(members[name])
    report = importing(path, source)
    assert (report.error, report.file.slices, report.file.records) == (None, 2, 130)
    assert _outcomes(report) == {"new": 130}
    assert len(_held(store)) == 130
    assert _outcomes(importing(path, source)) == {"new": 130}
    [items] = _rows(store, "SELECT count(*) AS n FROM ingest_item")
    assert items.n == 2


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("dies_at", [1, 2, 4])
def test_an_import_that_is_killed_anywhere_goes_on_from_there_and_repeats_nothing(
    importing: Import,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dies_at: int,
    committed: bool,
) -> None:
    path = _file(tmp_path, range(1, 11))
    put, calls = imports.put_slice, 0

    def mortal(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == dies_at + committed:
            if not committed:
                put(*arguments)
            raise Killed
        return put(*arguments)

    monkeypatch.setattr(imports, "put_slice", mortal)
    if committed and dies_at == 4:  # behind the last slice
        monkeypatch.setattr(imports, "finish", mortal)
    with pytest.raises(Killed):
        importing(path)
    monkeypatch.undo()
    monkeypatch.setattr(bulk_files, "RECORDS_PER_SLICE", 3)
    report = importing(path)
    assert report.before == (dies_at if committed else dies_at - 1)
    assert report.file.finished_at is not None
    assert _outcomes(report) == {"new": 10}
    assert _once(store, range(1, 11))


def test_a_file_that_is_imported_is_not_imported_again(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    path = _file(tmp_path, range(1, 11))
    first = importing(path)
    again = importing(path)
    assert again.before == again.file.slices == first.file.slices
    assert again.file == first.file
    assert _outcomes(again) == {"new": 10}
    assert _once(store, range(1, 11))


def test_two_that_import_one_file_at_once_put_each_slice_once(
    inline: InlineWorker, tmp_path: Path
) -> None:
    store, path = inline.store, _file(tmp_path, range(1, 11))
    with store.unit_of_work("test") as work:
        one = imports.begin(work, "pubmed", fingerprint(path, RULE), path.name)
    with store.unit_of_work("test") as work:
        other = imports.begin(work, "pubmed", fingerprint(path, RULE), path.name)
    assert one == other
    with store.unit_of_work("test") as work:
        further = imports.put_slice(work, one, b"<PubmedArticleSet/>", 1, DAY)
    assert (further.slices, further.records) == (1, 1)
    with pytest.raises(ImportedElsewhere), store.unit_of_work("test") as work:
        imports.put_slice(work, other, b"<PubmedArticleSet/>", 1, DAY)
    with pytest.raises(ImportedElsewhere), store.unit_of_work("test") as work:
        imports.finish(work, other)
    with store.unit_of_work("test") as work:
        imports.finish(work, further)
    with pytest.raises(ImportedElsewhere), store.unit_of_work("test") as work:
        imports.put_slice(work, further, b"<PubmedArticleSet/>", 1, DAY)
    assert len(_rows(store, "SELECT FROM ingest_item")) == 1


def test_the_importer_never_runs_further_ahead_than_it_may(
    inline: InlineWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, most, unread = inline.store, 0, imports.unread

    def watched(session: Any, batch_id: Any) -> int:
        nonlocal most
        found = unread(session, batch_id)
        most = max(most, found)
        if found:  # one slice is read while the importer waits
            for row in _rows(store, "SELECT id FROM ingest_item WHERE status = 'pending' LIMIT 1"):
                with store.engine.begin() as connection:
                    connection.execute(
                        sa.text("UPDATE ingest_item SET status = 'done' WHERE id = :id"),
                        {"id": row.id},
                    )
        return found

    monkeypatch.setattr(imports, "unread", watched)
    with progress_bars() as bars:
        report = import_file(store, "pubmed", _file(tmp_path, range(1, 31)), DAY, bars)
    assert report.file.slices == 10
    assert most == command.AHEAD


@pytest.mark.parametrize("cut", [60, 400])
def test_of_a_truncated_file_the_whole_records_stay_and_the_whole_file_comes_later(
    importing: Import, store: Store, tmp_path: Path, cut: int
) -> None:
    path = _file(tmp_path, range(1, 11))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    broken = importing(path)
    assert broken.file.finished_at is None
    assert broken.error is not None
    assert "truncated" in broken.error
    assert f"{broken.file.records} records" in broken.error
    kept = _outcomes(broken).get("new", 0)
    assert kept == broken.file.records < 10

    again = importing(path)  # the same, and nothing twice
    assert again.error == broken.error
    assert again.file == broken.file

    path.write_bytes(whole)
    mended = importing(path, as_of=DAY + timedelta(days=1))
    assert mended.error is None
    expected = {"new": 10 - kept, "unchanged": kept}
    assert _outcomes(mended) == {name: n for name, n in expected.items() if n}
    assert [n for _, _, n in _held(store)] == [1] * 10


def test_a_file_that_is_nothing_of_the_source_is_an_error_and_leaves_nothing(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "page.xml"
    path.write_text("<html/>")
    report = importing(path)
    assert report.error is not None
    assert "\n" not in report.error
    assert (report.file.slices, _held(store)) == (0, [])


def test_a_slice_that_nobody_can_read_is_told_and_its_neighbours_stay(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "pubmed26n0001.xml"
    content = article_set([Citation(n, title=f"Title {n}") for n in range(1, 10)])
    for n in (4, 5, 6):
        content = content.replace(f"Title {n}".encode(), b"<i>")
    path.write_bytes(content)
    report = importing(path)
    assert report.error is None
    assert _outcomes(report) == {"new": 6}
    assert report.progress is not None
    [(name, why)] = report.progress.failed
    assert name == "pubmed26n0001.xml.slice-2"
    assert "not well-formed" in why
    assert [key for key, _, _ in _held(store)] == [f"pmid:{n}" for n in (1, 2, 3, 7, 8, 9)]


def test_a_record_that_is_not_well_formed_is_told_and_its_neighbours_stay(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "pubmed26n0001.xml"
    content = article_set([Citation(n, title=f"Title {n}") for n in range(1, 10)])
    path.write_bytes(content.replace(b"Title 5", b"<i>Title 5"))
    report = importing(path)
    assert _outcomes(report) == {"new": 8}
    [finding] = _rows(store, "SELECT kind, subject, detail FROM finding")
    assert (finding.kind, finding.subject) == ("unreadable", "pmid:5")
    assert "not well-formed" in finding.detail["why"]


def test_deletions_in_a_daily_file_end_the_documents(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    importing(_file(tmp_path, range(1, 5)))
    update = _file(tmp_path, [4], "pubmed26n0002.xml.gz", title="Changed.", deleted=[2, 3, 99])
    report = importing(update, as_of=DAY + timedelta(days=1))
    assert _outcomes(report) == {"changed": 1}
    assert _held(store) == [
        ("pmid:1", "current", 1),
        ("pmid:2", "retracted", 1),
        ("pmid:3", "retracted", 1),
        ("pmid:4", "superseded", 1),
        ("pmid:4", "current", 2),
    ]
    kinds = _rows(store, "SELECT DISTINCT kind, source FROM notice")
    assert [tuple(row) for row in kinds] == [("removal", "pubmed")]


def test_an_older_file_changes_nothing(importing: Import, store: Store, tmp_path: Path) -> None:
    importing(_file(tmp_path, range(1, 5), title="Newer."))
    held = _held(store)
    older = _file(tmp_path, range(1, 7), "pubmed25n0001.xml.gz", title="Older.", deleted=[1])
    report = importing(older, as_of=DAY - timedelta(days=300))
    assert _outcomes(report) == {"outdated": 4, "new": 2}
    assert [row for row in _held(store) if row[0] not in ("pmid:5", "pmid:6")] == held
    [clock] = _rows(store, "SELECT checked_at FROM document WHERE source_key = 'pmid:1'")
    assert clock.checked_at == DAY


def test_what_is_imported_is_followed_by_no_watch(
    importing: Import, store: Store, tmp_path: Path
) -> None:
    importing(_file(tmp_path, range(1, 4)))
    assert _rows(store, "SELECT FROM watch_document") == []
    assert _rows(store, "SELECT FROM refresh") == []


def test_tables_that_grew_are_looked_at_and_then_left_alone(store: Store) -> None:
    with store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO document (id, source_type, source_key, created_at) "
                "SELECT gen_random_uuid(), 'pubmed', 'pmid:' || n, now() "
                "FROM generate_series(1, 3000) AS n"
            )
        )
    imports.keep_statistics(store.engine)
    [table] = _rows(store, "SELECT reltuples FROM pg_class WHERE relname = 'document'")
    assert table.reltuples == 3000
    with store.engine.connect() as connection:
        assert connection.execute(imports._GROWN).all() == []


# --- which files, and of when ---------------------------------------------------------------------


def _made(folder: Path, name: str, at: datetime) -> Path:
    path = folder / name
    path.write_bytes(b"x")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def test_a_file_of_pubmed_never_counts_as_newer_than_one_with_a_later_number(
    tmp_path: Path,
) -> None:
    days = {"n0001": 9, "n0002": 3, "n0003": 5}  # downloaded in any order
    files = [
        _made(tmp_path, f"pubmed26{name}.xml.gz", DAY + timedelta(days=n))
        for name, n in days.items()
    ]
    found = dated("pubmed", files[::-1], None)
    assert [path for path, _ in found] == files
    assert [(at - DAY).days for _, at in found] == [3, 3, 5]


def test_files_of_other_sources_come_by_their_dates(tmp_path: Path) -> None:
    late = _made(tmp_path, "a.zip", DAY + timedelta(days=1))
    early = _made(tmp_path, "b.zip", DAY)
    assert dated("clinicaltrials", [late, early], None) == [
        (early, DAY),
        (late, DAY + timedelta(days=1)),
    ]


def test_a_named_day_counts_for_all_files(tmp_path: Path) -> None:
    files = [_made(tmp_path, name, now() + timedelta(days=9)) for name in ("b.xml", "a.xml")]
    assert dated("pubmed", files, DAY) == [(files[1], DAY), (files[0], DAY)]


def test_a_file_from_the_future_is_refused(tmp_path: Path) -> None:
    path = _made(tmp_path, "a.xml", now() + timedelta(days=1))
    with pytest.raises(ValueError, match="--as-of"):
        dated("pubmed", [path], None)


def test_folders_are_imported_by_name_and_other_files_refused(tmp_path: Path) -> None:
    endings = FORMATS["pubmed"].endings
    for name in ("b.xml.gz", "a.xml", "b.xml.gz.md5", "index.html"):
        _made(tmp_path, name, DAY)
    assert [path.name for path in files_in([tmp_path], endings)] == ["a.xml", "b.xml.gz"]
    empty = tmp_path / "empty"
    empty.mkdir()
    for wrong, why in (
        (tmp_path / "index.html", "does not end in"),
        (tmp_path / "none.xml", "does not exist"),
        (empty, "holds no file"),
    ):
        with pytest.raises(ValueError, match=why):
            files_in([wrong], endings)


def test_a_fingerprint_tells_files_by_name_size_both_ends_and_cuts(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    middle = 3 * 1024 * 1024
    contents = bytearray(middle)
    prints = set()
    for change in (None, 0, middle - 1):
        if change is not None:
            contents[change] ^= 1
        path.write_bytes(contents)
        prints.add(fingerprint(path, "3 records"))
    prints.add(fingerprint(path, "4 records"))
    path.write_bytes(contents + b"x")
    prints.add(fingerprint(path, "3 records"))
    prints.add(fingerprint(path.rename(tmp_path / "b.xml.gz"), "3 records"))
    assert len(prints) == 6
