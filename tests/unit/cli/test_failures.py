"""What a command says of servers that do not serve."""

import psycopg
import pytest
from redis.exceptions import (
    AuthenticationError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError, ProgrammingError

from api_gateway.middleware import _unforeseen
from cli.instance.failures import about_servers, is_refusal
from store.core.postgres_watchdog import Silent
from tests.grid import grid


@grid(
    ("cause", "said"),
    [
        (psycopg.errors.DiskFull("could not extend file"), "the disk of the database is full"),
        (psycopg.OperationalError("connection refused"), "the database does not answer"),
        (Silent("it says nothing"), "the database hangs"),
        (
            psycopg.OperationalError('FATAL:  password authentication failed for user "Smith"'),
            "the database refuses the user or password in ATTEST_DATABASE_URL",
        ),
        (
            psycopg.OperationalError('FATAL:  no pg_hba.conf entry for host "10.0.0.1"'),
            "the database lets nobody in from here: add a line for it to its pg_hba.conf",
        ),
        (
            psycopg.OperationalError('FATAL:  database "Smith" does not exist'),
            "there is no such database as ATTEST_DATABASE_URL names: create it",
        ),
        (
            psycopg.OperationalError("FATAL:  sorry, too many clients already"),
            "the database has no connection left",
        ),
        (
            psycopg.OperationalError("FATAL:  the database system is starting up"),
            "the database is starting or stopping",
        ),
        (psycopg.errors.LockNotAvailable("lock"), "the database is busy (LockNotAvailable)"),
    ],
)
def test_a_database_whose_disk_is_full_is_not_said_to_be_away(cause: Exception, said: str) -> None:
    error = OperationalError("INSERT INTO note VALUES ('Mrs Smith')", {}, cause)
    told = about_servers(error)
    assert told.startswith(said)
    assert "Smith" not in told


@pytest.mark.parametrize(
    ("kind", "cause", "said"),
    [
        (
            ProgrammingError,
            psycopg.errors.InsufficientPrivilege("no"),
            "the user in ATTEST_DATABASE_URL may not do this",
        ),
        (
            InternalError,
            psycopg.errors.ReadOnlySqlTransaction("no"),
            "the database takes no writes",
        ),
    ],
)
def test_a_database_that_refuses_is_not_a_fault_of_ours(
    kind: type[DBAPIError], cause: Exception, said: str
) -> None:
    error = kind("INSERT INTO note VALUES ('Mrs Smith')", {}, cause)
    assert is_refusal(error)
    assert about_servers(error).startswith(said)
    assert "Smith" not in about_servers(error)


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    assert not is_refusal(ProgrammingError("SELECT", {}, psycopg.errors.UndefinedColumn("x")))


def test_the_gateway_says_so_too_and_to_try_again_later() -> None:
    full = OperationalError("INSERT", {}, psycopg.errors.DiskFull("could not extend file"))
    problem = _unforeseen(full)
    assert problem.status_code == 503
    assert problem.detail == "the disk of the database is full: an operator must make room"
    away = _unforeseen(OperationalError("INSERT", {}, psycopg.OperationalError("refused")))
    assert away.detail == "the database is away or busy: try again"
    hung = OperationalError("INSERT", {}, Silent("it says nothing"))
    assert "attest status" in _unforeseen(hung).detail
    assert "Idempotency-Key" not in _unforeseen(hung).detail
    assert "Idempotency-Key" in _unforeseen(hung, writes=True).detail


def test_a_redis_that_does_not_serve_is_named_with_what_to_check() -> None:
    assert about_servers(RedisError()).startswith("Redis does not serve (RedisError)")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OutOfMemoryError(), "Redis is full: raise its maxmemory"),
        (
            ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
            "Redis cannot write to its disk: make room",
        ),
        (ReadOnlyError(), "Redis takes no writes: name the primary"),
        (AuthenticationError("hush"), "Redis refuses the user or password in ATTEST_REDIS_URL"),
    ],
)
def test_a_redis_that_refuses_is_not_called_away(error: RedisError, said: str) -> None:
    assert about_servers(error).startswith(said)
    assert "hush" not in about_servers(error)
