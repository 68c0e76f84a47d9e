"""PostgreSQL, its standby and Redis on hosts: the embedded ones, listening on their addresses."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import redis
import sqlalchemy as sa
from psycopg import sql
from psycopg.conninfo import make_conninfo

from store.embedded import DataDir, EmbeddedPostgres, EmbeddedRedis
from store.embedded.postgres import DATABASE, ROLE
from store.embedded.process import Command
from tests import standby
from tests.chaos.hosts.network import SUBNET, Plan, inside

DATA, STANDBY, BROKER = "data", "standby", "broker"
"""The hosts of PostgreSQL, of its standby and of Redis."""
POSTGRES_PORT, REDIS_PORT = 5432, 6379
NOTICED = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "6000",
}
"""With these the server notices in some six seconds that a client's host is gone, and ends what it
left open. docs/scaling.md says the same of real hosts, with longer times."""
CLIENT = {
    "target_session_attrs": "read-write",
    "connect_timeout": "2",
    "keepalives_idle": "2",
    "keepalives_interval": "1",
    "keepalives_count": "3",
}
"""With these a client leaves a host that is gone as soon, and finds the one that was promoted."""


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
        rule = f"host {DATABASE},replication {ROLE} {SUBNET}.0/24 scram-sha-256\n"
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
    standby: HostPostgres
    """Not made before `stand_by`."""
    redis: HostRedis
    database_url: str
    """By the addresses, as the hosts use it."""
    redis_url: str
    plan: Plan

    def stand_by(self) -> None:
        """Make the standby from the server that works, and require it for each commit."""
        everywhere = self.database_url.replace("+psycopg", "", 1)
        there = make_conninfo(everywhere, host=self.plan.address(DATA), port=POSTGRES_PORT)
        with inside(self.plan.namespace(STANDBY)):
            standby.copy(there, self.standby.data)
            self.standby.start()
        standby.require(self.postgres.conninfo())


def url_of(addresses: Sequence[str], password: str, noticed: dict[str, str] = NOTICED) -> str:
    """The database's URL for processes on other hosts.

    Args:
        addresses: of the servers, tried in this order for the one that accepts writes.
        noticed: settings of the server's end of each connection; empty: PostgreSQL's own.
    """
    query = {"host": ",".join(addresses), "port": ",".join([str(POSTGRES_PORT)] * len(addresses))}
    query |= CLIENT
    if noticed:
        query["options"] = " ".join(f"-c {name}={value}" for name, value in noticed.items())
        query["tcp_user_timeout"] = noticed["tcp_user_timeout"]  # of the client's end
    plain = sa.URL.create("postgresql+psycopg", ROLE, password, database=DATABASE)
    # libpq, which the gateway's listener asks, knows %20 for a space and not the plus sign.
    return f"{plain.render_as_string(False)}?{urlencode(query, quote_via=quote)}"


@contextmanager
def servers(path: Path, plan: Plan, noticed: dict[str, str] = NOTICED) -> Iterator[Servers]:
    """Start PostgreSQL and Redis, each on its host, and stop all at the end."""
    password, at = secrets.token_hex(16), plan.address
    with DataDir(path / DATA) as data, DataDir(path / STANDBY) as second:
        postgres, spare = HostPostgres(data, at(DATA)), HostPostgres(second, at(STANDBY))
        broker = HostRedis(data, at(BROKER), password)
        try:
            with inside(plan.namespace(DATA)):
                postgres.start()
            with inside(plan.namespace(BROKER)):
                broker.start()
            with psycopg.connect(postgres.conninfo(), autocommit=True) as connection:
                connection.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                        sql.Identifier(ROLE), sql.Literal(password)
                    )
                )
            yield Servers(
                postgres,
                spare,
                broker,
                url_of((at(DATA), at(STANDBY)), password, noticed),
                f"redis://:{password}@{at(BROKER)}:{REDIS_PORT}/0",
                plan,
            )
        finally:
            for server in (broker, spare, postgres):
                server.stop()
