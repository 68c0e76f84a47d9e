"""What `attest status` makes of what it sees."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from cli.instance import health_checks
from knowledge.feeds.sources import connector_policy
from store.audit.audit import ChainReport, Checkpoint
from store.operations.partitions import Listed
from store.pipeline.circuits import StageState
from store.pipeline.queue_report import QueueReport, UnderWay
from store.sources.source_report import Holdings, SourceReport, WatchReport

ALERTS = Path(__file__).resolve().parents[3] / "ops" / "alerts.yml"
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def stage(state: str = "closed", reason: str | None = None, held: int = 0) -> StageState:
    return StageState("embed", state, reason, None, None, None, False, 0, 0, 0, held, held)


def watch(*, seen: bool, error: str | None = None, in_sla: bool | None = True) -> WatchReport:
    at = NOW - timedelta(hours=1)
    return WatchReport(
        id=uuid4(),
        query="gout",
        origin="user",
        active=True,
        cursor_at=at if seen else None,
        age_hours=1.0 if seen else None,
        in_sla=in_sla,
        breached_since=None,
        refresh_id=None,
        status=None,
        last_success_at=at if seen else None,
        last_error=error,
        last_error_at=at if error else None,
        next_run_at=None,
    )


def source(*watches: WatchReport) -> SourceReport:
    policy = connector_policy("pubmed")
    return SourceReport("pubmed", policy, None, None, 168.0, None, Holdings(), watches)


@pytest.mark.parametrize(
    ("limit", "alert"),
    [
        (health_checks.QUEUE_OLD_SECONDS, "AttestQueueOld"),
        (health_checks.QUESTION_OLD_SECONDS, "AttestQuestionsWait"),
        (health_checks.OUTBOX_LAG_SECONDS, "AttestOutboxLag"),
        (health_checks.AFFECTED_SECONDS, "AttestAnswersAffected"),
    ],
)
def test_the_limits_are_those_of_the_alerts(limit: int, alert: str) -> None:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    (rule,) = [one for group in groups for one in group["rules"] if one["alert"] == alert]
    (number,) = re.findall(r"> (\d+)$", rule["expr"].strip())
    assert limit == int(number)


def test_the_room_on_the_disk_and_what_lives_are_those_of_the_alerts() -> None:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    asked = {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}
    share = "attest_disk_free_bytes / attest_disk_size_bytes"
    assert asked["AttestDiskNearlyFull"] == f"{share} < {health_checks.DISK_FREE_SHARE}"
    for alert, gauge in (
        ("AttestRedisAway", "attest_redis_up == 0"),
        ("AttestNoWorker", "attest_workers == 0"),
        ("AttestNoScheduler", "attest_scheduler_up == 0"),
    ):
        assert asked[alert] == gauge


def test_what_attest_up_starts_again_is_not_to_be_started_beside_it() -> None:
    logs = Path("/data/log")
    assert "attest up starts them again" in health_checks.workers({"embed": 0}, logs).do
    assert "/data/log/scheduler.log" in health_checks.scheduler(False, logs).do
    assert "attest worker --stage embed" in health_checks.workers({"embed": 0}).do


def test_what_is_well_asks_for_nothing() -> None:
    queue = QueueReport("embed")
    chain = ChainReport(9, True, None, None, Checkpoint(9))
    for one in (
        health_checks.workers({"embed": 1}),
        health_checks.scheduler(heard=True),
        health_checks.stages([stage()]),
        health_checks.queues([queue], 0.0),
        health_checks.queues([replace(queue, due=3, oldest_seconds=60.0)], 1.0),
        health_checks.questions(1, 5.0),
        health_checks.dead_letters([queue]),
        health_checks.sources([source()]),
        health_checks.sources([source(watch(seen=True))]),
        health_checks.sources([source(watch(seen=False))]),  # its first refresh is to come
        health_checks.recalls(1, 5.0),
        health_checks.audit(chain, 9),
        health_checks.disk(50, 100, "here"),
        health_checks.clock(ahead_seconds=-300.0, apart_seconds=0.2),
    ):
        assert one.well, one


def test_what_is_not_well_is_named_with_what_to_do() -> None:
    queue = QueueReport("embed", due=2, oldest_seconds=1000.0, dead_letters=3)
    chain = ChainReport(9, False, 7, "event 7 was edited", Checkpoint(6))
    for one, words in (
        (health_checks.workers({"embed": 0, "anchor": 1}), "none for embed"),
        (health_checks.scheduler(heard=False), "none runs"),
        (
            health_checks.stages([stage("paused", "the index moves", 2)]),
            "the index moves), 2 messages",
        ),
        (health_checks.stages([stage("open")]), "embed: circuit open"),
        (health_checks.queues([queue], 0.0), "2 messages, the oldest for 17 min (embed)"),
        (health_checks.queues([queue], 31.0), "2 messages"),
        (health_checks.questions(2, 121.0), "2 questions"),
        (health_checks.dead_letters([queue]), "3 open (embed 3)"),
        (health_checks.recalls(1, 901.0), "1 answer to be"),
        (health_checks.audit(chain, 9), "event 7 was edited"),
        (health_checks.disk(1, 100, "here"), "0.0 GiB"),
        (health_checks.clock(3600.0, 0.0), "it was 60 min later before"),
        (health_checks.clock(-5.0, 90.0), "90 s apart"),
    ):
        assert not one.well
        assert words in one.said
        assert one.do


def test_a_query_that_was_never_complete_is_seen_behind_one_that_was() -> None:
    found = source(watch(seen=True), watch(seen=False, error="refused"))
    one = health_checks.sources([found])
    assert (one.well, one.said) == (False, "pubmed never completed 1 of 2 queries")


def test_a_part_of_the_chain_that_was_walked_is_not_called_all() -> None:
    said = health_checks.audit(ChainReport(1000, True, None, None, Checkpoint(5000)), 5000).said
    assert said.startswith("the newest 1000 of 5000 events hold")


def test_workers_that_say_nothing_are_told_with_what_to_do() -> None:
    many = {"embed": 2, "anchor": 1}
    assert health_checks.workers(many, silent_seconds=[]).well
    assert health_checks.workers(many, silent_seconds=None).well
    found = health_checks.workers(many, Path("logs"), [80.0, 200.0])
    assert "2 said nothing for 3 min" in found.said
    assert "attest up starts it again" in found.do
    assert "attest up" not in health_checks.workers(many, silent_seconds=[80.0]).do


def test_work_that_goes_on_is_told_with_its_oldest() -> None:
    assert health_checks.work([]).said == "none is under way"
    found = health_checks.work([UnderWay("check", 1, 2.0), UnderWay("extract", 2, 75.0)])
    assert found.well
    assert "3 pieces" in found.said
    assert "(extract)" in found.said


def test_a_stage_that_stands_is_told_with_what_to_do_about_its_worker() -> None:
    found = health_checks.work(
        [UnderWay("check", 1, 2.0), UnderWay("summarize", 1, 900.0, 1, 0, "desk:7")]
    )
    assert not found.well
    assert "summarize stands" in found.said
    assert "kill -9 7 on desk" in found.do


def test_work_that_nobody_takes_over_asks_for_a_worker_of_its_stage() -> None:
    found = health_checks.work([UnderWay("summarize", 1, 900.0, 0, 1, "desk:7")])
    assert "left by its worker" in found.said
    assert "attest worker --stage summarize" in found.do


def test_a_partition_that_answers_are_searched_without_is_named_with_what_to_do() -> None:
    well, empty = Listed("a", "active", 9, 27), Listed("b", "adding", 0, None)
    assert health_checks.partitions([]) == []
    (check,) = health_checks.partitions([well, empty])
    assert check.well
    for state, chunks in (("active", None), ("off", 27), ("rebuilding", 3)):
        (check,) = health_checks.partitions([well, empty, Listed("c", state, 5, chunks)])
        assert check.said == f"not searched: c ({state})"
        assert "rebuild NAME" in check.do
