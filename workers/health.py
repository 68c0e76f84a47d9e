"""The container's health check (compose.yaml): `python -m workers.health` exits with 0 or 1.

A worker keeps a subscription open in Redis, on which it pings at least every half minute, and the
scheduler asks Redis for its backlog every two seconds. So a recently active connection from this
address is a live process. The schema check shows that the database answers and is at the migration
this code needs.
"""

import sys
from collections.abc import Iterable, Mapping

import redis
from sqlalchemy.exc import SQLAlchemyError

from store.core.database import connect
from store.core.printable import printable
from store.core.schema import SchemaMismatch, require_current_schema
from store.core.settings import Settings, get_settings

SILENT_SECONDS = 75
"""Twice the interval of redis-py's health check on the subscription (30 s), and a margin."""
_TIMEOUT_SECONDS = 5


def others_speak(clients: Iterable[Mapping[str, str]], own_id: int) -> bool:
    """Whether a connection other than `own_id`, from the same address, was active lately.

    Args:
        clients: rows of Redis' CLIENT LIST with `id`, `addr` (host:port) and `idle` (seconds).
        own_id: the connection that asks; its row is among them.
    """
    rows = list(clients)
    own = next(_host(row) for row in rows if int(row["id"]) == own_id)
    return any(
        int(row["id"]) != own_id and _host(row) == own and int(row["idle"]) <= SILENT_SECONDS
        for row in rows
    )


def _host(client: Mapping[str, str]) -> str:
    return client["addr"].rpartition(":")[0]


def ailment(settings: Settings) -> str | None:
    """The first fault found, in one line; None if there is none."""
    if not (settings.database_url and settings.redis_url):
        return (
            "ATTEST_DATABASE_URL and ATTEST_REDIS_URL are not set: this looks at a container, "
            "`attest status` at an embedded instance"
        )
    engine = connect(settings.database_url, pool_size=1)
    try:
        require_current_schema(engine)
    except SchemaMismatch as error:
        return str(error)
    except SQLAlchemyError as error:
        return f"the database does not answer ({type(error).__name__})"
    finally:
        engine.dispose()
    try:
        # A single connection, so that its id is one of those in the list.
        with redis.Redis.from_url(
            settings.redis_url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            single_connection_client=True,
        ) as client:
            if not others_speak(client.client_list(), client.client_id()):
                return "no process of this machine has spoken to Redis lately"
    except (redis.RedisError, OSError) as error:
        return f"Redis does not answer ({type(error).__name__})"
    return None


def main() -> int:
    """Write the fault to stderr, if there is one; returns the exit code."""
    fault = ailment(get_settings())
    if fault:
        sys.stderr.write(f"{printable(fault)}\n")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
