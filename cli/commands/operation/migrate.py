"""`attest migrate`: brings the schema up to date, if the server can serve Attest at all."""

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from cli.instance.failures import is_refusal
from store.core.database import connect
from store.core.schema import migrate
from store.embedded.binaries import POSTGRES_MAJOR

PGVECTOR = (0, 8)
"""The first version whose index scan continues until a filter has let enough rows through
(`hnsw.iterative_scan`; its CHANGELOG, 0.8.0)."""


class CannotMigrate(RuntimeError):
    """The schema was left unchanged; the text says why, and what to do."""


def bring_up_to_date(url: str) -> None:
    """Bring the schema of the database at `url` up to date.

    Raises:
        CannotMigrate: the server cannot serve Attest, or refused a step.
        SchemaAhead: a newer release has migrated it.
        DBAPIError: the server is away, full, or refuses the connection (`cli.instance.failures`).
    """
    engine = connect(url, pool_size=1)
    try:
        if lack := _unfitness(engine):
            raise CannotMigrate(lack)
        migrate(engine)
    except DBAPIError as error:
        if isinstance(error, OperationalError) or is_refusal(error):
            raise
        raise CannotMigrate(
            f"a migration was refused ({_refused(error)}), and nothing was changed: bring that in "
            "order and try again, or go on with the release that you come from"
        ) from error
    finally:
        engine.dispose()


def _unfitness(engine: sa.Engine) -> str:
    """Return what the server lacks; empty if nothing."""
    with engine.connect() as connection:

        def ask(query: str) -> str:
            return str(connection.execute(sa.text(query)).scalar_one_or_none() or "")

        return unfitness(
            int(ask("SHOW server_version_num")),
            ask("SHOW server_encoding"),
            ask("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            or ask("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"),
        )


def unfitness(version: int, encoding: str, pgvector: str) -> str:
    """Return what a server lacks to serve Attest; empty if nothing. It is checked before anything
    is created there, because it would otherwise fail at the first document.

    Args:
        version: as `server_version_num`, such as 180004.
        pgvector: the version that is installed, or would be; empty if there is none.
    """
    if version // 10_000 < POSTGRES_MAJOR:
        return (
            f"the database runs on PostgreSQL {version // 10_000}: Attest needs {POSTGRES_MAJOR} "
            "or newer"
        )
    if encoding != "UTF8":
        return (
            f"the database is encoded in {encoding}, which cannot hold every text: make one with "
            "ENCODING 'UTF8' TEMPLATE template0"
        )
    wanted = ".".join(map(str, PGVECTOR))
    if not pgvector:
        return f"PostgreSQL has no extension pgvector: install it there, {wanted} or newer"
    if tuple(int(part) for part in pgvector.split(".")[:2] if part.isdigit()) < PGVECTOR:
        return (
            f"the database has pgvector {pgvector} and needs {wanted} or newer: install it there, "
            "then ALTER EXTENSION vector UPDATE"
        )
    return ""


def _refused(error: DBAPIError) -> str:
    """Return PostgreSQL's message, but not for data errors (class 22), which quote a value."""
    state = getattr(error.orig, "sqlstate", None) or ""
    message = getattr(getattr(error.orig, "diag", None), "message_primary", None)
    return message if message and state[:2] != "22" else type(error.orig).__name__
