"""The soak's look at real servers: what leaks is called growing, and nothing else is."""

import psutil
import psycopg
import redis
import sqlalchemy as sa

from benchmarks.soak.samples import KINDS, Sampler
from benchmarks.soak.verdict import judge
from messages import RetrieveV1
from store.core.settings import Settings
from store.core.unit_of_work import Store
from tests.integration.runtime.harness import message
from workers.runtime.broker import WokenBroker

SAMPLES = 40


def test_connections_and_messages_that_nobody_ends_are_found_and_the_rest_is_flat(
    settings: Settings, engine: sa.Engine
) -> None:
    client = redis.Redis.from_url(settings.redis_url)
    broker = WokenBroker(settings)
    store = Store(engine, broker.publish)
    sampler = Sampler(psutil.Process(), engine, client, settings.redis_namespace)
    kept: list[psycopg.Connection] = []
    url = engine.url.set(drivername="postgresql").render_as_string(False)
    for number in range(SAMPLES):
        if number % 4 == 0:
            kept.append(psycopg.connect(url))
        with store.unit_of_work("test") as work:  # no worker is there to take it
            one: RetrieveV1 = message()
            work.emit(one)
        sampler.take()
    for connection in kept:
        connection.close()
    broker.close()
    client.close()
    found = {one.name: judge(one) for one in sampler.series()}
    assert {name.partition(": ")[0] for name in found} <= set(KINDS)
    assert {name for name, one in found.items() if one.grows} == {
        "PostgreSQL connections",
        "messages at the broker",
        "messages promised and not done",
    }
    assert found["messages promised and not done"].last > SAMPLES / 2
    assert sampler.messages == 0, "none was done"
