"""The schema of the database: which migration it is at, and bringing it up to date.

Every process asks at its start; alembic, which takes a third of a second to import, is needed only
by who migrates.
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
    """It is at an older one, or at none: it has to be migrated."""


class SchemaAhead(SchemaMismatch):
    """It is at one that this code does not know: a newer release has migrated it."""


def migrate(engine: sa.Engine) -> None:
    """Bring the schema up to date; safe to call from several processes at once.

    Raises:
        SchemaAhead: a newer release has migrated it; nothing was changed.
    """
    from alembic import command

    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        have = schema_revision(connection)
        if have is not None and not knows_revision(have):
            raise _ahead(have)
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def require_current_schema(engine: sa.Engine) -> None:
    """Check that the schema is the one this code needs. Every process does when it starts.

    Raises:
        SchemaOutdated: it is older, or there is none.
        SchemaAhead: it is newer.
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
    """Whether this code has the migration, so that it can bring such a database up to date."""
    return revision in revisions()


def schema_revision(connection: sa.Connection) -> str | None:
    """The migration that the database is at; None: it has seen none."""
    if connection.scalar(sa.text("SELECT to_regclass('alembic_version')")) is None:
        return None
    found = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


@cache
def revisions() -> tuple[str, ...]:
    """All migrations of this code, the newest one last: the numbers that their files begin with."""
    return tuple(sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def alembic_config() -> "Config":
    """What alembic needs to know."""
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
