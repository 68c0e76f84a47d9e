"""The key that signs exports: from `ATTEST_AUDIT_KEY`, or stored in the data directory."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from store.audit.ed25519 import SEED_BYTES

VARIABLE = "ATTEST_AUDIT_KEY"
FILE = "audit.key"


class NoKey(LookupError):
    """There is no key yet; the message says how to make one."""


class BadKey(ValueError):
    """The key cannot be used; the message says how to fix that and reveals nothing of the key."""


def signing_key(
    data_dir: Path, given: str | None = None, made: Callable[[Path], None] | None = None
) -> bytes:
    """The secret seed, (32,) bytes. Without `given` it is read from the data directory, where it is
    created the first time.

    Args:
        given: 64 hex digits, as in `ATTEST_AUDIT_KEY`.
        made: called with the file's path if the key is created now.

    Raises:
        BadKey: the key is invalid, or others may read its file.
    """
    path = data_dir / FILE
    if not given and not path.exists():
        _make(path)
        if made is not None:
            made(path)
    return existing_key(data_dir, given)


def existing_key(data_dir: Path, given: str | None = None) -> bytes:
    """The secret seed as from `signing_key`, but none is created.

    Raises:
        NoKey: `given` is empty and the data directory has no key.
        BadKey: the key is invalid, or others may read its file.
    """
    if given:
        return parse(given, VARIABLE)
    path = data_dir / FILE
    if not path.exists():
        raise NoKey(
            f"there is no {path} and no {VARIABLE}: name the data directory with --data-dir; the "
            "first `attest audit export` makes a key there"
        )
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadKey(f"{path} may be read by others: chmod 600 it, and think of a new key")
    return parse(path.read_text(encoding="ascii", errors="replace"), str(path))


def parse(written: str, where: str) -> bytes:
    """32 bytes from 64 hex digits.

    Raises:
        BadKey: the text is anything else; names `where` it was found.
    """
    try:
        key = bytes.fromhex(written.strip())
    except ValueError:
        key = b""
    if len(key) != SEED_BYTES:
        raise BadKey(f"{where} must hold 64 hex digits")
    return key


def _make(path: Path) -> None:
    """Write a new key, whole or not at all; if two processes do so, one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(os.urandom(SEED_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(fresh, path)
        except FileExistsError:
            return
    finally:
        fresh.unlink()
