"""`attest import` over real servers: progress, Ctrl-C, kills, errors in one line."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from cli.commands.evidence import bulk_files, imports
from messages import Stage
from store.core.settings import Settings
from tests.commands import Attest
from tests.fakes.pubmed_records import Citation, article_set
from tests.servers import Fleet, wait_until

Start = Callable[..., "subprocess.Popen[str]"]

# Small slices, few of them ahead: else a file that stops half-way would have to be large. What runs
# in a shell's background ignores SIGINT, and so do its children.
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from cli.commands.evidence import bulk_files, imports; "
    "bulk_files.RECORDS_PER_SLICE = 3; imports.AHEAD = 4; "
    "import cli.main; cli.main.main()"
)
RECORDS = 40


@pytest.fixture
def attest(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Attest:
    """Runs commands in this process, with slices as small."""
    monkeypatch.setattr(bulk_files, "RECORDS_PER_SLICE", 3)
    monkeypatch.setattr(imports, "AHEAD", 4)
    return Attest.on(settings)


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Start an `attest` command; what still runs at the end of the test is killed."""
    own = {
        "ATTEST_DATABASE_URL": settings.database_url,
        "ATTEST_REDIS_URL": settings.redis_url,
        "ATTEST_REDIS_NAMESPACE": settings.redis_namespace,
        "COLUMNS": "200",
    }
    running: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of PubMed."""
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(article_set(map(Citation, range(1, RECORDS + 1)))))
    return path


def _count(engine: sa.Engine, table: str, where: str = "true") -> int:
    with engine.connect() as connection:
        return int(
            connection.execute(sa.text(f"SELECT count(*) FROM {table} WHERE {where}")).scalar_one()
        )


def _ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    told, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    return process.returncode, told, errors


def test_a_file_is_imported_and_the_second_time_it_says_so(
    attest: Attest, fleet: Fleet, engine: sa.Engine, file: Path
) -> None:
    fleet.worker()
    done = attest("import", "pubmed", str(file), "--as-of", "2026-03-02")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "pubmed26n0001.xml.gz: 40 records as of 2026-03-02: 40 new, 0 changed, 0 unchanged\n"
    )
    assert _count(engine, "document_version", "fetched_at = '2026-03-02'") == RECORDS

    done = attest("import", "pubmed", str(file), "--as-of", "2026-03-02")
    assert done.returncode == 0
    assert done.stdout.startswith("pubmed26n0001.xml.gz: imported already: 40 records")
    done = attest("import", "pubmed", str(file.parent), "--json")
    assert done.returncode == 0
    [body] = json.loads(done.stdout)["files"]
    assert (body["complete"], body["slices"], body["slices_before"]) == (True, 14, 14)
    assert (body["documents"], body["failed"], body["error"]) == ({"new": RECORDS}, [], None)
    assert _count(engine, "ingest_item") == 14


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_an_import_that_is_stopped_goes_on_when_the_command_is_run_again(
    start: Start,
    attest: Attest,
    fleet: Fleet,
    engine: sa.Engine,
    file: Path,
    stop: signal.Signals,
) -> None:
    first = start("import", "pubmed", str(file))  # nobody reads: it waits with four slices ahead
    wait_until(lambda: _count(engine, "ingest_item") == 4, 60, "four slices are put")
    first.send_signal(stop)
    code, told, errors = _ended(first)
    if stop == signal.SIGINT:
        assert (code, told) == (130, "")
        [line] = errors.splitlines()
        assert line.endswith(f"attest import pubmed {file}")
    assert _count(engine, "import_file", "slices = 4 AND records = 12") == 1

    fleet.worker(Stage.INGEST)
    fleet.scheduler()  # sends the messages again that the killed process may not have sent
    done = attest("import", "pubmed", str(file))
    assert done.returncode == 0, done.stderr
    assert _count(engine, "import_file", "slices = 14 AND finished_at IS NOT NULL") == 1
    assert _count(engine, "ingest_item", "status = 'done' AND content IS NULL") == 14
    assert _count(engine, "document_version", "n = 1") == RECORDS
    assert _count(engine, "document_version") == RECORDS


def test_a_truncated_file_is_one_line_and_its_good_slices_stay(
    attest: Attest, fleet: Fleet, engine: sa.Engine, file: Path
) -> None:
    fleet.worker(Stage.INGEST)
    file.write_bytes(file.read_bytes()[:-300])
    behind = file.with_name("pubmed26n0002.xml.gz")
    behind.write_bytes(gzip.compress(article_set([Citation(99)])))
    done = attest("import", "pubmed", str(file), str(behind))
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1  # the files behind it wait
    [line] = done.stderr.splitlines()
    assert line.startswith("attest: pubmed26n0001.xml.gz: the gzip file is truncated (its first")
    kept = _count(engine, "document")
    assert 0 < kept < RECORDS
    assert f"with {kept} records" in line


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("pubmed", "no-such.xml"), r"no-such\.xml does not exist"),
        (("pubmed", "file", "--as-of", "yesterday"), "2026-01-31"),
        (("pubmed", "file", "--as-of", "2999-01-01"), "in the future"),
        (("crossref", "file"), "use one of pubmed, clinicaltrials"),
        (("clinicaltrials", "file"), r"does not end in \.zip"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(
    attest: Attest, engine: sa.Engine, file: Path, arguments: tuple[str, ...], why: str
) -> None:
    named = [str(file) if one == "file" else one for one in arguments]
    done = attest("import", *named)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert re.search(why, line)
    assert _count(engine, "import_file") == 0
