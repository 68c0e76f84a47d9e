"""Fixtures shared by all tests that need servers live in `tests.servers`."""

pytest_plugins = ["tests.servers"]
