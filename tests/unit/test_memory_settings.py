"""What PostgreSQL gets of the memory there is."""

from pathlib import Path

import psutil
import pytest

from store.embedded.memory import memory_megabytes
from store.embedded.postgres import memory_settings

MACHINE = psutil.virtual_memory().total // 2**20


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_a_container_counts_with_its_limit(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(f"{300 * 2**20}\n")
    assert memory_megabytes(tmp_path) == min(300, MACHINE)


@pytest.mark.parametrize("limit", ["max\n", str(2**62)])
def test_without_a_limit_the_machine_counts(tmp_path: Path, limit: str) -> None:
    assert memory_megabytes(tmp_path) == MACHINE
    (tmp_path / "memory.max").write_text(limit)
    assert memory_megabytes(tmp_path) == MACHINE


@pytest.mark.parametrize(
    ("machine", "pages", "building"),
    [(512, "128MB", "64MB"), (8192, "1024MB", "1024MB"), (262_144, "4096MB", "4096MB")],
)
def test_pages_and_index_builds_get_an_eighth_each_within_bounds(
    machine: int, pages: str, building: str
) -> None:
    given = memory_settings(machine)
    assert (given["shared_buffers"], given["maintenance_work_mem"]) == (pages, building)
