"""What Prometheus sees of a question that waits, is worked on, dies or is taken over."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from messages import Stage
from store.dead_letters.dead_letters import Death
from store.pipeline import ledger, outbox
from tests.integration.gateway.conftest import Running, serving
from workers.runtime.failures import bury


@pytest.fixture
def gateway(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over a database of this test alone: what is counted is counted from nothing."""
    with serving(settings_for(new_database())) as running:
        yield running


def scrape(gateway: Running) -> dict[str, float]:
    """Every sample of an exposition, by its name and labels."""
    lines = gateway.client.get("/metrics").text.splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def outbox_id(gateway: Running, question_id: str) -> object:
    """The promise to the question's first stage."""
    return gateway.scalar(
        "SELECT id FROM outbox WHERE payload->>'question_id' = :id", id=question_id
    )


@pytest.mark.requirement("OP-5.5")
def test_op_5_5_a_message_is_counted_where_it_is_with_its_age(gateway: Running) -> None:
    due, later, sent = (outbox_id(gateway, gateway.ask()) for _ in range(3))
    change = "UPDATE outbox SET status = :status, not_before = now() + :wait, created_at = :at "
    old = datetime.now(UTC) - timedelta(hours=1)
    for row, status, wait in (
        (due, "pending", timedelta(seconds=-90)),
        (later, "pending", timedelta(hours=1)),
        (sent, "published", timedelta(0)),
    ):
        gateway.execute(change + "WHERE id = :id", status=status, wait=wait, at=old, id=row)
    found = scrape(gateway)
    for state in ("due", "delayed", "published"):
        assert found[f'attest_queue_messages{{stage="retrieve",state="{state}"}}'] == 1, state
    assert 3600 <= found['attest_queue_oldest_seconds{stage="retrieve"}'] < 4200
    assert 90 <= found["attest_outbox_lag_seconds"] < 690
    assert found['attest_queue_oldest_seconds{stage="verify"}'] == 0


def test_what_is_worked_on_and_how_long_it_took_are_told_by_stage(gateway: Running) -> None:
    question_id = gateway.ask()
    gateway.run_stage(question_id, Stage.RETRIEVE)
    gateway.execute(
        "UPDATE stage_run SET started_at = finished_at - interval '2 seconds' "
        "WHERE subject = :id AND stage = 'retrieve'",
        id=question_id,
    )
    with gateway.store.unit_of_work("worker") as work:
        ledger.claim(
            work.session,
            stage="generate",
            subject=question_id,
            input_hash="h",
            worker="w",
            outbox_id=None,
            lease_seconds=60,
        )
    found = scrape(gateway)
    assert found['attest_queue_messages{stage="generate",state="working"}'] == 1
    assert found['attest_stage_done_recent{stage="retrieve"}'] == 1
    assert found['attest_stage_seconds{quantile="0.95",stage="retrieve"}'] == 2
    assert 'attest_stage_seconds{quantile="0.95",stage="verify"}' not in found


def test_a_dead_letter_is_counted_at_its_stage(gateway: Running) -> None:
    promised = outbox_id(gateway, gateway.ask())
    assert promised is not None
    bury(gateway.store, Death("retrieve", {}, "Rejected", "x", outbox_id=promised, id=uuid4()))  # type: ignore[arg-type]
    found = scrape(gateway)
    assert found['attest_stage_dead_letters_open{stage="retrieve"}'] == 1
    assert found['attest_stage_dead_letters_open{stage="verify"}'] == 0


@pytest.mark.requirement("OP-5.5")
@pytest.mark.parametrize("lease_seconds", [60.0, -1.0])
def test_op_5_5_only_a_lease_that_ran_out_is_a_takeover(
    gateway: Running, lease_seconds: float
) -> None:
    for worker in ("first", "second"):
        with gateway.store.unit_of_work(worker) as work:
            ledger.claim(
                work.session,
                stage="verify",
                subject="s",
                input_hash="h",
                worker=worker,
                outbox_id=None,
                lease_seconds=lease_seconds,
            )
    expected = 1 if lease_seconds < 0 else 0
    assert scrape(gateway)['attest_lease_takeovers_total{stage="verify"}'] == expected


def test_a_renewal_and_a_retry_are_no_takeovers(gateway: Running) -> None:
    promised = outbox_id(gateway, gateway.ask())
    for _ in range(2):
        with gateway.store.unit_of_work("worker") as work:
            held = ledger.claim(
                work.session,
                stage="retrieve",
                subject="s",
                input_hash="h",
                worker="w",
                outbox_id=promised,  # type: ignore[arg-type]
                lease_seconds=60,
            )
            assert isinstance(held, ledger.Claim)
        with gateway.store.unit_of_work("worker") as work:
            ledger.renew(work.session, [held], 60)
        with gateway.store.unit_of_work("worker") as work:
            ledger.put_back(work.session, held, "later", counts=True)
            outbox.postpone(work.session, promised, -1)  # type: ignore[arg-type]
    assert scrape(gateway)['attest_lease_takeovers_total{stage="retrieve"}'] == 0


def test_a_scrape_says_only_that_the_database_is_away_when_it_is(gateway: Running) -> None:
    with gateway.store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE stage_takeover RENAME TO gone"))
    found = scrape(gateway)
    assert found["attest_database_up"] == 0
    assert not [name for name in found if name.startswith("attest_queue")]
