"""PostgreSQL and Redis of a data host: the embedded ones, listening on that host's address."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import redis
import sqlalchemy as sa
from psycopg import sql

from store.embedded import DataDir, EmbeddedPostgres, EmbeddedRedis
from store.embedded.postgres import DATABASE, ROLE
from store.embedded.process import Command
from tests.chaos.hosts.network import SUBNET

POSTGRES_PORT, REDIS_PORT = 5432, 6379
NOTICED = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "6000",
}
"""With these the server notices in some six seconds that a client's host is gone, and ends what it
left open. docs/scaling.md says the same of real hosts, with longer times."""


def _instead(argv: tuple[str, ...], option: str, *values: str) -> tuple[str, ...]:
    """The command line with other words behind `option` than the one that is there."""
    place = argv.index(option) + 1
    return (*argv[:place], *values, *argv[place + 1 :])


class HostPostgres(EmbeddedPostgres):
    """Listens on an address too, where it asks for the password."""

    def __init__(self, data: DataDir, address: str) -> None:
        super().__init__(data)
        self._address = address

    def initialize(self) -> None:
        """As ever; then let the other hosts in."""
        super().initialize()
        rule = f"host {DATABASE} {ROLE} {SUBNET}.0/24 scram-sha-256\n"
        with (self.data.postgres / "pg_hba.conf").open("r+", encoding="utf-8") as rules:
            if rule not in rules.read():
                rules.write(rule)

    def command(self) -> Command:
        """`postgres` in the foreground, on its socket and its address."""
        base = super().command()
        return replace(base, argv=_instead(base.argv, "-h", self._address))


class HostRedis(EmbeddedRedis):
    """Listens on an address too, and asks for a password."""

    def __init__(self, data: DataDir, address: str, password: str) -> None:
        super().__init__(data)
        self._address, self._password = address, password

    def command(self) -> Command:
        """`redis-server` in the foreground, on its socket and its address."""
        base = super().command()
        more = ("--bind", self._address, "--requirepass", self._password)
        return replace(base, argv=_instead(base.argv, "--port", str(REDIS_PORT), *more))

    def ready(self) -> bool:
        """Whether it answers who knows the password."""
        try:
            return bool(self.client().ping())
        except redis.RedisError:
            return False

    def client(self) -> redis.Redis:
        """A client by the socket: for who looks on from outside of the hosts."""
        return redis.Redis(unix_socket_path=self._socket, password=self._password, socket_timeout=5)


@dataclass(frozen=True)
class Servers:
    """Both, running."""

    postgres: HostPostgres
    redis: HostRedis
    outside_url: str
    """By the socket."""
    database_url: str
    """By the address, as the hosts use it."""
    redis_url: str


def url_of(address: str, password: str, noticed: dict[str, str] = NOTICED) -> str:
    """The database's URL for processes on other hosts.

    Args:
        noticed: settings of the server's end of each connection; empty: PostgreSQL's own.
    """
    query = {}
    if noticed:
        query["options"] = " ".join(f"-c {name}={value}" for name, value in noticed.items())
        query["tcp_user_timeout"] = noticed["tcp_user_timeout"]  # of the client's end
    plain = sa.URL.create("postgresql+psycopg", ROLE, password, address, POSTGRES_PORT, DATABASE)
    # libpq, which the gateway's listener asks, knows %20 for a space and not the plus sign.
    return f"{plain.render_as_string(False)}?{urlencode(query, quote_via=quote)}"


@contextmanager
def servers(path: Path, address: str, noticed: dict[str, str] = NOTICED) -> Iterator[Servers]:
    """Start both and stop them at the end. To be called inside of the data host."""
    password = secrets.token_hex(16)
    with DataDir(path) as data:
        postgres = HostPostgres(data, address)
        broker = HostRedis(data, address, password)
        try:
            postgres.start()
            broker.start()
            with psycopg.connect(postgres.conninfo(), autocommit=True) as connection:
                connection.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                        sql.Identifier(ROLE), sql.Literal(password)
                    )
                )
            yield Servers(
                postgres,
                broker,
                postgres.database_url,
                url_of(address, password, noticed),
                f"redis://:{password}@{address}:{REDIS_PORT}/0",
            )
        finally:
            broker.stop()
            postgres.stop()
