"""What is made beside its place and stands there once it is whole; what killed makers left goes.

Whoever makes one holds flock(2) on it, which the kernel frees at any death: it tells the living
from the dead in another container too, where a process's number says nothing.
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
"""A program that a killed maker was starting holds its lock too, from fork to exec."""


@contextlib.contextmanager
def appearing_file(path: Path) -> Iterator[IO[bytes]]:
    """A file for its owner only, that is there once it is whole, and not before."""
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
    """A directory beside `target`, to be renamed to it; gone in the end if it was not."""
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
    """What processes that no longer live left beside `place`; nobody else sees it as such while the
    caller has it.

    Args:
        mark: `PART` or `RESTORING`.
    """
    names = re.compile(rf"\.{re.escape(place.name)}\.{mark}-([0-9]+|[a-z0-9_]{{8}})")
    with contextlib.suppress(OSError):  # whoever may not list it makes its own all the same
        for name in os.listdir(place.parent):  # noqa: PTH208  a list: what is listed is removed
            one = place.parent / name
            if names.fullmatch(name) and one.lstat().st_uid == os.geteuid():
                with _left(one) as left:
                    if left:
                        yield one


@contextlib.contextmanager
def _left(path: Path) -> Iterator[bool]:
    """Whether nobody holds it. Where that cannot be asked, somebody does."""
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
    """Lock it; False where somebody else has, or where file systems know no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def mounted(path: Path) -> bool:
    """Whether something is mounted right there, a directory of the same disk too (Linux)."""
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
