"""Keys and owners can be migrated away and back on a database that is in use."""

from datetime import timedelta
from uuid import uuid4

import sqlalchemy as sa
from alembic import command

from store.access import keys
from store.core.schema import alembic_config, migrate
from store.core.unit_of_work import Store
from store.models import now
from store.questions import questions
from store.texts import notes


def test_keys_go_and_come_and_what_was_asked_stays(store: Store) -> None:
    with store.unit_of_work("test", request_id=uuid4()) as work:
        first = questions.submit(work, "q", {}, "once", owner="ward-1")
        second = questions.submit(work, "q", {}, "once", owner="ward-2")
        alone = questions.submit(work, "q", {}, "twice", owner="ward-2")
        notes.submit(work, "A note.", owner="ward-1")
        keys.create(
            work, name="k", owner="a", scopes=["read"], expires_at=now() + timedelta(days=1)
        )
    assert len({first.id, second.id, alone.id}) == 3
    with store.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0009")
        kept = connection.execute(sa.text("SELECT id, idempotency_key FROM question")).all()
        assert {row.id: row.idempotency_key for row in kept} == {
            first.id: "once",
            second.id: None,
            alone.id: "twice",
        }
    migrate(store.engine)
    with store.reading() as session:
        assert {one.owner for one in questions.listing(session).rows} == {"local"}
        assert keys.listing(session) == []
        assert not keys.any_usable(session, now())
