"""Attempts at one request: what an HTTP status means, what is repeated here, and after how long.

Errors are returned, and raised by the caller outside of `except`: so they carry no cause, whose
text might repeat prompt or key.
"""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TypeVar

from workers.language_model.port import (
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    ModelUnusable,
)

R = TypeVar("R")

RETRIES = 2
LONGEST_WAIT = 5.0
"""Seconds. If the service asks for a longer pause, the error is raised at once: the caller can
wait."""

_FIRST_BACKOFF = 0.5
_PASSING = frozenset({408, 409, 425, 429})
_MAY_HAVE_RUN = frozenset({408, 502, 504})
"""Sent by a server that stopped waiting for the model, whose output may still be billed."""
_NOT_ACCEPTED = frozenset({400, 413, 422})


def attempted(
    attempt: Callable[[], tuple[R | None, ModelError | None]], sleep: Callable[[float], None]
) -> tuple[R | None, ModelError | None]:
    """The reply, or the error after up to two more attempts at what passes quickly.

    What may be billed (a time-out, a lost reply) is not repeated: the server may still be
    answering. So this costs at most one request; retrying is up to the payer.
    """
    for number in range(RETRIES + 1):
        reply, trouble = attempt()
        wait = None if reply is not None else _wait(trouble, number)
        if wait is None or number == RETRIES:
            break
        sleep(wait)
    return reply, trouble


def of_status(status: int, headers: Mapping[str, str]) -> ModelError:
    """The error that a status other than 200 is."""
    if status in _PASSING or status >= 500:
        ran = status in _MAY_HAVE_RUN
        away = ModelUnavailable(
            f"The language model answered {status}", _retry_after(headers), lost=ran
        )
        return billed(away) if ran else away
    if status in _NOT_ACCEPTED:
        words = f"The language model did not accept the request ({status})"
        return ModelUnusable(words, not_accepted=True)
    return ModelMisconfigured(f"The language model answered {status}: check key, name and address")


def spending_limit(status: int) -> ModelError:
    """The error of an account without money, which only an operator can mend."""
    return ModelMisconfigured(f"The language model's limit on spending is reached ({status})")


def of_connection(*, timed_out: bool, sent: bool) -> ModelError:
    """The error of a request without a reply.

    Args:
        sent: whether it may have reached the server.
    """
    what = (
        "The language model did not answer in time"
        if timed_out
        else "The connection to the language model was lost"
    )
    return billed(ModelUnavailable(what, lost=not timed_out)) if sent else ModelUnavailable(what)


def billed(trouble: ModelError) -> ModelError:
    """The error of a request that may be billed although nothing came back."""
    trouble.maybe_billed = True
    return trouble


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: Retry-After holds seconds or a date (RFC 9110, 10.2.3); None if absent."""
    stated = str(headers.get("retry-after", ""))
    try:
        seconds = float(stated)
    except ValueError:
        try:
            until = parsedate_to_datetime(stated)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


def _wait(trouble: ModelError | None, number: int) -> float | None:
    """Seconds until the next attempt; None if there must be no other attempt here."""
    if not isinstance(trouble, ModelUnavailable) or trouble.maybe_billed:
        return None
    retry_after = trouble.retry_after
    if retry_after is not None and retry_after > LONGEST_WAIT:
        return None
    backoff: float = _FIRST_BACKOFF * 2**number * random.uniform(0.5, 1.5)  # noqa: S311  jitter
    # Never sooner than the service asks, and with jitter.
    return backoff if retry_after is None else retry_after + backoff / 2
