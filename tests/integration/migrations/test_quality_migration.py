"""What is measured can be migrated away and back on a database that is in use."""

import sqlalchemy as sa
from alembic import command

from store.core.schema import alembic_config, migrate
from store.core.unit_of_work import Store
from store.models import now
from store.pipeline import ledger
from tests.integration.operation.test_quality import put
from tests.integration.runtime.harness import count
from tests.servers import ask


def claim(store: Store) -> None:
    """Take work whose lease has run out already."""
    with store.unit_of_work("worker") as work:
        ledger.claim(
            work.session,
            stage="verify",
            subject="s",
            input_hash="h",
            worker="w",
            outbox_id=None,
            lease_seconds=-1,
        )


def test_work_goes_on_without_the_measurements_and_they_begin_anew(store: Store) -> None:
    put(store, ask(store, "one"), now())
    claim(store)
    claim(store)
    assert count(store, "stage_takeover", "takeovers = 1") == 1
    with store.engine.begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0012")
        tables = set(sa.inspect(connection).get_table_names())
        assert not tables & {"answer_quality", "stage_takeover"}
        assert "question_failed" not in {
            one["name"] for one in sa.inspect(connection).get_indexes("question")
        }
    with store.engine.begin() as connection:  # as the release of then takes work over
        connection.execute(sa.text("UPDATE stage_run SET token = nextval('fencing_token')"))
    migrate(store.engine)
    assert count(store, "question") == 1
    assert count(store, "answer_quality") == 0
    claim(store)
    assert count(store, "stage_takeover", "takeovers = 1") == 1
