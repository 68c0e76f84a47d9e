"""What `attest backup` and `restore` say of keys, and of places where nothing can be written."""

import errno
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from cli.commands.operation.backup import _named, _tell_keys
from cli.instance.failures import plain
from store.operations.backup import HeldKey


def test_that_a_key_was_revoked_since_is_no_fact(capsys: pytest.CaptureFixture[str]) -> None:
    key = HeldKey(uuid4(), "desk", "ward-3", ("read",), datetime(2027, 1, 1, tzinfo=UTC))
    _tell_keys((key,))
    said = capsys.readouterr().out
    assert said.startswith("1 key can be used there. If one was revoked since, it holds again: ")
    assert str(key.id) in said


def test_the_target_is_named_and_not_what_is_made_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "b"
    with pytest.raises(PermissionError) as refused, _named(target):
        raise PermissionError(13, "Permission denied", str(tmp_path / ".b.part-x1"))
    assert refused.value.filename == str(target)
    with pytest.raises(PermissionError) as other, _named(target):
        raise PermissionError(13, "Permission denied", "/elsewhere")
    assert other.value.filename == "/elsewhere"


def test_a_full_disk_is_told_with_the_file_that_was_to_be_there() -> None:
    """What fails while it is written names no file."""
    with pytest.raises(OSError, match="No space left") as full, _named(Path("/backups/monday")):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert plain(full.value) == "/backups/monday: No space left on device"


def test_what_we_say_ourselves_is_said_as_it_is() -> None:
    with pytest.raises(FileExistsError) as there, _named(Path("/backups/monday")):
        raise FileExistsError("/backups/monday is there already: name another file")
    assert plain(there.value) == "/backups/monday is there already: name another file"
