"""Ed25519 signatures (RFC 8032, section 5.1), of manifests of exports. Pure.

None of the locked packages signs with Ed25519, so the arithmetic stands here, on Python's integers.
It is not constant in time: fit for a file that an operator signs now and then on a machine of
their own, not for a service that signs what strangers send.
"""

import hashlib
from typing import NamedTuple

SEED_BYTES = 32
KEY_BYTES = 32
SIGNATURE_BYTES = 64

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
"""A square root of -1."""


class _Point(NamedTuple):
    """A point of the curve with x = X/Z, y = Y/Z, and T = XY/Z."""

    x: int
    y: int
    z: int
    t: int


_NEUTRAL = _Point(0, 1, 1, 0)


def _add(a: _Point, b: _Point) -> _Point:
    """The sum, by the formula that holds for all pairs of points, equal ones too."""
    left = (a.y - a.x) * (b.y - b.x) % _P
    right = (a.y + a.x) * (b.y + b.x) % _P
    cross = 2 * _D * a.t * b.t % _P
    depth = 2 * a.z * b.z % _P
    e, f, g, h = right - left, depth - cross, depth + cross, right + left
    return _Point(e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(factor: int, point: _Point) -> _Point:
    total = _NEUTRAL
    while factor:
        if factor & 1:
            total = _add(total, point)
        point = _add(point, point)
        factor >>= 1
    return total


def _equal(a: _Point, b: _Point) -> bool:
    return (a.x * b.z - b.x * a.z) % _P == 0 and (a.y * b.z - b.y * a.z) % _P == 0


def _x_of(y: int, odd: int) -> int | None:
    """The x that belongs to y, odd or even as asked; None where no point has this y."""
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and odd):
        return None
    return x if x & 1 == odd else _P - x


def _point(written: bytes) -> _Point | None:
    """The point that 32 bytes name: y, little-endian, and the lowest bit of x on top."""
    number = int.from_bytes(written, "little")
    y, odd = number & (2**255 - 1), number >> 255
    x = _x_of(y, odd) if y < _P else None
    return None if x is None else _Point(x, y, 1, x * y % _P)


def _written(point: _Point) -> bytes:
    inverse = pow(point.z, -1, _P)
    x, y = point.x * inverse % _P, point.y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _base() -> _Point:
    found = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
    assert found is not None
    return found


_BASE = _base()


def _number(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _expanded(seed: bytes) -> tuple[int, bytes]:
    """The secret factor and the secret prefix that a seed stands for."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"an Ed25519 key has {SEED_BYTES} bytes")
    digest = hashlib.sha512(seed).digest()
    factor = int.from_bytes(digest[:32], "little")
    return factor & ((1 << 254) - 8) | 1 << 254, digest[32:]


def public_key(seed: bytes) -> bytes:
    """The public key of a secret seed, both (32,) bytes.

    Raises:
        ValueError: the seed has another length.
    """
    return _written(_times(_expanded(seed)[0], _BASE))


def sign(seed: bytes, message: bytes) -> bytes:
    """The signature of `message`, (64,) bytes; the same each time.

    Raises:
        ValueError: the seed has another length.
    """
    factor, prefix = _expanded(seed)
    own = _written(_times(factor, _BASE))
    nonce = _number(prefix, message) % _ORDER
    commitment = _written(_times(nonce, _BASE))
    challenge = _number(commitment, own, message) % _ORDER
    answer = (nonce + challenge * factor) % _ORDER
    return commitment + answer.to_bytes(32, "little")


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` is one of `message` by the owner of the public `key`. Never raises."""
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    owner, commitment = _point(key), _point(signature[:32])
    answer = int.from_bytes(signature[32:], "little")
    if owner is None or commitment is None or answer >= _ORDER:
        return False
    challenge = _number(signature[:32], key, message) % _ORDER
    expected = _add(commitment, _times(challenge, owner))
    return _equal(_times(answer, _BASE), expected)
