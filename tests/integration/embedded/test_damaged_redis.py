"""Redis only wakes: a file of it that a power cut damaged keeps nobody from starting."""

import os
import shutil
from pathlib import Path

import pytest
import redis

from store.embedded import embedded


def fill(data: Path) -> Path:
    with embedded(data) as servers:
        client = redis.Redis.from_url(servers.redis_url)
        for n in range(100):
            client.set(f"key:{n}", "x" * 100)
        client.close()
    (file,) = (data / "redis" / "appendonlydir").glob("*.incr.aof")
    return file


def keys_after_a_start(data: Path) -> int:
    with embedded(data) as servers:
        client = redis.Redis.from_url(servers.redis_url)
        try:
            return int(client.dbsize())
        finally:
            client.close()


@pytest.mark.parametrize("kind", ["zeros behind it", "zeros in the middle", "cut short"])
def test_what_can_be_read_of_a_damaged_file_is_kept_and_the_server_starts(
    tmp_path: Path, kind: str
) -> None:
    """Zeros behind what was written are what file systems leave of a block never filled."""
    file = fill(tmp_path)
    content = file.read_bytes()
    half = len(content) // 2
    damaged = {
        "zeros behind it": content + bytes(4096),
        "zeros in the middle": content[:half] + bytes(64) + content[half + 64 :],
        "cut short": content[: half + 7],
    }
    file.write_bytes(damaged[kind])
    kept = keys_after_a_start(tmp_path)
    assert kept == 100 if kind == "zeros behind it" else 0 < kept < 100


@pytest.mark.parametrize("which", ["*.incr.aof", "*.manifest"])
def test_files_that_are_none_are_set_aside(tmp_path: Path, which: str) -> None:
    folder = fill(tmp_path).parent
    for file in folder.glob(which):
        file.write_bytes(b"REDIS0009\x00nothing of the kind")
    assert keys_after_a_start(tmp_path) == 0
    assert folder.with_name("appendonlydir.unreadable").exists()
    for file in folder.glob(which):
        file.write_bytes(b"REDIS0009\x00nothing of the kind")
    assert keys_after_a_start(tmp_path) == 0


def test_whole_files_are_left_as_they_are(tmp_path: Path) -> None:
    file = fill(tmp_path)
    before = file.read_bytes()
    assert keys_after_a_start(tmp_path) == 100
    assert file.read_bytes().startswith(before)
    assert sorted(path.name for path in tmp_path.joinpath("redis").iterdir()) == ["appendonlydir"]
    assert "valkey-check-aof" not in {path.name for path in file.parent.iterdir()}


def test_the_file_of_a_release_with_redis_6_is_taken_over(tmp_path: Path) -> None:
    with embedded(tmp_path):
        pass
    shutil.rmtree(tmp_path / "redis" / "appendonlydir")
    commands = [("SELECT", "0"), *(("SET", f"key:{n}", "x") for n in range(100))]
    file = tmp_path / "redis" / "appendonly.aof"
    file.write_text(
        "".join(
            f"*{len(command)}\r\n" + "".join(f"${len(part)}\r\n{part}\r\n" for part in command)
            for command in commands
        )
    )
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)
    assert keys_after_a_start(tmp_path) == 100
    assert keys_after_a_start(tmp_path) == 100
