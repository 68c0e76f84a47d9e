"""The Redis broker: built in one place, explicit in every setting, woken instead of polling.

dramatiq's consumers sleep between polls, so a hop on an idle system costs up to the idle back-off.
Here a publication also announces its queue on a Redis channel, and the consumer of that queue wakes
at once; the slow poll stays as the safety net. Everything is a hint only: a lost message is found
again from PostgreSQL.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import dramatiq
import redis
import structlog
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed, DecodeError
from dramatiq.middleware import CurrentMessage, Middleware, Retries, TimeLimit
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from messages import Stage
from store.dead_letters import Death
from store.settings import Settings
from store.unit_of_work import Promise, Store
from workers.runtime.errors import describe
from workers.runtime.stage import bury

log = structlog.get_logger(__name__)

DEAD_MESSAGE_TTL_MS = 30 * 24 * 3600 * 1000
MAINTENANCE_CHANCE = 100_000  # of a million: DRAMATIQ 2.17


def redis_client(url: str) -> redis.Redis:
    """A client that rides out short outages; a command may run twice, consumers allow for it."""
    return redis.Redis.from_url(
        url,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), 3),
        retry_on_error=[redis.ConnectionError, redis.TimeoutError],
        socket_timeout=10,
        socket_connect_timeout=5,
        health_check_interval=30,
    )


class WokenConsumer(_RedisConsumer):
    """Waits for an announcement instead of sleeping; survives what would strand its neighbours."""

    def __init__(self, broker: "WokenBroker", queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout=1)
        self._idle_seconds = timeout / 1000
        self._wake = broker.wake_event(queue_name)

    def __next__(self) -> Any:
        self._wake.clear()  # before the fetch, so that an announcement in between is not lost
        try:
            message = super().__next__()
        except DecodeError:
            self._bury_undecodable()
            return None
        except redis.TimeoutError as error:
            raise ConnectionClosed(error) from None
        if message is None:
            self._wake.wait(self._idle_seconds)
        return message

    def ack(self, message: Any) -> None:
        """Acknowledge; there is room for the next message now, so look for it."""
        try:
            super().ack(message)
        except redis.TimeoutError as error:  # would be "a bug" to dramatiq (DRAMATIQ 2.5 S3)
            raise ConnectionClosed(error) from None
        finally:
            self._wake.set()

    def nack(self, message: Any) -> None:
        """Refuse; see `ack`."""
        try:
            super().nack(message)
        except redis.TimeoutError as error:
            raise ConnectionClosed(error) from None
        finally:
            self._wake.set()

    def _bury_undecodable(self) -> None:
        """Move what is no dramatiq message aside: it is in this broker's unacknowledged set."""
        namespace, broker_id = self.broker.namespace, self.broker.broker_id
        client, queue = self.broker.client, self.queue_name
        fetched = list(client.smembers(f"{namespace}:__acks__.{broker_id}.{queue}"))
        bodies = client.hmget(f"{namespace}:{queue}.msgs", fetched) if fetched else []
        for redis_id, body in zip(fetched, bodies, strict=True):
            if body is None or _decodes(body):
                continue
            self.broker.do_nack(queue, redis_id)
            digest = hashlib.sha256(body).hexdigest()
            self.broker.report_death(
                Death(
                    stage=queue,
                    payload={"sha256": digest, "bytes": len(body)},
                    error_type="UndecodableMessage",
                    cause="it is no JSON message; nothing was promised by it",
                )
            )


def _decodes(body: bytes) -> bool:
    try:
        dramatiq.Message.decode(body)
    except DecodeError:
        return False
    return True


class DeadLetterCopy(Middleware):
    """Copies what dies in dramatiq itself (unknown actor, a fault of ours) to PostgreSQL."""

    def __init__(self, report: Callable[[Death], None]) -> None:
        self._report = report

    def after_nack(self, _broker: dramatiq.Broker, message: Any) -> None:
        """Report the death; dramatiq calls this once a message has been refused for good."""
        error = getattr(message, "_exception", None)
        payload = message.args[0] if message.args and isinstance(message.args[0], dict) else {}
        self._report(
            Death(
                stage=message.queue_name.removesuffix(".DQ"),
                payload=payload,
                error_type=type(error).__name__ if error else "Rejected",
                cause=describe(error) if error else f"no actor {message.actor_name!r} here",
                outbox_id=_uuid(message.message_id),
            )
        )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


class WokenBroker(RedisBroker):
    """A Redis broker whose consumers are woken by a publication."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        super().__init__(
            client=redis_client(settings.redis_url),
            namespace=settings.redis_namespace,
            maintenance_chance=MAINTENANCE_CHANCE,
            heartbeat_timeout=60_000,
            dead_message_ttl=DEAD_MESSAGE_TTL_MS,
            # Written out in full: no pipelines, groups, callbacks, results (invariant 3). Retries
            # stays, because without it dramatiq acknowledges what failed; it never retries here.
            middleware=[
                CurrentMessage(),
                TimeLimit(),
                Retries(max_retries=0),
                DeadLetterCopy(self.report_death),
            ],
        )
        self._store = store
        self._channel = f"{settings.redis_namespace}:published"
        self._events: dict[str, threading.Event] = {}
        self._stopping = threading.Event()

    @property
    def consumer_class(self) -> type[WokenConsumer]:
        """Our consumer; dramatiq asks for it."""
        return WokenConsumer

    def wake_event(self, queue_name: str) -> threading.Event:
        """The event that a publication to `queue_name` sets."""
        return self._events.setdefault(queue_name, threading.Event())

    def report_death(self, death: Death) -> None:
        """Write `death` to PostgreSQL; if that is away, the reconciler still has the promise."""
        if self._store is None:
            return
        try:
            bury(self._store, death)
        except Exception as error:  # noqa: BLE001  Redis keeps the message in its dead set too
            log.warning("dead_letter_not_copied", error=type(error).__name__, stage=death.stage)

    def publish(self, promises: Sequence[Promise]) -> None:
        """Send outbox rows; the message id is the outbox id, so a second sending is the same."""
        for promise in promises:
            self.enqueue(
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
            self.client.publish(self._channel, queue_name)

    def backlog(self) -> dict[str, int]:
        """Messages waiting in Redis, by stage."""
        with self.client.pipeline(transaction=False) as pipe:
            for stage in Stage:
                pipe.llen(f"{self.namespace}:{stage.value}")
            return dict(zip((stage.value for stage in Stage), pipe.execute(), strict=True))

    def listen(self) -> None:
        """Wake consumers on announcements, in a thread of its own, until `stop_listening`."""
        threading.Thread(target=self._listen, name="wake", daemon=True).start()

    def stop_listening(self) -> None:
        """End the listening thread."""
        self._stopping.set()
        self._wake_all()

    def _wake_all(self) -> None:
        for event in list(self._events.values()):
            event.set()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                with self.client.pubsub(ignore_subscribe_messages=True) as channel:
                    channel.subscribe(self._channel)
                    self._wake_all()  # announcements may have been missed while disconnected
                    while not self._stopping.is_set():
                        notice = channel.get_message(timeout=1.0)
                        if notice is not None:
                            self.wake_event(notice["data"].decode()).set()
            except (redis.RedisError, OSError) as error:
                log.warning("wake_channel_lost", error=type(error).__name__)
                time.sleep(0.5)
