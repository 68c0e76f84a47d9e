"""Who lives, as far as Redis can tell, where nothing is kept: `attest status` and metrics ask.

A worker listens for its stages, so the subscriptions count. What a scheduler does cannot tell: on
an idle system there is nothing to publish and nothing to find, so it says that it lives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import redis

from messages import Stage
from workers.runtime.broker import WokenBroker, channel_of

SAY_SECONDS = 1.0
HEARD_SECONDS = 15
"""Ours: so long after it last said so it counts as gone; a busy machine skips a few ticks."""
KEPT_SECONDS = 86_400
"""For so long it is known when one last said so."""
LOOKED_SECONDS = 5
USUAL_POLICY = "noeviction"


@dataclass(frozen=True)
class Seen:
    """What a Redis that answers knows.

    Args:
        listening: for each stage, how many processes listen for its messages.
        beat_seconds: since a scheduler last said that it lives; None: none did for a day.
        refusal: why it takes nothing that is written; empty: it does.
        policy: what it does when it is full; None: it does not tell, as hosted ones.
    """

    listening: Mapping[str, int]
    beat_seconds: float | None
    refusal: redis.RedisError | None
    policy: str | None

    @property
    def scheduler_heard(self) -> bool:
        """Whether any scheduler said lately that it lives."""
        return self.beat_seconds is not None and self.beat_seconds <= HEARD_SECONDS

    @property
    def evicts(self) -> bool:
        """Whether it drops messages when it is full."""
        return self.policy not in (None, USUAL_POLICY)


def _key(namespace: str) -> str:
    return f"{namespace}:scheduler:said"


def say(broker: WokenBroker) -> None:
    """Say that this scheduler lives. Only Redis' own clock counts since when: it has but one."""
    broker.client.set(_key(broker.namespace), "alive", ex=KEPT_SECONDS)


def look(client: redis.Redis, namespace: str) -> Seen:
    """See who lives.

    Raises:
        redis.RedisError, OSError: Redis is away, or lets this client look at nothing.
    """
    channels = {channel_of(namespace, stage.value).encode(): stage.value for stage in Stage}
    told = cast(list[tuple[bytes, int]], client.pubsub_numsub(*channels))
    listening = {channels[name]: many for name, many in told}
    left = client.pttl(_key(namespace))
    beat = None if left < 0 else max(0.0, KEPT_SECONDS - left / 1000)
    return Seen(listening, beat, _refusal(client, namespace), _policy(client))


def _refusal(client: redis.Redis, namespace: str) -> redis.RedisError | None:
    """What it says to something new; a Redis that is full answers everything else."""
    try:
        client.set(f"{namespace}:status", "looked", ex=LOOKED_SECONDS)
    except redis.ResponseError as error:
        return error
    return None


def _policy(client: redis.Redis) -> str | None:
    try:
        told = client.config_get("maxmemory-policy")
    except redis.ResponseError:
        return None
    return str(told.get("maxmemory-policy", "")) or None
