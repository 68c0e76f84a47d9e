"""Makes a stage hang inside its transaction or its work, from outside, without a hook in it."""

from types import TracebackType

import sqlalchemy as sa

from messages import Stage
from tests.servers import wait_until

_WRITES = {
    Stage.REFRESH: ("ingest_item", "INSERT"),
    Stage.INGEST: ("document_version", "INSERT"),
    Stage.EMBED: ("chunk", "INSERT"),
    Stage.ANCHOR: ("anchor", "INSERT"),
    Stage.RETRIEVE: ("retrieval", "INSERT"),
    Stage.GENERATE: ("draft", "INSERT"),
    Stage.VERIFY: ("citation", "INSERT"),
    Stage.AUDIT: ("answer", "UPDATE"),
    Stage.RECALL: ("question", "INSERT"),
    Stage.RECHECK: ("recheck_answer", "INSERT"),
    Stage.EXTRACT: ("extraction_iteration", "INSERT"),
}
"""What each stage does in its commit, and no other stage does at all."""
_KEY = 4711


class Hold:
    """While held, whoever commits the stage waits for us in a trigger of the database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None

    def __enter__(self) -> "Hold":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def commit_of(self, stage: Stage, row: str | None = None) -> None:
        """From now on every commit of `stage` hangs; with `row` only one of such a row, in SQL."""
        table, change = _WRITES[stage]
        with self._engine.begin() as connection:
            connection.execute(
                sa.text(
                    "CREATE OR REPLACE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql "
                    f"AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared({_KEY}); RETURN NEW; "
                    "END $$"
                )
            )
            connection.execute(
                sa.text(
                    f"CREATE TRIGGER wait_for_test BEFORE {change} ON {table} "
                    + (f"FOR EACH ROW WHEN ({row})" if row else "FOR EACH STATEMENT")
                    + " EXECUTE FUNCTION wait_for_test()"
                )
            )
        self._take(f"SELECT pg_advisory_lock({_KEY})")

    def reading_of(self, table: str) -> None:
        """From now on whoever reads `table` hangs: in the work of a stage, outside its commit."""
        self._take(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")

    def _take(self, statement: str) -> None:
        self._connection = self._engine.connect()
        self._connection.execute(sa.text("SET idle_in_transaction_session_timeout = 0"))
        self._connection.execute(sa.text(statement))

    def wait_for(self, waiting: int = 1) -> None:
        """Wait until so many transactions hang here."""
        query = sa.text(
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database "
            "WHERE NOT granted AND datname = current_database()"
        )

        def hanging() -> bool:
            with self._engine.connect() as connection:
                return int(connection.execute(query).scalar_one()) >= waiting

        wait_until(hanging, 60, "the stage hangs")

    def release(self) -> None:
        """Let them go on; later commits pass."""
        if self._connection is not None:
            self._connection.invalidate()  # closes it, and with it goes the lock
            self._connection.close()
            self._connection = None
