"""What a command says of servers that do not serve."""

import psycopg
import pytest
from redis.exceptions import RedisError
from sqlalchemy.exc import OperationalError

from api_gateway.middleware import _unforeseen
from cli.failures import about_servers


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (psycopg.errors.DiskFull("could not extend file"), "the disk of the database is full"),
        (psycopg.OperationalError("connection refused"), "the database does not answer"),
    ],
)
def test_a_database_whose_disk_is_full_is_not_said_to_be_away(cause: Exception, said: str) -> None:
    error = OperationalError("INSERT INTO note VALUES ('Mrs Smith')", {}, cause)
    told = about_servers(error)
    assert told.startswith(said)
    assert "Smith" not in told


def test_the_gateway_says_so_too_and_to_try_again_later() -> None:
    full = OperationalError("INSERT", {}, psycopg.errors.DiskFull("could not extend file"))
    problem = _unforeseen(full)
    assert problem.status_code == 503
    assert problem.detail == "the disk of the database is full: an operator must make room"
    away = _unforeseen(OperationalError("INSERT", {}, psycopg.OperationalError("refused")))
    assert away.detail == "the database is away or busy: try again"


def test_a_redis_that_does_not_serve_is_named_with_what_to_check() -> None:
    assert about_servers(RedisError()).startswith("Redis does not serve (RedisError)")
