"""An index on several servers finds what one finds, and says when a server is away (ADR 0050).

Partitions are databases of the test's own PostgreSQL; those that go away are on one that does.
"""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from scheduler.jobs import index_vectors, merge_segments
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers, embedded
from store.index import dense, merging
from store.index.filters import Filter
from store.index.partitions import Moved, PartitionAway, WrongServer, require_unmoved
from store.operations import partitions
from tests.integration.answers.test_checking_texts import check
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    ask,
    create_database,
    drop_database,
    fresh,
    get_question,
    ingest,
    url_of,
)
from workers.embed.rebuilding import rebuild
from workers.inline import InlineWorker
from workers.retrieve.search import search
from workers.runtime import errors

WORDS = tuple(
    """colon rectal cancer surgery chemotherapy recurrence survival ctDNA stage trial apixaban
    warfarin stroke bleeding kidney renal anticoagulation fibrillation hazard ratio cohort placebo
    insulin glucose pembrolizumab melanoma response relapse""".split()  # noqa: SIM905  read as words
)
FILTERS = {
    "none": Filter(),
    "trials": Filter(source_types=frozenset({"clinicaltrials"})),
}


def records(count: int) -> list[dict[str, Any]]:
    """Made-up works, a third of them registry records."""
    drawn = random.Random(50)
    return [
        {
            "source_type": ("clinicaltrials", "pubmed", "guideline")[number % 3],
            "source_key": f"work-{number}",
            "title": " ".join(drawn.choices(WORDS, k=5)),
            "text": "\n\n".join(
                f"## Part {part}\n\n" + " ".join(drawn.choices(WORDS, k=90)) + "."
                for part in range(3)
            ),
        }
        for number in range(count)
    ]


@dataclass
class Spread:
    """A worker whose index is on partitions."""

    worker: InlineWorker
    servers: EmbeddedServers

    @property
    def store(self) -> Store:
        return self.worker.store

    def add(self, *names: str) -> None:
        for name in names:
            partitions.add(self.store, name, "test")

    def chunks(self) -> dict[str, int | None]:
        return {one.name: one.chunks for one in partitions.listed(self.store)}


@contextmanager
def working(settings: Settings) -> Iterator[InlineWorker]:
    engine = connect(settings.database_url)
    worker = InlineWorker(settings, Store(engine))
    yield worker
    worker.close()
    worker.store.servers.dispose()
    engine.dispose()


@contextmanager
def databases(servers: EmbeddedServers, *names: str) -> Iterator[str]:
    """An empty database for each partition: the setting for them."""
    made = {name: f"part_{name}_{uuid4().hex[:8]}" for name in names}
    for database in made.values():
        create_database(servers, database, "template0")
    yield " ".join(f"{name}={url_of(servers, database)}" for name, database in made.items())
    for database in made.values():
        drop_database(servers, database)


@pytest.fixture
def spread(servers: EmbeddedServers, settings: Settings) -> Iterator[Spread]:
    """Three partitions that can be added."""
    with (
        databases(servers, "a", "b", "c") as urls,
        working(settings.model_copy(update={"partitions": urls})) as worker,
    ):
        yield Spread(worker, servers)


@pytest.fixture
def one(servers: EmbeddedServers, tmp_path: Path) -> Iterator[InlineWorker]:
    """A worker whose index is on one server."""
    with fresh(servers, tmp_path / "one") as settings, working(settings) as worker:
        yield worker


def found(worker: InlineWorker, question: str, only: Filter) -> list[tuple[Any, ...]]:
    """What a search finds, in order, by what does not differ between two databases."""
    vector = worker.context.encoder.encode([question])[0]
    with worker.store.reading() as session:
        hits = search(session, question, vector, {}, only=only)
    return [
        (
            *(one.title, one.start, one.text, round(one.fused.score, 5)),
            *(round(kind or 0.0, 5) for kind in (one.fused.lexical, one.fused.dense)),
            one.terms,
        )
        for one in sorted(hits.passages, key=lambda one: (-one.fused.score, one.title, one.start))
    ]


def same(spread: Spread, one: InlineWorker, questions: Sequence[str]) -> None:
    """Fails unless both indexes find the same with the same scores."""
    for name, only in FILTERS.items():
        for question in questions:
            there, here = found(spread.worker, question, only), found(one, question, only)
            assert here, question
            assert there == here, (name, question)


def questions(count: int) -> list[str]:
    drawn = random.Random(51)
    return [" ".join(drawn.choices(WORDS, k=4)) for _ in range(count)]


def test_servers_find_what_one_finds_while_parts_come_move_and_are_rebuilt(
    spread: Spread, one: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    works, asked = records(60), questions(6)
    spread.add("a", "b")
    for worker in (spread.worker, one):
        for first in range(0, 60, 20):  # a message, and segments, of each
            ingest(worker.store, *works[first : first + 20])
            worker.run()
    held = spread.chunks()
    total = sum(filter(None, held.values()))
    assert all(held.values()), "works are spread"
    same(spread, one, asked)

    for worker in (spread.worker, one):  # a version that stands no longer is found on no server
        ingest(worker.store, {**works[0], "text": works[1]["text"]})
        worker.run()
    total = sum(filter(None, spread.chunks().values()))
    same(spread, one, asked)

    with monkeypatch.context() as patched:
        patched.setattr(dense, "SPREAD", 0.2)  # too few of each at first: more are asked for
        same(spread, one, asked)

    spread.add("c")
    partitions.move(spread.store, "a", "c", "test", most=1)
    partitions.move(spread.store, "b", "main", "test", most=1)
    assert all(spread.chunks().values())
    assert sum(filter(None, spread.chunks().values())) < total, "some are on the first server"
    same(spread, one, asked)
    partitions.move(spread.store, "main", "b", "test")
    assert sum(filter(None, spread.chunks().values())) == total

    monkeypatch.setattr(merging, "MERGE_FACTOR", 2)
    monkeypatch.setattr(dense, "EXACT_ROWS", 1)
    merge_segments(spread.store)
    for name in ("a", "b", "c"):
        with spread.store.servers.writing(name).begin() as there:
            there.execute(sa.text("ANALYZE"))
    index_vectors(spread.store)
    same(spread, one, asked)

    with spread.store.servers.writing("a").begin() as there:
        there.execute(sa.text("TRUNCATE chunk, chunk_vector, lex_segment, lex_posting"))
    assert spread.chunks()["a"] == 0
    assert rebuild(spread.store, spread.worker.context.encoder, "a", "test")
    assert sum(filter(None, spread.chunks().values())) == total
    same(spread, one, asked)


def test_what_is_on_two_servers_while_it_moves_counts_once(
    spread: Spread, one: InlineWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for worker in (spread.worker, one):
        ingest(worker.store, *records(20))
        worker.run()
    spread.add("a")
    asked = questions(3)

    def crash(*_: Any) -> None:
        same(spread, one, asked)  # copied and not yet deleted
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(partitions, "_record", crash)
        with pytest.raises(KeyboardInterrupt):
            partitions.move(spread.store, "main", "a", "test")
    assert spread.chunks()["a"]
    same(spread, one, asked)
    with spread.store.reading() as session:
        require_unmoved(session, 0)
        partitions.move(spread.store, "main", "a", "test")
        with pytest.raises(Moved):  # else it might see neither copy
            require_unmoved(session, 0)
    with spread.store.reading() as session:
        left = session.execute(sa.text("SELECT count(*) FROM chunk_vector")).scalar_one()
    assert left == 0
    same(spread, one, asked)


def test_a_url_that_leads_to_another_partition_is_refused(
    servers: EmbeddedServers, settings: Settings
) -> None:
    with databases(servers, "a") as urls:
        both = f"{urls} b{urls.removeprefix('a')}"
        with working(settings.model_copy(update={"partitions": both})) as worker:
            partitions.add(worker.store, "a", "test")
            with pytest.raises(WrongServer, match="URL of b leads to a"):
                partitions.add(worker.store, "b", "test")
            with pytest.raises(PartitionAway, match="has no URL of z"):
                partitions.add(worker.store, "z", "test")


def test_a_partition_that_was_started_anew_between_two_searches_is_no_partition_away(
    settings: Settings, tmp_path: Path
) -> None:
    with embedded(tmp_path / "anew") as anew:
        urls = f"anew={anew.database_url}"
        with working(settings.model_copy(update={"partitions": urls})) as worker:
            partitions.add(worker.store, "anew", "test")
            ingest(worker.store, TRIAL)
            worker.run()
            before = found(worker, TRIAL_QUESTION, Filter())
            anew.postgres.kill()
            with pytest.raises(PartitionAway):
                found(worker, TRIAL_QUESTION, Filter())
            anew.postgres.start()
            assert found(worker, TRIAL_QUESTION, Filter()) == before
            anew.postgres.kill()
            anew.postgres.start()
            assert found(worker, TRIAL_QUESTION, Filter()) == before, "its connection was lost"


def remarks(worker: InlineWorker, question_id: Any) -> list[tuple[str, list[str]]]:
    with worker.store.reading() as session:
        body = session.execute(
            sa.text("SELECT body FROM answer WHERE question_id = :id"), {"id": question_id}
        ).scalar_one()
        sealed = body if isinstance(body, dict) else json.loads(body)
    return [(one["code"], one.get("names", [])) for one in sealed["remarks"]]


def test_a_partition_that_dies_in_mid_question_is_named_or_waited_for(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embedded(tmp_path / "gone") as gone:
        urls = f"gone={gone.database_url}"
        with working(settings.model_copy(update={"partitions": urls})) as worker:
            partitions.add(worker.store, "gone", "test")
            ingest(worker.store, TRIAL)
            worker.run()
            whole = ask(worker.store, TRIAL_QUESTION)
            worker.run()
            assert remarks(worker, whole) == []
            begin = dense.begin

            def die(*given: Any) -> Any:
                gone.postgres.kill()  # its words were read, its vectors were not
                return begin(*given)

            waiting = ask(worker.store, TRIAL_QUESTION)
            with monkeypatch.context() as patched:
                patched.setattr(dense, "begin", die)
                patched.setattr(errors, "AWAY_SECONDS", 3600.0)  # until the test says so
                worker.run()
            assert get_question(worker.store, waiting).status in ("queued", "running")

        without = {"partitions": urls, "partition_away": "without"}
        with working(settings.model_copy(update=without)) as worker:
            partial = ask(worker.store, TRIAL_QUESTION)
            worker.run()
            assert remarks(worker, partial) == [("searched_without", ["gone"])]
            assert check(worker, TRIAL["text"])["without"] == ["gone"]
            with worker.store.reading() as session:
                event = session.execute(
                    sa.text(
                        "SELECT payload -> 'without' FROM audit_event "
                        "WHERE event = 'question.retrieved' AND subject = :id"
                    ),
                    {"id": str(partial)},
                ).scalar_one()
            assert event == ["gone"]

            partitions.set_state(worker.store, "gone", "off", "test")
            off = ask(worker.store, TRIAL_QUESTION)
            worker.run()
            assert remarks(worker, off) == [("searched_without", ["gone"])]

        gone.postgres.start()
        with working(settings.model_copy(update={"partitions": urls})) as worker:
            partitions.add(worker.store, "gone", "test")
            with worker.store.engine.begin() as connection:
                connection.execute(
                    sa.text("UPDATE outbox SET not_before = now() WHERE status = 'pending'")
                )
            worker.run()
            assert get_question(worker.store, waiting).status == "answered"
            assert remarks(worker, waiting) == []
