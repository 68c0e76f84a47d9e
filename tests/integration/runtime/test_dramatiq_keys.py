"""What an unchanged Redis broker of dramatiq writes is called as we think it is."""

from typing import Any

import dramatiq
import pytest
from dramatiq.brokers.redis import RedisBroker

from store.core.settings import Settings
from store.embedded import EmbeddedServers
from workers.runtime.dramatiq_keys import Keys, RedisConsumer, canonical


@pytest.fixture
def broker(servers: EmbeddedServers, settings: Settings) -> RedisBroker:
    return RedisBroker(url=servers.redis_url, namespace=settings.redis_namespace, middleware=[])


def message(queue: str = "retrieve") -> dramatiq.Message[Any]:
    return dramatiq.Message(queue_name=queue, actor_name="a", args=(), kwargs={}, options={})


def written(broker: RedisBroker) -> set[str]:
    return {key.decode() for key in broker.client.scan_iter(f"{broker.namespace}:*")}


def test_a_message_that_waits_is_fetched_and_dies(broker: RedisBroker) -> None:
    keys = Keys(broker.namespace, "retrieve")
    broker.declare_queue("retrieve")
    broker.enqueue(message())
    assert {keys.waiting, keys.bodies} <= written(broker)

    consumer = broker.consume("retrieve", timeout=100)
    assert isinstance(consumer, RedisConsumer)
    fetched = next(consumer)
    assert fetched is not None
    assert {keys.fetched(broker.broker_id), keys.bodies, keys.heartbeats} <= written(broker)

    consumer.nack(fetched)
    assert written(broker) == {keys.dead, keys.dead_bodies, keys.heartbeats}


def test_a_message_whose_time_has_not_come(broker: RedisBroker) -> None:
    keys = Keys(broker.namespace, "retrieve")
    broker.declare_queue("retrieve")
    broker.enqueue(message(), delay=60_000)
    assert {keys.delayed.waiting, keys.delayed.bodies} <= written(broker)
    assert canonical(keys.delayed.queue) == "retrieve"
    assert keys.delayed.dead == keys.dead
