"""Who lives, as far as Redis can tell, where nothing is kept: `attest status` and metrics ask.

A worker listens for its stages, so the subscriptions count. What a scheduler does cannot tell: on
an idle system there is nothing to publish and nothing to find, so it says that it lives.
"""

from collections.abc import Mapping, Sequence
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
SILENT_SECONDS = 75.0
"""Ours: who listens says so every 30 seconds (`redis_client`), however busy it is; after two that
it missed it is stopped, or its host is away."""
LOOKED_SECONDS = 5
USUAL_POLICY = "noeviction"


@dataclass(frozen=True)
class Seen:
    """What a Redis that answers knows.

    Args:
        listening: for each stage, how many processes listen for its messages.
        silent_seconds: of each that listens and says nothing any more, since when; None: nobody can
            tell, as others listen at the same Redis.
        beat_seconds: since a scheduler last said that it lives; None: none did for a day.
        refusal: why it takes nothing that is written; empty: it does.
        policy: what it does when it is full; None: it does not tell, as hosted ones.
    """

    listening: Mapping[str, int]
    beat_seconds: float | None
    refusal: redis.RedisError | None
    policy: str | None
    silent_seconds: Sequence[float] | None = None

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
    quiet = silent(_listeners(client), sum(listening.values()))
    return Seen(
        listening, _beat(client, namespace), _refusal(client, namespace), _policy(client), quiet
    )


def _beat(client: redis.Redis, namespace: str) -> float | None:
    """Seconds since a scheduler last said that it lives; None: none did for a day."""
    left = client.pttl(_key(namespace))
    if left >= 0:
        return max(0.0, KEPT_SECONDS - left / 1000)
    # The release before says it there; leave this out when nobody upgrades from that any more.
    left = client.pttl(f"{namespace}:scheduler")
    return max(0.0, HEARD_SECONDS - left / 1000) if left >= 0 else None


def silent(listeners: Sequence[Mapping[str, str]] | None, ours: int) -> list[float] | None:
    """For how many seconds each process that listens and says nothing any more has said nothing;
    None: nobody can tell. Pure.

    Args:
        listeners: as Redis lists its clients; None: it lets nobody look.
        ours: subscriptions to our channels. A client is listed without its channels: only where
            there are no others all listeners are ours.
    """
    if listeners is None:
        return None
    try:
        waiting = [one for one in listeners if "P" in one["flags"]]
        others = sum(int(one["sub"]) for one in waiting) - ours
        if others or any(int(one["psub"]) for one in waiting):
            return None
        return [idle for one in waiting if (idle := float(one["idle"])) > SILENT_SECONDS]
    except (KeyError, ValueError):
        return None


def _listeners(client: redis.Redis) -> Sequence[Mapping[str, str]] | None:
    try:
        return cast(Sequence[Mapping[str, str]], client.client_list(_type="pubsub"))
    except redis.ResponseError:
        return None


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
