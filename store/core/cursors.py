"""Opaque cursors, which say where the next page of a listing begins.

A page starts after the last row that was seen (keyset paging), so rows that arrive in the meantime
shift nothing and a deep page costs as much as the first.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

MAX_CURSOR_CHARS = 1000
_BIGINT = 2**63


class InvalidCursor(ValueError):
    """The cursor was not issued by this listing."""


def pack(key: Sequence[str | int]) -> str:
    """The cursor for a page whose last row has this sort key: one URL-safe word."""
    return base64.urlsafe_b64encode(json.dumps(list(key)).encode()).decode().rstrip("=")


def unpack(cursor: str, kinds: Sequence[type]) -> list[str | int]:
    """The sort key that was passed to `pack`; `kinds` are the types its parts must have.

    Raises:
        InvalidCursor: the cursor holds anything else.
    """
    key = _decoded(cursor) if len(cursor) <= MAX_CURSOR_CHARS else None
    if not isinstance(key, list) or [type(part) for part in key] != list(kinds):
        raise InvalidCursor("use the next_cursor of the page before, unchanged")
    if any(isinstance(part, int) and not 0 <= part < _BIGINT for part in key):
        raise InvalidCursor("use the next_cursor of the page before, unchanged")
    return key


def position(cursor: str) -> tuple[datetime, UUID]:
    """The time and id of the last row before the page, for a listing by time and id.

    Raises:
        InvalidCursor: the cursor is not from such a listing.
    """
    at, key = unpack(cursor, [str, str])
    try:
        return datetime.fromisoformat(str(at)).astimezone(UTC), UUID(str(key))
    except (
        ValueError,
        OverflowError,
    ) as error:  # no UTC at the calendar's ends
        raise InvalidCursor("use the next_cursor of the page before, unchanged") from error


def _decoded(cursor: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
