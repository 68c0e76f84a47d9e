"""One question leaves one id in every log and every audit event, from the request to the seal."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import sqlalchemy as sa

from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Store
from tests.servers import TRIAL, TRIAL_QUESTION, Fleet, ingest, wait_finished, wait_until

STAGES = {"retrieve", "generate", "verify", "audit"}


@pytest.fixture
def cut_off(settings: Settings, tmp_path: Path) -> Iterator[tuple[Fleet, Fleet]]:
    """A gateway that cannot reach Redis, so that the relay must publish; and everybody else."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    logged = settings.model_copy(update={"log_format": "json", "port": port})
    nowhere = logged.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    fleets = Fleet(nowhere, tmp_path / "gateway.log"), Fleet(logged, tmp_path / "others.log")
    yield fleets
    for one in fleets:
        one.stop()


def lines(fleet: Fleet) -> list[dict[str, Any]]:
    """What its processes logged."""
    return [json.loads(one) for one in fleet.text().splitlines() if one.startswith("{")]


def answers(gateway: Fleet) -> bool:
    """Whether its port is open: it says that it is ready before that."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", gateway.settings.port)) == 0


@pytest.mark.requirement("OP-5.1")
def test_op_5_1_gateway_publisher_relay_workers_and_audit_name_the_same_request(
    cut_off: tuple[Fleet, Fleet], store: Store
) -> None:
    gateway, others = cut_off
    others.worker(*Stage)
    others.scheduler()
    ingest(store, TRIAL)
    gateway.start("gateway")
    wait_until(lambda: answers(gateway), what="the gateway answers")
    request_id = str(uuid4())
    response = httpx.post(
        f"http://127.0.0.1:{gateway.settings.port}/v1/questions",
        json={"question": TRIAL_QUESTION},
        headers={"X-Request-ID": request_id},
        timeout=30,
    )
    assert response.status_code == 202
    question_id = response.json()["id"]
    wait_finished(store, [UUID(question_id)])
    wait_until(lambda: "question_complete" in others.text(), 60, "the last line")

    of_request = [one for one in lines(gateway) + lines(others) if one.get("request_id")]
    mine = [one for one in of_request if one["request_id"] == request_id]
    told = {one["event"] for one in mine}
    assert {"http_answered", "publish_failed", "relay_sent", "question_complete"} <= told
    assert {one["stage"] for one in mine if one["event"] == "stage_done"} == STAGES

    about_it = [one for one in lines(gateway) + lines(others) if question_id in str(one)]
    assert about_it
    assert {one.get("request_id") for one in about_it} == {request_id}

    with store.engine.connect() as connection:
        events = connection.execute(
            sa.text("SELECT event, request_id FROM audit_event WHERE subject = :id"),
            {"id": question_id},
        ).all()
    assert {"question.submitted", "answer.sealed"} <= {one.event for one in events}
    assert {str(one.request_id) for one in events} == {request_id}

    for fleet in cut_off:
        assert TRIAL_QUESTION not in fleet.text()
