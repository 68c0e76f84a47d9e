"""A word that nobody else uses is planted as patient text wherever such text may come in, by every
way that works and every way that fails; then it is looked for wherever it must never be."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
import redis
import sqlalchemy as sa

from cli.commands.demo import free_port
from store.audit import export
from store.core.unit_of_work import Store
from store.embedded import EmbeddedServers
from store.models import now
from tests.commands import Attest
from tests.servers import TRIAL, TRIAL_QUESTION, Fleet, wait_until

CANARY = "quxeldavorbengrim"
SAID = f"{TRIAL_QUESTION} It is for Mrs. {CANARY.title()}, born 1961."
OWN_ROWS = {
    *("question", "retrieval", "draft", "answer", "answer_inputs"),
    *("note", "verification"),
    *("extraction", "extraction_iteration", "extraction_reply", "review"),
    *("document", "document_version", "ingest_item"),
}
"""Where words of patients, and of the documents that somebody uploads, are kept."""
CHANNELS = ("question", "note", "verification", "extraction", "refresh")


@dataclass
class Instance:
    """Real processes over real servers, with all that they said to anybody."""

    url: str
    store: Store
    fleet: Fleet
    refused: list[httpx.Response] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def post(self, path: str, body: Any) -> str:
        response = httpx.post(f"{self.url}{path}", json=body, timeout=30)
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    def refuse(self, method: str, path: str, **given: Any) -> None:
        """A request that must be refused; what is said is kept."""
        response = httpx.request(method, f"{self.url}{path}", timeout=30, **given)
        assert 400 <= response.status_code < 500, f"{method} {path}: {response.status_code}"
        self.refused.append(response)

    def attest(self, *arguments: str) -> str:
        """What a command says, on both streams."""
        done = Attest.on(self.fleet.settings)(*arguments)
        return done.stdout + done.stderr

    def rows(self, statement: str) -> list[Any]:
        with self.store.engine.connect() as connection:
            return list(connection.execute(sa.text(statement)))

    def execute(self, statement: str) -> None:
        with self.store.engine.begin() as connection:
            connection.execute(sa.text(statement))


@pytest.fixture
def instance(fleet: Fleet, published: Store) -> Iterator[Instance]:
    """Worker, scheduler and gateway, at the most talkative log level."""
    port = free_port()
    fleet.settings = fleet.settings.model_copy(
        update={"port": port, "log_level": "DEBUG", "log_format": "json"}
    )
    running = Instance(f"http://127.0.0.1:{port}", published, fleet)
    stop = threading.Event()
    listener = threading.Thread(target=listen, args=(running, stop))
    listener.start()
    fleet.scheduler()
    fleet.worker(threads=4)
    fleet.start("gateway")

    def ready() -> bool:
        try:
            return httpx.get(f"{running.url}/readyz", timeout=2).status_code == 200
        except httpx.TransportError:
            return False

    wait_until(ready, 60, "the gateway is ready")
    yield running
    stop.set()
    listener.join(60)


def listen(running: Instance, stop: threading.Event) -> None:
    """Keep what goes over PostgreSQL's channels."""
    url = running.fleet.settings.database_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        for channel in CHANNELS:
            connection.execute(f'LISTEN "{channel}"')
        while not stop.is_set():
            for notice in connection.notifies(timeout=0.2):
                running.heard.append(f"{notice.channel} {notice.payload}")


def plant_what_works(running: Instance) -> dict[str, list[str]]:
    """Everything that is accepted and comes to a good end."""
    record = {**TRIAL, "title": f"Letter on {CANARY}", "text": f"{TRIAL['text']}\n\n{CANARY}.\n"}
    document = httpx.post(f"{running.url}/v1/documents", json=record, timeout=30)
    assert document.status_code == 202, document.text
    file = {"file": (f"{CANARY}.txt", f"A guideline for {CANARY}.".encode(), "text/plain")}
    fields = {"source_type": "guideline", "title": CANARY}
    upload = httpx.post(f"{running.url}/v1/documents", files=file, data=fields, timeout=30)
    assert upload.status_code == 202, upload.text
    wait_until(
        lambda: not running.rows("SELECT 1 FROM ingest_item WHERE status = 'pending'"),
        60,
        "documents are read",
    )
    return plant(running)


def plant(running: Instance) -> dict[str, list[str]]:
    """A question, a note, a text with a document and, where there are such, an extraction."""
    question = {"question": SAID, "patient_context": f"{CANARY}, 61, stage II"}
    note = f"HPI\nMrs. {CANARY} has a cough.\n\nPLAN\nChest X-ray for {CANARY}.\n"
    text = {
        "text": f"{CANARY} took part in the trial in 2020.",
        "documents": [{"title": CANARY, "text": f"{CANARY} was enrolled in 2021."}],
    }
    planted = {
        "question": [running.post("/v1/questions", question)],
        "note": [running.post("/v1/notes", {"text": note, "title": f"Visit of {CANARY}"})],
        "verification": [running.post("/v1/verifications", text)],
    }
    paths = httpx.get(f"{running.url}/openapi.json", timeout=30).json()["paths"]
    if "post" in paths.get("/v1/extractions", {}):
        body = {"text": note, "title": f"Letter on {CANARY}"}
        planted["extraction"] = [running.post("/v1/extractions", body)]
    return planted


def ended(running: Instance, status: str, kinds: dict[str, list[str]]) -> bool:
    waiting = 0
    for kind, ids in kinds.items():
        listed = ", ".join(f"'{one}'" for one in ids)
        good = status if status == "failed" or kind != "question" else "answered"
        found = running.rows(
            f"SELECT count(*) FROM {kind} WHERE id IN ({listed}) AND status = '{good}'"
        )
        waiting += len(ids) - found[0][0]
    return waiting == 0


def plant_what_dies(running: Instance) -> None:
    """The same again, while PostgreSQL refuses each result, in words that quote the row."""
    for table in ("retrieval", "draft"):
        running.execute(f"ALTER TABLE {table} ADD CHECK (hash = 'x') NOT VALID")
    for table in ("note", "verification", "extraction"):
        running.execute(f"ALTER TABLE {table} ADD CHECK (status NOT IN ('done')) NOT VALID")
    running.execute("ALTER TABLE document_version ADD CHECK (n > 99) NOT VALID")
    record = {**TRIAL, "source_key": "another", "text": f"{CANARY} and more. {CANARY}."}
    assert httpx.post(f"{running.url}/v1/documents", json=record, timeout=30).status_code == 202
    kinds = plant(running)
    extraction = kinds.pop("extraction", [])

    def hurried() -> bool:
        running.execute(
            "UPDATE stage_run SET attempts = 4 WHERE status = 'waiting' AND attempts < 4"
        )
        running.execute("UPDATE outbox SET not_before = now() WHERE status = 'pending'")
        return ended(running, "failed", kinds)

    wait_until(hurried, 120, "everything died")
    if extraction:
        wait_until(lambda: hurried() and ended(running, "failed", {"extraction": extraction}), 120)
    letters = "SELECT 1 FROM dead_letter WHERE stage = 'ingest'"
    wait_until(lambda: hurried() and bool(running.rows(letters)), 120, "the document died")


def plant_what_is_refused(running: Instance, planted: dict[str, list[str]]) -> None:
    """Bad requests: the word in names and values of fields, headers, queries, paths, bodies."""
    question, note = planted["question"][0], planted["note"][0]
    good, json_type = {"question": "Is it so?"}, {"Content-Type": "application/json"}
    for path in ("/v1/questions", "/v1/notes", "/v1/verifications", "/v1/documents"):
        running.refuse("POST", path, json={CANARY: 1, "text": 5, "question": [CANARY]})
        running.refuse("POST", path, json={f"{CANARY} {CANARY}": {CANARY: [CANARY]}})
        running.refuse("POST", path, json=[CANARY])
        running.refuse("POST", path, content=f'{{"{CANARY}": '.encode(), headers=json_type)
        running.refuse("POST", path, content=CANARY, headers={"Content-Type": f"text/{CANARY}"})
    running.refuse("POST", "/v1/questions", json={**good, "filters": {CANARY: [CANARY]}})
    running.refuse("POST", "/v1/questions", json={**good, "as_of": CANARY})
    running.refuse("POST", "/v1/questions", json={"question": CANARY * 100_000})
    running.refuse("POST", "/v1/documents", json={**TRIAL, "identifiers": {CANARY: CANARY}})
    running.refuse("POST", "/v1/documents", json={**TRIAL, "url": f"javascript:{CANARY}"})
    running.refuse(
        "POST", "/v1/documents", files={CANARY: (CANARY, CANARY.encode(), f"text/{CANARY}")}
    )
    disguised = (f"{CANARY}.pdf", b"PK" + CANARY.encode(), "application/pdf")
    running.refuse("POST", "/v1/documents", files={"file": disguised})
    for headers in (
        {"Idempotency-Key": f"{CANARY} with a space"},
        {"Origin": f"http://{CANARY}.example"},
        {"Host": f"{CANARY}.example"},
    ):
        running.refuse("POST", "/v1/questions", json=good, headers=headers)
    running.refuse("GET", f"/v1/questions/{CANARY}")
    running.refuse("GET", f"/v1/{CANARY}/{CANARY}")
    running.refuse("GET", f"/v1/questions?status={CANARY}&cursor={CANARY}&since={CANARY}")
    running.refuse("GET", f"/v1/questions/{question}?wait={CANARY}")
    running.refuse("GET", f"/v1/audit?cursor={CANARY}&limit={CANARY}")
    running.refuse("GET", f"/v1/dead-letters?stage={CANARY}&cursor={CANARY}")
    running.refuse("DELETE", f"/v1/notes/{note}?reason={CANARY}")
    running.refuse("PUT", f"/v1/notes/{note}?{CANARY}={CANARY}", headers={"X-Request-ID": CANARY})
    running.refuse(CANARY.upper(), "/v1/questions")


def redis_of(running: Instance) -> str:
    """All keys and values of Redis."""
    client = redis.Redis.from_url(running.fleet.settings.redis_url)
    readers = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
    }
    said = [(key, readers[client.type(key)](key)) for key in client.scan_iter("*")]
    client.close()
    return str(said)


def command_lines(running: Instance) -> str:
    """Of our processes, the servers' too."""
    ours = [psutil.Process(one.pid) for one in running.fleet.processes if one.poll() is None]
    children = psutil.Process(os.getpid()).children(recursive=True)
    lines = []
    for one in [*ours, *children]:
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended meanwhile
            lines.append(" ".join(one.cmdline()))
    return "\n".join(lines)


def exported(running: Instance, tmp_path: Path) -> str:
    """The signed export of the audit chain, with its manifest."""
    file = tmp_path / "audit.jsonl"
    with file.open("wb") as out, running.store.reading() as session:
        manifest = export.write_export(session, out, bytes(range(32)), now())
    return file.read_text() + manifest.model_dump_json()


@pytest.mark.requirement("OP-6.6")
def test_op_6_6_the_canary_is_nowhere_but_in_its_own_rows(
    instance: Instance, servers: EmbeddedServers, tmp_path: Path
) -> None:
    planted = plant_what_works(instance)
    wait_until(lambda: ended(instance, "done", planted), 90, "everything has ended well")
    plant_what_is_refused(instance, planted)
    plant_what_dies(instance)
    letters = instance.rows("SELECT * FROM dead_letter")
    assert {one.stage for one in letters} >= {"ingest", "retrieve", "check", "summarize"}

    shown = {
        "logs": instance.fleet.text(),
        "PostgreSQL's log": servers.postgres.log_file.read_text(errors="replace"),
        "metrics": httpx.get(f"{instance.url}/metrics", timeout=30).text,
        "audit export": exported(instance, tmp_path),
        "audit on the command line": instance.attest("audit", "query", "--limit=1000", "--json"),
        "audit over HTTP": httpx.get(f"{instance.url}/v1/audit?limit=1000", timeout=30).text,
        "trail": httpx.get(
            f"{instance.url}/v1/questions/{planted['question'][0]}/trail", timeout=30
        ).text,
        "dead letters on the command line": instance.attest("dead-letters", "list", "--json"),
        "dead letters over HTTP": httpx.get(f"{instance.url}/v1/dead-letters", timeout=30).text,
        "groups": httpx.get(f"{instance.url}/v1/dead-letters/groups", timeout=30).text,
        "problems": "\n".join(f"{one.headers} {one.text}" for one in instance.refused),
        "notices": "\n".join(instance.heard),
        "Redis": redis_of(instance),
        "command lines": command_lines(instance),
        "statements": str(
            instance.rows(
                "SELECT query FROM pg_stat_activity WHERE query NOT LIKE '%::text ILIKE%'"
            )
        ),
        "stages": httpx.get(f"{instance.url}/v1/stages", timeout=30).text,
    }
    for letter in letters:
        shown[f"dead letter of {letter.stage}"] = instance.attest(
            "dead-letters", "show", str(letter.id), "--json"
        )
    asked = planted["question"][0]  # what may be said of it is said: these places are looked at
    assert [place for place, said in shown.items() if not said.strip()] == []
    telling = ("logs", "audit export", "audit over HTTP", "trail", "notices")
    assert [place for place in telling if asked not in shown[place]] == []
    assert "forkserver" in shown["command lines"]  # of our processes, which are forked
    assert [place for place, said in shown.items() if CANARY in said.lower()] == []
    assert tables_with(instance, CANARY) <= OWN_ROWS
    assert {"question", "note", "verification", "document_version"} <= tables_with(instance, CANARY)
    causes = [one[0] for one in instance.rows("SELECT error FROM question WHERE error <> ''")]
    assert causes
    assert CANARY not in json.dumps(causes).lower()


def tables_with(running: Instance, words: str) -> set[str]:
    """The tables that hold `words` in any column of any row."""
    names = [
        row.table_name
        for row in running.rows(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        )
    ]
    query = "SELECT count(*) FROM \"{}\" AS t WHERE t::text ILIKE '%{}%'"
    return {name for name in names if running.rows(query.format(name, words))[0][0]}
