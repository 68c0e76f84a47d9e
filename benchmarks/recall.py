"""`python -m benchmarks.recall`: a cited source changes under 10,000 answers, printed as figures.

Made-up records arrive through the fake of PubMed and a question about two of them is answered
through all stages. Its answer is then copied in SQL: `--answers` cite the first record, a tenth as
many the second. Then, each by one refresh of the fake:

1. a new version with a paragraph more: until every citing answer is affected (the refresh is done
   then, since both are one transaction), and until every one is reaffirmed;
2. a retraction: until every one is affected, until every one is superseded, and until every
   question that was asked anew has its answer.

One process and one thread do all the work, with the hash encoder; the second record's answers must
stay as they are.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog

from knowledge.recalls import recall_policy
from messages import Stage
from store import audit, questions, recall_log, refreshes, watches
from store.database import connect, migrate
from store.embedded import embedded
from store.settings import Settings
from store.unit_of_work import Store
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from workers.inline import InlineWorker

QUERY = "zorbinib"
RECORDS = {
    101: "In stage II colon cancer, recurrence-free survival was 90% with zorbinib.",
    102: "In stage IV gastric cancer, overall survival was 40% with quuxinib, not zorbinib.",
    104: "In stage II colon cancer, 12 of 40 patients had a recurrence with zorbinib.",
}
QUESTIONS = {
    101: "What was recurrence-free survival with zorbinib in stage II colon cancer?",
    102: "What was overall survival with quuxinib in stage IV gastric cancer?",
}

_COPIES = (
    "CREATE TEMP TABLE copied AS SELECT gen_random_uuid() AS id FROM generate_series(1, :n)",
    """
    INSERT INTO question SELECT c.id, q.text, q.text_hash, q.options, q.status, q.stage, q.error,
        gen_random_uuid() AS request_id, NULL AS idempotency_key, q.request_hash, q.created_at,
        q.finished_at FROM copied c, question q WHERE q.id = :of
    """,
    """
    INSERT INTO answer SELECT c.id, a.body, a.hash, a.abstain_reason, a.created_at, a.sealed_at
    FROM copied c, answer a WHERE a.question_id = :of
    """,
    """
    INSERT INTO citation (question_id, claim_id, version_id, start, "end", quote_hash)
    SELECT c.id, t.claim_id, t.version_id, t.start, t."end", t.quote_hash
    FROM copied c, citation t WHERE t.question_id = :of
    """,
    "DROP TABLE copied",
)


class World:
    """A fake PubMed, a store that follows it, and a worker."""

    def __init__(self, settings: Settings, store: Store, clock: Clock, pubmed: Eutils) -> None:
        self.clock, self.pubmed = clock, pubmed
        self.worker = InlineWorker(settings, store, now=clock, sleep=clock.sleep)
        self.store = self.worker.store

    def request(self) -> None:
        """Ask for a refresh, a day later."""
        self.clock.advance(hours=24)
        with self.store.unit_of_work("bench") as work:
            watch = watches.follow(work, "pubmed", QUERY, "user", self.clock())
            refreshes.request(work, watch, "user", self.clock())

    def answered(self, question: str) -> UUID:
        """Ask through all stages."""
        with self.store.unit_of_work("bench") as work:
            question_id = questions.submit(work, question, {}).id
        self.worker.run()
        if not self.scalar("SELECT count(*) FROM citation WHERE question_id = :id", id=question_id):
            raise RuntimeError("the answer cites nothing")
        return question_id

    def copy(self, question_id: UUID, count: int) -> None:
        """So many answers more like this one."""
        with self.store.engine.begin() as connection:
            for statement in _COPIES:
                connection.execute(sa.text(statement), {"of": question_id, "n": count})

    def scalar(self, statement: str, **values: Any) -> Any:
        with self.store.engine.connect() as connection:
            return connection.execute(sa.text(statement), values).scalar_one()

    def state(self, name: str) -> int:
        """How many answers are in this state."""
        with self.store.reading() as session:
            return recall_log.counts(session)[name]

    def until(self, done: Callable[[], bool], limit: float) -> float:
        """Work until `done`; gives the seconds that it took, about `limit` at most."""
        begun = time.perf_counter()

        def progress(_: Stage) -> None:
            if time.perf_counter() - begun > limit:
                raise _Enough

        with suppress(_Enough):
            while not done():
                self.worker.run(progress)
                time.sleep(0.02)
        return round(time.perf_counter() - begun, 2)


@contextmanager
def world() -> Iterator[World]:
    """A fresh one, with both records held."""
    clock = Clock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    pubmed = Eutils(clock)
    for pmid, words in RECORDS.items():
        title = words.split(",")[0].replace("In ", "Zorbinib, a made-up drug, in ") + "."
        pubmed.put(pmid, title=title, abstract=[("RESULTS", "", words)])
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="attest-bench-"))
        servers = stack.enter_context(embedded(Path(directory) / "data"))
        web = stack.enter_context(FakeWeb(pubmed))
        settings = Settings(
            data_dir=Path(directory),
            database_url=servers.database_url,
            redis_url=servers.redis_url,
            encoder="hash",
            source_mirrors=web.mirrors,
        )
        engine = connect(settings.database_url)
        migrate(engine)
        found = World(settings, Store(engine), clock, pubmed)
        found.request()
        found.worker.run()
        yield found
        found.worker.close()
        engine.dispose()


def refreshed(one: World) -> dict[str, float]:
    """Refresh until the change is stored and before any answer is checked: what callers wait for
    to see `affected`, and the share of the transaction that stores it."""
    one.request()
    begun = time.perf_counter()
    stored: list[float] = []
    before = time.perf_counter()

    def progress(stage: Stage) -> None:
        nonlocal before
        moment = time.perf_counter()
        if stage is Stage.INGEST and not stored:
            stored.extend([moment - begun, moment - before])
            raise _Enough
        before = moment

    with suppress(_Enough):
        one.worker.run(progress)
    return {"seconds_to_all_affected": round(stored[0], 2), "of_these_storing": round(stored[1], 2)}


class _Enough(Exception):
    """What was waited for is there, or the time is over."""


def measure(answers: int, limit: float) -> Iterator[dict[str, Any]]:
    """The figures of both changes."""
    with world() as one:
        ids = {pmid: one.answered(question) for pmid, question in QUESTIONS.items()}
        one.copy(ids[101], answers - 1)
        one.copy(ids[102], answers // 10 - 1)
        words = RECORDS[101]
        one.pubmed.change(
            101, abstract=[("RESULTS", "", words), ("FUNDING", "", "Paid for by nobody.")]
        )
        found: dict[str, Any] = refreshed(one)
        found["affected"] = one.state("affected")
        found["seconds_to_all_reaffirmed"] = one.until(lambda: not one.state("affected"), limit)
        found["reaffirmed"] = one.state("reaffirmed")
        yield {"bench": "recall", "change": "new version", "answers": answers, **found}
        one.pubmed.retract(101, notice=103)
        found = refreshed(one)
        found["affected"] = one.state("affected")
        found["seconds_to_all_superseded"] = one.until(lambda: not one.state("affected"), limit)
        found["superseded"] = one.state("superseded")
        one.until(lambda: not _under_way(one), limit)
        found["asked_anew_and_answered"] = one.scalar(
            "SELECT count(*) FROM answer_recall r JOIN answer a ON a.question_id = r.superseded_by "
            "WHERE a.sealed_at IS NOT NULL"
        )
        found["new_answers_that_cite_it"] = one.scalar(
            "SELECT count(*) FROM answer_recall r JOIN citation c ON c.question_id = "
            "r.superseded_by JOIN document_version v ON v.id = c.version_id "
            "JOIN document d ON d.id = v.document_id WHERE d.source_key = 'pmid:101'"
        )
        found["other_answers_touched"] = one.scalar(
            "SELECT count(*) FROM answer_recall r JOIN citation c ON c.question_id = r.question_id "
            "JOIN document_version v ON v.id = c.version_id "
            "JOIN document d ON d.id = v.document_id WHERE d.source_key = 'pmid:102'"
        )
        with one.store.reading() as session:
            found["chain_is_whole"] = audit.verify(session).whole
        found["asked_anew_at_once"] = recall_policy().asked_anew_at_once
        yield {"bench": "recall", "change": "retraction", "answers": answers, **found}


def _under_way(one: World) -> int:
    return int(one.scalar("SELECT count(*) FROM question WHERE status IN ('queued', 'running')"))


def main() -> None:
    """Run it and print one JSON object for each change."""
    parser = argparse.ArgumentParser(description="Measure how answers are recalled.")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=3600, help="seconds a part may take")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    for figures in measure(given.answers, given.limit):
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
