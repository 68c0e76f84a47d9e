"""Finds the instance a command uses: that of the environment, or of a data directory."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from api_gateway.http.host_names import url_of
from cli.output.typed import typed
from store.core.settings import Settings

if TYPE_CHECKING:
    from store.core.unit_of_work import Promise, Publisher, Store
    from store.embedded import Connection
    from workers.runtime.broker import WokenBroker


class NotRunning(RuntimeError):
    """No running instance was found; the text says how to start one."""


def resolve(settings: Settings) -> Settings:
    """Return `settings` with the URLs of the running instance filled in.

    `ATTEST_DATABASE_URL` and `ATTEST_REDIS_URL` take precedence; without them the instance that
    runs on the data directory is used.

    Raises:
        NotRunning: there are no URLs, and no instance runs there.
    """
    if _has_urls(settings):
        return settings
    connection = _connection(settings)
    if connection is None:
        raise _not_running(settings, "ATTEST_DATABASE_URL and ATTEST_REDIS_URL")
    return settings.model_copy(
        update={"database_url": connection.database_url, "redis_url": connection.redis_url}
    )


def _has_urls(settings: Settings) -> bool:
    if bool(settings.database_url) != bool(settings.redis_url):
        raise NotRunning("set both ATTEST_DATABASE_URL and ATTEST_REDIS_URL, or neither")
    return bool(settings.database_url)


def _not_running(settings: Settings, variables: str) -> NotRunning:
    return NotRunning(
        f"nothing runs on {settings.data_dir.resolve()}: start it with "
        f"`{typed(settings, 'up')}`, name another one with --data-dir, or set {variables}"
    )


def with_data_dir(settings: Settings, data_dir: Path | None) -> Settings:
    """Return `settings` for another data directory, if one was named."""
    return settings.model_copy(update={"data_dir": data_dir}) if data_dir else settings


def open_store(settings: Settings) -> "Store":
    """Open the store of the running instance; it publishes through the instance's broker.

    Raises:
        NotRunning, SchemaMismatch, sqlalchemy.exc.OperationalError: it cannot be used.
    """
    from store.core.database import connect
    from store.core.schema import require_current_schema
    from store.core.unit_of_work import Store
    from store.index.partitions import Servers

    resolved = resolve(settings)
    engine = connect(resolved.database_url, pool_size=2)
    require_current_schema(engine)
    return Store(engine, _publisher(resolved), Servers.of(resolved))


def _publisher(settings: Settings) -> "Publisher":
    """Return a publisher that loads the broker on first use: read-only commands never load it."""

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


def find_gateway(settings: Settings, *, directory_named: bool) -> str | None:
    """Return the URL of the gateway of this command's instance; None if there is no such instance.

    `ATTEST_DATABASE_URL` and `ATTEST_REDIS_URL` take precedence, as in `resolve`: then it is the
    gateway at host and port. Otherwise it is that of the data directory. If nothing runs there,
    host and port count only if they were set and no directory was named: words of patients must not
    go to an instance that happens to listen.

    Args:
        directory_named: the directory was named by --data-dir.

    Raises:
        NotRunning: only one of the URLs is set.
    """
    at_port = url_of(settings.host, settings.port)
    if _has_urls(settings):
        return at_port
    if connection := _connection(settings):
        return connection.gateway_url
    named = not directory_named and settings.model_fields_set & {"host", "port"}
    return at_port if named else None


def require_gateway(settings: Settings, *, directory_named: bool) -> str:
    """Return the URL of the gateway of this command's instance.

    Raises:
        NotRunning: there is no such instance.
    """
    url = find_gateway(settings, directory_named=directory_named)
    if url is None:
        raise _not_running(settings, "ATTEST_HOST and ATTEST_PORT of its gateway")
    return url
