"""The request limits of callers, and how refusals are recorded (`access.yaml`)."""

from decimal import Decimal
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Positive = Annotated[int, Field(ge=1)]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Defaults(_Policy):
    """The limits of keys that have none of their own."""

    rate_per_minute: Positive
    requests_a_day: Positive
    usd_a_day: Annotated[Decimal, Field(gt=0)]


class KeyPolicy(_Policy):
    """How long keys are valid, and how often their use is recorded."""

    expire_days: Positive
    longest_days: Positive
    feed_days: Positive
    noted_seconds: Annotated[float, Field(gt=0)]


class SessionPolicy(_Policy):
    """How long a browser stays signed in."""

    hours: Annotated[float, Field(gt=0)]


class Noted(_Policy):
    """How many refusals are recorded as separate events."""

    per_minute: Positive
    per_day: Positive


class RefusalPolicy(_Policy):
    """Which refusals the audit records, by who was refused and why."""

    strangers: Noted
    keys: Noted
    limited: Noted
    counted_seconds: Annotated[float, Field(gt=0)]


class AccessPolicy(_Policy):
    """The whole file."""

    defaults: Defaults
    keys: KeyPolicy
    sessions: SessionPolicy
    refusals: RefusalPolicy


@cache
def access_policy() -> AccessPolicy:
    """The policy. Raises pydantic.ValidationError if the file is malformed."""
    return AccessPolicy.model_validate(load("operation/access"))
