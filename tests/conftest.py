"""Fixtures shared by all tests that need servers live in `tests.servers`."""

import gc
import os
import shutil
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest
from xdist.scheduler import LoadFileScheduling

pytest_plugins = ["tests.servers"]
PAGES = "tests/e2e/pages/"
MEMORY = Path("/dev/shm")
LEAST_FREE, LEAST_AVAILABLE = 3e9, 6e9
"""Bytes there, and of memory: files of tests take up to two gigabytes, their processes as much."""

# Nothing of a test must outlive the machine, and many start with a copy of a database, four hundred
# files, which costs five times as much on a disk: they are written to memory where there is enough.
if (
    MEMORY.is_dir()
    and shutil.disk_usage(MEMORY).free > LEAST_FREE
    and psutil.virtual_memory().available > LEAST_AVAILABLE
):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Each client of httpx loads the authorities of the web, for 27 ms of CPU, and a test asks nobody
# but this machine, in the clear: clients here and in the processes that tests start load one
# authority, which signs nothing.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "fixtures" / "authority.pem")

# A busy machine is slow, which is not a failure: no test asserts a duration. Tests that say no
# number take half the examples that hypothesis would; `make fuzz` takes as many as it is told.
hypothesis.settings.register_profile(
    "attest",
    deadline=None,
    max_examples=int(os.environ.get("ATTEST_TEST_EXAMPLES", "50")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("attest")
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and not among the millions of objects that imports made.

    They stay to the end. Going through them took an eighth of the time of the unit tests.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 100)


class ByFixtures(LoadFileScheduling):
    """Tests of a file stay together, and those of a folder that share an instance and a browser."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return PAGES if file.startswith(PAGES) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFixtures | None:
    """The scheduler of `--dist=loadfile`."""
    return ByFixtures(config, log) if config.getoption("dist") == "loadfile" else None
