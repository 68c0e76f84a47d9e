"""When a source is asked again, and how long we wait before (WIRE 0)."""

import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TRIES = 4
"""WIRE 0."""
LONGEST_RETRY_AFTER_SECONDS = 60.0
"""WIRE 0: a source that asks for more is left alone."""
TIRED_SECONDS = 300.0
"""Ours: how long a source is left alone that answered 429 to all tries and named no time."""
_FIRST_BACKOFF_SECONDS = 1.0
"""Ours: 1, 2 and 4 seconds before the second, third and fourth try, give or take a half."""
_LONGEST_SECONDS = 7 * 24 * 3600.0
"""Ours: no source means a longer pause than a week."""

_SECONDS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


@dataclass(frozen=True)
class Trouble:
    """Why a try brought nothing and the next one may. `said` is in our words, without a URL."""

    host: str
    said: str
    status: int | None = None
    retry_after: float | None = None
    """Seconds, as the source asks."""
    again: bool = True
    """Whether another try can help."""


def is_passing(status: int) -> bool:
    """Whether the same request may be answered later: 408, 429 and 5xx."""
    return status in (408, 429) or status >= 500


def retry_after_seconds(value: str | None, at: datetime) -> float | None:
    """How long a `Retry-After` asks to wait from `at` on, 0 at least; None: it says nothing
    readable. Seconds or an HTTP-date (RFC 9110, 10.2.3)."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), _LONGEST_SECONDS)
    try:
        until = parsedate_to_datetime(text)
        moment = until if until.tzinfo else until.replace(tzinfo=UTC)
        seconds = (moment - at).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(seconds, 0.0), _LONGEST_SECONDS)


def backoff_seconds(tries: int) -> float:
    """How long to wait after so many tries that failed."""
    ceiling: float = _FIRST_BACKOFF_SECONDS * 2 ** (tries - 1)
    return ceiling * random.uniform(0.5, 1.5)  # noqa: S311  jitter, no secret
