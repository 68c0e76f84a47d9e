"""PostgreSQL and Redis from Python wheels, for machines without either (DESIGN section 3).

`with embedded(path) as servers:` runs both for tests and evaluations. `attest up` uses the same
parts under a supervisor: DataDir, EmbeddedPostgres, EmbeddedRedis.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from store.embedded.datadir import Connection, DataDir, read_connection
from store.embedded.errors import (
    DataDirInUse,
    DataDirUnusable,
    EmbeddedError,
    ServerUnavailable,
)
from store.embedded.postgres import EmbeddedPostgres
from store.embedded.redis import EmbeddedRedis

__all__ = [
    "Connection",
    "DataDir",
    "DataDirInUse",
    "DataDirUnusable",
    "EmbeddedError",
    "EmbeddedPostgres",
    "EmbeddedRedis",
    "EmbeddedServers",
    "ServerUnavailable",
    "embedded",
    "read_connection",
]


@dataclass(frozen=True)
class EmbeddedServers:
    """Both servers of one data directory, running."""

    connection: Connection
    postgres: EmbeddedPostgres
    redis: EmbeddedRedis

    @property
    def database_url(self) -> str:
        """For SQLAlchemy."""
        return self.connection.database_url

    @property
    def conninfo(self) -> str:
        """For plain psycopg."""
        return self.connection.conninfo

    @property
    def redis_url(self) -> str:
        """For redis-py."""
        return self.connection.redis_url


@contextmanager
def embedded(data_dir: Path) -> Iterator[EmbeddedServers]:
    """Start both servers on `data_dir`, created if necessary, and stop them at the end.

    Call it from the main thread: the kernel then also stops the servers if this process dies.
    Raises DataDirInUse, DataDirUnusable or ServerUnavailable.
    """
    with ExitStack() as stack:
        data = stack.enter_context(DataDir(data_dir))
        postgres, redis = EmbeddedPostgres(data), EmbeddedRedis(data)
        for server in (postgres, redis):
            stack.callback(server.stop)
            server.start()
        connection = data.publish(postgres.database_url, redis.redis_url)
        yield EmbeddedServers(connection, postgres, redis)
