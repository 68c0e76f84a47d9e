"""The Redis broker: built in one place, with every setting explicit and consumers that are woken.

dramatiq's consumers sleep between polls, so a hop on an idle system costs up to the idle back-off.
Here a publication also announces its queue on a Redis channel, and the consumer of that queue wakes
at once; the slow poll stays as a safety net. Redis only holds hints: a lost message is sent again
from PostgreSQL.
"""

import re
import threading
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import dramatiq
import redis
import structlog
from dramatiq.brokers.redis import RedisBroker
from dramatiq.common import current_millis
from dramatiq.middleware import CurrentMessage, Retries, TimeLimit

from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.dead_letters.dead_letters import Death
from workers.runtime.consumer import WokenConsumer
from workers.runtime.dead_letter_middleware import DeadLetterCopy, death_of, letter_id
from workers.runtime.dramatiq_keys import Keys
from workers.runtime.failures import bury
from workers.runtime.redis_client import redis_client
from workers.runtime.wire import fault, unreadable

log = structlog.get_logger(__name__)

DEAD_MESSAGE_TTL_MS = 30 * 24 * 3600 * 1000
MAINTENANCE_CHANCE = 100_000  # out of a million (DRAMATIQ 2.17)
MAX_FETCH = 1000
"""More messages than any consumer fetches at once."""
LISTEN_SECONDS = 0.25  # between two checks of whether the process should stop
PUBLISH_SECONDS = 2.0  # for each of two tries: the caller waits, and the relay publishes the rest
SILENT_SECONDS = 5.0
"""Our choice: how long nothing is published after a time-out: every caller would wait for it."""
_NO_MOMENT_MS = 250_000_000_000_000  # milliseconds; in the year 9892
UNCOPIED_MS = 10_000
"""A worker copies a message it refuses at once; an older dead message could not be copied."""


class WokenBroker(RedisBroker):
    """A Redis broker whose consumers are woken by a publication."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        self._limits = TimeLimit()
        super().__init__(
            client=redis_client(settings.redis_url),
            namespace=settings.redis_namespace,
            maintenance_chance=MAINTENANCE_CHANCE,
            heartbeat_timeout=60_000,
            dead_message_ttl=DEAD_MESSAGE_TTL_MS,
            # The full list: no pipelines, groups, callbacks or results (invariant 3). Retries stays
            # because without it dramatiq acknowledges failed messages; it never retries here.
            middleware=[
                CurrentMessage(),
                self._limits,
                Retries(max_retries=0),
                DeadLetterCopy(self.report_death),
            ],
        )
        self._sender = RedisBroker(
            client=redis_client(settings.redis_url, timeout_seconds=PUBLISH_SECONDS, retries=1),
            namespace=settings.redis_namespace,
            middleware=[],
        )
        self._store = store
        self.idle_wait_ms = settings.idle_wait_ms
        self._events: dict[str, threading.Event] = {}
        self._stopping = threading.Event()
        self._listener: threading.Thread | None = None
        self.consumers: dict[str, WokenConsumer] = {}
        self._last: frozenset[str] = frozenset()
        self._spare = 0
        self._silent_until = 0.0

    @property
    def consumer_class(self) -> type[WokenConsumer]:
        """The consumer class, which dramatiq reads from here."""
        return WokenConsumer

    def wake_event(self, queue_name: str) -> threading.Event:
        """The event that a publication to `queue_name` sets."""
        return self._events.setdefault(queue_name, threading.Event())

    def limit(self, seconds: float) -> None:
        """Interrupt the calling thread after this time, and no longer after the time before."""
        self._limits.manager.add_timeout(threading.get_ident(), seconds * 1000)

    def fetch_last(self, queues: Collection[str], threads: int) -> None:
        """Prefetch nothing from these queues: a message held by a busy pool is missing in an idle
        one. If there are two or more threads, one is left to the other queues.
        """
        self._last, self._spare = frozenset(queues), max(1, threads - 1)

    def room(self, queue_name: str) -> int:
        """How many more messages may be fetched from a queue, before its consumer's own limit."""
        if queue_name not in self._last:
            return MAX_FETCH
        return self._spare - self._held()

    def wake_last(self) -> None:
        """Wake the queues that are fetched last: a message has ended, so there may be room."""
        for queue_name in self._last:
            self.wake_event(queue_name).set()

    def _channel(self, queue_name: str) -> str:
        return channel_of(self.namespace, queue_name)

    def publish(self, promises: Sequence[Promise]) -> None:
        """Send outbox messages; the message id is the outbox id, so sending twice is harmless.

        Gives up at once if Redis refuses or has timed out within the last five seconds, and after
        some four seconds if it does not answer.

        Raises:
            redis.RedisError: Redis is unavailable; some messages may have been sent.
        """
        if promises and time.monotonic() < self._silent_until:
            raise redis.ConnectionError("Redis did not answer lately")
        try:
            self._send(promises)
        except redis.TimeoutError:
            self._silent_until = time.monotonic() + SILENT_SECONDS
            raise

    def _send(self, promises: Sequence[Promise]) -> None:
        for promise in promises:
            self._sender.enqueue(
                dramatiq.Message(
                    queue_name=promise.stage,
                    actor_name=promise.stage,
                    args=(dict(promise.payload),),
                    kwargs={},
                    options={},
                    message_id=str(promise.id),
                )
            )
        for queue_name in {promise.stage for promise in promises}:
            if queue_name in self._events:
                self._events[queue_name].set()  # this process's consumer is woken directly
            self._sender.client.publish(self._channel(queue_name), "")

    def _held(self) -> int:
        """Messages that the consumers of this process hold, including those in progress."""
        return sum(consumer.outstanding_message_count for consumer in list(self.consumers.values()))

    def backlog(self) -> dict[str, int]:
        """Messages waiting in Redis, by stage."""
        with self.client.pipeline(transaction=False) as pipe:
            for stage in Stage:
                pipe.llen(f"{self.namespace}:{stage.value}")
            return dict(zip((stage.value for stage in Stage), pipe.execute(), strict=True))

    def heads(self) -> dict[UUID, datetime]:
        """The outbox ids of the messages at the head of the stages' queues, where there are any.

        Each comes with the time at which its message was sent, by the sending host's clock.
        """
        with self.client.pipeline(transaction=False) as pipe:
            for stage in Stage:
                pipe.lindex(self._keys(stage.value).waiting, 0)
            first_ids: list[Any] = pipe.execute()
            fronts = [
                (stage.value, first_id)
                for stage, first_id in zip(Stage, first_ids, strict=True)
                if first_id
            ]
            for name, redis_id in fronts:
                pipe.hget(self._keys(name).bodies, redis_id)
            bodies: list[Any] = pipe.execute()
        heads = {}
        for (name, _), body in zip(fronts, bodies, strict=True):
            if body is not None and fault(body, name) is None:
                message: dramatiq.Message[Any] = dramatiq.Message.decode(body)
                if (sent_at := _moment(message.message_timestamp)) is not None:
                    heads[UUID(message.message_id)] = sent_at
        return heads

    def report_death(self, death: Death, redis_id: str) -> None:
        """Copy `death` to PostgreSQL and delete it here; if that fails, `copy_dead` does it."""
        try:
            self._copy(death, redis_id)
        except Exception as error:  # noqa: BLE001  Redis keeps the message in its dead set
            log.warning("dead_letter_not_copied", error=type(error).__name__, stage=death.stage)

    def bury_unreadable(self, queue_name: str, redis_id: str, body: bytes) -> None:
        """Refuse a body that is not one of our messages, and report its death."""
        self.do_nack(queue_name, redis_id)
        log.error("message_unreadable", stage=queue_name, cause=fault(body, queue_name))
        self.report_death(unreadable(body, queue_name, letter_id(redis_id)), redis_id)

    def copy_dead(self, older_than_ms: int | None = None) -> int:
        """Copy dead messages that no worker could copy to PostgreSQL; returns how many.

        Args:
            older_than_ms: default `UNCOPIED_MS`; a worker may still be copying younger ones.

        Raises:
            redis.RedisError: Redis is unavailable.
            sqlalchemy.exc.SQLAlchemyError: PostgreSQL is unavailable.
        """
        copied, age = 0, UNCOPIED_MS if older_than_ms is None else older_than_ms
        for stage in Stage:
            keys = self._keys(stage.value)
            dead: list[Any] = self.client.zrangebyscore(keys.dead, 0, current_millis() - age)
            for redis_id in [raw_id.decode() for raw_id in dead]:
                body: Any = self.client.hget(keys.dead_bodies, redis_id)
                if body is not None:
                    self._copy(death_of(body, stage.value, redis_id), redis_id)
                    copied += 1
                self._forget(stage.value, redis_id)
        return copied

    def empty(self, stage: str) -> int:
        """Delete all messages of a stage's queue, fetched ones too; returns how many there were.

        Only for callers that send them again from PostgreSQL. A worker that holds one finishes and
        acknowledges it as usual.

        Raises:
            redis.RedisError: Redis is unavailable.
        """
        keys, pattern = self._keys(stage), Keys(_literal(self.namespace), stage)
        fetched = [
            name
            for queue_pattern in (pattern, pattern.delayed)
            for name in self.client.scan_iter(queue_pattern.fetched("*"))
        ]
        queues = (keys, keys.delayed)
        with self.client.pipeline() as pipe:
            for queue in queues:
                pipe.hlen(queue.bodies)
            pipe.delete(*(name for queue in queues for name in (queue.waiting, queue.bodies)))
            if fetched:
                pipe.delete(*fetched)
            counts: list[Any] = pipe.execute()
        return int(counts[0]) + int(counts[1])

    def _keys(self, queue: str) -> Keys:
        return Keys(self.namespace, queue)

    def _copy(self, death: Death, redis_id: str) -> None:
        if self._store is None:
            return
        bury(self._store, death)
        self._forget(death.stage, redis_id)

    def _forget(self, stage: str, redis_id: str) -> None:
        keys = self._keys(stage)
        with self.client.pipeline() as pipe:
            pipe.zrem(keys.dead, redis_id)
            pipe.hdel(keys.dead_bodies, redis_id)
            pipe.execute()

    def listen(self) -> None:
        """Wake consumers on announcements, in a thread of its own, until `stop_listening`."""
        self._listener = threading.Thread(target=self._listen, name="wake", daemon=True)
        self._listener.start()

    def stop_listening(self) -> None:
        """Tell the listening thread to end, without waiting for it."""
        self._stopping.set()
        self._wake_all()

    def close(self) -> None:
        """Close the connections to Redis."""
        if self._listener is not None:
            self._listener.join(timeout=2.0)
        self.client.close()
        self._sender.client.close()

    def _wake_all(self) -> None:
        for event in list(self._events.values()):
            event.set()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow_channel()
            except Exception as error:  # noqa: BLE001  consumers poll meanwhile, only slower
                log.warning("wake_channel_lost", error=type(error).__name__)
                self._stopping.wait(0.5)

    def _follow_channel(self) -> None:
        events = {self._channel(name).encode(): self.wake_event(name) for name in self.queues}
        with self.client.pubsub() as channel:
            channel.subscribe(*events)
            while not self._stopping.is_set():
                notice = channel.get_message(timeout=LISTEN_SECONDS)
                # Announcements may precede a subscription, also one renewed after an outage.
                if notice is not None and notice["type"] in ("message", "subscribe"):
                    events[notice["channel"]].set()


def channel_of(namespace: str, queue_name: str) -> str:
    """The channel of a queue's announcements: one a queue, so that only its consumers wake."""
    return f"{namespace}:published:{queue_name}"


def _literal(name: str) -> str:
    """The Redis pattern that matches exactly `name`."""
    return re.sub(r"([*?\[\]\\^])", r"\\\1", name)


def _moment(milliseconds: object) -> datetime | None:
    """The time in a message's timestamp; None if it is not valid."""
    if type(milliseconds) is not int or not 0 <= milliseconds < _NO_MOMENT_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
