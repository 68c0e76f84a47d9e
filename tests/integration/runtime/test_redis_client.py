"""How often a command is tried against a Redis that takes connections and never answers."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
import redis

from store.core.settings import Settings
from store.core.unit_of_work import Promise
from tests.servers import wait_until
from workers.runtime.broker import WokenBroker
from workers.runtime.redis_client import redis_client


@pytest.fixture
def silent() -> Iterator[tuple[str, list[socket.socket]]]:
    """The URL of a server that accepts and says nothing, and what it has accepted."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0", taken
        server.shutdown(socket.SHUT_RDWR)
    for one in taken:
        one.close()


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_connection_within_a_command_is_not_retried_beside_it(
    silent: tuple[str, list[socket.socket]], retries: int
) -> None:
    url, taken = silent
    with (
        redis_client(url, timeout_seconds=0.1, retries=retries) as client,
        pytest.raises(redis.TimeoutError),
    ):
        client.get("anything")
    wait_until(lambda: len(taken) == retries + 1, what="all are accepted")


def test_a_command_is_retried_again_after_one_that_gave_up(
    silent: tuple[str, list[socket.socket]],
) -> None:
    url, taken = silent
    with redis_client(url, timeout_seconds=0.1, retries=1) as client:
        for _ in range(2):
            with pytest.raises(redis.TimeoutError):
                client.get("anything")
    wait_until(lambda: len(taken) == 4, what="all are accepted")


def test_one_publication_waits_for_a_silent_server_and_the_next_ones_do_not(
    silent: tuple[str, list[socket.socket]],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody waits for each of them, and the relay sends what was not."""
    monkeypatch.setattr("workers.runtime.broker.PUBLISH_SECONDS", 0.2)
    monkeypatch.setattr("workers.runtime.broker.SILENT_SECONDS", 600.0)
    broker = WokenBroker(settings.model_copy(update={"redis_url": silent[0]}))
    promises = [Promise(uuid4(), "retrieve", {})]
    with pytest.raises(redis.TimeoutError):
        broker.publish(promises)
    for _ in range(5):
        with pytest.raises(redis.ConnectionError, match="did not answer lately"):
            broker.publish(promises)
    broker._silent_until = time.monotonic()
    with pytest.raises(redis.TimeoutError):
        broker.publish(promises)
    broker.close()
