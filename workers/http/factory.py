"""Makes the client of a source or service from the settings: key, mirrors and rate limit."""

import time
from collections.abc import Callable, Collection
from datetime import datetime

import sqlalchemy as sa

from knowledge.feeds.sources import connector_policy, service_policy
from store import models
from store.core.settings import Settings
from store.sources.rate_limits import RateLimits
from workers.http.client import SourceClient
from workers.http.transport import shared_wire

ASK_WHO_CALLS = frozenset({"pubmed", "crossref"})
"""Sources that ask for the caller's e-mail address (WIRE 1, 5); no other is given it."""


def client_for(
    source: str,
    settings: Settings,
    engine: sa.Engine,
    *,
    origins: Collection[str] | None = None,
    now: Callable[[], datetime] = models.now,
    sleep: Callable[[float], None] = time.sleep,
) -> SourceClient:
    """The client of a connector. Cheap: all clients of a process share their connections.

    `origins` are for a source whose origins are not in `sources.yaml`, such as news.

    Raises:
        LookupError: there is no such source.
        ValueError: its key or the contact address cannot stand in a header.
    """
    policy = connector_policy(source)
    if origins is not None:
        policy = policy.model_copy(update={"origins": tuple(origins)})
    return SourceClient(
        policy,
        RateLimits(engine),
        shared_wire(),
        key=_key(source, settings),
        contact=settings.contact_email if source in ASK_WHO_CALLS else "",
        mirrors=settings.source_mirrors,
        max_bytes=settings.source_max_bytes,
        now=now,
        sleep=sleep,
    )


def service_client(
    service: str,
    settings: Settings,
    engine: sa.Engine,
    *,
    key: str,
    deadline_seconds: float,
    now: Callable[[], datetime] = models.now,
    sleep: Callable[[float], None] = time.sleep,
) -> SourceClient:
    """The client of a service for which somebody waits: one try, within the deadline.

    Raises as `client_for` does.
    """
    return SourceClient(
        service_policy(service),
        RateLimits(engine),
        shared_wire(),
        key=key,
        mirrors=settings.source_mirrors,
        max_bytes=settings.source_max_bytes,
        deadline_seconds=deadline_seconds,
        tries=1,
        now=now,
        sleep=sleep,
    )


def _key(source: str, settings: Settings) -> str:
    if source.startswith("openfda-"):
        return settings.openfda_api_key
    return {"pubmed": settings.ncbi_api_key, "openalex": settings.openalex_api_key}.get(source, "")
