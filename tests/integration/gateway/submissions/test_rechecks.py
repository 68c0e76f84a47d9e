"""Held answers are verified again over HTTP and by the command, by operators."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.commands import Attest
from tests.integration.gateway.conftest import Running, serving, working
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.inline import InlineWorker

RECHECKS = "/v1/rechecks"


def finish(gateway: Running) -> None:
    """Do what is promised."""
    gateway.execute(
        "UPDATE outbox SET status = 'pending', not_before = now() WHERE status = 'published'"
    )
    worker = InlineWorker(gateway.settings, gateway.store)
    worker.run()
    worker.close()


@pytest.fixture
def older(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """An answer that an earlier gate let through, with a figure that its source does not have."""
    with serving(settings_for(new_database(), encoder="hash")) as running:
        ingest(running.store, TRIAL)
        finish(running)
        ask(running.store, TRIAL_QUESTION)
        finish(running)
        with running.store.engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            connection.exec_driver_sql("UPDATE answer_quality SET gate = NULL")
            connection.exec_driver_sql(
                "UPDATE answer SET body = jsonb_set(body, '{claims, 0, text}', "
                "to_jsonb('It enrolled 977 patients.'::text))"
            )
        yield running


def test_a_run_is_promised_followed_and_tells_each_claim_that_changes(older: Running) -> None:
    promised = older.client.post(RECHECKS)
    assert promised.status_code == 202
    run = promised.json()
    assert (run["status"], run["dry_run"], run["answers"]) == ("running", True, None)
    where = promised.headers["Location"]
    assert where == f"{RECHECKS}/{run['id']}"
    assert older.client.post(RECHECKS, json={"dry_run": True}).json()["id"] == run["id"]
    other = older.client.post(RECHECKS, json={"dry_run": False})
    assert (other.status_code, other.json()["type"]) == (409, "urn:attest:problem:under-way")
    finish(older)
    ended = older.client.get(where).json()
    assert (ended["status"], ended["answers"], ended["looked_at"]) == ("done", 1, 1)
    assert (ended["falls"], ended["stands"], ended["checks"]) == (1, 0, {"number": 1})
    page = older.client.get(f"{where}/answers").json()
    (answer,) = page["answers"]
    assert answer["findings"][0]["checks"] == ["number"]
    assert page["next_cursor"] is None
    assert older.client.get("/v1/questions/recalls").json()["changes"] == []


def test_for_real_the_owner_is_told_in_the_feed_and_on_the_page(older: Running) -> None:
    older.client.post(RECHECKS, json={"dry_run": False})
    finish(older)
    feed = older.client.get("/v1/questions/recalls").json()["changes"]
    assert [one["state"] for one in feed] == ["affected", "superseded"]
    assert feed[0]["because"][0]["change"] == "gate"
    page = older.client.get(f"/questions/{feed[0]['question_id']}").text
    assert "The way in which claims are verified" in page
    assert "Read the new answer" in page


@pytest.mark.parametrize("path", [f"/{UUID(int=1)}", f"/{UUID(int=1)}/answers"])
def test_a_run_that_is_not_there_is_a_404(gateway: Running, path: str) -> None:
    assert gateway.client.get(RECHECKS + path).status_code == 404


def test_what_does_not_fit_is_named(gateway: Running) -> None:
    wrong = gateway.client.post(RECHECKS, json={"dryrun": False})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["field"] == "body.?"
    cursor = gateway.client.post(RECHECKS).headers["Location"] + "/answers"
    assert gateway.client.get(cursor, params={"cursor": "x"}).status_code == 422


def test_the_command_tells_first_and_recalls_only_when_it_is_told_to(older: Running) -> None:
    run = Attest.on(older.settings)
    with working(older):
        dry = run("recheck")
        assert dry.returncode == 0, dry.stderr
        assert "1 would be recalled; claims by check: number 1" in dry.stdout
        assert "unsupported" in dry.stdout
        told = json.loads(run("recheck", "--json").stdout)
        assert (told["falls"], told["dry_run"], told["status"]) == (1, True, "done")
        assert told["changes"][0]["findings"][0]["after"] == "unsupported"
        real = run("recheck", "--apply")
        assert "1 are recalled" in real.stdout
        again = json.loads(run("recheck", "--apply", "--json").stdout)
    assert (again["looked_at"], again["changes"]) == (0, [])
