"""A real `SourceClient` over the fake web, in the fake's time: no test waits or needs a database.

def test_…(clock: Clock, source_client: MakeClient) -> None:
    with FakeWeb(PubMed(clock)) as web:
        client = source_client("pubmed", web)
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pytest

from knowledge.feeds.sources import connector_policy
from tests.fakes.web import Clock, FakeWeb
from workers.http.client import Limiter, SourceClient
from workers.http.transport import Wire


class MakeClient(Protocol):
    """`origins` are those of the policy where none are given; `options` go to SourceClient."""

    def __call__(
        self,
        name: str,
        web: FakeWeb,
        *,
        key: str = "",
        contact: str = "",
        origins: Sequence[str] | None = None,
        **options: Any,
    ) -> SourceClient: ...


class MemoryLimiter:
    """The turns of `store.sources.rate_limits.RateLimits`, for one process."""

    def __init__(self) -> None:
        self.next_at: dict[str, datetime] = {}

    def reserve(
        self, host: str, per_second: float, burst: int, at: datetime, *, longest: float
    ) -> float:
        interval = timedelta(seconds=1 / per_second)
        turn = max(self.next_at.get(host, at), at)
        wait = max(0.0, (turn - interval * (burst - 1) - at).total_seconds())
        if wait <= longest:
            self.next_at[host] = turn + interval
        return wait

    def hold(self, host: str, until: datetime, at: datetime) -> None:
        self.next_at[host] = max(self.next_at.get(host, at), until)


@pytest.fixture
def clock() -> Clock:
    """The time of the fakes and of the client."""
    return Clock(datetime(2026, 3, 2, 12, tzinfo=UTC))


@pytest.fixture
def limiter() -> Limiter:
    """The turns that all clients of a test share."""
    return MemoryLimiter()


@pytest.fixture
def source_client(clock: Clock, limiter: Limiter) -> Iterator[MakeClient]:
    """Makes clients that reach the fake web and nothing else."""
    wire = Wire()

    def make(
        name: str,
        web: FakeWeb,
        *,
        key: str = "",
        contact: str = "",
        origins: Sequence[str] | None = None,
        **options: Any,
    ) -> SourceClient:
        policy = connector_policy(name)
        if origins is not None:
            policy = policy.model_copy(update={"origins": tuple(origins)})
        # Origins without a service are mapped as well: the fake web answers 502 for them.
        mirrors = {
            origin: f"{web.base}/{origin.removeprefix('https://')}" for origin in policy.origins
        }
        return SourceClient(
            policy,
            **{
                "limiter": limiter,
                "wire": wire,
                "key": key,
                "contact": contact,
                "mirrors": mirrors,
                "now": clock,
                "sleep": clock.sleep,
                **options,
            },
        )

    yield make
    wire.close()
