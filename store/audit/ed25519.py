"""Ed25519 signatures (RFC 8032, section 5.1) of export manifests, by `cryptography`."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

SEED_BYTES = 32
KEY_BYTES = 32
SIGNATURE_BYTES = 64


def _private(seed: bytes) -> Ed25519PrivateKey:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"an Ed25519 key has {SEED_BYTES} bytes")
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_key(seed: bytes) -> bytes:
    """The public key of a secret seed, both (32,) bytes.

    Raises:
        ValueError: the seed has another length.
    """
    return _private(seed).public_key().public_bytes_raw()


def sign(seed: bytes, message: bytes) -> bytes:
    """The signature of `message`, (64,) bytes; it is deterministic.

    Raises:
        ValueError: the seed has another length.
    """
    return _private(seed).sign(message)


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """True if `signature` signs `message` under the public `key`. Never raises."""
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
