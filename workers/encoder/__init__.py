"""Encoders of texts: a packaged model, a remote endpoint, or hashed words for load tests."""

import os

from store.core.settings import Settings
from workers.encoder.base import Encoder, EncoderRefused, EncoderUnavailable
from workers.encoder.hashing import HashEncoder
from workers.encoder.minilm import MiniLM
from workers.encoder.remote import RemoteEncoder

__all__ = [
    "Encoder",
    "EncoderRefused",
    "EncoderUnavailable",
    "HashEncoder",
    "MiniLM",
    "RemoteEncoder",
    "encoder_for",
]


def encoder_for(settings: Settings) -> Encoder:
    """The encoder that the settings name. Keep it: loading MiniLM takes a quarter of a second.

    Raises:
        ValueError: the remote encoder's address, model or key cannot be used.
        OSError: MiniLM's weights are not installed or cannot be packed into the data directory.
    """
    if settings.encoder == "hash":
        return HashEncoder(settings.encoder_dimensions)
    if settings.encoder == "openai":
        return RemoteEncoder(
            settings.encoder_url,
            settings.encoder_model,
            settings.encoder_key,
            settings.encoder_dimensions,
            mask=settings.mask_identifiers,
        )
    return MiniLM(settings.data_dir / "encoder", settings.encoder_threads or os.cpu_count() or 1)
