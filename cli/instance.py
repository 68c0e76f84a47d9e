"""Which running Attest a command talks to: the environment's, or that of a data directory."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from api_gateway.names import url_of
from store.settings import Settings

if TYPE_CHECKING:
    from store.embedded import Connection
    from store.unit_of_work import Promise, Publisher, Store
    from workers.runtime.broker import WokenBroker


class NotRunning(RuntimeError):
    """No instance was found; the text says how to start one."""


def resolve(settings: Settings) -> Settings:
    """`settings` with the URLs of the running instance filled in.

    `ATTEST_DATABASE_URL` and `ATTEST_REDIS_URL` win; else the instance that runs on the data
    directory is used.

    Raises:
        NotRunning: neither is there.
    """
    if settings.database_url and settings.redis_url:
        return settings
    if settings.database_url or settings.redis_url:
        raise NotRunning("set both ATTEST_DATABASE_URL and ATTEST_REDIS_URL, or neither")
    connection = _connection(settings)
    if connection is None:
        raise NotRunning(
            f"nothing runs on {settings.data_dir.resolve()}: start it with `attest up`, name "
            "another one with --data-dir, or set ATTEST_DATABASE_URL and ATTEST_REDIS_URL"
        )
    return settings.model_copy(
        update={"database_url": connection.database_url, "redis_url": connection.redis_url}
    )


def with_data_dir(settings: Settings, data_dir: Path | None) -> Settings:
    """`settings` for another data directory, if one was named."""
    return settings.model_copy(update={"data_dir": data_dir}) if data_dir else settings


def open_store(settings: Settings) -> "Store":
    """The store of the running instance, publishing through its broker.

    Raises:
        NotRunning, SchemaMismatch, sqlalchemy.exc.OperationalError: it cannot be used.
    """
    from store.database import connect, require_current_schema
    from store.unit_of_work import Store

    found = resolve(settings)
    engine = connect(found.database_url, pool_size=2)
    require_current_schema(engine)
    return Store(engine, _publisher(found))


def _publisher(settings: Settings) -> "Publisher":
    """Publishes through the broker, which a command that only reads never loads."""

    @cache
    def broker() -> "WokenBroker":
        from workers.runtime.broker import WokenBroker

        return WokenBroker(settings)

    def publish(promises: "Sequence[Promise]") -> None:
        broker().publish(promises)

    return publish


def _connection(settings: Settings) -> "Connection | None":
    from store.embedded import read_connection

    return read_connection(settings.data_dir)


def running_url(settings: Settings) -> str | None:
    """Where the gateway of an instance listens that runs on the data directory; None: none does."""
    connection = _connection(settings)
    return connection.gateway_url if connection is not None else None


def gateway_url(settings: Settings) -> str:
    """Where the gateway of the running instance listens."""
    return running_url(settings) or url_of(settings.host, settings.port)
