"""Hashes of stored JSON and texts.

Words of patients, and data derived from them, are hashed with a key that is stored beside them and
erased with them. A plain hash would confirm a guess of the words.
"""

import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

EXACT = 2**53
"""Integers beyond this are not exact as floats (IEEE 754, binary64)."""


_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
_OF_JSON = _AS_THEY_ARE | {dict, list, float}


def plain(value: Any) -> Any:
    """`value` in the form that jsonb returns, so that both have the same hash.

    jsonb keeps numbers as decimals: it returns 1e+16 as an integer and -0.0 without its sign.

    Raises:
        TypeError: there is something in it that is no JSON.
    """
    kind = type(value)
    if kind not in _OF_JSON:
        kind = _kind(value)
    if kind is dict:
        return {
            key if type(key) is str else str(key): (
                inner if type(inner) in _AS_THEY_ARE else plain(inner)
            )
            for key, inner in value.items()
        }
    if kind is list:
        return [inner if type(inner) in _AS_THEY_ARE else plain(inner) for inner in value]
    return _number(value) if kind is float else value


def _kind(value: Any) -> type:
    """The JSON kind of a value whose class is not one that the JSON parser returns."""
    if isinstance(value, (str, int)):
        return str
    if isinstance(value, Mapping):
        return dict
    if isinstance(value, (list, tuple)):
        return list
    if isinstance(value, float):
        return float
    raise TypeError(f"{type(value).__name__} is no JSON")


class _Small(float):
    """A number that Python writes with an exponent, as in the hashes so far; orjson would write it
    differently."""


_SMALL = 1e-4
"""Below this, Python's `repr` uses an exponent (float_repr_style "short")."""


def _number(value: float) -> float | int | str:
    if value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if value.is_integer() or not math.isfinite(value):
        return repr(value)
    return _Small(value) if abs(value) < _SMALL else value


HASH_KEY_BYTES = 32
"""The output length of SHA-256 (RFC 2104, section 3: a shorter key would weaken it)."""


def new_hash_key() -> bytes:
    """A new key for the hashes of one row's words, (32,) bytes."""
    return secrets.token_bytes(HASH_KEY_BYTES)


def json_hash(body: object, key: bytes | None = None) -> str:
    """SHA-256, in hex, of the canonical JSON of `body`: sorted keys, no spaces, UTF-8.

    The value that jsonb returns for `body` has the same hash, for numbers below 2**53. With a `key`
    it is HMAC-SHA-256 (RFC 2104).
    """
    return text_hash(_canonical(body), key)


class Hashed(NamedTuple):
    """A body in canonical JSON, ready to be written as jsonb, and its hash."""

    json: str
    hash: str


def hashed(body: object, key: bytes | None = None) -> Hashed:
    """The canonical JSON of `body` and its `json_hash`, serialised once for both."""
    written = _canonical(body)
    return Hashed(written, text_hash(written, key))


def _canonical(body: object) -> str:
    """Canonical JSON as Python's `json.dumps` writes it, in a tenth of the time (ADR 0027).

    Raises:
        TypeError: there is something in it that is no JSON.
    """
    value = plain(body)
    try:
        return orjson.dumps(value, _as_python_does, orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # integers of more than 64 bits, or more than 254 levels
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _as_python_does(value: object) -> orjson.Fragment:
    if isinstance(value, float):  # of a subclass: `_Small`, or one of a caller
        return orjson.Fragment(float.__repr__(value))
    raise TypeError(type(value).__name__)


def text_hash(text: str, key: bytes | None = None) -> str:
    """SHA-256, in hex, of a text in UTF-8; with a `key`, HMAC-SHA-256."""
    if key is None:
        return hashlib.sha256(text.encode()).hexdigest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def keyed(digest: str | None, key: bytes | None) -> str | None:
    """The keyed hash of a plain hash of words, which may be kept for ever.

    A row written before keys were introduced has none: its hash is returned unchanged.
    """
    return digest if digest is None or key is None else text_hash(digest, key)


def is_json_hash(digest: str | None, body: object, key: bytes | None) -> bool:
    """True if `digest` is the hash of `body`, with its key or plain, as results of stages were
    hashed before.

    Compares in constant time; a value that is no digest (None, or anything else) gives False.
    """
    return is_text_hash(digest, _canonical(body), key)


def is_text_hash(digest: str | None, text: str, key: bytes | None) -> bool:
    """The same as `is_json_hash` for a text."""
    expected = (digest or "").encode(errors="surrogatepass")
    kinds = (key, None) if key is not None else (None,)
    return any(hmac.compare_digest(text_hash(text, kind).encode(), expected) for kind in kinds)
