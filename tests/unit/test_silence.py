"""Who waits at the door of a server that lets nobody in."""

from typing import NoReturn, cast

import psycopg
import pytest
from psycopg.errors import ConnectionTimeout

from store.core.postgres_watchdog import REST_SECONDS, Door, Impatient, Silent, is_silent

CONNECTION = cast(Impatient, object())


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Server:
    """Counts who knocks and answers as it is told."""

    def __init__(self) -> None:
        self.knocks = 0
        self.error: psycopg.Error | None = None

    def connect(self) -> Impatient:
        self.knocks += 1
        if self.error is not None:
            raise self.error
        return CONNECTION


def test_after_a_silence_one_knocks_at_a_time_and_the_others_are_refused_at_once() -> None:
    clock, server = Clock(), Server()
    door = Door(clock)
    server.error = ConnectionTimeout("expired")
    with pytest.raises(Silent):
        door.open(server.connect, 5.0)
    for _ in range(5):
        with pytest.raises(Silent):
            door.open(server.connect, 5.0)
    assert server.knocks == 1
    clock.at += REST_SECONDS

    def knock_while_another_does() -> Impatient:
        with pytest.raises(Silent):
            door.open(server.connect, 5.0)
        return server.connect()

    with pytest.raises(Silent):
        door.open(knock_while_another_does, 5.0)
    assert server.knocks == 2


def test_a_server_that_answers_again_lets_everybody_in_at_once() -> None:
    clock, server = Clock(), Server()
    door = Door(clock)
    server.error = ConnectionTimeout("expired")
    with pytest.raises(Silent):
        door.open(server.connect, 5.0)
    clock.at, server.error = REST_SECONDS, None
    assert all(door.open(server.connect, 5.0) is CONNECTION for _ in range(3))


def test_whoever_never_came_back_from_the_door_does_not_lock_it() -> None:
    clock, server = Clock(), Server()
    door = Door(clock)
    server.error = ConnectionTimeout("expired")
    with pytest.raises(Silent):
        door.open(server.connect, 5.0)
    clock.at = REST_SECONDS

    def interrupted() -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        door.open(interrupted, 5.0)
    clock.at += 5.0 + REST_SECONDS
    server.error = None
    assert door.open(server.connect, 5.0) is CONNECTION


def test_a_server_that_refuses_is_not_silent() -> None:
    door, server = Door(Clock()), Server()
    server.error = psycopg.OperationalError("refused")
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError, match="refused") as told:
            door.open(server.connect, 5.0)
        assert not is_silent(told.value)
    assert server.knocks == 3
