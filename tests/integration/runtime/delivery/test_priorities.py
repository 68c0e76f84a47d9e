"""A pool that works on all stages: what people wait for comes before what nobody waits for."""

import threading
from collections.abc import Callable
from uuid import uuid4

from messages import AnchorV1, EmbedV1, IngestV1, Stage
from tests.integration.runtime.harness import HASH, Probe, Runtime, message, wait_settled
from tests.servers import wait_until
from workers.runtime.stage import StageSpec

THREADS = 1
"""So that one message is begun at a time, and the order is the order in which they were picked."""


def test_a_question_does_not_wait_for_the_documents_that_were_fetched_before_it(
    runtime: Callable[..., Runtime],
) -> None:
    order: list[Stage] = []
    gate = threading.Event()

    def ingest(_context: object, _message: IngestV1) -> None:
        order.append(Stage.INGEST)
        assert gate.wait(60)

    documents = StageSpec(stage=Stage.INGEST, work=ingest, commit=lambda *_: None)
    questions = Probe(act=lambda _: order.append(Stage.RETRIEVE)).spec()
    running = runtime(documents, questions, threads=THREADS).work()
    fetched = 2 * THREADS  # as many as a consumer holds: those at work and as many behind them
    with running.store.unit_of_work("test") as work:
        for _ in range(fetched + 4):
            work.emit(IngestV1(request_id=uuid4(), item_id=uuid4(), content_hash=HASH))
    waiting = running.broker.backlog
    wait_until(lambda: len(order) == THREADS and waiting()["ingest"] == 4, 60, "the thread is busy")
    with running.store.unit_of_work("test") as work:
        work.emit(message())
    wait_until(lambda: running.fetched == 2, 60, "the question was fetched behind them")
    gate.set()
    wait_settled(running.store)
    assert order.index(Stage.RETRIEVE) == THREADS
    assert order.count(Stage.INGEST) == fetched + 4


def test_texts_are_made_searchable_before_their_sentences_are_read(
    runtime: Callable[..., Runtime],
) -> None:
    order: list[Stage] = []
    begun, gate = threading.Event(), threading.Event()

    def ingest(_context: object, _message: IngestV1) -> None:
        begun.set()
        assert gate.wait(60)

    def note(_context: object, given: AnchorV1 | EmbedV1) -> None:
        order.append(given.stage)

    running = runtime(
        StageSpec(stage=Stage.INGEST, work=ingest, commit=lambda *_: None),
        StageSpec(stage=Stage.ANCHOR, work=note, commit=lambda *_: None),
        StageSpec(stage=Stage.EMBED, work=note, commit=lambda *_: None),
        threads=THREADS,
    ).work()
    with running.store.unit_of_work("test") as work:
        work.emit(IngestV1(request_id=uuid4(), item_id=uuid4(), content_hash=HASH))
    wait_until(begun.is_set, 60, "the thread is busy")
    with running.store.unit_of_work("test") as work:
        work.emit(AnchorV1(request_id=uuid4(), version_ids=(uuid4(),)))
        work.emit(EmbedV1(request_id=uuid4(), version_ids=(uuid4(),)))
    wait_until(lambda: running.fetched == 1, 60, "the text was fetched")
    gate.set()
    wait_settled(running.store)
    assert order == [Stage.EMBED, Stage.ANCHOR]


def test_sentences_that_a_busy_pool_could_read_later_are_read_by_an_idle_one_now(
    runtime: Callable[..., Runtime],
) -> None:
    """What is fetched cannot be had by anybody else."""
    read: list[str] = []
    begun, gate = threading.Event(), threading.Event()

    def ingest(_context: object, _message: IngestV1) -> None:
        begun.set()
        assert gate.wait(60)

    def reading(where: str) -> StageSpec[AnchorV1, object]:
        return StageSpec(
            stage=Stage.ANCHOR,
            work=lambda _context, _message: read.append(where),
            commit=lambda *_: None,
        )

    held = StageSpec(stage=Stage.INGEST, work=ingest, commit=lambda *_: None)
    busy = runtime(held, reading("busy"), threads=THREADS).work()
    runtime(reading("idle"), threads=THREADS).work()
    with busy.store.unit_of_work("test") as work:
        work.emit(IngestV1(request_id=uuid4(), item_id=uuid4(), content_hash=HASH))
    wait_until(begun.is_set, 60, "the thread is busy")
    with busy.store.unit_of_work("test") as work:
        for _ in range(8):
            work.emit(AnchorV1(request_id=uuid4(), version_ids=(uuid4(),)))
    wait_until(lambda: len(read) == 8, 60, "all were read")
    assert read == ["idle"] * 8
    gate.set()
    wait_settled(busy.store)


def test_sentences_are_read_by_all_threads_of_a_pool_but_one(
    runtime: Callable[..., Runtime],
) -> None:
    """A text that comes meanwhile does not wait until a packet of them is read."""
    begun: list[Stage] = []
    gate = threading.Event()

    def reading(_context: object, given: AnchorV1 | IngestV1) -> None:
        begun.append(given.stage)
        assert given.stage is Stage.INGEST or gate.wait(60)

    running = runtime(
        StageSpec(stage=Stage.INGEST, work=reading, commit=lambda *_: None),
        StageSpec(stage=Stage.ANCHOR, work=reading, commit=lambda *_: None),
        threads=2,
    ).work()
    with running.store.unit_of_work("test") as work:
        for _ in range(4):
            work.emit(AnchorV1(request_id=uuid4(), version_ids=(uuid4(),)))
    wait_until(lambda: begun == [Stage.ANCHOR], 60, "one is read")
    with running.store.unit_of_work("test") as work:
        work.emit(IngestV1(request_id=uuid4(), item_id=uuid4(), content_hash=HASH))
    wait_until(lambda: begun == [Stage.ANCHOR, Stage.INGEST], 60, "the text is begun beside it")
    gate.set()
    wait_settled(running.store)
