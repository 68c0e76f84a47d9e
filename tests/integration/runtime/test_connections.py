"""What a connection is used for: reading refuses to write, statements stay prepared, and one that
was cut off while it rested is made anew."""

import time
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.core import database
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import Question
from store.pipeline import circuits, ledger
from store.pipeline.ledger import Claim, Standing
from tests.integration.runtime.harness import claim, promise
from tests.servers import ask


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit_head SET seq = seq + 1", "SELECT nextval('fencing_token')"],
)
def test_a_session_for_reading_cannot_write(store: Store, statement: str) -> None:
    with (
        pytest.raises(sa.exc.DBAPIError, match="read-only transaction"),
        store.reading() as session,
    ):
        session.execute(sa.text(statement))
    with store.unit_of_work("test") as work:  # the same connection writes again
        work.record("thing.made", "x")


def test_what_is_changed_of_what_was_read_is_nobodys_business(store: Store) -> None:
    subject = ask(store, "What was read?")
    with store.reading() as session:
        session.get_one(Question, subject).text = "something else"
    with store.reading() as session:
        assert session.get_one(Question, subject).text == "What was read?"


def test_statements_stay_prepared_over_reading_and_writing(settings: Settings) -> None:
    engine = connect(settings.database_url, pool_size=1)
    store = Store(engine, lambda promises: None)
    for _ in range(8):
        with store.reading() as session:
            session.execute(sa.text("SELECT seq FROM audit_head")).one()
        with store.unit_of_work("test") as work:
            work.record("thing.made", "x")
    with engine.connect() as connection:
        prepared = connection.execute(sa.text("SELECT statement FROM pg_prepared_statements"))
        kept = list(prepared.scalars())
    engine.dispose()
    assert "SELECT seq FROM audit_head" in kept
    assert any("INSERT INTO audit_event" in one for one in kept)


def test_plans_are_made_for_the_values_at_hand(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        mode = connection.execute(sa.text("SHOW plan_cache_mode")).scalar_one()
    assert mode == "force_custom_plan"


def test_a_connection_that_was_cut_off_while_it_rested_is_made_anew(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "RESTED_SECONDS", 0.02)
    engine = connect(settings.database_url, pool_size=1)
    with engine.connect() as connection:
        first = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    url = settings.database_url or ""
    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (first,))
    time.sleep(0.05)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one() != first
    engine.dispose()


def test_a_paused_stage_gives_no_claim_and_says_so(store: Store) -> None:
    subject = str(uuid4())
    asked: dict[str, Any] = {
        "stage": "retrieve",
        "subject": subject,
        "input_hash": "0" * 64,
        "worker": "w",
        "outbox_id": None,
        "lease_seconds": 60.0,
    }
    with store.unit_of_work("test") as work:
        circuits.pause(work, "retrieve", "a test")
    with Session(store.engine) as session:
        assert ledger.claim(session, **asked, though_paused=False) is None
        held = ledger.claim(session, **asked, though_paused=True)
        assert isinstance(held, Claim)
        assert ledger.claim(session, **asked, though_paused=True) is Standing.RUNNING
        assert ledger.claim(session, **asked, though_paused=False) is None


def test_work_and_its_promise_end_in_one_statement_or_neither_does(store: Store) -> None:
    subject = str(uuid4())
    held = claim(store, subject)
    assert isinstance(held, Claim)
    (promised,) = promise(store)
    stale = Claim(held.run_id, held.token + 1, held.attempts)
    with Session(store.engine) as session:
        with pytest.raises(ledger.LeaseLost):
            ledger.finish(session, stale, promised)
        session.commit()
    assert _status(store, promised) != "done"
    with Session(store.engine) as session:
        ledger.finish(session, held, promised)
        session.commit()
    assert _status(store, promised) == "done"


def _status(store: Store, promised: object) -> str:
    with store.reading() as session:
        found = session.execute(
            sa.text("SELECT status FROM outbox WHERE id = :id"), {"id": promised}
        )
        return str(found.scalar_one())


def test_what_is_given_back_after_the_end_is_closed(settings: Settings) -> None:
    engine = connect(settings.database_url)
    with engine.connect() as late, engine.connect() as later:
        kept = [one.connection.dbapi_connection for one in (late, later)]
        engine.dispose()
        late.execute(sa.text("SELECT 1"))
    assert [isinstance(one, psycopg.Connection) and one.closed for one in kept] == [True, True]


@pytest.mark.parametrize(
    ("own", "milliseconds"), [("", "60000"), ("tcp_user_timeout=7000", "7000")]
)
def test_what_was_sent_into_a_cut_is_given_up_in_a_minute_or_as_the_url_says(
    settings: Settings, own: str, milliseconds: str
) -> None:
    """Keepalives stop once something is under way, and Linux goes on for a quarter of an hour."""
    joint = "&" if "?" in settings.database_url else "?"
    engine = connect(f"{settings.database_url}{joint}{own}" if own else settings.database_url)
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        said = {one.keyword.decode(): one.val for one in driver.pgconn.info}
        assert said["tcp_user_timeout"] == milliseconds.encode()
        assert said["keepalives_idle"] == b"30"
    engine.dispose()
