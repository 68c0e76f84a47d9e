"""Unit tests touch no network: every socket is closed to them."""

import pytest
import pytest_socket


@pytest.fixture(autouse=True)
def no_sockets() -> None:
    """Close sockets before each unit test."""
    pytest_socket.disable_socket()
