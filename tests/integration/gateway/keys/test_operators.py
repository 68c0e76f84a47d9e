"""Dead letters, audit, health and metrics over real servers."""

import time
from importlib.metadata import version
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from messages import Stage
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import Death
from store.pipeline import outbox
from tests.integration.gateway.conftest import Running, serving

ABSENT = "00000000-0000-4000-8000-000000000000"
NOWHERE = "redis://127.0.0.1:1/0"


def _die(gateway: Running, question_id: str, error_type: str = "Permanent") -> str:
    """A question whose retrieve stage gave up, with its dead letter."""
    outbox_id = gateway.scalar(
        "SELECT id FROM outbox WHERE payload->>'question_id' = :id", id=question_id
    )
    death = Death(
        stage="retrieve",
        payload={"schema": "retrieve.v1", "question_id": question_id},
        error_type=error_type,
        cause="the index is empty",
        outbox_id=outbox_id,
        subject=question_id,
    )
    with gateway.store.unit_of_work("stage:retrieve") as work:
        outbox.dead(work.session, outbox_id)
        letter_id = dead_letters.add(work, death)
    gateway.fail(question_id, death.cause)
    return str(letter_id)


@pytest.mark.requirement("DC-5")
def test_a_replayed_dead_letter_makes_its_question_wait_for_an_answer_again(
    gateway: Running,
) -> None:
    question_id = gateway.ask()
    letter_id = _die(gateway, question_id)
    listed = gateway.client.get("/v1/dead-letters").json()["dead_letters"]
    assert letter_id in {letter["id"] for letter in listed}
    response = gateway.client.post(f"/v1/dead-letters/{letter_id}/replay")
    assert response.status_code == 202
    assert (response.json()["status"], response.json()["replays"]) == ("replayed", 1)
    assert gateway.client.get(f"/v1/questions/{question_id}").json()["status"] == "queued"
    assert gateway.count(
        "outbox", "payload->>'question_id' = :id AND status = 'pending'", id=question_id
    )
    events = gateway.client.get("/v1/audit", params={"subject": question_id}).json()["events"]
    assert [event["event"] for event in events] == [
        "message.replayed",
        "message.dead",
        "question.submitted",
    ]
    assert events[0]["actor"] == "operator"


def test_a_dead_letter_that_was_resolved_or_cannot_succeed_is_a_409_that_says_why(
    gateway: Running,
) -> None:
    replayed = _die(gateway, gateway.ask())
    gateway.client.post(f"/v1/dead-letters/{replayed}/replay")
    hopeless = _die(gateway, gateway.ask(), error_type="InvalidMessage")
    for letter_id, why in ((replayed, "replayed already"), (hopeless, "can never succeed")):
        response = gateway.client.post(f"/v1/dead-letters/{letter_id}/replay")
        assert response.status_code == 409
        assert why in response.json()["detail"]


def test_dead_letters_are_listed_by_status_and_stage_and_shown_whole(gateway: Running) -> None:
    question_id = gateway.ask()
    letter_id = _die(gateway, question_id)

    def listed(**params: str) -> set[str]:
        found = gateway.client.get("/v1/dead-letters", params=params).json()["dead_letters"]
        return {letter["id"] for letter in found}

    assert letter_id in listed(stage="retrieve")
    assert letter_id not in listed(stage="verify")
    assert letter_id not in listed(status="replayed")
    assert letter_id in listed(status="all")
    letter = gateway.client.get(f"/v1/dead-letters/{letter_id}").json()
    assert letter["payload"]["question_id"] == question_id
    assert letter["cause"] == "the index is empty"
    for bad in ({"status": "odd"}, {"stage": "odd"}, {"limit": "0"}):
        assert gateway.client.get("/v1/dead-letters", params=bad).status_code == 422


def test_a_dead_letter_that_is_not_there_is_a_404(gateway: Running) -> None:
    assert gateway.client.get(f"/v1/dead-letters/{ABSENT}").status_code == 404
    assert gateway.client.post(f"/v1/dead-letters/{ABSENT}/replay").status_code == 404


@pytest.mark.requirement("DC-6")
def test_audit_events_are_found_by_each_filter_and_paged_once(gateway: Running) -> None:
    asked = [gateway.ask() for _ in range(5)]

    def found(**params: Any) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        cursor = None
        while True:
            given = params | {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = gateway.client.get("/v1/audit", params=given).json()
            events += page["events"]
            cursor = page["next_cursor"]
            if cursor is None:
                return events

    every = found()
    assert [event["seq"] for event in every] == list(range(len(every), 0, -1))
    assert {event["subject"] for event in found(event="question.submitted")} >= set(asked)
    assert found(subject=asked[2])[0]["actor"] == "gateway"
    assert found(actor="nobody") == []
    third = found(subject=asked[2])[0]["at"]
    assert asked[1] not in {event["subject"] for event in found(since=third)}
    assert asked[2] in {event["subject"] for event in found(since=third)}
    assert asked[2] not in {event["subject"] for event in found(until=third)}


def test_the_chain_is_whole_until_somebody_edits_it(new_database: Any, settings_for: Any) -> None:
    with serving(settings_for(new_database())) as own:
        for _ in range(3):
            own.ask()
        report = own.client.get("/v1/audit/verify").json()
        head = own.scalar("SELECT seq || ':' || encode(hash, 'hex') FROM audit_head")
        assert report == {
            "events": 3,
            "whole": True,
            "first_bad_seq": None,
            "reason": None,
            "checked": head,
        }
        own.execute("ALTER TABLE audit_event DISABLE TRIGGER ALL")
        own.execute("UPDATE audit_event SET actor = 'nobody' WHERE seq = 2")
        report = own.client.get("/v1/audit/verify").json()
        assert (report["whole"], report["first_bad_seq"]) == (False, 2)


def test_the_metrics_name_the_release(gateway: Running) -> None:
    told = gateway.client.get("/metrics").text.splitlines()
    assert "# TYPE attest_build_info gauge" in told
    assert f'attest_build_info{{version="{version("attest")}"}} 1.0' in told


def test_a_ready_gateway_says_so(gateway: Running) -> None:
    assert gateway.client.get("/healthz").json() == {"status": "ok", "version": version("attest")}
    response = gateway.client.get("/readyz")
    assert response.status_code == 200
    assert set(response.json()["checks"].values()) == {"ok"}
    assert response.json()["paused_stages"] == {}


def test_a_gateway_with_a_paused_stage_is_ready_and_names_it(gateway: Running) -> None:
    gateway.client.post("/v1/stages/anchor/pause", json={"reason": "a test"})
    response = gateway.client.get("/readyz")
    assert (response.status_code, response.json()["paused_stages"]) == (200, {"anchor": "paused"})
    gateway.client.post("/v1/stages/anchor/resume")
    assert gateway.client.get("/readyz").json()["paused_stages"] == {}


def test_metrics_count_requests_by_route_and_show_the_state_without_ids_or_texts(
    gateway: Running,
) -> None:
    question_id = gateway.ask("A question with XYZZY in it")
    gateway.client.get(f"/v1/questions/{question_id}")
    gateway.client.get("/v1/nothing/XYZZY")
    text = gateway.client.get("/metrics").text
    assert 'route="/v1/questions/{question_id}"' in text
    assert 'attest_http_requests_total{method="POST",route="/v1/questions",status="202"}' in text
    assert "attest_http_request_seconds_bucket" in text
    assert "attest_database_up 1.0" in text
    assert 'attest_stage_paused{stage="verify",state="open"} 0.0' in text
    for name in ("outbox_rows", "dead_letters_open", "oldest_unfinished_question_age_seconds"):
        assert f"attest_{name}" in text
    assert "XYZZY" not in text
    assert question_id not in text


def test_without_redis_questions_are_still_accepted_and_stay_promised(
    new_database: Any, settings_for: Any
) -> None:
    with serving(settings_for(new_database(), redis_url=NOWHERE)) as own:
        response = own.client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["checks"]["postgresql"] == "ok"
        assert response.json()["checks"]["redis"] == "away (ConnectionError)"
        asked = [own.ask(), own.ask()]
        for question_id in asked:
            _until_pending(own, question_id)
        assert own.client.get("/healthz").status_code == 200


def _until_pending(gateway: Running, question_id: str) -> None:
    where = "payload->>'question_id' = :id AND status = 'pending'"
    deadline = time.monotonic() + 60
    while not gateway.count("outbox", where, id=question_id):
        assert time.monotonic() < deadline, "the promise was not given back to the relay"
        time.sleep(0.02)


def test_a_promise_is_published_beside_the_request(gateway: Running) -> None:
    question_id = gateway.ask()
    outbox_id: UUID = gateway.scalar(
        "SELECT id FROM outbox WHERE payload->>'question_id' = :id", id=question_id
    )
    broker = gateway.server.config.app.state.gateway.redis  # type: ignore[union-attr]
    key = f"{gateway.settings.redis_namespace}:{Stage.RETRIEVE.value}.msgs"
    deadline = time.monotonic() + 60
    while not any(str(outbox_id).encode() in body for body in broker.hvals(key)):
        assert time.monotonic() < deadline, "the message did not reach Redis"
        time.sleep(0.01)


def test_a_gateway_without_its_database_answers_503_and_recovers(
    new_database: Any, settings_for: Any
) -> None:
    url = new_database()
    with serving(settings_for(url)) as own:
        name = own.scalar("SELECT current_database()")
        question_id = own.ask()
        away = f"{name}_away"
        _rename(own, name, away)
        try:
            for response in (
                own.client.get(f"/v1/questions/{question_id}"),
                own.client.post("/v1/questions", json={"question": "Still there?"}),
                own.client.get("/readyz"),
            ):
                assert response.status_code == 503, response.text
                assert response.headers["content-type"] == "application/problem+json"
                assert response.headers["retry-after"] == "2"
            assert "attest_database_up 0.0" in own.client.get("/metrics").text
            assert own.client.get("/healthz").status_code == 200
        finally:
            _rename(own, away, name)
        assert own.client.get(f"/v1/questions/{question_id}").status_code == 200
        assert own.client.get("/readyz").status_code == 200


def _rename(gateway: Running, old: str, new: str) -> None:
    """Take a database away from all who use it, or bring it back."""
    conninfo = gateway.settings.database_url.replace("+psycopg", "")
    conninfo = conninfo.replace(conninfo.split("/")[-1].split("?")[0], "postgres")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        while True:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [old]
            )
            try:
                connection.execute(
                    sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                        sql.Identifier(old), sql.Identifier(new)
                    )
                )
            except psycopg.errors.ObjectInUse:
                continue
            return


def test_an_outdated_schema_is_not_ready_and_says_what_to_run(
    new_database: Any, settings_for: Any
) -> None:
    with serving(settings_for(new_database())) as own:
        own.execute("UPDATE alembic_version SET version_num = '0013'")
        response = own.client.get("/readyz")
        assert response.status_code == 503
        assert "attest migrate" in response.json()["checks"]["schema"]
