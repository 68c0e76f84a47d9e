"""Whether the process of this container is at work: `python -m workers.health`, exit code 0 or 1.

For the container's health check (compose.yaml). A worker keeps a subscription open in Redis, on
which it speaks at least every half minute, and the scheduler asks Redis for its backlog every two
seconds. So a connection from this very address that spoke lately is a process that lives, and the
schema check shows that the database answers and is the one this code needs.
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
"""Twice the interval of redis-py's health check on the subscription (30 s), and some more."""
_TIMEOUT_SECONDS = 5


def others_speak(clients: Iterable[Mapping[str, str]], own_id: int) -> bool:
    """Whether some connection other than `own_id`, from the same address, spoke lately.

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
    """What is wrong, in one line; None if all is well."""
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
        # One connection, made at once, so that the id it asks for is that of the list.
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
    """Say what is wrong on stderr; returns the exit code."""
    found = ailment(get_settings())
    if found:
        sys.stderr.write(f"{printable(found)}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
