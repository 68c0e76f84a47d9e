"""A standby of an embedded PostgreSQL: copied from it while it works, required, promoted.

docs/operations.md ("A standby") has the same steps for an operator.
"""

import psycopg
from psycopg.conninfo import make_conninfo

from store.embedded import DataDir
from store.embedded.binaries import POSTGRES_MAJOR, postgres_client
from store.embedded.process import Command, run_once
from tests.servers import wait_until

NAME = "standby"
"""Of the standby and of its replication slot."""
_COPY_SECONDS = 120.0


def copy(primary: str, data: DataDir) -> None:
    """Fill an empty data directory with a copy that follows its `primary` (a conninfo) once its
    server is started."""
    data.postgres.mkdir(mode=0o700)  # the server's start gives it to the servers' account
    argv = (
        str(postgres_client("pg_basebackup")),
        *("--dbname", make_conninfo(primary, application_name=NAME)),
        *("--pgdata", str(data.postgres)),
        *("--create-slot", "--slot", NAME, "--write-recovery-conf"),
        *("--checkpoint=fast", "--no-sync"),
    )
    code, output = run_once(Command(argv, {"LC_ALL": "C"}), _COPY_SECONDS)
    assert code == 0, output
    data.mark_initialized(POSTGRES_MAJOR)


def require(primary: str) -> None:
    """From now on a commit is acknowledged when the standby has it on its disk too. The copy was
    made before, so a standby that is promoted does not wait for another."""
    with psycopg.connect(primary, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{NAME}'")
        connection.execute("SELECT pg_reload_conf()")
        query = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_until(lambda: connection.execute(query).rowcount == 1, what="the standby follows")


def promote(standby: str) -> None:
    """Let a standby write; returns when it does."""
    with psycopg.connect(standby, autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
