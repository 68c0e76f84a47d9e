"""`python -m benchmarks.recall`: a cited source changes under 10,000 answers, printed as figures.

Made-up records arrive through the fake of PubMed and a question about two of them is answered
through all stages. Its answer is then copied in SQL: `--answers` cite the first record, a tenth as
many the second. The copies' questions differ in a number at their end, so that none is asked anew
in another's words; all are about one work, and all have the one citation. Then, each by one
refresh of the fake:

1. a new version with a paragraph more: until every citing answer is affected (the refresh is done
   then, since both are one transaction), and until every one is reaffirmed;
2. a retraction: until every one is affected, until every one is superseded, and until every
   question that was asked anew has its answer.

The refresh is the work of this process; what follows is that of `--workers` worker processes of one
thread each, with the hash encoder. Meanwhile somebody asks a question of their own every few
seconds (`people_wait_ms`), and the second record's answers must stay as they are.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog

from knowledge.recalls import recall_policy
from messages import Stage
from store.audit import audit
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import embedded
from store.questions import questions
from store.recalls import log
from store.sources import refreshes, watches
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb
from workers.inline import InlineWorker
from workers.runtime.broker import WokenBroker
from workers.runtime.relay import sweep

QUERY = "zorbinib"
RELAY_SECONDS = 0.25
ASKED_EVERY_SECONDS = 5.0
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
    "CREATE TEMP TABLE copied AS SELECT gen_random_uuid() AS id, n FROM generate_series(1, :n) n",
    """
    INSERT INTO question SELECT c.id, q.text || ' (' || c.n || ')', q.text_hash, q.options,
        q.status, q.stage, q.error, gen_random_uuid() AS request_id, NULL AS idempotency_key,
        q.request_hash, q.created_at, q.finished_at FROM copied c, question q WHERE q.id = :of
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
        self.broker = WokenBroker(settings)
        self.people: list[UUID] = []

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
            return log.counts(session)[name]

    def until(self, done: Callable[[], bool], limit: float) -> float:
        """Let the workers work until `done`; gives the seconds that it took, `limit` at most.

        This process is the relay meanwhile, and somebody who asks a question now and then.
        """
        begun = asked_at = time.perf_counter()
        while not done() and time.perf_counter() - begun < limit:
            sweep(self.store, self.broker.publish)
            if time.perf_counter() - asked_at > ASKED_EVERY_SECONDS:
                asked_at = time.perf_counter()
                with Store(self.store.engine, self.broker.publish).unit_of_work("bench") as work:
                    self.people.append(questions.submit(work, QUESTIONS[102], {}).id)
            time.sleep(RELAY_SECONDS)
        return round(time.perf_counter() - begun, 2)

    def people_waited(self) -> dict[str, float | int | None]:
        """How long those waited who asked meanwhile, in ms."""
        with self.store.engine.connect() as connection:
            waits = connection.execute(
                sa.text(
                    "SELECT extract(epoch FROM finished_at - created_at) * 1000 FROM question "
                    "WHERE id = ANY(:ids) AND finished_at IS NOT NULL ORDER BY 1"
                ),
                {"ids": self.people},
            ).scalars()
            sorted_waits = [round(float(one)) for one in waits]
        asked, self.people = len(self.people), []
        if not sorted_waits:
            return {"asked": asked}
        middle, last = sorted_waits[len(sorted_waits) // 2], sorted_waits[-1]
        return {"asked": asked, "answered": len(sorted_waits), "p50": middle, "longest": last}


@contextmanager
def workers(one: World, count: int) -> Iterator[None]:
    """So many worker processes; what this process left undone is theirs."""
    settings = one.worker.context.settings
    environment = {
        **os.environ,
        "ATTEST_DATABASE_URL": settings.database_url or "",
        "ATTEST_REDIS_URL": settings.redis_url or "",
        "ATTEST_DATA_DIR": str(settings.data_dir),
        "ATTEST_ENCODER": settings.encoder,
        "ATTEST_SOURCE_MIRRORS": json.dumps(settings.source_mirrors),
        "ATTEST_LOG_LEVEL": "ERROR",
    }
    with one.store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE outbox SET status = 'pending' WHERE status = 'published'")
        )
    command = [str(Path(sys.executable).with_name("attest")), "worker", "--threads", "1"]
    processes = [subprocess.Popen(command, env=environment) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


@contextmanager
def world() -> Iterator[World]:
    """A fresh one, with both records held."""
    clock = Clock(datetime.now(UTC) - timedelta(days=3))  # the workers' clock is the real one
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
        found.broker.close()
        engine.dispose()


def refreshed(one: World) -> dict[str, Any]:
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


def measure(answers: int, count: int, limit: float) -> Iterator[dict[str, Any]]:
    """The figures of both changes, with `count` worker processes."""
    told = {"workers": count, "load": os.getloadavg()[0]}
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
        with workers(one, count):
            took = one.until(lambda: not one.state("affected"), limit)
        found["seconds_to_all_reaffirmed"] = took
        found["reaffirmed"] = one.state("reaffirmed")
        yield {"bench": "recall", "change": "new version", "answers": answers, **told, **found}
        one.pubmed.retract(101, notice=103)
        found = refreshed(one)
        found["affected"] = one.state("affected")
        with workers(one, count):
            one.people_waited()
            took = one.until(lambda: not one.state("affected"), limit)
            found["superseded"] = one.state("superseded")
            rest = one.until(lambda: not _under_way(one), limit - took)
        found["seconds_to_all_superseded"] = took
        found["seconds_to_all_answered"] = round(took + rest, 2)
        found["people_wait_ms"] = one.people_waited()
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
        yield {"bench": "recall", "change": "retraction", "answers": answers, **told, **found}


def _under_way(one: World) -> int:
    return int(one.scalar("SELECT count(*) FROM question WHERE status IN ('queued', 'running')"))


def main() -> None:
    """Run it and print one JSON object for each change."""
    parser = argparse.ArgumentParser(description="Measure how answers are recalled.")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--limit", type=float, default=3600, help="seconds a part may take")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    for figures in measure(given.answers, given.workers, given.limit):
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
