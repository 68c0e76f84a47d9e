"""The schema of the database: finds its migration, and brings it up to date.

Every process checks the schema when it starts. alembic takes a third of a second to import, so only
`migrate` imports it.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parents[1] / "migrations"
_MIGRATION_LOCK = 0x4174746573740001  # "Attest", 1: one process migrates, the others wait


class SchemaMismatch(RuntimeError):
    """The database is not at the migration that this code needs; the text says what to do."""


class SchemaOutdated(SchemaMismatch):
    """The database is at an older migration, or at none: it has to be migrated."""


class SchemaAhead(SchemaMismatch):
    """The database is at a migration of a newer release, which this code does not know."""


def migrate(engine: sa.Engine) -> None:
    """Bring the schema up to date; safe to call from several processes at once.

    A database that is there already is left at a glance, without alembic.

    Raises:
        SchemaAhead: a newer release has migrated the database; nothing was changed.
    """
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        have = schema_revision(connection)
        if have == revisions()[-1]:
            return
        if have is not None and not knows_revision(have):
            raise _ahead(have)
        from alembic import command

        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def require_current_schema(engine: sa.Engine) -> None:
    """Check that the schema is the one this code needs. Every process does so when it starts.

    Raises:
        SchemaOutdated: the schema is older, or there is none.
        SchemaAhead: the schema is newer.
    """
    with engine.connect() as connection:
        have = schema_revision(connection)
    newest = revisions()[-1]
    if have == newest:
        return
    if have is not None and not knows_revision(have):
        raise _ahead(have)
    raise SchemaOutdated(
        f"the database is at migration {have or 'none'}, this code needs {newest}: "
        "run `attest migrate` (or `attest up`, which does it)"
    )


def knows_revision(revision: str) -> bool:
    """True if this code has the migration, so that it can bring such a database up to date."""
    return revision in revisions()


def schema_revision(connection: sa.Connection) -> str | None:
    """The migration that the database is at; None if it has had none."""
    if connection.scalar(sa.text("SELECT to_regclass('alembic_version')")) is None:
        return None
    revision = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return None if revision is None else str(revision)


@cache
def revisions() -> tuple[str, ...]:
    """All migrations of this code, the newest last, as the numbers that begin their file names."""
    return tuple(sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def alembic_config() -> "Config":
    """The configuration for alembic."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _ahead(have: str) -> SchemaAhead:
    return SchemaAhead(
        f"the database is at migration {have}, which this code does not know (it ends at "
        f"{revisions()[-1]}): a newer release of Attest has migrated it; start that release, or "
        "restore a backup from before"
    )
