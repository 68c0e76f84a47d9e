"""Work that costs its worker is found out, whatever it does, and nothing beside it is lost."""

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from dramatiq.middleware import TimeLimitExceeded

from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.models import DeadLetter, Note
from store.pipeline import ledger, queue_report
from store.pipeline.ledger import Claim
from store.texts import notes
from tests.chaos.storm.standing import MARK
from tests.chaos.storm.system import environment
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    claim,
    expire,
    message,
    promise_asked,
    rows,
    run_of,
)
from tests.servers import Fleet, wait_until
from workers.runtime import alone
from workers.runtime.alone import Alone, Suspect
from workers.runtime.stage import handle
from workers.runtime.watchdog import STOPPED_CODE

Start = Callable[..., Runtime]
HELD = Claim(run_id=1, token=2, attempts=2, losses=1)


# --- the watchdog ------------------------------------------------------------------------------


def watched(body: str, seconds: float = 3.0, memory_mb: int = 3000) -> "subprocess.Popen[str]":
    """A process under a watchdog that does `body`."""
    program = textwrap.dedent(
        f"""
        import re, time
        from workers.runtime.watchdog import Watchdog
        Watchdog({seconds}, {memory_mb}).start()
        """
    ) + textwrap.dedent(body)
    return subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_process_whose_interpreter_is_held_is_ended_and_says_where_it_stood() -> None:
    process = watched('re.match(r"(a+)+$", "a" * 64 + "!")')
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Timeout" in said
    assert "watchdog.py" in said
    assert "aaaa" not in said


def test_a_process_that_is_busy_in_python_or_waits_lives_on() -> None:
    process = watched(
        """
        until = time.monotonic() + 4
        while time.monotonic() < until:
            sum(range(1000))
        time.sleep(4)
        print("lived")
        """
    )
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "lived\n")


def test_a_process_that_needs_more_memory_than_it_may_is_ended() -> None:
    process = watched(
        "x = bytearray(400 * 1024 * 1024); time.sleep(60)", seconds=15.0, memory_mb=300
    )
    process.communicate(timeout=60)
    assert process.returncode == STOPPED_CODE


# --- alone --------------------------------------------------------------------------------------


def test_what_is_handed_to_the_process_of_a_suspect_arrives_as_it_was() -> None:
    suspect = Suspect({"key": "secret"}, "check", {"id": "x"}, None, HELD, "host:1")
    assert Suspect.decoded(suspect.encoded()) == suspect


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets what the process of a suspect does."""

    def does(body: str) -> None:
        (tmp_path / "suspect_of_a_test.py").write_text(textwrap.dedent(body), "utf-8")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(alone, "MODULE", "suspect_of_a_test")

    return does


@pytest.mark.parametrize(
    ("body", "limit", "said"),
    [
        ("", 90.0, None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 90.0, "ended by signal 9"),
        ("import os; os._exit(1)", 90.0, "stopped itself"),
        ("import time; time.sleep(60)", 1.0, "had not ended after 0.8 s"),
    ],
)
def test_how_a_suspect_left_its_process_is_told(
    body: str, limit: float, said: str | None, reader: Callable[[str], None]
) -> None:
    reader(body)
    alone_there = Alone(Settings())
    found = alone_there.work(Stage.CHECK, {}, None, HELD, worker="host:1", limit_seconds=limit)
    assert (found is None) is (said is None)
    assert said is None or (found is not None and said in found)


# --- the ledger ----------------------------------------------------------------------------------


def test_a_loss_is_counted_when_work_is_taken_over_and_not_when_it_is_put_back(
    shared_store: Store,
) -> None:
    subject = str(uuid4())
    first = claim(shared_store, subject)
    assert isinstance(first, Claim)
    assert first.losses == 0
    with shared_store.unit_of_work("test") as work:
        ledger.put_back(work.session, first, "busy", counts=True)
    second = claim(shared_store, subject)
    assert isinstance(second, Claim)
    assert second.losses == 0
    expire(shared_store, subject)
    third = claim(shared_store, subject)
    assert isinstance(third, Claim)
    assert (third.attempts, third.losses) == (3, 1)


def test_the_ledger_knows_until_when_an_attempt_may_take(runtime: Start) -> None:
    probe, asked = Probe(), message()
    running = runtime(probe.spec(time_limit_seconds=50.0))
    handle(running.context, probe.spec(time_limit_seconds=50.0), asked.payload(), None)
    run = run_of(running.store, asked.question_id)
    assert run.deadline is not None
    assert (run.deadline - run.started_at).total_seconds() == pytest.approx(50.0, abs=0.5)


@pytest.mark.parametrize("cost", [TimeLimitExceeded, MemoryError])
def test_work_that_takes_all_time_or_memory_twice_is_dead_and_is_done_alone_after_a_replay(
    runtime: Start, cost: type[BaseException]
) -> None:
    probe, asked = Probe(), message()
    running = runtime(probe.spec())
    (outbox_id,) = promise_asked(running.store, asked)

    def endless(_: object) -> None:
        raise cost

    probe.act = endless
    for _ in range(2):
        wait_until(
            lambda: rows(running.store, "SELECT 1 FROM outbox WHERE not_before <= now()") != [],
            60,
            "the next attempt is due",
        )
        handle(running.context, probe.spec(), asked.payload(), outbox_id)
    run = run_of(running.store, asked.question_id)
    assert (run.status, run.attempts) == ("dead", 2)
    (letter,) = rows(running.store, "SELECT id, cause, error_type FROM dead_letter")
    assert letter.cause.startswith("stopped its worker")
    with running.store.unit_of_work("test") as work:
        dead_letters.replay(work, letter.id)
    run = run_of(running.store, asked.question_id)
    assert (run.status, run.attempts, run.losses) == ("waiting", 0, 1)


class Waiting:
    """Stands for the process of a suspect; remembers who was handed to it."""

    def __init__(self, store: Callable[[], Store], said: str | None) -> None:
        self._store, self._said = store, said
        self.seen: list[Claim] = []

    def work(self, *given: object, **_: object) -> str | None:
        held = given[3]
        assert isinstance(held, Claim)
        self.seen.append(held)
        return self._said


def test_a_suspect_that_stops_its_own_process_is_dead_with_that_cause(runtime: Start) -> None:
    probe, asked = Probe(), message()
    running = runtime(probe.spec())
    (outbox_id,) = promise_asked(running.store, asked)
    stage_claim(running.store, asked.question_id, asked.input_hash())
    expire(running.store, asked.question_id)
    waiting = Waiting(lambda: running.store, "its process, where it was alone, ended by signal 9")
    object.__setattr__(running.context, "alone", waiting)
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert [held.losses for held in waiting.seen] == [1]
    assert probe.seen == []
    (letter,) = rows(running.store, "SELECT cause, error_type, attempts FROM dead_letter")
    assert letter.cause == (
        "stopped its worker: its process, where it was alone, ended by signal 9"
    )
    assert (letter.error_type, letter.attempts) == ("StoppedWorker", 2)


def stage_claim(store: Store, subject: UUID, input_hash: str) -> None:
    with store.at_once() as session:
        ledger.claim(
            session,
            stage="retrieve",
            subject=str(subject),
            input_hash=input_hash,
            worker="lost",
            outbox_id=None,
            lease_seconds=60.0,
        )


@pytest.mark.parametrize(
    ("deadline", "lease", "late", "left"),
    [("+60", "+10", 0, 0), ("-60", "+10", 1, 0), ("+60", "-10", 0, 0), ("+60", "-90", 0, 1)],
)
def test_the_report_knows_what_stands(
    store: Store, deadline: str, lease: str, late: int, left: int
) -> None:
    subject = str(uuid4())
    claim(store, subject, worker="desk:7")
    with store.at_once() as session:
        session.execute(
            sa.text(
                "UPDATE stage_run SET deadline = now() + CAST(:deadline AS interval), "
                "lease_until = now() + CAST(:lease AS interval) WHERE subject = :subject"
            ),
            {"deadline": f"{deadline} s", "lease": f"{lease} s", "subject": subject},
        )
    with store.reading() as session:
        (found,) = queue_report.under_way(session)
    assert (found.stage, found.many, found.late, found.left) == ("retrieve", 1, late, left)
    assert found.worker == ("desk:7" if late or left else "")


# --- all of it -----------------------------------------------------------------------------------


@pytest.fixture
def readers(
    settings: Settings, tmp_path: Path
) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    """Starts real workers of notes that stand still at a marked one."""
    hurried = settings.model_copy(
        update={"watchdog_seconds": 3.0, "lease_seconds": 3.0, "relay_seconds": 0.1}
    )
    started: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        with (tmp_path / "readers.log").open("ab") as log:
            command = ["-m", "tests.chaos.storm.launch", "worker", "--stage=summarize"]
            process = subprocess.Popen(
                [sys.executable, *command, "--threads=2"],
                env=environment(hurried),
                stdout=log,
                stderr=log,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def note(store: Store, text: str) -> UUID:
    with store.unit_of_work("test") as work:
        return notes.submit(work, text).id


def test_a_note_that_stops_its_reader_costs_one_worker_and_the_note_beside_it_nothing(
    readers: Callable[[], "subprocess.Popen[bytes]"], published: Store, fleet: Fleet
) -> None:
    standing = note(published, f"PLAN:\n{MARK}. Follow up in 2 weeks.\n")
    fleet.start("scheduler")
    first = readers()
    assert first.wait(timeout=60) == 1
    second = readers()
    beside = note(published, "PLAN:\nFollow up in 3 weeks.\n")
    wait_until(
        lambda: rows(published, "SELECT 1 FROM dead_letter WHERE status = 'open'") != [],
        90,
        "the note is found out",
    )
    wait_until(lambda: state(published, beside) == "done", 60, "the other note")
    assert second.poll() is None
    assert state(published, standing) == "failed"
    with published.reading() as session:
        letter = session.exec(sa.select(DeadLetter)).scalar_one()  # type: ignore[call-overload]
    assert letter.cause.startswith("stopped its worker: its process, where it was alone")
    assert letter.attempts == 2
    assert MARK not in letter.cause + letter.traceback


def state(store: Store, note_id: UUID) -> str:
    with store.reading() as session:
        found = session.get(Note, note_id)
        assert found is not None
        return found.status


def test_an_innocent_note_whose_worker_was_killed_is_done_alone(
    readers: Callable[[], "subprocess.Popen[bytes]"], published: Store, fleet: Fleet
) -> None:
    """As every worker's work after a power cut: it costs a process, and nothing else."""
    innocent = note(published, "PLAN:\nFollow up in 2 weeks.\n")
    (promised,) = rows(published, "SELECT id, payload FROM outbox")
    with published.at_once() as session:
        ledger.claim(
            session,
            stage="summarize",
            subject=str(innocent),
            input_hash=hash_of(promised.payload),
            worker="lost",
            outbox_id=promised.id,
            lease_seconds=0.01,
        )
    time.sleep(0.1)
    fleet.start("scheduler")
    worker = readers()
    wait_until(lambda: state(published, innocent) == "done", 90, "the note")
    assert worker.poll() is None
    (run,) = rows(published, "SELECT attempts, losses, status FROM stage_run")
    assert (run.attempts, run.losses, run.status) == (2, 1, "done")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0


def hash_of(payload: dict[str, object]) -> str:
    from messages import parse

    return parse(Stage.SUMMARIZE, payload).input_hash()
