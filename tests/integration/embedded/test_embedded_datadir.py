"""The data directory: who holds it, and what is recognized as whole, half-written or foreign."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from store.embedded import (
    DataDir,
    DataDirInUse,
    DataDirUnusable,
    EmbeddedError,
    EmbeddedPostgres,
    embedded,
    read_connection,
)
from store.embedded.datadir import rotate_log, write_atomically

ROOT = Path(__file__).parents[3]
HOLD = """
import sys, time
from pathlib import Path
from store.embedded import DataDir
with DataDir(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""
START = """
import sys
from pathlib import Path
from store.embedded import embedded
with embedded(Path(sys.argv[1])):
    pass
"""


def run_python(program: str, directory: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, str(directory)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else b""
        for path in directory.rglob("*")
        if path.name != "attest.lock"
    }


def test_a_held_directory_is_refused_with_the_process_and_what_to_do(tmp_path: Path) -> None:
    with run_python(HOLD, tmp_path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            with (
                pytest.raises(DataDirInUse, match=rf"process {holder.pid}: stop it .*--data-dir"),
                DataDir(tmp_path),
            ):
                pass
        finally:
            holder.kill()
    with DataDir(tmp_path):  # free again; also removes the socket directory it left
        pass


def test_the_lock_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    with run_python(HOLD, tmp_path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    assert (tmp_path / "attest.lock").read_text() == f"{holder.pid}\n"
    with DataDir(tmp_path):
        assert (tmp_path / "attest.lock").read_text() == f"{os.getpid()}\n"


def test_a_released_directory_can_be_taken_again_while_a_forked_child_lives(
    tmp_path: Path,
) -> None:
    with DataDir(tmp_path):
        child = os.fork()
        if child == 0:
            time.sleep(600)
    try:
        with DataDir(tmp_path):
            pass
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(EmbeddedError, match=r"cannot use the data directory .*--data-dir"),
        DataDir(tmp_path / "file"),
    ):
        pass


def cut_cluster(directory: Path) -> None:
    (directory / "postgres" / "base").mkdir(parents=True)
    (directory / "postgres" / "PG_VERSION").write_text("18\n")
    (directory / "postgres" / "base" / "1").write_text("rows")


def served_cluster(directory: Path) -> None:
    cut_cluster(directory)
    (directory / "postgres" / "global").mkdir()
    (directory / "postgres" / "global" / "pg_control").write_text("control")
    (directory / "postgres" / "postmaster.opts").write_text("postgres")


def strange_files(directory: Path) -> None:
    (directory / "thesis.tex").write_text("text")


def vanished_cluster(directory: Path) -> None:
    (directory / "layout.json").write_text('{"layout": 1, "postgresql": 18}')


def newer_layout(directory: Path) -> None:
    served_cluster(directory)
    (directory / "layout.json").write_text('{"layout": 2}')


def damaged_marker(directory: Path) -> None:
    served_cluster(directory)
    (directory / "layout.json").write_text("")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (cut_cluster, r"half-written.*rm -r .*restore it from a backup"),
        (served_cluster, r"half-written"),
        (strange_files, r"not made by Attest \(it has thesis.tex\).*--data-dir"),
        (vanished_cluster, r"missing or incomplete: restore the directory"),
        (newer_layout, r"has layout 2 and this program knows 1"),
        (damaged_marker, r"has layout None"),
    ],
)
def test_an_unusable_directory_is_refused_and_not_touched(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    make(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(DataDirUnusable, match=message), DataDir(tmp_path):
        pass
    assert contents(tmp_path) == before
    assert not (tmp_path / "attest.lock").exists()
    # And where there was a lock, it is free again.
    (tmp_path / "attest.lock").touch()
    for _ in range(2):
        with pytest.raises(DataDirUnusable), DataDir(tmp_path):
            pass


def test_a_directory_of_another_postgres_is_refused(tmp_path: Path) -> None:
    served_cluster(tmp_path)
    (tmp_path / "layout.json").write_text('{"layout": 1, "postgresql": 17}')
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")
    with (
        DataDir(tmp_path) as data,
        pytest.raises(DataDirUnusable, match="made by PostgreSQL 17 and this is 18: dump it"),
    ):
        EmbeddedPostgres(data).initialize()


def test_a_first_start_killed_midway_is_simply_begun_again(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    with run_python(START, directory) as starting:

        def initdb_wrote() -> bool:
            return any(directory.glob("postgres.unfinished-*/base/*"))

        deadline = time.monotonic() + 60
        while not initdb_wrote() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert initdb_wrote()
        starting.kill()
    assert not (directory / "layout.json").exists()
    assert not (directory / "postgres").exists()
    with embedded(directory) as servers, psycopg.connect(servers.conninfo) as session:
        assert session.execute("SELECT 1").fetchone() == (1,)
    assert not list(directory.glob("postgres.unfinished-*"))


def test_what_a_killed_first_start_still_writes_goes_too(tmp_path: Path) -> None:
    """The programs that initdb had begun end when they notice that it is gone."""
    with DataDir(tmp_path) as data:
        left = data.unfinished_dir()
    ends = time.monotonic() + 0.3

    def write() -> None:
        with contextlib.suppress(FileNotFoundError):
            for number in itertools.count():
                if time.monotonic() > ends:
                    break
                (left / str(number)).touch()

    writing = threading.Thread(target=write)
    writing.start()
    with DataDir(tmp_path):
        writing.join()
        assert not left.exists()


def test_a_first_start_killed_before_its_marker_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerFailureError(Exception):
        pass

    def fail(*_: object) -> None:
        raise PowerFailureError

    with monkeypatch.context() as patch:
        patch.setattr(DataDir, "mark_initialized", fail)
        with pytest.raises(PowerFailureError), embedded(tmp_path):
            pass
    assert (tmp_path / "postgres" / "PG_VERSION").exists()
    with embedded(tmp_path) as servers, psycopg.connect(servers.conninfo) as session:
        assert session.execute("SELECT 1").fetchone() == (1,)


def test_a_running_instance_is_found_and_a_stopped_one_is_not(tmp_path: Path) -> None:
    assert read_connection(tmp_path) is None
    with DataDir(tmp_path) as data:
        published = data.publish("postgresql+psycopg://attest@/attest?host=/x", "unix:///x")
        assert read_connection(tmp_path) == published
        assert published.conninfo == "postgresql://attest@/attest?host=/x"
        assert published.pid == os.getpid()
    assert read_connection(tmp_path) is None


@pytest.mark.parametrize(
    "change",
    [
        {"pid": 2**22 + 1},  # above the largest number of a process
        {"started_at": 0.0},  # the number is in use again, by a process that began later
        {"unknown": 1},
    ],
)
def test_what_a_dead_instance_left_is_not_believed(
    tmp_path: Path, change: dict[str, float]
) -> None:
    fields = {
        "database_url": "postgresql+psycopg://x",
        "redis_url": "unix:///x",
        "pid": os.getpid(),
        "started_at": psutil.Process().create_time(),
    }
    write_atomically(tmp_path / "connection.json", json.dumps(fields))
    assert read_connection(tmp_path) is not None
    write_atomically(tmp_path / "connection.json", json.dumps(fields | change))
    assert read_connection(tmp_path) is None


def test_an_unreadable_connection_file_means_no_instance(tmp_path: Path) -> None:
    (tmp_path / "connection.json").write_text('{"database_url": "cut off')
    assert read_connection(tmp_path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_an_instance_of_somebody_else_is_not_called_none() -> None:
    """Else who asks for it is told to start it, and refused there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        with DataDir(Path(place) / "data") as data:
            data.publish("postgresql+psycopg://attest@/attest?host=/x", "unix:///x")
            os.seteuid(65534)
            try:
                with pytest.raises(EmbeddedError, match="as the user that `attest up` runs as"):
                    read_connection(data.path)
                assert read_connection(Path(place) / "other") is None
            finally:
                os.seteuid(0)


def test_nobody_else_can_put_anything_into_a_directory_that_runs(tmp_path: Path) -> None:
    """What says where the database is lies in it: whoever replaced that would be sent questions."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    with DataDir(data):
        assert data.stat().st_mode & 0o777 == 0o755


def test_sockets_are_not_put_into_somebody_elses_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tempfile.TemporaryDirectory()  # a socket's path may be 107 bytes long, pytest's is more
    monkeypatch.setattr("tempfile.tempdir", short.name)
    directory = DataDir(tmp_path / "data").runtime_dir
    assert directory.parent == Path(short.name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    directory.symlink_to(elsewhere)
    with (
        short,
        pytest.raises(EmbeddedError, match="set TMPDIR"),
        DataDir(tmp_path / "data"),
    ):
        pass


def test_a_socket_path_is_short_even_if_the_temporary_directory_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("t" * 100)))
    socket = DataDir(tmp_path / "data").runtime_dir / ".s.PGSQL.5432.lock"
    assert len(os.fsencode(socket)) <= 103


def test_a_log_that_outgrew_its_size_is_kept_once(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("long enough")
    rotate_log(log, max_bytes=100)
    assert log.exists()
    rotate_log(log, max_bytes=5)
    assert not log.exists()
    assert (tmp_path / "a.log.1").read_text() == "long enough"
    rotate_log(log, max_bytes=5)
    assert (tmp_path / "a.log.1").read_text() == "long enough"


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"
