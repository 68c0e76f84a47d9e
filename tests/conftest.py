"""Fixtures shared by all tests that need servers live in `tests.servers`."""

import hypothesis

pytest_plugins = ["tests.servers"]

# A busy machine is slow, and being slow is no failure: no test asserts a time.
hypothesis.settings.register_profile(
    "attest", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("attest")
