"""Attest as its users run it: `attest up` with PostgreSQL, Redis, workers, scheduler, gateway."""

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import httpx
import psutil
import sqlalchemy as sa
from sqlmodel import Session

from benchmarks.peers import corpus
from benchmarks.peers.material import Quoted, compared
from cli.commands.demo import free_port, running
from cli.commands.evidence.ingest import follow, submit
from cli.instance.instance import open_store
from cli.output.printing import Console
from store.core.settings import Settings
from store.core.unit_of_work import Store
from tests.fakes.judging import careful
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb

T = TypeVar("T")

console = Console(stderr=True, quiet=True)
_HEADING = re.compile(r"^1\. ([A-Z][A-Z -]+):", re.MULTILINE)
_WAIT = {"Prefer": "wait=20"}
_STAGES = ("retrieve", "generate", "verify", "audit")
_TO_INDEX = sa.text(
    "SELECT EXISTS (SELECT FROM ingest_item WHERE batch_id = :batch AND status = 'pending') "
    "OR EXISTS (SELECT FROM outbox WHERE request_id = :batch AND stage IN ('ingest', 'embed') "
    "AND status IN ('pending', 'published'))"
)
_PIECES = sa.text(
    'SELECT i.filename, substr(v.text, c.start + 1, c."end" - c.start), c.start '
    "FROM ingest_item i CROSS JOIN jsonb_array_elements(i.outcome -> 'documents') AS stored "
    "JOIN chunk c ON c.version_id = CAST(stored ->> 'version_id' AS uuid) "
    "JOIN document_version v ON v.id = c.version_id WHERE i.batch_id = :batch"
)


class Attest:
    """A running instance, asked over HTTP; every answer has been through all queues."""

    def __init__(self, url: str, store: Store, scratch: Path) -> None:
        self.versions = {"Attest": version("attest")}
        self._store, self._scratch = store, scratch
        self._client = httpx.Client(base_url=url, timeout=60, verify=False)

    def ingest(self, numbers: Sequence[int], characters: int) -> dict[str, Any]:
        """Texts as JSON Lines through the bulk path: until searchable, and until anchored too."""
        path = self._scratch / f"texts-{numbers[0]}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in numbers:
                record = {
                    "source_type": "document",
                    "source_key": f"report-{number}",
                    "title": corpus.title(number),
                    "text": corpus.text(number, characters),
                }
                file.write(json.dumps(record) + "\n")
        return self.ingest_files([path], len(numbers))

    def ingest_files(self, paths: Sequence[Path], count: int) -> dict[str, Any]:
        """Files through `attest ingest`.

        Raises:
            RuntimeError: not all of them were ingested.
        """
        begun, worked = time.perf_counter(), self.cpu_seconds()
        batch, items = submit(self._store, paths, None)
        searchable = self._searchable(batch) - begun
        report = follow(self._store, batch, items)
        seconds = time.perf_counter() - begun
        if report["failed"] or report["dead"] or report["documents"] != count:
            raise RuntimeError(f"not everything was ingested: {report}")
        return {
            "seconds": seconds,
            "searchable": searchable,
            "cpu": self.cpu_seconds() - worked,
            "batch": report["batch_id"],
        }

    def _searchable(self, batch: UUID) -> float:
        """When all of a batch had been read and indexed; what is anchored follows."""
        while True:
            with Session(self._store.engine) as session:
                if not session.execute(_TO_INDEX, {"batch": batch}).scalar_one():
                    return time.perf_counter()
            time.sleep(0.05)

    def ask(self, questions: Sequence[str]) -> dict[str, Any]:
        """From before the POST until the answer is here, one after another."""
        seconds, cited, stages = [], 0, []
        worked = self.cpu_seconds()
        for question in questions:
            begun = time.perf_counter()
            answer = self.answer(question)
            seconds.append(time.perf_counter() - begun)
            cited += not answer["abstained"] and bool(answer["claims"])
            stages.append(answer["provenance"]["stage_timings_ms"])
        return {
            "seconds": seconds,
            "cited": cited,
            "cpu": self.cpu_seconds() - worked,
            "stages": [{name: one[name] for name in _STAGES} for one in stages],
        }

    def answer(self, question: str) -> dict[str, Any]:
        """The answer to a question.

        Raises:
            RuntimeError: it ended without one.
        """
        asked = self._client.post("/v1/questions", json={"question": question}, headers=_WAIT)
        asked.raise_for_status()
        found: dict[str, Any] = asked.json()
        place = f"/v1/questions/{found['id']}"
        while True:
            if found["status"] == "answered":
                answer: dict[str, Any] = found["answer"]
                return answer | {"question_id": found["id"]}
            if found["status"] == "failed":
                raise RuntimeError(f"no answer to {question!r}")
            found = self._client.get(place, params={"wait": 20}).json()

    def recall_state(self, question_id: str) -> str:
        """What the answer to an earlier question says of itself now."""
        found = self._client.get(f"/v1/questions/{question_id}").json()
        return str(found["answer"]["recall"]["state"])

    def memory(self) -> dict[str, float]:
        """MB of all processes of the instance; what they share counts once."""
        found = list(self._each(lambda one: one.memory_full_info()))
        return {
            "pss": sum(one.pss for one in found) / 2**20,
            "rss": sum(one.rss for one in found) / 2**20,
            "processes": len(found),
        }

    def cpu_seconds(self) -> float:
        """Of all processes of the instance since each began."""
        return sum(self._each(lambda one: float(sum(one.cpu_times()[:2]))))

    def _each(self, ask: Callable[[psutil.Process], T]) -> Iterator[T]:
        """What each process says; PostgreSQL's come and go, and some end while they are asked."""
        for one in self._alive():
            with suppress(psutil.NoSuchProcess):
                yield ask(one)

    def _alive(self) -> list[psutil.Process]:
        mine = psutil.Process().children(recursive=True)
        roots = [one for one in mine if "up" in _command(one)]
        return [one for root in roots for one in (root, *root.children(recursive=True))]

    def pieces(self, files: Mapping[str, str], batch: str) -> dict[str, int]:
        """What `material.compared` makes of the chunks of an ingested batch."""
        with Session(self._store.engine) as session:
            found = session.execute(_PIECES, {"batch": UUID(batch)}).all()
        return compared([(files[name], text, start) for name, text, start in found])


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


@contextmanager
def attest(encoder: str = "hash", **environment: str) -> Iterator[Attest]:
    """A fresh instance in a temporary directory, with `environment` added to its own."""
    changed = {"ATTEST_ENCODER": encoder, **environment}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
            settings = Settings(data_dir=Path(directory) / "data", port=free_port())
            with running(settings, console) as url:
                store = open_store(settings)
                yield Attest(url, store, Path(directory))
                store.engine.dispose()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class Model:
    """The stub of a model behind Anthropic's interface on loopback: says what it is told to say."""

    def __init__(self) -> None:
        self.case: Quoted | None = None
        self._api = MessagesApi(keys={"stub"})
        self._api.writer = self._write

    @contextmanager
    def served(self) -> Iterator[dict[str, str]]:
        """The settings of an instance that asks this model."""
        with FakeWeb(self._api) as web:
            yield {
                "ATTEST_ANTHROPIC_API_KEY": "stub",
                "ATTEST_ANTHROPIC_URL": web.mirrors[self._api.origin],
                "ATTEST_QUESTION_BUDGET_USD": "1000",
                "ATTEST_DAY_BUDGET_USD": "1000000",
            }

    def _write(self, body: Mapping[str, Any]) -> str:
        fields = body["output_config"]["format"]["schema"]["properties"]
        asked = body["messages"][0]["content"]
        if "claims" in fields:
            heading = _HEADING.search(body["system"][0]["text"])
            draft = self._draft(json.loads(asked)["evidence"], heading[1] if heading else "")
            return json.dumps(draft)
        if "verdicts" in fields:
            return careful(asked)
        return json.dumps(_NOTHING_TO_ADD)

    def _draft(self, evidence: Sequence[Mapping[str, Any]], heading: str) -> dict[str, Any]:
        """One claim that quotes the words, keyed to the source that they are from."""
        if self.case is None:
            words, key = str(evidence[0]["passages"][0])[:200], evidence[0]["key"]
        else:
            words, original = self.case.words, self.case.original
            holders = [one for one in evidence if original in "\n".join(one["passages"])]
            key = (holders or evidence)[0]["key"]
        claim = {"heading": heading, "text": words, "evidence_id": key, "quote": words}
        return {"verdict": "ANSWER", "claims": [claim], "missing": []}


_NOTHING_TO_ADD: Mapping[str, Any] = {
    "diseases": [],
    "decisions": [],
    "patient": None,
    "intervention": None,
    "comparison": None,
    "outcome": None,
}


def shows(answer: Mapping[str, Any], words: str) -> bool:
    """Whether the words reach the caller as a supported claim with a citation."""
    return any(
        words in claim["text"] and claim["verdict"] == "supported" and bool(claim["citations"])
        for claim in answer["claims"]
    )
