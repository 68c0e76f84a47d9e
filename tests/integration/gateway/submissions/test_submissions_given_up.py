"""A submission that was read, and whose words a later stage gave up on: nobody finds them, so it is
not done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death
from store.documents.submissions import sent_together
from store.models import LOCAL_OWNER, IngestItem
from store.pipeline import circuits
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key
from workers.inline import InlineWorker
from workers.runtime.failures import bury

RECORD = {
    "source_type": "pubmed",
    "title": "An invented record",
    "text": "In this invented trial 12 of 34 patients of the ctDNA arm had a recurrence.",
}


@pytest.fixture
def gateway(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    with serving(settings_for(new_database(), encoder="hash")) as running:
        yield running


@contextmanager
def another_encoder(gateway: Running) -> Iterator[None]:
    """The index belongs to an encoder that no worker here has: embed gives up on everything."""
    gateway.execute("INSERT INTO index_encoder VALUES (true, 'another', 384)")
    try:
        yield
    finally:
        gateway.execute("DELETE FROM index_encoder")


def submit(gateway: Running, **changes: Any) -> str:
    response = gateway.client.post("/v1/documents", json={**RECORD, **changes})
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def work(gateway: Running) -> None:
    """Do all that is due."""
    worker = InlineWorker(gateway.settings, Store(gateway.store.engine))
    gateway.execute("UPDATE outbox SET status = 'pending' WHERE status = 'published'")
    worker.run()
    worker.close()


def seen(gateway: Running, item: str, **headers: Any) -> dict[str, Any]:
    found: dict[str, Any] = gateway.client.get(f"/v1/documents/{item}", **headers).json()
    return found


def test_what_embed_gave_up_on_is_told_and_is_done_once_its_replay_went_through(
    gateway: Running,
) -> None:
    item = submit(gateway)
    with another_encoder(gateway):
        work(gateway)
    found = seen(gateway, item)
    assert found["status"] == "failed"
    assert "the index was built with the encoder 'another'" in found["error"]
    (letter,) = gateway.client.get("/v1/dead-letters").json()["dead_letters"]
    assert f"attest dead-letters replay {letter['id']}" in found["error"]
    assert found["outcome"]["documents"], "it was read"
    assert gateway.client.post(f"/v1/dead-letters/{letter['id']}/replay").status_code == 202
    found = seen(gateway, item)
    assert (found["status"], found["error"]) == ("pending", None)
    work(gateway)
    found = seen(gateway, item)
    assert (found["status"], found["error"]) == ("done", None)


def test_the_same_text_sent_again_is_told_too_though_nothing_is_new(gateway: Running) -> None:
    with another_encoder(gateway):
        submit(gateway)
        work(gateway)
    again = submit(gateway)
    work(gateway)
    found = seen(gateway, again)
    assert found["outcome"]["documents"][0]["outcome"] == "unchanged"
    assert found["status"] == "failed"


def works(gateway: Running, item: str) -> list[str]:
    """What is still to be done with the documents of an item, as its page shows it."""
    with gateway.store.reading() as session:
        batch_id = session.get_one(IngestItem, UUID(item)).batch_id
        (sent,) = sent_together(session, LOCAL_OWNER, batch_id)
    return [one.work for one in sent.documents]


def test_the_page_of_what_was_sent_knows_what_died_of_the_same_text_before(
    gateway: Running,
) -> None:
    first = submit(gateway)
    with another_encoder(gateway):
        work(gateway)
    again = submit(gateway)
    work(gateway)
    assert (works(gateway, first), works(gateway, again)) == (["dead"], ["dead"])
    (letter,) = gateway.client.get("/v1/dead-letters").json()["dead_letters"]
    gateway.client.post(f"/v1/dead-letters/{letter['id']}/replay")
    assert (works(gateway, first), works(gateway, again)) == (["open"], ["open"])
    work(gateway)
    assert (works(gateway, first), works(gateway, again)) == (["done"], ["done"])


def test_the_same_text_sent_again_is_not_held_before_the_first_one_is_indexed(
    gateway: Running,
) -> None:
    submit(gateway)
    pause(gateway, "embed")
    work(gateway)
    again = submit(gateway)
    work(gateway)
    assert works(gateway, again) == ["open"]


def test_what_anchor_gave_up_on_is_told(gateway: Running) -> None:
    item = submit(gateway)
    pause(gateway, "anchor")
    work(gateway)
    outbox_id = gateway.scalar("SELECT id FROM outbox WHERE stage = 'anchor'")
    payload = gateway.scalar("SELECT payload FROM outbox WHERE stage = 'anchor'")
    death = Death("anchor", payload, "Permanent", "out of memory", outbox_id=outbox_id)
    bury(gateway.store, death, if_idle=False)
    found = seen(gateway, item)
    assert found["status"] == "failed"
    assert "stage anchor gave up on it (out of memory)" in found["error"]


def pause(gateway: Running, stage: str) -> None:
    with gateway.store.unit_of_work("operator") as unit:
        circuits.pause(unit, stage, "a test")


def test_what_an_operator_discarded_stays_failed_and_says_what_can_still_be_done(
    gateway: Running,
) -> None:
    item = submit(gateway)
    with another_encoder(gateway):
        work(gateway)
    (letter,) = gateway.client.get("/v1/dead-letters").json()["dead_letters"]
    gateway.client.delete(f"/v1/dead-letters/{letter['id']}", params={"reason": "a test"})
    found = seen(gateway, item)
    assert found["status"] == "failed"
    assert "replay" not in found["error"]
    assert "a changed document" in found["error"]


def test_a_cause_is_for_operators(new_database: Callable[[], str], settings_for: Any) -> None:
    settings = settings_for(new_database(), encoder="hash", require_keys=True)
    with serving(settings) as locked:
        own = {"headers": bearer(make_key(locked, "documents"))}
        item = locked.client.post("/v1/documents", json=RECORD, **own).json()["id"]
        with another_encoder(locked):
            work(locked)
        found = seen(locked, item, **own)
        assert found["status"] == "failed"
        assert "an operator" in found["error"]
        assert "encoder" not in found["error"]
        found = seen(locked, item, headers=bearer(make_key(locked, "operate", "read")))
        assert "encoder 'another'" in found["error"]


def test_what_is_read_and_not_yet_indexed_is_done_as_ever(gateway: Running) -> None:
    item = submit(gateway)
    pause(gateway, "embed")
    work(gateway)
    assert seen(gateway, item)["status"] == "done"
