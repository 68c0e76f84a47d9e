"""PostgreSQL with pgvector from the wheel, as a direct child on a Unix socket, never on TCP."""

import shutil
import signal
import sys
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from store.embedded.binaries import POSTGRES_MAJOR, postgres_bin
from store.embedded.datadir import DataDir, sync_directory, write_atomically
from store.embedded.errors import DataDirUnusable, ServerUnavailable
from store.embedded.memory import memory_megabytes
from store.embedded.process import Command, end_leftovers, run_once
from store.embedded.server import EmbeddedServer

DATABASE = "attest"
ROLE = "attest"
STOP_SIGNAL = signal.SIGINT
"""Fast shutdown: open transactions are rolled back, a checkpoint is written (docs, 18.5)."""
_PORT = 5432  # only part of the socket's name
_STATUS_LINE = 8  # of postmaster.pid (miscadmin.h, LOCK_FILE_LINE_PM_STATUS)
# One call for the file system instead of one for each of a thousand files.
_SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
_INITDB_TIMEOUT_SECONDS = 180.0
# Only what programs need: PG* and LC_* variables of the caller must not reach the server.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

_SETTINGS: dict[str, str] = {
    # A small machine; both servers, workers and the gateway share it.
    "max_connections": "100",
    "autovacuum_work_mem": "64MB",
    "huge_pages": "off",
    # Parallel index builds put the whole graph into dynamic shared memory. Containers give
    # /dev/shm 64 MB, which "posix" is bound to; "sysv" is not, and the server needs System V
    # memory anyway for its start-up interlock. "mmap" would write the pages to disk.
    "dynamic_shared_memory_type": "sysv" if sys.platform == "linux" else "posix",
    # PostgreSQL is the truth (DESIGN, invariant 1): a commit is on disk.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "recovery_init_sync_method": _SYNC_METHOD,
    # Bulk ingest writes gigabytes: fewer, longer checkpoints.
    "wal_compression": "on",
    "max_wal_size": "2GB",
    "min_wal_size": "128MB",
    "checkpoint_timeout": "15min",
    "checkpoint_completion_target": "0.9",
    "autovacuum": "on",
    "jit": "off",  # its start costs more than these queries run
    "random_page_cost": "1.1",  # solid-state disks
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    # To stderr, which the parent writes to log/postgres.log. Statements, DETAIL and CONTEXT
    # lines quote row values, and patient text goes to no log (DESIGN, invariant 11).
    "log_destination": "'stderr'",
    "logging_collector": "off",
    "log_line_prefix": "'%m [%p] '",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}
_LOCAL = "postgresql.local.conf"


def memory_settings(megabytes: int) -> dict[str, str]:
    """Settings for a machine with so much memory, which workers and the gateway share.

    An eighth is for shared buffers, so that the upper part of a large HNSW graph stays in them. As
    much is for building that graph: one that fits is built several times faster (pgvector README,
    "Index Build Time"); a million vectors of 384 half-precision components take about 1.7 GB.
    """
    eighth = megabytes // 8
    return {
        "shared_buffers": f"{min(max(eighth, 128), 4096)}MB",
        "maintenance_work_mem": f"{min(max(eighth, 64), 4096)}MB",
        "effective_cache_size": f"{max(megabytes // 2, 256)}MB",
    }


def _configuration() -> str:
    settings = _SETTINGS | memory_settings(memory_megabytes())
    return (
        f"# Written by Attest at each start. Settings of your own go into {_LOCAL}.\n"
        + "".join(f"{name} = {value}\n" for name, value in settings.items())
        + f"include_if_exists = '{_LOCAL}'\n"
    )


class EmbeddedPostgres(EmbeddedServer):
    """The database server of one data directory."""

    name: ClassVar[str] = "postgres"

    def __init__(self, data: DataDir) -> None:
        super().__init__(data)
        self._database_exists = False

    @property
    def database_url(self) -> str:
        """The URL for SQLAlchemy with psycopg 3."""
        return self.conninfo().replace("postgresql://", "postgresql+psycopg://", 1)

    def conninfo(self, database: str = DATABASE) -> str:
        """The URL for libpq and plain psycopg."""
        return f"postgresql://{ROLE}@/{database}?host={quote(str(self.data.runtime_dir), safe='')}"

    def initialize(self) -> None:
        """Create the cluster if there is none, end leftover servers, write the configuration.

        The cluster is created in a directory of its own and renamed when it is complete and on
        disk, so a killed first start leaves nothing that could be taken for a cluster.

        Raises DataDirUnusable for another major version, ServerUnavailable if initdb fails.
        """
        self.data.require_lock()
        if not self.data.initialized:
            self._create_cluster()
            self.data.mark_initialized(POSTGRES_MAJOR)
        self.data.give_to_servers(self.data.postgres)
        made_by = (self.data.postgres / "PG_VERSION").read_text().strip()
        if made_by != str(POSTGRES_MAJOR):
            raise DataDirUnusable(
                f"{self.data.postgres} was made by PostgreSQL {made_by} and this is "
                f"{POSTGRES_MAJOR}: dump it with the old version and load it into a new directory"
            )
        end_leftovers(self.data.postgres, "postgres", STOP_SIGNAL)
        # No server is left, so a lock file is stale. PostgreSQL would trust it if its pid belongs
        # to another process by now, as after every restart of a container.
        (self.data.postgres / "postmaster.pid").unlink(missing_ok=True)
        write_atomically(self.data.postgres / "postgresql.conf", _configuration(), mode=0o644)
        if not (self.data.postgres / _LOCAL).exists():
            write_atomically(self.data.postgres / _LOCAL, "# Your own settings.\n", mode=0o644)

    def command(self) -> Command:
        """Run `postgres` in the foreground on the socket in the runtime directory."""
        user = self.data.user
        return Command(
            argv=(
                str(postgres_bin(user) / "postgres"),
                *("-D", self._seen_by_server(self.data.postgres)),
                *("-k", str(self.data.runtime_dir)),
                *("-h", ""),
                *("-p", str(_PORT)),
                f"--cluster_name={self.data.runtime_dir.name}",
                "--unix_socket_permissions=0700",
            ),
            env=_ENVIRONMENT,
            cwd=self.data.postgres,
            user=user,
            stop_signal=STOP_SIGNAL,
        )

    def ready(self) -> bool:
        """True if the database answers; the first time this also creates database and extension."""
        if not self._says_ready():
            return False
        import psycopg  # while the server starts, not before it does

        try:
            if not self._database_exists:
                self._ensure_database()
                self._database_exists = True
            with psycopg.connect(self.conninfo(), connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _says_ready(self) -> bool:
        """True if the server's lock file says "ready", which is how pg_ctl checks.

        Connecting too early would also tell, but leaves a FATAL line in the log each time.
        """
        try:
            lines = (self.data.postgres / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= _STATUS_LINE and lines[_STATUS_LINE - 1].strip() == "ready"

    def _ensure_database(self) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(
            self.conninfo("postgres"), connect_timeout=5, autocommit=True
        ) as connection:
            row = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if row is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        with psycopg.connect(self.conninfo(), connect_timeout=5, autocommit=True) as connection:
            # Checked first: IF NOT EXISTS would send a notice at every start.
            installed = connection.execute(
                "SELECT installed_version, default_version FROM pg_available_extensions "
                "WHERE name = 'vector'"
            ).fetchone()
            if installed is None or installed[0] is None:
                connection.execute("CREATE EXTENSION vector")
            elif installed[0] != installed[1]:  # another release created the directory
                connection.execute("ALTER EXTENSION vector UPDATE")

    def _create_cluster(self) -> None:
        unfinished = self.data.unfinished_dir()
        user = self.data.user
        command = Command(
            argv=(
                str(postgres_bin(user) / "initdb"),
                *("-D", self._seen_by_server(unfinished)),
                *("-U", ROLE),
                "--encoding=UTF8",
                # Code-point order from PostgreSQL itself: no update of the C library can change
                # it and with it the order inside indexes (docs, 23.1.4).
                *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                # Whoever may enter the 0700 socket directory may connect; there is no TCP.
                *("--auth-local=trust", "--auth-host=reject"),
                "--data-checksums",
                f"--sync-method={_SYNC_METHOD}",
                "--no-instructions",
            ),
            env=_ENVIRONMENT,
            cwd=unfinished,
            user=user,
        )
        try:
            code, output = run_once(command, _INITDB_TIMEOUT_SECONDS)
            if code != 0:
                raise ServerUnavailable(f"initdb failed in {self.data.path}: {_reason(output)}")
            if self.data.postgres.exists():  # empty or never used: DataDir checked
                shutil.rmtree(self.data.postgres)
            unfinished.rename(self.data.postgres)
            sync_directory(self.data.path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _seen_by_server(self, directory: Path) -> str:
        """The path by which the server's account reaches its working directory.

        Root may keep data below a directory that the account cannot enter, such as its home.
        On Linux a process can name its own working directory without access to its parents.
        """
        if self.data.user is not None and sys.platform == "linux":
            return "/proc/self/cwd"
        return str(directory)


def _reason(output: str) -> str:
    """The error lines of initdb, whose last lines only describe its clean-up."""
    lines = output.splitlines()
    errors = [line for line in lines if "FATAL:" in line or "error:" in line]
    return " / ".join(errors[:2] or lines[-3:])
