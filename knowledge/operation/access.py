"""The request limits of callers, and how refusals are recorded (`access.yaml`)."""

from decimal import Decimal
from functools import cache
from typing import Annotated

from pydantic import Field

from knowledge.loader import Policy, load

Positive = Annotated[int, Field(ge=1)]


class Defaults(Policy):
    """The limits of keys that have none of their own."""

    rate_per_minute: Positive
    requests_a_day: Positive
    usd_a_day: Annotated[Decimal, Field(gt=0)]


class KeyPolicy(Policy):
    """How long keys are valid, and how often their use is recorded."""

    expire_days: Positive
    longest_days: Positive
    feed_days: Positive
    noted_seconds: Annotated[float, Field(gt=0)]


class SessionPolicy(Policy):
    """How long a browser stays signed in."""

    hours: Annotated[float, Field(gt=0)]


class Noted(Policy):
    """How many refusals are recorded as separate events."""

    per_minute: Positive
    per_day: Positive


class RefusalPolicy(Policy):
    """Which refusals the audit records, by who was refused and why."""

    strangers: Noted
    keys: Noted
    limited: Noted
    counted_seconds: Annotated[float, Field(gt=0)]


class AccessPolicy(Policy):
    """The whole file."""

    defaults: Defaults
    keys: KeyPolicy
    sessions: SessionPolicy
    refusals: RefusalPolicy


@cache
def access_policy() -> AccessPolicy:
    """The policy."""
    return AccessPolicy.model_validate(load("operation/access"))
