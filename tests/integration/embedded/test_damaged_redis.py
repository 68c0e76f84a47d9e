"""Redis only wakes: a file of it that a power cut damaged keeps nobody from starting."""

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
    return data / "redis" / "appendonly.aof"


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


def test_a_file_that_is_none_is_set_aside(tmp_path: Path) -> None:
    file = fill(tmp_path)
    file.write_bytes(b"REDIS0009\x00nothing of the kind")
    assert keys_after_a_start(tmp_path) == 0
    assert file.with_name("appendonly.aof.unreadable").exists()


def test_a_whole_file_is_left_as_it_is(tmp_path: Path) -> None:
    file = fill(tmp_path)
    before = file.read_bytes()
    assert keys_after_a_start(tmp_path) == 100
    assert file.read_bytes().startswith(before)
    assert sorted(path.name for path in file.parent.iterdir()) == ["appendonly.aof"]
