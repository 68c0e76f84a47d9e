"""The data directory of one embedded instance: its lock, its layout, where its sockets live.

attest.lock       flock(2) held while the instance runs; the kernel releases it at any death
layout.json       the layout's version; written last by the first start, marks it as complete
postgres/  redis/ the servers' data, owned by the account they run as
log/NAME.log      the output of each process
connection.json   how to reach the running instance; absent while none runs
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from store.embedded.errors import DataDirInUse, DataDirUnusable, EmbeddedError
from store.embedded.process import group_of, service_uid, wait_until

LAYOUT = 1
MAX_LOG_BYTES = 16 * 1024 * 1024
# sun_path holds 108 bytes on Linux, 104 elsewhere, with the final NUL (unix(7)).
_MAX_SOCKET_PATH = 103
_LONGEST_SOCKET_NAME = ".s.PGSQL.5432.lock"
_OWN_NAMES = {"attest.lock", "layout.json", "connection.json", "log", "postgres", "redis"}
_UNFINISHED_PREFIX = "postgres.unfinished-"
_LAST_WRITES_SECONDS = 10.0
"""A child of a killed start writes until it notices the death of its parent."""
_SAME_START_SECONDS = 5.0  # a stepped system clock shifts computed start times a little


@dataclass(frozen=True)
class Connection:
    """How to reach a running instance, and the process that runs it."""

    database_url: str
    """SQLAlchemy form, `postgresql+psycopg://…`."""
    redis_url: str
    pid: int
    started_at: float
    """Start of process `pid` in seconds since the epoch; it tells a reused pid apart."""
    gateway_url: str | None = None
    """Where the gateway listens; None if only the servers run."""

    @property
    def conninfo(self) -> str:
        """The database URL for libpq and plain psycopg."""
        return self.database_url.replace("postgresql+psycopg://", "postgresql://", 1)


class DataDir:
    """One data directory, locked between `with DataDir(path) as data:` and its end.

    Entering raises DataDirInUse if another process holds it, DataDirUnusable if it is foreign,
    half-written, damaged or of another version, and EmbeddedError if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self.postgres = self.path / "postgres"
        self.redis = self.path / "redis"
        self.log = self.path / "log"
        self._lock: int | None = None

    @property
    def runtime_dir(self) -> Path:
        """A short-named directory for sockets, owned by the servers' account, mode 0700."""
        name = f"attest-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]}"
        preferred = Path(tempfile.gettempdir()) / name
        if len(os.fsencode(preferred / _LONGEST_SOCKET_NAME)) <= _MAX_SOCKET_PATH:
            return preferred
        return Path("/tmp") / name  # noqa: S108 - checked for its owner before use

    @property
    def user(self) -> int | None:
        """The uid that servers of this directory run as; None: the caller's own."""
        return service_uid(self.postgres)

    @property
    def initialized(self) -> bool:
        """True if the first start was completed."""
        return (self.path / "layout.json").exists()

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (self.path / "attest.lock").exists():
                self._check()  # before the lock is made: nothing is written to a foreign folder
            self._acquire()
        except OSError as error:
            raise EmbeddedError(
                f"cannot use the data directory {self.path}: {error.strerror}; "
                "choose another one with --data-dir"
            ) from error
        try:
            self._check()
            self._close_to_others()
            self.log.mkdir(mode=0o700, exist_ok=True)
            self._prepare_runtime_dir()
            self._remove_unfinished()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        (self.path / "connection.json").unlink(missing_ok=True)
        shutil.rmtree(self.runtime_dir, ignore_errors=True)
        self._release()

    def require_lock(self) -> None:
        """Raise EmbeddedError unless this object holds the lock."""
        if self._lock is None:
            raise EmbeddedError(f"{self.path} is not locked: enter it with `with DataDir(...)`")

    def mark_initialized(self, postgres_major: int) -> None:
        """Write the layout marker; everything else must be on disk already."""
        write_atomically(
            self.path / "layout.json",
            json.dumps({"layout": LAYOUT, "postgresql": postgres_major}) + "\n",
        )

    def unfinished_dir(self) -> Path:
        """A new directory beside the data, owned by the servers' account, for a first start."""
        made = Path(tempfile.mkdtemp(prefix=_UNFINISHED_PREFIX, dir=self.path))
        self.give_to_servers(made)
        return made

    def give_to_servers(self, directory: Path) -> None:
        """Make `directory` mode 0700, and the servers' account the owner of all in it.

        Files that root restored from a backup belong to root and could not be opened otherwise.
        """
        directory.chmod(0o700)
        user = self.user
        if user is None or directory.stat().st_uid == user:
            return
        for path in [*directory.rglob("*"), directory]:  # the top last: it marks the work done
            os.chown(path, user, group_of(user), follow_symlinks=False)

    def publish(
        self, database_url: str, redis_url: str, gateway_url: str | None = None
    ) -> Connection:
        """Tell other commands how to reach this instance (`read_connection`)."""
        connection = Connection(
            database_url=database_url,
            redis_url=redis_url,
            pid=os.getpid(),
            started_at=psutil.Process().create_time(),
            gateway_url=gateway_url,
        )
        write_atomically(self.path / "connection.json", json.dumps(asdict(connection)) + "\n")
        return connection

    def _acquire(self) -> None:
        lock = os.open(self.path / "attest.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 32).decode(errors="replace").strip()
            os.close(lock)
            who = f"process {holder}" if holder else "another process"
            stop = f"stop it (kill {holder})" if holder else "wait for it to end"
            raise DataDirInUse(
                f"the data directory {self.path} is in use by {who}: "
                f"{stop} or choose another one with --data-dir"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        self._lock = lock

    def _release(self) -> None:
        if self._lock is not None:
            # Unlocking, not only closing: a forked child may hold a copy of the descriptor.
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            os.close(self._lock)
            self._lock = None

    def _close_to_others(self) -> None:
        """Remove write access of others: `connection.json` says where questions are sent."""
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            self.path.chmod(mode & ~(stat.S_IWGRP | stat.S_IWOTH))

    def _prepare_runtime_dir(self) -> None:
        """Make the socket directory, or reuse the one that a killed instance left.

        Its name can be guessed and its parent is writable for all, so its owner is checked.
        """
        directory = self.runtime_dir
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        status = directory.lstat()
        owners = {os.geteuid(), self.user}
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in owners:
            raise EmbeddedError(
                f"{directory} belongs to uid {status.st_uid} and is needed for sockets: "
                "remove it, or set TMPDIR to a directory of your own"
            )
        self.give_to_servers(directory)

    def _remove_unfinished(self) -> None:
        """Remove clusters of interrupted first starts: they are renamed only when complete, so
        they were never used."""
        for left in self.path.glob(f"{_UNFINISHED_PREFIX}*"):
            remove_tree(left)

    def _check(self) -> None:
        problem = self._layout_problem() if self.initialized else self._unmarked_problem()
        if problem:
            raise DataDirUnusable(f"{self.path} {problem}; nothing in it was changed")

    def _layout_problem(self) -> str | None:
        """What is wrong with a directory that has its layout marker; None if it is good."""
        layout = _read_json(self.path / "layout.json").get("layout")
        if layout != LAYOUT:
            return (
                f"has layout {layout!r} and this program knows {LAYOUT}: "
                "use the version of Attest that made it"
            )
        if not _whole_cluster(self.postgres):
            return (
                "was in use before but its database files are missing or incomplete: "
                "restore the directory from a backup, or choose another one with --data-dir"
            )
        return None

    def _unmarked_problem(self) -> str | None:
        """What is wrong with a directory without the marker; None if it is empty or ours."""
        foreign = sorted(
            entry.name
            for entry in self.path.iterdir()
            if entry.name not in _OWN_NAMES | {"lost+found"}
            and not entry.name.startswith(_UNFINISHED_PREFIX)
        )
        if foreign:
            return (
                f"is not empty and was not made by Attest (it has {', '.join(foreign[:3])}): "
                "choose an empty or a new directory with --data-dir"
            )
        if not self.postgres.exists() or _never_served(self.postgres):
            return None
        return (
            "is half-written: it has database files but no layout.json, so its first start or a "
            f"copy of it was interrupted. If it holds nothing of yours run `rm -r {self.path}` and "
            "start again; else restore it from a backup"
        )


def read_connection(data_dir: Path) -> Connection | None:
    """How to reach the instance that runs on `data_dir`; None if none does.

    Raises EmbeddedError if the file may not be read, as that of another user's instance.
    """
    path = data_dir.expanduser() / "connection.json"
    try:
        path.open("rb").close()
    except PermissionError as error:
        raise EmbeddedError(
            f"you may not read {path}: run this as the user that `attest up` runs as there"
        ) from error
    except OSError:
        return None
    fields = _read_json(path)
    try:
        connection = Connection(**fields)
        started_at = psutil.Process(connection.pid).create_time()
    except (TypeError, psutil.Error):
        return None
    same = abs(started_at - connection.started_at) < _SAME_START_SECONDS
    return connection if same else None


def write_atomically(path: Path, text: str, mode: int = 0o600) -> None:
    """Write `text` to `path` so that after a crash, and for readers, it is all old or all new."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def remove_tree(directory: Path) -> None:
    """Remove the files of a killed process, with what its last children write meanwhile."""

    def gone() -> bool:
        shutil.rmtree(directory, ignore_errors=True)
        return not directory.exists()

    wait_until(gone, _LAST_WRITES_SECONDS, 0.05)


def sync_directory(directory: Path) -> None:
    """Make renames and new names in `directory` survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rotate_log(path: Path, max_bytes: int = MAX_LOG_BYTES) -> None:
    """Rename a log larger than `max_bytes` to `NAME.log.1`, replacing the previous one."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > max_bytes:
            path.replace(path.with_name(f"{path.name}.1"))


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty if there is no file or no object in it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _whole_cluster(postgres: Path) -> bool:
    return (postgres / "PG_VERSION").is_file() and (postgres / "global" / "pg_control").is_file()


def _never_served(postgres: Path) -> bool:
    """True if a cluster without the layout marker provably holds no data.

    Either it contains no file, or initdb finished it (it is moved into place when complete) and no
    server ever started on it: each start writes postmaster.opts.
    """
    if not any(path.is_file() or path.is_symlink() for path in postgres.rglob("*")):
        return True
    return _whole_cluster(postgres) and not (postgres / "postmaster.opts").exists()
