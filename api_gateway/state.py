"""The objects that routes work with: one set per gateway process, kept in the app's state."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import redis
from fastapi import Depends, Request

from api_gateway.auth.holding import Holding
from api_gateway.auth.limits import Limiter
from api_gateway.auth.refusals import Refusals
from api_gateway.auth.remembered_keys import Remembered
from api_gateway.backpressure.load import Load
from api_gateway.http.listen import Notices
from api_gateway.http.publishing import PublishingThread
from api_gateway.metrics.metrics import Metrics
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.index.lexical import Segment


@dataclass(frozen=True)
class Gateway:
    """The parts of a running gateway."""

    settings: Settings
    store: Store
    notices: Notices
    publishing: PublishingThread
    metrics: Metrics
    redis: "redis.Redis"
    limiter: Limiter
    refusals: Refusals
    load: Load
    holding: Holding
    remembered: Remembered[Any] = field(default_factory=Remembered)
    segments: dict[int, Segment] = field(default_factory=dict)
    """The cache of the index of words, for the library's search."""


async def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


InGateway = Annotated[Gateway, Depends(_gateway)]
"""The type of a route's parameter that receives the gateway."""
