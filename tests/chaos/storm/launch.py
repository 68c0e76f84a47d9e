"""Starts `attest ARGUMENTS`, with a clock that is wrong or an invariant that is broken on purpose.

`python -m tests.chaos.storm.launch [--skew HOURS] [--sabotage NAME]... worker --threads 2`. A storm
that finds no sabotage proves nothing when it finds nothing: `test_storm.py` has one of each class.
Without arguments it is the process in which a worker of such a storm has a suspect done alone.
"""

import itertools
import json
import os
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

SEALS_WAIT, SEAL_IS_READY = "seals.wait", "seal.is.ready"
"""See the sabotage "seals wait"."""


def skew(hours: float) -> None:
    """Let the time of this process be wrong. Must come before anything else is imported."""
    from store import models
    from store.models import columns

    right = models.now

    def wrong() -> datetime:
        return right() + timedelta(hours=hours)

    models.now = columns.now = wrong


def _no_token_check() -> None:
    """Who lost the lease commits all the same."""
    from dataclasses import replace

    import sqlalchemy as sa

    from store.pipeline import ledger

    finish = ledger.finish

    def with_any_token(session: Any, held: Any, *more: Any) -> None:
        token = session.execute(
            sa.text("UPDATE stage_run SET status = 'running' WHERE id = :id RETURNING token"),
            {"id": held.run_id},
        ).scalar_one()
        finish(session, replace(held, token=token), *more)

    def close(session: Any, held: Any, change: str, **values: object) -> Any:
        row = session.execute(
            sa.text(f"UPDATE stage_run SET {change} WHERE id = :id RETURNING first_failed_at"),
            {"id": held.run_id, **values},
        ).one()
        return row.first_failed_at

    ledger.finish, ledger._close = with_any_token, close


def _sealing_is_slow() -> None:
    """One answer in three takes the audit stage two seconds: no fault, but time in which to lose a
    lease, while others have time to take the work over."""
    import time

    from workers.audit import stage

    work, count = stage.SPEC.work, itertools.count(1)

    def slow(context: Any, message: Any) -> Any:
        found = work(context, message)
        if next(count) % 3 == 0:
            time.sleep(2)
        return found

    object.__setattr__(stage.SPEC, "work", slow)


def _seals_wait() -> None:
    """No fault either: what is ready to be sealed waits while the data directory has a file
    `SEALS_WAIT`, so that whoever made the file says when the seal comes. `SEAL_IS_READY` is there
    from the first seal that waits on: all that it needs has been read, only the commit is left."""
    import time
    from pathlib import Path

    from workers.audit import stage

    work = stage.SPEC.work

    def held(context: Any, message: Any) -> Any:
        found = work(context, message)
        wait = Path(context.settings.data_dir, SEALS_WAIT)
        if wait.exists():
            wait.with_name(SEAL_IS_READY).write_text(str(message.question_id), "utf-8")
        while wait.exists():
            time.sleep(0.05)
        return found

    object.__setattr__(stage.SPEC, "work", held)
    # Else a scene that lasts on a busy machine would have the worker stopped for standing still.
    object.__setattr__(stage.SPEC, "time_limit_seconds", 300.0)


def _done_is_done_again() -> None:
    """What is delivered again is worked on again."""
    import sqlalchemy as sa

    from store.pipeline import ledger

    claim = str(ledger._CLAIM).split("WHERE (run.status")[0]
    ledger._CLAIM = sa.text(f"{claim} RETURNING id, token, attempts, losses")


def _promises_are_lost() -> None:
    """One message in nine is not in its transaction: it is gone."""
    from store.core.unit_of_work import UnitOfWork

    emit, count = UnitOfWork.emit, itertools.count(1)

    def forgetful(self: Any, message: Any, **options: Any) -> Any:
        row_id = emit(self, message, **options)
        if next(count) % 9 == 0:
            self._outbox.pop()
        return row_id

    UnitOfWork.emit = forgetful  # type: ignore[method-assign]


def _links_do_not_fit() -> None:
    """One audit event in forty is stored otherwise than it was hashed."""
    from store.audit import audit

    append, count = audit.append, itertools.count(1)

    def careless(session: Any, events: Any, promises: Any = ()) -> Any:
        found = append(session, events, promises)
        if next(count) % 40 == 0:
            import sqlalchemy as sa

            session.execute(sa.text("ALTER TABLE audit_event DISABLE TRIGGER ALL"))
            session.execute(
                sa.text("UPDATE audit_event SET actor = 'nobody' WHERE seq = "
                        "(SELECT seq FROM audit_head)")
            )  # fmt: skip
            session.execute(sa.text("ALTER TABLE audit_event ENABLE TRIGGER ALL"))
        return found

    audit.append = careless


def _spans_are_shifted() -> None:
    """The verify stage stores spans that begin one character late."""
    from workers.verify import stage

    commit = stage.SPEC.commit

    def shifted(unit: Any, message: Any, result: Any) -> None:
        for claim in result.body.claims:
            for citation in claim.citations:
                object.__setattr__(citation, "start", citation.start + 1)
        commit(unit, message, result)

    object.__setattr__(stage.SPEC, "commit", shifted)


def _keys_mean_nothing() -> None:
    """The gateway does not look at idempotency keys."""
    from store.questions import questions

    submit = questions.submit

    def deaf(work: Any, text: str, options: Any, key: Any = None, **more: Any) -> Any:
        return submit(work, text, options, None, **more)

    questions.submit = deaf


def _accepted_and_forgotten() -> None:
    """The gateway says 202 to one question in five and does not commit it."""
    from store.questions import questions

    submit, count = questions.submit, itertools.count(1)

    def forgetful(work: Any, *arguments: Any, **more: Any) -> Any:
        question = submit(work, *arguments, **more)
        if next(count) % 5 == 0:
            work.session.expunge_all()
            work.session.rollback()
            work._outbox.clear()
            work._events.clear()
        return question

    questions.submit = forgetful


def _vectors_are_missing() -> None:
    """The last vector of a batch is not written."""
    from store.index import dense

    write = dense.write_vectors

    def sloppy(session: Any, windows: Any) -> None:
        write(session, windows[:-1])

    dense.write_vectors = sloppy


def _answers_waver() -> None:
    """The gateway shows one answer in three with other words than were sealed."""
    from api_gateway.questions import answers

    with_timings, count = answers._with_timings, itertools.count(1)

    def other(body: Any, steps: Any) -> Any:
        shown = with_timings(body, steps)
        if next(count) % 3 == 0:
            shown["summary"] = {**shown["summary"], "text": "Perhaps."}
        return shown

    answers._with_timings = other


def _versions_are_edited() -> None:
    """Now and then the ingest stage writes into versions that are there."""
    import sqlalchemy as sa

    from workers.ingest import stage

    commit, count = stage.SPEC.commit, itertools.count(1)

    def edited(unit: Any, message: Any, result: Any) -> None:
        commit(unit, message, result)
        if next(count) % 3 == 0:
            unit.session.execute(sa.text("ALTER TABLE document_version DISABLE TRIGGER ALL"))
            unit.session.execute(sa.text("UPDATE document_version SET text = text || ' Edited.'"))
            unit.session.execute(sa.text("ALTER TABLE document_version ENABLE TRIGGER ALL"))

    object.__setattr__(stage.SPEC, "commit", edited)


def _readers_are_not_stopped() -> None:
    """No worker stops itself, and what has cost one is done beside other work again."""
    from workers.runtime import stage
    from workers.runtime.watchdog import Watchdog

    def beside_others(context: Any, alone: Any, work: Any) -> None:
        stage.attempt(context, work)

    Watchdog.start = Watchdog.stop = lambda self: None  # type: ignore[method-assign]
    stage._attempt_alone = beside_others


def _what_is_run_on_is_not_promised() -> None:
    """A thread goes on with the next stage of a question, and no row says that it must be done:
    with the thread goes the question."""
    from messages import QUESTION_STAGES
    from store.core.unit_of_work import Promise, UnitOfWork

    finish = UnitOfWork._finish

    def light(self: Any) -> Any:
        kept = [row for row in self._outbox if row["stage"] in QUESTION_STAGES[1:]]
        self._outbox = [row for row in self._outbox if row not in kept]
        return finish(self) + [Promise(row["id"], row["stage"], row["payload"]) for row in kept]

    UnitOfWork._finish = light  # type: ignore[method-assign]


SABOTAGES: dict[str, Callable[[], None]] = {
    "no token check": _no_token_check,
    "sealing is slow": _sealing_is_slow,
    "seals wait": _seals_wait,
    "done is done again": _done_is_done_again,
    "promises are lost": _promises_are_lost,
    "what is run on is not promised": _what_is_run_on_is_not_promised,
    "links do not fit": _links_do_not_fit,
    "spans are shifted": _spans_are_shifted,
    "keys mean nothing": _keys_mean_nothing,
    "accepted and forgotten": _accepted_and_forgotten,
    "vectors are missing": _vectors_are_missing,
    "answers waver": _answers_waver,
    "versions are edited": _versions_are_edited,
    "readers are not stopped": _readers_are_not_stopped,
}


ENVIRONMENT = "ATTEST_TEST_SABOTAGES"
"""Tells a process that does a suspect alone, and has no command line, what is broken."""


def alone() -> int:
    """Do a suspect alone, as broken as the worker that started this process is."""
    for name in json.loads(os.environ[ENVIRONMENT]):
        SABOTAGES[name]()
    from tests.chaos.storm.standing import stand
    from workers.alone import main as work

    stand()
    return work()


def attest(arguments: list[str]) -> None:
    """Take our own options off the command line, then be `attest`."""
    broken = []
    while arguments[:1] in (["--skew"], ["--sabotage"]):
        option, value, *arguments = arguments
        if option == "--skew":
            skew(float(value))
        else:
            SABOTAGES[value]()
            broken.append(value)
    os.environ[ENVIRONMENT] = json.dumps(broken)
    from cli.main import main

    if arguments[:1] == ["worker"]:
        from tests.chaos.storm.standing import stand
        from workers.runtime import alone as elsewhere

        stand()
        elsewhere.MODULE = "tests.chaos.storm.launch"
    sys.argv = ["attest", *arguments]
    main()


if __name__ == "__main__":
    if sys.argv[1:]:
        attest(sys.argv[1:])
    else:
        sys.exit(alone())
