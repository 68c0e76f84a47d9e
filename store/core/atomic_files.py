"""Files and directories that are made beside their place and renamed to it once complete.

The maker holds flock(2) on the unfinished one. The kernel releases it when the process dies, so
leftovers of dead makers are recognised, in another container too, where a pid says nothing.
"""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from store.embedded.datadir import sync_directory
from store.embedded.process import wait_until

PART, RESTORING = "part", "restoring"
_LAST_CHILD_SECONDS = 2.0
"""A child that a killed maker was starting inherits its lock and holds it from fork to exec."""


@contextlib.contextmanager
def appearing_file(path: Path) -> Iterator[IO[bytes]]:
    """A file readable by its owner only, which appears at `path` once it is complete."""
    for left in abandoned(path, PART):
        left.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.{PART}-", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            _hold(out.fileno())
            yield out
            out.flush()
            os.fsync(out.fileno())
            part.rename(path)
        sync_directory(path.parent)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def unfinished_directory(target: Path) -> Iterator[Path]:
    """A directory beside `target`, to be renamed to it; removed at the end if it was not."""
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}.{RESTORING}-", dir=target.parent))
    try:
        handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _hold(handle)
            yield made
        finally:
            os.close(handle)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def abandoned(place: Path, mark: str) -> Iterator[Path]:
    """Yield what dead processes left beside `place`, each locked while the caller has it, so that
    nobody else takes it for a leftover.

    Args:
        mark: `PART` or `RESTORING`.
    """
    names = re.compile(rf"\.{re.escape(place.name)}\.{mark}-([0-9]+|[a-z0-9_]{{8}})")
    with contextlib.suppress(OSError):  # a directory that cannot be listed can still be written to
        for name in os.listdir(place.parent):  # noqa: PTH208  a list: what is listed is removed
            path = place.parent / name
            if names.fullmatch(name) and path.lstat().st_uid == os.geteuid():
                with _left(path) as left:
                    if left:
                        yield path


@contextlib.contextmanager
def _left(path: Path) -> Iterator[bool]:
    """Yield True if no process holds a lock on `path`, False also where that cannot be tested."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        yield wait_until(lambda: _hold(handle), _LAST_CHILD_SECONDS)
    finally:
        os.close(handle)


def _hold(handle: int) -> bool:
    """Lock it; False if another process holds the lock or the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def mounted(path: Path) -> bool:
    """True if `path` is a mount point; on Linux also for a bind mount of the same disk."""
    if os.path.ismount(path):
        return True
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    places = (line.split(b" ")[4] for line in lines if line.count(b" ") > 4)  # proc(5)
    return os.fsencode(path) in (re.sub(rb"\\([0-7]{3})", _octal, place) for place in places)


def _octal(written: "re.Match[bytes]") -> bytes:
    return bytes([int(written[1], 8)])
