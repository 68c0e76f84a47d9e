"""Fixtures shared by all tests that need servers live in `tests.servers`."""

import gc
import os

import hypothesis

pytest_plugins = ["tests.servers"]

# A busy machine is slow, which is not a failure: no test asserts a duration. Tests that say no
# number take half the examples that hypothesis would; `make fuzz` takes as many as it is told.
hypothesis.settings.register_profile(
    "attest",
    deadline=None,
    max_examples=int(os.environ.get("ATTEST_TEST_EXAMPLES", "50")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("attest")


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and not among the millions of objects that imports made.

    They stay to the end. Going through them took an eighth of the time of the unit tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
