"""The connection to PostgreSQL: engine, migrations, and the errors that pass by themselves."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATION_LOCK = 0x4174746573740001  # "Attest", 1: one process migrates, the others wait

PASSING_SQLSTATES = frozenset(
    {"40001", "40P01", "53300", "55P03", "57014", "57P01", "57P02", "57P03"}
)
"""Serialization failure, deadlock, too many connections, lock or statement time-out, shutdowns:
PostgreSQL manual, appendix A."""


class SchemaOutdated(RuntimeError):
    """The database is not at the migration that this code needs."""


def connect(url: str, *, pool_size: int = 5) -> sa.Engine:
    """An engine for `url`; connections are checked before use, so a restart is survived.

    Accepts `postgresql://` as well and means psycopg by it.
    """
    if url.startswith("postgresql://"):
        url = "postgresql+psycopg://" + url.removeprefix("postgresql://")
    return sa.create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        hide_parameters=True,  # parameters are texts of documents and questions (invariant 11)
        connect_args={"connect_timeout": 10, "application_name": "attest"},
    )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def migrate(engine: sa.Engine) -> None:
    """Bring the schema up to date; safe to call from several processes at once."""
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def require_current_schema(engine: sa.Engine) -> None:
    """Check that the schema is the one this code needs.

    Raises:
        SchemaOutdated: it is not; says what to run.
    """
    with engine.connect() as connection:
        have = MigrationContext.configure(connection).get_current_revision()
    need = ScriptDirectory.from_config(_config()).get_current_head()
    if have != need:
        raise SchemaOutdated(
            f"the database is at migration {have or 'none'}, this code needs {need}: "
            "run `attest migrate` (or `attest up`, which does it)"
        )


def passes_by_itself(error: BaseException) -> bool:
    """Whether trying again later can help: the server was away, busy, or two writers met."""
    if isinstance(error, InterfaceError):
        return True
    if isinstance(error, DBAPIError):
        sqlstate = getattr(error.orig, "sqlstate", None)
        if sqlstate in PASSING_SQLSTATES:
            return True
        return bool(error.connection_invalidated) or (
            isinstance(error, OperationalError) and sqlstate is None
        )
    return False
