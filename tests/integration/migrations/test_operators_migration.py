"""What operators decided can be migrated away and back on a database that is in use."""

from uuid import uuid4

import sqlalchemy as sa
from alembic import command

from store.core.schema import alembic_config, migrate
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import Death
from store.pipeline import circuits
from tests.integration.runtime.harness import count, promise
from workers.runtime.failures import bury


def test_what_waited_for_a_paused_stage_is_due_where_there_are_no_stages_to_pause(
    store: Store,
) -> None:
    (held, dead) = (promise(store)[0], promise(store)[0])
    bury(store, death := Death("retrieve", {}, "Rejected", "x", outbox_id=dead, id=uuid4()))
    with store.unit_of_work("operator") as work:
        dead_letters.discard(work, death.id, "a test")
        circuits.pause(work, "retrieve", "a test")
        circuits.admit(work, "retrieve", held)
    with store.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
        due = sa.text("SELECT count(*) FROM outbox WHERE not_before <= clock_timestamp()")
        assert connection.execute(due).scalar_one() == 2
    assert count(store, "dead_letter", "status = 'discarded'") == 1
    migrate(store.engine)
    with store.reading() as session:
        assert circuits.paused(session) == {}
