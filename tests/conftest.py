"""Fixtures shared by all tests that need servers live in `tests.servers`."""

import gc
import os
import shutil
from pathlib import Path

import hypothesis
import psutil

pytest_plugins = ["tests.servers"]
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
