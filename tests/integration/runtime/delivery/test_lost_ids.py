"""A message that lost its ids ends what waits for it, of whichever stage, and nothing else."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from messages import Stage
from store.core.unit_of_work import Store
from store.extractions import extractions
from store.models import now
from store.sources import refreshes, watches
from store.texts import notes, verifications
from tests.integration.runtime.harness import Probe, Runtime, count, rows
from tests.servers import TRIAL, TRIAL_QUESTION, ask, ingest
from workers.inline import InlineWorker
from workers.registry import spec_of
from workers.runtime.stage import handle

pytestmark = pytest.mark.requirement("DC-5")
Start = Callable[..., Runtime]


def _verification(store: Store) -> UUID:
    with store.unit_of_work("test") as work:
        return verifications.submit(work, "It lowers the pressure.").id


def _note(store: Store) -> UUID:
    with store.unit_of_work("test") as work:
        return notes.submit(work, "Mr X was seen.", None).id


def _extraction(store: Store) -> UUID:
    with store.unit_of_work("test") as work:
        return extractions.submit(work, "Referral of Mr X.").id


def _question(store: Store) -> UUID:
    return ask(store, TRIAL_QUESTION)


def _item(store: Store) -> UUID:
    return ingest(store, TRIAL)


def _refresh(store: Store) -> UUID:
    with store.unit_of_work("test") as work:
        watch = watches.follow(work, "ema", f"followed {uuid4()}", "user", now())
        return refreshes.request(work, watch, "user", now()).id


KINDS: list[tuple[Stage, str, Callable[[Store], UUID]]] = [
    (Stage.CHECK, "verification", _verification),
    (Stage.SUMMARIZE, "note", _note),
    (Stage.EXTRACT, "extraction", _extraction),
    (Stage.RETRIEVE, "question", _question),
    (Stage.INGEST, "ingest_item", _item),
    (Stage.REFRESH, "refresh", _refresh),
]


def _promise_of(store: Store, subject: UUID) -> Any:
    (found,) = rows(
        store, "SELECT id, stage FROM outbox WHERE payload::text LIKE :id", id=f"%{subject}%"
    )
    return found


def _poison(store: Store, promise: UUID, payload: dict[str, Any]) -> None:
    with store.unit_of_work("test") as work:
        work.session.connection().exec_driver_sql(
            "UPDATE outbox SET payload = %s::jsonb WHERE id = %s", (json.dumps(payload), promise)
        )


def _state(store: Store, table: str, subject: UUID) -> tuple[str, str | None]:
    (found,) = rows(store, f"SELECT status, error FROM {table} WHERE id = :id", id=subject)
    return found.status, found.error


@pytest.mark.parametrize(("stage", "table", "submit"), KINDS, ids=[one[1] for one in KINDS])
@pytest.mark.parametrize("left", [(), (None,), ("words",), (str(uuid4()),)])
def test_who_waits_for_a_message_without_its_id_is_told_that_it_failed(
    runtime: Start,
    stage: Stage,
    table: str,
    submit: Callable[[Store], UUID],
    left: tuple[str | None, ...],
) -> None:
    running = runtime(Probe().spec())
    store = running.store
    subject, other = submit(store), submit(store)
    promised, waiting = _promise_of(store, subject), _state(store, table, other)
    field = {"ingest_item": "item_id"}.get(table, f"{table}_id")
    payload = {"schema": f"{stage}.v1"} | dict(zip((field,), left, strict=False))
    _poison(store, promised.id, payload)
    handle(running.context, spec_of(stage), payload, promised.id)
    status, error = _state(store, table, subject)
    assert status == "failed"
    assert error is not None
    assert f"{stage}.v1" in error
    assert _state(store, table, other) == waiting
    (letter,) = rows(store, "SELECT subject FROM dead_letter WHERE outbox_id = :id", id=promised.id)
    assert letter.subject == str(subject)
    handle(running.context, spec_of(stage), payload, promised.id)  # it comes twice
    assert count(store, "dead_letter") == 1
    assert _state(store, table, other) == waiting


class _Stopped(Exception):
    """The worker has come as far as it should."""


def _run_until(inline: InlineWorker, last: Stage) -> None:
    def stop(stage: Stage) -> None:
        if stage == last:
            raise _Stopped

    with pytest.raises(_Stopped):
        inline.run(stop)


def test_a_question_whose_next_message_lost_its_id_is_told_that_it_failed(
    inline: InlineWorker,
) -> None:
    store, question = inline.store, ask(inline.store, TRIAL_QUESTION)
    _run_until(inline, Stage.RETRIEVE)
    (promised,) = rows(store, "SELECT id FROM outbox WHERE stage = 'generate'")
    payload = {"schema": "generate.v1"}
    _poison(store, promised.id, payload)
    handle(inline.context, spec_of(Stage.GENERATE), payload, promised.id)
    assert _state(store, "question", question)[0] == "failed"


@pytest.mark.parametrize("stage", [Stage.EMBED, Stage.ANCHOR])
def test_a_document_whose_message_lost_its_versions_is_told_that_it_cannot_be_found(
    inline: InlineWorker, stage: Stage
) -> None:
    store, item = inline.store, ingest(inline.store, TRIAL)
    _run_until(inline, Stage.INGEST if stage == Stage.EMBED else Stage.EMBED)
    (promised,) = rows(store, "SELECT id FROM outbox WHERE stage = :stage", stage=stage.value)
    payload = {"schema": f"{stage}.v1"}
    _poison(store, promised.id, payload)
    handle(inline.context, spec_of(stage), payload, promised.id)
    status, error = _state(store, "ingest_item", item)
    assert status == "failed"
    assert error is not None
    assert f"its message to stage {stage} cannot be read" in error


@pytest.mark.parametrize("stage", [Stage.EMBED, Stage.ANCHOR])
def test_other_documents_of_the_same_request_are_told_nothing_of_it(
    inline: InlineWorker, stage: Stage
) -> None:
    """One is found already, of another the message is under way."""
    store = inline.store
    found, lost, open_ = (
        ingest(store, {**TRIAL, "source_key": name, "text": f"Words of {name}."})
        for name in ("one", "another", "a third")
    )
    with store.unit_of_work("test") as work:  # as they are sent by one form
        work.session.connection().exec_driver_sql("UPDATE outbox SET request_id = %s", (uuid4(),))
        work.session.connection().exec_driver_sql(
            "UPDATE outbox SET payload = payload || jsonb_build_object('request_id', request_id)"
        )
    for item, last in ((found, None), (lost, stage), (open_, Stage.EMBED)):
        waiting = rows(
            store, "SELECT id, payload FROM outbox WHERE payload ->> 'item_id' = :id", id=str(item)
        )
        for step in (Stage.INGEST, Stage.EMBED, Stage.ANCHOR):
            if step == last:
                break
            (promised,) = waiting
            before = {one.id for one in rows(store, "SELECT id FROM outbox")}
            handle(inline.context, spec_of(step), promised.payload, promised.id)
            all_ = rows(store, "SELECT id, payload FROM outbox")
            waiting = [one for one in all_ if one.id not in before]
        if item == lost:
            (poisoned,) = waiting
            _poison(store, poisoned.id, {})
    handle(inline.context, spec_of(stage), {}, poisoned.id)
    assert [_state(store, "ingest_item", one)[0] for one in (found, lost, open_)] == [
        "done",
        "failed",
        "done",
    ]
