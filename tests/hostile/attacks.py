"""`python -m tests.hostile.attacks`: texts that once stopped everybody, while another owner asks.

Starts `attest up` as anyone would, with the samples and two owners' keys. One sends the texts of an
attack, one after the other; the other asks questions all the while. Prints a JSON object an attack:
what became of the text, how long that took, the CPU of the process that had it, the other owner's
times, processes that ended, and the memory of the largest. Exit code 1 where that CPU or the other
owner's 95th percentile was above its bound, a question was not answered, or a process was lost.
"""

import argparse
import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
import psutil

from cli.commands.demo import free_port
from tests.e2e.instances import COMMAND
from tests.servers import wait_until

MOST_SECONDS = 2.0
"""Of issue 29, at the 95th percentile of another owner's questions."""
MOST_CPU = 5.0
"""Likewise, seconds of the process that reads a text."""
OTHERS = {"gateway", "--stage=generate", "postgres", "valkey-server"}
"""Processes whose CPU is the other owner's, or no reader's."""
ENDED = {"done", "failed", "dead", "complete", "completed", "answered"}
QUESTIONS = (
    "Which trials studied ctDNA in bladder cancer?",
    "Is pembrolizumab recommended in metastatic triple-negative breast cancer?",
    "What is the hazard ratio for overall survival in MONALEESA-2?",
)
URL = "https://example.org/attack"
JSON_PIECES = b"[" + b'{"":0},' * (32 * 1024 * 1024 // 7) + b"0]"


@dataclass(frozen=True)
class Attack:
    """One request; a JSON body, or a file with its name and type."""

    name: str
    path: str
    body: dict[str, Any] | None = None
    file: tuple[str, bytes, str] | None = None


def attacks() -> Iterator[Attack]:
    """The texts of a review of 26 November 2026, and what grew out of them."""
    for name, text in (
        ("a note of #", "#" * 119_000),
        ("a note of # in lines", ("#" * 80 + "\n") * 1_400),
        ("a note of brackets", "[" * 60_000 + "]" * 59_000),
    ):
        yield Attack(name, "/v1/notes", {"text": text})
    for name, text in (
        ("a text of spaces", " " * 99_000 + "x"),
        ("a text of digits", "The value was " + "1" * 98_000 + "."),
        ("a text of curly quotes", "“" * 99_000),
        ("a text of quotations", "“a” " * 24_750),
        ("a text of commas", "mortality, " * 9_000),
    ):
        yield Attack(name, "/v1/verifications", {"text": text})
    for name, text in (
        ("a document of doses", "10 mg, 20 mg, " * 5_600),
        ("a document of stages", "stage IIIA, stage IIB, " * 3_400),
        ("a document of one letter", "a" * 79_000),
        ("a document of list marks", "- 1. \n" * 13_000),
    ):
        file = ("document.txt", text.encode(), "text/plain")
        yield Attack(name, "/v1/extractions", file=file)
    tables = ("<table><tr><td>" * 66_000)[:999_000]
    for name, text in (("evidence of tables", tables), ("evidence of spaces", " " * 999_000 + "x")):
        record = {"source_type": "pubmed", "title": name, "text": text, "url": URL}
        yield Attack(name, "/v1/documents", record)
    yield Attack("a page of tables", "/v1/documents", file=("p.html", tables.encode(), "text/html"))
    file = ("document.json", JSON_PIECES, "application/json")
    yield Attack("a file of 32 MB of JSON", "/v1/extractions", file=file)


@dataclass
class Neighbour:
    """Another owner, who asks one question after the other."""

    client: httpx.Client
    seconds: list[float] = field(default_factory=list)
    unanswered: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        for number, question in enumerate(itertools.cycle(QUESTIONS)):
            if self.stop.is_set():
                return
            began = time.monotonic()
            asked = self.client.post("/v1/questions", json={"question": f"{question} ({number})"})
            told = asked.json() if asked.is_success else {}
            where = f"/v1/questions/{told.get('id')}"
            seen = self.client.get(where, params={"wait": 60}) if told else asked
            if not seen.is_success or seen.json().get("status") != "answered":
                self.unanswered += 1
            else:
                self.seconds.append(time.monotonic() - began)


def _sent(client: httpx.Client, attack: Attack, seconds: float) -> tuple[int, str, int]:
    """HTTP status, the state that it ended in, and the bytes of its result."""
    if attack.file is not None:
        answer = client.post(attack.path, files={"file": attack.file})
    else:
        answer = client.post(attack.path, json=attack.body)
    if not answer.is_success:
        return answer.status_code, "refused", len(answer.content)
    where = answer.headers.get("location") or answer.json().get("href")
    deadline = time.monotonic() + seconds
    while where is not None and time.monotonic() < deadline:
        seen = client.get(where)
        state = str(seen.json().get("status") or seen.json().get("state"))
        if state in ENDED:
            return answer.status_code, state, len(seen.content)
        time.sleep(0.1)
    return answer.status_code, "under way" if where else "taken", len(answer.content)


def _key(data: Path, owner: str) -> str:
    options = ("--scopes=ask,read,documents", f"--name={owner}", f"--owner={owner}")
    rate = "--rate-per-minute=100000"
    command = [*COMMAND, f"--data-dir={data}", "keys", "create", *options, rate, "--json"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return str(json.loads(made.stdout)["key"])


def _family(top: int) -> dict[int, tuple[int, float]]:
    """Resident megabytes of each process below this one, and seconds of CPU of each reader."""
    found = {}
    for child in psutil.Process(top).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            spent, others = child.cpu_times(), OTHERS & {child.name(), *child.cmdline()}
            if child.name() not in OTHERS:
                seconds = 0.0 if others else spent.user + spent.system
                found[child.pid] = (child.memory_info().rss >> 20, seconds)
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="the most that a text is given")
    seconds = parser.parse_args(arguments).seconds
    wrong = False
    with tempfile.TemporaryDirectory(prefix="attest-attacks-") as folder:
        data, port = Path(folder) / "data", free_port()
        url = f"http://127.0.0.1:{port}"
        command = [*COMMAND, "up", f"--data-dir={data}", f"--port={port}"]
        with (Path(folder) / "log").open("wb") as log:
            up = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until(lambda: _ready(url), 90, "attest up is ready")
            samples = sorted(map(str, Path("samples/records").glob("*.jsonl")))
            subprocess.run(
                [*COMMAND, f"--data-dir={data}", "ingest", *samples], check=True, stdout=sys.stderr
            )
            clients = [
                httpx.Client(
                    base_url=url,
                    headers={"Authorization": f"Bearer {_key(data, owner)}"},
                    timeout=90,
                )
                for owner in ("attacker", "neighbour")
            ]
            for question in QUESTIONS:  # nobody's first question is timed
                asked = clients[1].post("/v1/questions", json={"question": question})
                clients[1].get(f"/v1/questions/{asked.json()['id']}", params={"wait": 60})
            for attack in attacks():
                before = _family(up.pid)
                neighbour = Neighbour(clients[1])
                asking = threading.Thread(target=neighbour.ask)
                asking.start()
                began = time.monotonic()
                status, state, size = _sent(clients[0], attack, seconds)
                took = time.monotonic() - began
                time.sleep(1)
                neighbour.stop.set()
                asking.join()
                after = _family(up.pid)
                times = sorted(neighbour.seconds)
                p95 = quantiles(times, n=20)[-1] if len(times) > 1 else max(times, default=None)
                lost = len(before.keys() - after.keys())
                cpu = max(after[pid][1] - before[pid][1] for pid in before.keys() & after.keys())
                wrong |= p95 is None or p95 > MOST_SECONDS or cpu > MOST_CPU
                wrong |= bool(neighbour.unanswered or lost)
                told = {
                    "attack": attack.name,
                    **{"http": status, "state": state, "seconds": round(took, 1)},
                    **{"cpu": round(cpu, 1), "bytes": size},
                    **{"questions": len(times), "unanswered": neighbour.unanswered},
                    "p95": p95 and round(p95, 2),
                    **{"lost": lost, "peak_mb": max(size for size, _ in after.values())},
                }
                sys.stdout.write(json.dumps(told) + "\n")
                sys.stdout.flush()
        finally:
            up.terminate()
            up.wait(60)
    return int(wrong)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
