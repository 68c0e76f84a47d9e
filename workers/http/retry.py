"""When a source is asked again, and the pause before (WIRE 0)."""

import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TRIES = 4
"""WIRE 0."""
LONGEST_RETRY_AFTER_SECONDS = 60.0
"""WIRE 0: a source that asks for a longer pause is not asked again."""
TIRED_SECONDS = 300.0
"""Our choice: the pause for a source that answered 429 to all tries and named no time."""
_FIRST_BACKOFF_SECONDS = 1.0
"""Our choice: 1, 2 and 4 seconds before the second, third and fourth try, plus or minus half."""
_LONGEST_SECONDS = 7 * 24 * 3600.0
"""Our choice: no source means a longer pause than a week."""

_SECONDS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


@dataclass(frozen=True)
class Trouble:
    """A failed try that may be repeated. `said` describes it in our words, without a URL."""

    host: str
    said: str
    status: int | None = None
    retry_after: float | None = None
    """Seconds that the source asks to wait."""
    again: bool = True
    """Whether another try may help."""


def is_passing(status: int) -> bool:
    """Whether the same request may be answered later: 408, 429 and 5xx."""
    return status in (408, 429) or status >= 500


def retry_after_seconds(value: str | None, at: datetime) -> float | None:
    """Seconds from `at` that a `Retry-After` asks to wait, at least 0; None if it is unreadable.
    It holds seconds or an HTTP-date (RFC 9110, 10.2.3)."""
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
    """Seconds to wait after the given number of failed tries."""
    ceiling: float = _FIRST_BACKOFF_SECONDS * 2 ** (tries - 1)
    return ceiling * random.uniform(0.5, 1.5)  # noqa: S311  jitter, no secret
