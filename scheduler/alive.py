"""Whether a scheduler lives: it says so in Redis, where nothing is kept, and `attest status` asks.

What it does cannot tell: on an idle system there is nothing to publish and nothing to find.
"""

import redis

from workers.runtime.broker import WokenBroker

SAY_SECONDS = 1.0
HEARD_SECONDS = 15
"""Ours: so long after it last said so it counts as gone; a busy machine skips a few ticks."""


def _key(namespace: str) -> str:
    return f"{namespace}:scheduler"


def say(broker: WokenBroker) -> None:
    """Say that this scheduler lives."""
    broker.client.set(_key(broker.namespace), "alive", ex=HEARD_SECONDS)


def is_heard(client: redis.Redis, namespace: str) -> bool:
    """Whether any scheduler said so lately."""
    return bool(client.exists(_key(namespace)))
