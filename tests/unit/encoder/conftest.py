"""One loaded MiniLM for all tests of the encoder."""

from pathlib import Path

import pytest

from workers.encoder import MiniLM


@pytest.fixture(scope="session")
def weights_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the packed weights once `model` is loaded."""
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="session")
def model(weights_cache: Path) -> MiniLM:
    """MiniLM on two threads."""
    return MiniLM(weights_cache, threads=2)
