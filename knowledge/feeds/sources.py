"""The trust rank and required freshness of each source type (`sources.yaml`)."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load
from knowledge.matching.choosing import one_of

Tier = Literal["official", "peer-reviewed", "news", "other"]
"""SentinelPharma plan 5.1, from the most to the least trusted (6.2)."""


class SourcePolicy(Policy):
    """The rules for one source type. `sla_hours` None: freshness goes by version instead."""

    name: Annotated[str, Field(min_length=1)]
    tier: Tier
    sla_hours: Annotated[float, Field(gt=0)] | None
    badge: Annotated[str, Field(min_length=1)]
    basis: Annotated[str, Field(min_length=1, description="where tier and number come from")]

    def is_stale(self, age_hours: float) -> bool:
        """True if a check `age_hours` ago is older than the SLA allows."""
        return self.sla_hours is not None and age_hours > self.sla_hours


class PlacePolicy(Policy):
    """The address of a source or service, and how often it may be called."""

    name: Annotated[str, Field(min_length=1)]
    origins: tuple[Annotated[str, Field(pattern=r"^https://[a-z0-9.-]+$")], ...]
    per_second: Annotated[float, Field(gt=0)]
    burst: Annotated[int, Field(ge=1)]
    with_key: Annotated[float, Field(gt=0)] | None
    basis: Annotated[str, Field(min_length=1)]


class ConnectorPolicy(PlacePolicy):
    """How a connector follows its source; see the head of the section in `sources.yaml`."""

    source_type: str | None = Field(description="None: it only completes what others brought")
    refresh_hours: Annotated[float, Field(gt=0)]
    overlap_hours: Annotated[float, Field(ge=0)]
    recheck_hours: Annotated[float, Field(gt=0)] | None
    standing: bool
    defers_to: tuple[str, ...]
    numbers: tuple[str, ...] = Field(
        description="the kinds of identifiers by which its source names its works"
    )


class _File(Policy):
    version: Literal[2]
    sources: dict[str, SourcePolicy]
    connectors: dict[str, ConnectorPolicy]
    services: dict[str, PlacePolicy]

    @model_validator(mode="after")
    def _refer_to_each_other(self) -> Self:
        for name, connector in self.connectors.items():
            if connector.source_type is not None and connector.source_type not in self.sources:
                raise ValueError(f"connector {name}: no source type {connector.source_type!r}")
            unknown = set(connector.defers_to) - set(self.connectors)
            if unknown:
                raise ValueError(f"connector {name} defers to unknown {sorted(unknown)}")
        return self


@cache
def source_policies() -> dict[str, SourcePolicy]:
    """All policies by source type, validated; callers must not change the mapping."""
    return _file().sources


@cache
def _file() -> _File:
    return _File.model_validate(load("feeds/sources"))


def connector_policies() -> dict[str, ConnectorPolicy]:
    """All connectors by name, validated; callers must not change the mapping."""
    return _file().connectors


def connector_policy(name: str) -> ConnectorPolicy:
    """The policy of a connector.

    Raises:
        LookupError: there is no such source; the message lists all sources.
    """
    try:
        return connector_policies()[name]
    except KeyError:
        told = f"there is no source {name[:60]!r}: {one_of(name, connector_policies())}"
        raise LookupError(told) from None


def owners_of(kind: str) -> tuple[str, ...]:
    """The connectors whose source assigns this kind of identifier to its works."""
    return tuple(name for name, policy in connector_policies().items() if kind in policy.numbers)


def names_works(connector: str | None) -> bool:
    """True if the connector's source assigns identifiers to works. None stands for a caller, who
    does not."""
    return connector is not None and bool(connector_policy(connector).numbers)


def service_policy(name: str) -> PlacePolicy:
    """The policy of a service that is called but not followed. Raises LookupError if unknown."""
    return _file().services[name]


def connector_sla_hours(name: str) -> float | None:
    """The SLA, in hours, of the connector's documents; None: it has none, or they go by version."""
    source_type = connector_policy(name).source_type
    return source_policy(source_type).sla_hours if source_type else None


def source_policy(source_type: str) -> SourcePolicy:
    """The policy of a source type.

    Raises:
        LookupError: `sources.yaml` has no such source type.
    """
    try:
        return source_policies()[source_type]
    except KeyError:
        raise LookupError(
            f"knowledge/feeds/sources.yaml has no source type {source_type!r}"
        ) from None
