"""Migration 0007 on a filled database: there and back, and the chain stays whole and guarded."""

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.exc import DBAPIError

from store.audit import audit
from store.core.schema import MIGRATIONS
from store.core.unit_of_work import Store


def migrate_to(store: Store, revision: str) -> None:
    """Bring the schema to a revision, in either direction."""
    with store.engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        have = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        (command.upgrade if revision > have else command.downgrade)(config, revision)


def test_there_and_back_leaves_the_chain_whole_and_append_only(store: Store) -> None:
    for revision in ("0006", "0007"):
        migrate_to(store, revision)
        with store.unit_of_work("test") as work:
            work.record("thing.made", revision)
        with store.engine.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
            connection.execute(sa.text("DELETE FROM audit_event"))
    with store.reading() as session:
        assert audit.verify(session).whole
        assert audit.verify(session).events == 2
    with store.engine.connect() as connection, pytest.raises(DBAPIError, match="only moves on"):
        connection.execute(sa.text("UPDATE audit_head SET seq = 0"))
