"""A worker is killed, stopped or frozen in the middle of a stage: all is done exactly once."""

import signal
from dataclasses import replace

import pytest
import sqlalchemy as sa

from messages import EVIDENCE_STAGES, QUESTION_STAGES, Stage
from store.core.unit_of_work import Store
from store.recalls import rechecks
from tests.chaos.checker import check, wait_quiet
from tests.chaos.hold import Hold
from tests.integration.runtime.harness import count, rows
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
from workers.inline import InlineWorker

pytestmark = pytest.mark.requirement("DC-2")


def attempts(store: Store, stage: Stage) -> list[int]:
    """How often each piece of work of `stage` was begun."""
    return [
        row.attempts
        for row in rows(store, "SELECT attempts FROM stage_run WHERE stage = :s", s=stage.value)
    ]


def hurried(fleet: Fleet) -> Fleet:
    """The fleet with a short lease, which a busy machine must let it renew."""
    fleet.settings = fleet.settings.model_copy(update={"lease_seconds": 2.5})
    return fleet


FED = [*EVIDENCE_STAGES, *QUESTION_STAGES]
"""Refresh begins with a source: `test_killed_refreshes.py`; recall with a change, below."""


@pytest.mark.parametrize("stage", FED, ids=[stage.value for stage in FED])
def test_kill_9_in_the_commit_of_a_stage(
    stage: Stage, fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    asked = stage in QUESTION_STAGES
    if asked:
        ingest(inline.store, TRIAL)
        inline.run()
    hold.commit_of(stage)
    victim = hurried(fleet).start("worker", "--threads=2")
    fleet.start("scheduler")
    if asked:
        ask(published, TRIAL_QUESTION)
    else:
        ingest(published, TRIAL)
    hold.wait_for()
    assert count(published, "stage_run", "stage = :s AND status = 'running'", s=stage.value) == 1
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=2")
    wait_quiet(published)
    check(published, answered=int(asked))
    assert attempts(published, stage) == [2]
    others = set(QUESTION_STAGES if asked else EVIDENCE_STAGES) - {stage}
    assert all(attempts(published, other) == [1] for other in others)


def test_kill_9_while_an_answer_that_no_longer_stands_is_asked_anew(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    old = ask(inline.store, TRIAL_QUESTION)
    inline.run()
    hold.commit_of(Stage.RECALL)
    victim = hurried(fleet).start("worker", "--threads=2")
    fleet.start("scheduler")
    ingest(published, {**TRIAL, "text": str(TRIAL["text"]).replace("recurrence-free", "overall")})
    hold.wait_for()
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=2")
    wait_quiet(published)
    (recall,) = rows(published, "SELECT question_id, state, superseded_by FROM answer_recall")
    assert (recall.question_id, recall.state) == (old, "superseded")
    assert count(published, "question", "true") == 2
    assert get_question(published, recall.superseded_by).status == "answered"
    assert attempts(published, Stage.RECALL) == [2]


def test_kill_9_while_held_answers_are_verified_again(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    ids = [ask(inline.store, TRIAL_QUESTION) for _ in range(3)]
    inline.run()
    with inline.store.unit_of_work("test") as work:  # as if an earlier gate had let all through
        work.session.execute(sa.text("SET LOCAL session_replication_role = replica"))
        work.session.execute(sa.text("UPDATE answer_quality SET gate = NULL"))
        work.session.execute(  # and its claims had a figure that no source has
            sa.text(
                "UPDATE answer SET body = jsonb_set(body, '{claims, 0, text}', "
                "to_jsonb('It enrolled 977 patients.'::text)) WHERE question_id = :id"
            ),
            {"id": ids[0]},
        )
    hold.commit_of(Stage.RECHECK)
    victim = hurried(fleet).start("worker", "--threads=2")
    fleet.start("scheduler")
    with published.unit_of_work("test") as work:
        rechecks.start(work, dry_run=False)
    hold.wait_for()
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=2")
    wait_quiet(published)
    (run,) = rows(published, "SELECT status, answers FROM recheck")
    assert (run.status, run.answers) == ("done", 3)
    found = rows(published, "SELECT question_id, outcome FROM recheck_answer ORDER BY outcome")
    assert [one.outcome for one in found] == ["falls", "stands", "stands"]
    assert {one.question_id for one in found} == set(ids)
    (recall,) = rows(published, "SELECT question_id, state, superseded_by FROM answer_recall")
    assert (recall.question_id, recall.state) == (ids[0], "superseded")
    assert count(published, "question", "true") == 4, "asked anew once"
    assert get_question(published, recall.superseded_by).status == "answered"
    assert attempts(published, Stage.RECHECK) == [2]


def test_kill_9_in_the_work_of_a_stage(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    hold.reading_of("index_encoder")
    victim = hurried(fleet).start("worker", "--threads=2")
    fleet.start("scheduler")
    ask(published, TRIAL_QUESTION)
    hold.wait_for()
    victim.kill()
    victim.wait()
    hold.release()
    fleet.start("worker", "--threads=2")
    wait_quiet(published)
    check(published, answered=1)
    assert attempts(published, Stage.RETRIEVE) == [2]


def test_a_worker_frozen_past_its_lease_writes_nothing_when_it_thaws(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    """SIGSTOP, as when a machine sleeps; its late commit meets a token that is no longer its."""
    ingest(inline.store, TRIAL)
    inline.run()
    hold.reading_of("index_encoder")
    frozen = hurried(fleet).start("worker", "--threads=2")
    fleet.start("scheduler")
    question_id = ask(published, TRIAL_QUESTION)
    hold.wait_for()
    frozen.send_signal(signal.SIGSTOP)
    hold.release()
    fleet.start("worker", "--threads=2")
    wait_finished(published, [question_id])
    wait_quiet(published)
    frozen.send_signal(signal.SIGCONT)
    wait_until(lambda: "lease_lost" in fleet.text(), 60, "the late commit refused")
    check(published, answered=1)
    assert attempts(published, Stage.RETRIEVE) == [2]


def test_sigterm_lets_a_worker_finish_what_it_does_and_gives_back_the_rest(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    hold.commit_of(Stage.GENERATE)
    worker = fleet.worker(threads=2)
    ids = [ask(published, f"{TRIAL_QUESTION} ({n})") for n in range(6)]
    hold.wait_for(2)
    worker.terminate()
    wait_until(lambda: "worker_stopping" in fleet.text(), 60, "the signal noticed")
    hold.release()
    assert worker.wait(60) == 0
    assert attempts(published, Stage.GENERATE) == [1, 1]
    assert count(published, "stage_run", "status = 'running'") == 0
    fleet.scheduler()
    fleet.worker(threads=2)
    wait_finished(published, ids)
    wait_quiet(published)
    check(published, answered=6)
    assert set(attempts(published, Stage.GENERATE)) == {1}
    assert "Traceback" not in fleet.text()


def test_sigterm_during_work_that_does_not_end_leaves_it_to_its_lease(
    fleet: Fleet, published: Store, inline: InlineWorker, hold: Hold
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    hold.commit_of(Stage.GENERATE)
    fleet.settings = fleet.settings.model_copy(update={"shutdown_seconds": 0.5})
    worker = hurried(fleet).worker(threads=2)
    ask(published, TRIAL_QUESTION)
    hold.wait_for()
    worker.terminate()
    assert worker.wait(60) == 0
    hold.release()
    fleet.start("scheduler")
    fleet.start("worker", "--threads=2")
    wait_quiet(published)
    check(published, answered=1)
    assert attempts(published, Stage.GENERATE) == [2]


def test_two_schedulers_at_once_publish_nothing_twice(
    fleet: Fleet, store: Store, inline: InlineWorker
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    patient = fleet.settings.model_copy(update={"lost_after_seconds": 60.0, "lease_seconds": 60.0})
    calm = replace(fleet, settings=patient, processes=fleet.processes)
    unpublished = Store(store.engine)  # everything is left to the schedulers
    ids = [ask(unpublished, f"{TRIAL_QUESTION} ({n})") for n in range(20)]
    calm.start("scheduler")
    calm.start("scheduler")
    calm.start("worker", "--threads=2")
    wait_finished(store, ids)
    wait_quiet(store)
    check(store, answered=20)
    assert count(store, "outbox", "publish_count <> 1") == 0
    with store.reading() as session:
        tried = session.execute(sa.text("SELECT max(attempts) FROM stage_run")).scalar_one()
    assert tried == 1
    assert all(get_question(store, one).status == "answered" for one in ids)
