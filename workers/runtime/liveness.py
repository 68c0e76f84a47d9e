"""Which processes are alive, as Redis shows it: for `attest status` and the metrics.

Workers are counted by their subscriptions: each listens for its stages. A scheduler leaves no such
trace on an idle system, so it writes a heartbeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import redis

from messages import Stage
from workers.runtime.broker import WokenBroker, channel_of

SAY_SECONDS = 1.0
HEARD_SECONDS = 15
"""Our choice: a scheduler counts as gone this long after its last heartbeat; a busy machine skips
a few ticks."""
KEPT_SECONDS = 86_400
"""How long the time of the last heartbeat is kept."""
SILENT_SECONDS = 75.0
"""Our choice: a listener pings every 30 seconds (`redis_client`), however busy it is; after two
missed pings it is stopped or its host is unreachable."""
LOOKED_SECONDS = 5
USUAL_POLICY = "noeviction"


@dataclass(frozen=True)
class Seen:
    """The state of a Redis that answers.

    Args:
        listening: for each stage, how many processes listen for its messages.
        silent_seconds: how long each silent listener has been silent; None: unknown, because other
            programs listen at the same Redis.
        beat_seconds: seconds since a scheduler's last heartbeat; None: none for a day.
        refusal: the error of a write; None: writes succeed.
        policy: its eviction policy; None: not disclosed, as by hosted services.
    """

    listening: Mapping[str, int]
    beat_seconds: float | None
    refusal: redis.RedisError | None
    policy: str | None
    silent_seconds: Sequence[float] | None = None

    @property
    def scheduler_heard(self) -> bool:
        """Whether any scheduler has sent a heartbeat lately."""
        return self.beat_seconds is not None and self.beat_seconds <= HEARD_SECONDS

    @property
    def evicts(self) -> bool:
        """Whether Redis drops messages when it is full."""
        return self.policy not in (None, USUAL_POLICY)


def _key(namespace: str) -> str:
    return f"{namespace}:scheduler:said"


def say(broker: WokenBroker) -> None:
    """Write this scheduler's heartbeat. Its age is measured by Redis' clock alone."""
    broker.client.set(_key(broker.namespace), "alive", ex=KEPT_SECONDS)


def look(client: redis.Redis, namespace: str) -> Seen:
    """Read which processes are alive.

    Raises:
        redis.RedisError, OSError: Redis is unavailable or denies this client every query.
    """
    channels = {channel_of(namespace, stage.value).encode(): stage.value for stage in Stage}
    counts = cast(list[tuple[bytes, int]], client.pubsub_numsub(*channels))
    listening = {channels[name]: count for name, count in counts}
    quiet = silent(_listeners(client), sum(listening.values()))
    return Seen(
        listening, _beat(client, namespace), _refusal(client, namespace), _policy(client), quiet
    )


def _beat(client: redis.Redis, namespace: str) -> float | None:
    """Seconds since a scheduler's last heartbeat; None: none for a day."""
    left = client.pttl(_key(namespace))
    if left >= 0:
        return max(0.0, KEPT_SECONDS - left / 1000)
    # The key of the previous release; remove this when nobody upgrades from it any more.
    left = client.pttl(f"{namespace}:scheduler")
    return max(0.0, HEARD_SECONDS - left / 1000) if left >= 0 else None


def silent(listeners: Sequence[Mapping[str, str]] | None, ours: int) -> list[float] | None:
    """How many seconds each silent listener has been silent; None: unknown. Pure.

    Args:
        listeners: rows of Redis' client list; None: Redis denies it.
        ours: subscriptions to our channels. The list does not name a client's channels: listeners
            are known to be ours only where there are no other subscriptions.
    """
    if listeners is None:
        return None
    try:
        waiting = [client for client in listeners if "P" in client["flags"]]
        others = sum(int(client["sub"]) for client in waiting) - ours
        if others or any(int(client["psub"]) for client in waiting):
            return None
        return [idle for client in waiting if (idle := float(client["idle"])) > SILENT_SECONDS]
    except (KeyError, ValueError):
        return None


def _listeners(client: redis.Redis) -> Sequence[Mapping[str, str]] | None:
    try:
        return cast(Sequence[Mapping[str, str]], client.client_list(_type="pubsub"))
    except redis.ResponseError:
        return None


def _refusal(client: redis.Redis, namespace: str) -> redis.RedisError | None:
    """The error of a test write; a full Redis still answers all other commands."""
    try:
        client.set(f"{namespace}:status", "looked", ex=LOOKED_SECONDS)
    except redis.ResponseError as error:
        return error
    return None


def _policy(client: redis.Redis) -> str | None:
    try:
        config = client.config_get("maxmemory-policy")
    except redis.ResponseError:
        return None
    return str(config.get("maxmemory-policy", "")) or None
