"""Private names of dramatiq's Redis broker: its keys and its consumer.

All code that depends on them takes them from here. A canary test
(`tests/integration/runtime/test_dramatiq_keys.py`) compares them with what an unchanged broker of
dramatiq writes, so that an upgrade that changes them fails in one place. Source: `dispatch.lua`.
"""

from dataclasses import dataclass

from dramatiq.brokers.redis import _RedisConsumer as RedisConsumer

__all__ = ["Keys", "RedisConsumer", "canonical"]

_DELAYED, _DEAD, _BODIES = ".DQ", ".XQ", ".msgs"


def canonical(queue: str) -> str:
    """The queue behind a queue of delayed messages; any other queue is returned as it is."""
    return queue.removesuffix(_DELAYED)


@dataclass(frozen=True)
class Keys:
    """The keys of one queue in one namespace."""

    namespace: str
    queue: str

    @property
    def waiting(self) -> str:
        """A list of the ids of waiting messages."""
        return f"{self.namespace}:{self.queue}"

    @property
    def bodies(self) -> str:
        """A hash of bodies by id, of messages that wait or are in progress."""
        return f"{self.waiting}{_BODIES}"

    @property
    def dead(self) -> str:
        """A sorted set of the ids of dead messages, by the time of their death in milliseconds."""
        return f"{self.namespace}:{canonical(self.queue)}{_DEAD}"

    @property
    def dead_bodies(self) -> str:
        """A hash of the bodies of dead messages by id."""
        return f"{self.dead}{_BODIES}"

    @property
    def delayed(self) -> "Keys":
        """The keys of the queue's delayed messages."""
        return Keys(self.namespace, f"{canonical(self.queue)}{_DELAYED}")

    @property
    def heartbeats(self) -> str:
        """A sorted set of workers by the time of their last heartbeat in milliseconds."""
        return f"{self.namespace}:__heartbeats__"

    def fetched(self, worker: str) -> str:
        """A set of the ids that a worker has fetched and not acknowledged.

        Args:
            worker: the id of its broker, or a pattern; then `namespace` must be escaped.
        """
        return f"{self.namespace}:__acks__.{worker}.{self.queue}"
