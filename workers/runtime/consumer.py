"""A consumer that is woken by a publication instead of polling."""

from typing import TYPE_CHECKING, Any

import dramatiq
import redis
from dramatiq.broker import MessageProxy
from dramatiq.errors import ConnectionClosed

from workers.runtime.dramatiq_keys import Keys, RedisConsumer
from workers.runtime.wire import fault

if TYPE_CHECKING:
    from workers.runtime.broker import WokenBroker


class WokenConsumer(RedisConsumer):
    """Waits for announcements instead of sleeping, and survives malformed messages in its batch.

    Time-outs are raised as connection errors: dramatiq would take them for bugs of its own and
    forget the message (DRAMATIQ 2.5 S3).
    """

    broker: "WokenBroker"

    def __init__(self, broker: "WokenBroker", queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)
        self._idle_seconds = timeout / 1000
        self._wake = broker.wake_event(queue_name)
        self._has_room = True
        self._was_all = False
        """The last fetch emptied the queue: nothing is fetched before an announcement or the next
        poll."""
        broker.consumers[queue_name] = self

    def __next__(self) -> Any:
        if not self.message_cache and (self._was_all or not self._has_room):
            self._wake.wait(self._idle_seconds)
        self._wake.clear()  # before the fetch, so that an announcement in between is not lost
        try:
            return self._next()
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise ConnectionClosed(error) from None

    def _next(self) -> MessageProxy | None:
        """The next valid message from the cache or Redis; None if there is none or no room."""
        if not self.message_cache:
            self._has_room = False  # before counting: work that ends from here on wakes this thread
            room = min(
                self.prefetch - self.outstanding_message_count, self.broker.room(self.queue_name)
            )
            if room > 0:
                self._has_room = True
                self.message_cache = self.broker.do_fetch(self.queue_name, room)
                self._was_all = len(self.message_cache) < room
        while self.message_cache:
            body = self.message_cache.pop(0)
            if body is None:
                continue  # enqueued twice and already done (DRAMATIQ 2.4 D5)
            if fault(body, self.queue_name) is not None:
                self._bury(body)
                continue
            message: dramatiq.Message[Any] = dramatiq.Message.decode(body)
            self.queued_message_ids.add(message.message_id)
            return MessageProxy(message)
        return None

    def _bury(self, body: bytes) -> None:
        """Bury `body`. A fetch gives no ids, so its id is sought in the unacknowledged set."""
        keys = Keys(self.broker.namespace, self.queue_name)
        fetched: set[Any] = self.broker.client.smembers(keys.fetched(self.broker.broker_id))
        for redis_id in fetched:
            if self.broker.client.hget(keys.bodies, redis_id) == body:
                self.broker.bury_unreadable(self.queue_name, redis_id.decode(), body)

    def ack(self, message: Any) -> None:
        """Acknowledge, then wake the consumers that had no room for another message."""
        try:
            super().ack(message)
        except redis.TimeoutError as error:
            raise ConnectionClosed(error) from None
        finally:
            self._look_again()

    def nack(self, message: Any) -> None:
        """Refuse for good; otherwise as `ack`."""
        try:
            super().nack(message)
        except redis.TimeoutError as error:
            raise ConnectionClosed(error) from None
        finally:
            self._look_again()

    def _look_again(self) -> None:
        if not self._has_room:
            self._wake.set()
        self.broker.wake_last()

    def requeue(self, messages: Any) -> None:
        """Return messages that were fetched but not begun to the queue."""
        self._give_back([message.options["redis_message_id"] for message in messages])

    def close(self) -> None:
        """Return the messages in the cache to the queue."""
        bodies, self.message_cache = self.message_cache, []
        readable = [
            dramatiq.Message.decode(body)
            for body in bodies
            if body is not None and fault(body, self.queue_name) is None
        ]
        self.requeue(readable)

    def _give_back(self, redis_ids: list[str]) -> None:
        if not redis_ids:
            return
        try:
            self.broker.do_requeue(self.queue_name, *redis_ids)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise ConnectionClosed(error) from None
