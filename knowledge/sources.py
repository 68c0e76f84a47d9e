"""What each kind of source is worth and how fresh it must be (`sources.yaml`)."""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Tier = Literal["official", "peer-reviewed", "news", "other"]
"""SentinelPharma plan 5.1; from the most to the least trusted (6.2)."""


class SourcePolicy(BaseModel):
    """The rules for one source type. `sla_hours` None: freshness goes by version instead."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    tier: Tier
    sla_hours: Annotated[float, Field(gt=0)] | None
    badge: Annotated[str, Field(min_length=1)]
    basis: Annotated[str, Field(min_length=1, description="where tier and number come from")]

    def is_stale(self, age_hours: float) -> bool:
        """Whether a check `age_hours` ago is longer ago than the SLA allows."""
        return self.sla_hours is not None and age_hours > self.sla_hours


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    sources: dict[str, SourcePolicy]


@cache
def source_policies() -> dict[str, SourcePolicy]:
    """All policies by source type, validated; callers must not change the mapping.

    Raises pydantic.ValidationError if the file is not what it should be.
    """
    return _File.model_validate(load("sources")).sources


def source_policy(source_type: str) -> SourcePolicy:
    """The policy of a source type.

    Raises:
        LookupError: `sources.yaml` has no such source type.
    """
    try:
        return source_policies()[source_type]
    except KeyError:
        raise LookupError(f"knowledge/sources.yaml has no source type {source_type!r}") from None
