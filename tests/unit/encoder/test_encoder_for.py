"""Which encoder the settings name."""

from pathlib import Path

import pytest

from store.core.settings import Settings
from workers.encoder import HashEncoder, MiniLM, RemoteEncoder, encoder_for


def test_the_hash_encoder_is_made_on_request() -> None:
    encoder = encoder_for(Settings(encoder="hash", encoder_dimensions=32))
    assert isinstance(encoder, HashEncoder)
    assert encoder.dimensions == 32


def test_the_remote_encoder_takes_its_settings() -> None:
    settings = Settings(
        encoder="openai", encoder_url="http://host", encoder_model="m", encoder_dimensions=8
    )
    encoder = encoder_for(settings)
    assert isinstance(encoder, RemoteEncoder)
    assert encoder.dimensions == 8
    assert encoder.name.startswith("openai:m/8/")


def test_a_remote_encoder_without_an_address_says_what_to_set() -> None:
    with pytest.raises(ValueError, match="ATTEST_ENCODER_URL"):
        encoder_for(Settings(encoder="openai", encoder_model="m"))


def test_minilm_is_the_default_and_keeps_its_weights_in_the_data_directory(tmp_path: Path) -> None:
    encoder = encoder_for(Settings(data_dir=tmp_path, encoder_threads=1))
    assert isinstance(encoder, MiniLM)
    assert [path.suffix for path in (tmp_path / "encoder").iterdir()] == [".weights"]
