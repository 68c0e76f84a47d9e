"""Fixtures shared by all tests that need servers live in `tests.servers`."""

import hypothesis

pytest_plugins = ["tests.servers"]

# A busy machine is slow, which is not a failure: no test asserts a duration.
hypothesis.settings.register_profile(
    "attest", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("attest")
