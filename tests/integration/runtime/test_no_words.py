"""Invariant 11 in a fleet of real processes: nothing that was said leaves the store."""

import json
from collections.abc import Callable
from uuid import uuid4

import sqlalchemy as sa

from store.core.hashes import text_hash
from store.core.unit_of_work import Store
from tests.integration.runtime.harness import (
    Runtime,
    count,
    encoded,
    message,
    push,
    rows,
    wait_settled,
)
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    Fleet,
    ask,
    get_question,
    ingest,
    wait_finished,
    wait_until,
)
from workers.runtime.broker import WokenBroker

Start = Callable[..., Runtime]


def test_invariant_11_no_word_of_question_or_document_leaves_the_store(
    fleet: Fleet, published: Store
) -> None:
    """Everything goes wrong at once, also in PostgreSQL, whose errors quote the failing row."""
    marker = "zebrafishoma"
    spoken = {**TRIAL, "title": f"{marker} registry", "text": f"{TRIAL['text']}\n\n{marker}.\n"}
    fleet.scheduler()
    worker = fleet.worker()
    ingest(published, spoken)
    wait_settled(published)
    quiet = ask(published, f"{TRIAL_QUESTION} {marker}")
    wait_finished(published, [quiet])
    with published.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE retrieval ADD CHECK (hash = 'x') NOT VALID"))
        connection.execute(sa.text("ALTER TABLE document_version ADD CHECK (n > 99) NOT VALID"))
    ingest(published, {**spoken, "source_key": "another", "text": f"{marker} and more. {marker}."})
    loud = ask(published, f"What is the endpoint of the {marker} trial?")
    client = WokenBroker(fleet.settings)
    spoilt = json.dumps({"patient": marker})
    push(client.client, client.namespace, "verify", spoilt.encode())
    redis_id = str(uuid4())
    foreign = {**message().payload(), "patient": marker, marker: 1}
    body = encoded(foreign, redis_id=redis_id)
    push(client.client, client.namespace, "retrieve", body, redis_id)
    client.close()
    with published.engine.begin() as connection:  # no waiting through the back-off of 5 attempts
        connection.execute(sa.text("UPDATE stage_run SET attempts = 4 WHERE status <> 'done'"))

    def hurried() -> bool:
        with published.engine.begin() as connection:
            connection.execute(
                sa.text(
                    "UPDATE stage_run SET attempts = 4 WHERE status = 'waiting' AND attempts < 4"
                )
            )
            connection.execute(
                sa.text("UPDATE outbox SET not_before = now() WHERE status = 'pending'")
            )
        return count(published, "dead_letter") >= 4

    wait_until(hurried, 90, "four dead letters")
    assert get_question(published, loud).status == "failed"
    worker.terminate()
    assert worker.wait(60) == 0
    letters = rows(published, "SELECT * FROM dead_letter")
    assert {one.error_type for one in letters} >= {
        "IntegrityError",
        "UndecodableMessage",
        "InvalidMessage",
    }
    for told in (marker, text_hash(marker), text_hash(spoilt)):  # nobody could erase such a hash
        assert told not in str(letters)
    assert marker not in fleet.text()
    assert "stage_died" in fleet.text()
    assert marker not in str(rows(published, "SELECT * FROM audit_event"))
    assert marker not in str(rows(published, "SELECT * FROM stage_run"))
    assert marker not in str(rows(published, "SELECT error FROM question"))
    assert marker not in str(rows(published, "SELECT error FROM ingest_item"))
