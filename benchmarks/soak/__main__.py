"""`make soak`: a shift of two hours in some minutes, and whether anything has grown by its end.

The shift (ours): a question every three seconds, a clinical note and a text to check every thirty,
a document every fifteen. That is 2,400 questions of four messages, 240 notes and 240 checks of one,
480 documents of three: 11,520 messages. They are sent to a whole system (`attest up` with the
sample corpus, no language model) in this mix, by a few clients that ask for the next as soon as
they have an answer, so that the time is compressed and the queue is not what is measured.

Meanwhile everything that may grow is looked at every two seconds (`soak_samples`), and judged by a
robust slope (`soak_verdict`). Exit code 1: something grows, something failed, or fewer messages
were done than a shift has. `--leak` lets something grow on purpose; the verdict must be red then.
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import redis
import sqlalchemy as sa
from rich.console import Console

from benchmarks.corpus import documents
from benchmarks.load import page
from benchmarks.soak.samples import Sampler
from benchmarks.soak.verdict import WARM_UP, Verdict, judge, table
from benchmarks.system import system
from cli.commands.demo import QUESTIONS, SAMPLES
from cli.commands.evidence.ingest import follow, submit
from cli.instance.instance import resolve
from store.core.settings import Settings
from store.core.unit_of_work import Store
from workers.runtime.dramatiq_keys import Keys

console = Console(stderr=True)
SHIFT_HOURS = 2
MIX = {"question": 10, "note": 1, "check": 1, "document": 2}
"""How many of each there are in thirty seconds of the shift."""
MESSAGES = {"question": 4, "note": 1, "check": 1, "document": 3}
SHIFT_MESSAGES = SHIFT_HOURS * 120 * sum(MIX[one] * MESSAGES[one] for one in MIX)
CLIENTS = 4
SAMPLE_SECONDS = 2.0
NOTE = (
    "Chief complaint: cough for {n} days. Assessment: bronchitis. Plan: fluids, return in {n} days."
)
CLAIM = "ctDNA was detected in {n} patients after resection of stage II colon cancer."


class Client(threading.Thread):
    """Sends the mix, one after the other, until told to stop."""

    def __init__(self, url: str, seed: int, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self._url, self._over, self._draw = url, over, random.Random(seed)
        self._made = documents(10**6, 500, seed=seed)
        self.ended: Counter[str] = Counter()

    def run(self) -> None:
        """Until it is over."""
        acts: dict[str, Callable[[httpx.Client, int], str | None]] = {
            "question": self._question,
            "note": self._note,
            "check": self._check,
            "document": self._document,
        }
        mix = [one for one, often in MIX.items() for _ in range(often)]
        with httpx.Client(base_url=self._url, timeout=60) as client:
            for number in itertools.count(1):
                if self._over.is_set():
                    return
                what = self._draw.choice(mix)
                try:
                    self.ended[acts[what](client, number) or "refused"] += 1
                except httpx.TransportError:
                    self.ended["no answer"] += 1

    def _question(self, client: httpx.Client, number: int) -> str | None:
        text = QUESTIONS[number % len(QUESTIONS)]
        return self._until_end(client, "/v1/questions", {"question": text}, "question")

    def _note(self, client: httpx.Client, number: int) -> str | None:
        return self._until_end(client, "/v1/notes", {"text": NOTE.format(n=number)}, "note")

    def _check(self, client: httpx.Client, number: int) -> str | None:
        body = {"text": CLAIM.format(n=number)}
        return self._until_end(client, "/v1/verifications", body, "check")

    def _document(self, client: httpx.Client, _: int) -> str | None:
        record: dict[str, Any] = dict(next(self._made))
        record["source_key"] = f"soak-{self._draw.getrandbits(60)}"
        accepted = client.post("/v1/documents", json=record)
        return "document" if accepted.status_code == httpx.codes.ACCEPTED else None

    def _until_end(
        self, client: httpx.Client, path: str, body: dict[str, Any], what: str
    ) -> str | None:
        accepted = client.post(path, json=body)
        if accepted.status_code != httpx.codes.ACCEPTED:
            self._over.wait(float(accepted.headers.get("Retry-After", 1)))
            return None
        where = f"{path}/{accepted.json()['id']}"
        while not self._over.is_set():
            status = client.get(where, params={"wait": 20}).json()["status"]
            if status not in ("queued", "running"):
                return what if status != "failed" else "failed"
        return "under way at the end"


@contextmanager
def leaking(what: str | None) -> Iterator[None]:
    """Let every Python process of the system keep 200 kB more each second, if asked to."""
    if what != "memory":
        yield
        return
    with tempfile.TemporaryDirectory(prefix="attest-leak-") as directory:
        (Path(directory) / "sitecustomize.py").write_text(
            "import threading, time\n"
            "kept = []\n"
            "def leak():\n"
            "    while True:\n"
            "        kept.append(bytearray(b'x' * 200_000))\n"
            "        time.sleep(1)\n"
            "threading.Thread(target=leak, daemon=True).start()\n"
        )
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = directory + (f":{before}" if before else "")
        try:
            yield
        finally:
            os.environ.pop("PYTHONPATH")
            if before:
                os.environ["PYTHONPATH"] = before


def leak_once(what: str | None, kept: list[object], store: Store, client: "redis.Redis") -> None:
    """At each fifth sample: one more connection, or one more set of messages that nobody ends."""
    if what == "connections":
        url = store.engine.url.set(drivername="postgresql").render_as_string(False)
        kept.append(psycopg.connect(url))
    elif what == "acks":
        client.sadd(Keys("attest", "retrieve").fetched(f"leak-{len(kept)}"), "nobody's")
        kept.append(None)


def soak(given: argparse.Namespace) -> tuple[list[Verdict], int, Counter[str], Sampler]:
    """Send the mix for so many minutes; the verdicts, and how many messages were done."""
    over = threading.Event()
    with leaking(given.leak), system("minilm") as (url, store, settings):
        follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
        client = redis.Redis.from_url(resolve(settings).redis_url)
        sampler = Sampler(psutil.Process(), store.engine, client, _namespace(settings))
        clients = [Client(url, given.seed * 100 + number, over) for number in range(CLIENTS)]
        for one in clients:
            one.start()
        kept: list[object] = []
        until = time.monotonic() + given.minutes * 60
        try:
            for number in itertools.count():
                if time.monotonic() >= until:
                    break
                with contextlib.suppress(sa.exc.OperationalError, redis.RedisError):
                    sampler.take()
                if number % 5 == 0:
                    leak_once(given.leak, kept, store, client)
                _say(sampler, until)
                time.sleep(SAMPLE_SECONDS)
        finally:
            over.set()
        for one in clients:
            one.join(60)
        client.close()
    ended = sum((one.ended for one in clients), Counter[str]())
    return [judge(one) for one in sampler.series()], sampler.messages, ended, sampler


def _namespace(settings: Settings) -> str:
    return settings.redis_namespace


def _say(sampler: Sampler, until: float) -> None:
    if len(sampler.taken["outbox lag"]) % 30 == 0:
        left = max(0.0, until - time.monotonic()) / 60
        console.print(f"{sampler.messages} of {SHIFT_MESSAGES} messages, {left:.1f} min to go")


def _write(
    verdicts: list[Verdict], messages: int, ended: Counter[str], sampler: Sampler, head: str
) -> None:
    memory = {
        name.partition(": ")[2]: [(at / 60, value) for at, value in points]
        for name, points in sorted(sampler.taken.items())
        if name.startswith("memory: ")
    }
    memory["PostgreSQL, all processes"] = [
        (at / 60, value) for at, value in sampler.taken["PostgreSQL memory, all processes"]
    ]
    title = "Memory of each kind of process, MiB"
    page.write_plot("soak", page.lines(title, "minutes of the soak", memory))
    said = ", ".join(f"{count} × {what}" for what, count in sorted(ended.items()))
    page.write_part(
        "soak",
        f"{head}. {messages:,} messages were done (a shift has {SHIFT_MESSAGES:,}); "
        f"ends that the clients saw: {said}.\n\n{table(verdicts)}\n\n"
        "![Memory over the soak](images/soak.svg)\n",
    )


def main() -> None:
    """Run the soak, print the verdict, exit with it."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.soak", description="A shift of two hours in some minutes."
    )
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leak", choices=("memory", "connections", "acks"), default=None)
    parser.add_argument("--write", action="store_true", help="into docs/load.md")
    given = parser.parse_args()
    machine = page.machine()
    console.print(f"seed {given.seed}; {machine}")
    verdicts, messages, ended, sampler = soak(given)
    print(table(verdicts))
    growing = [one.series.name for one in verdicts if one.grows]
    found = {
        "bench": "soak",
        "minutes": given.minutes,
        "warm_up": WARM_UP,
        "messages": messages,
        "shift_messages": SHIFT_MESSAGES,
        "ended": dict(ended),
        "grows": growing,
    }
    print(json.dumps(found))
    if given.write:
        head = f"{machine}. {given.minutes:g} minutes, seed {given.seed}"
        _write(verdicts, messages, ended, sampler, head)
    if messages < SHIFT_MESSAGES:
        console.print("fewer messages than a shift has: this shows nothing. Give it more --minutes")
    if growing:
        console.print(f"grows: {', '.join(growing)}")
    unanswered = ended["failed"] + ended["no answer"]
    if unanswered:
        console.print(f"{unanswered} requests failed or had no answer")
    sys.exit(1 if growing or unanswered or messages < SHIFT_MESSAGES else 0)


if __name__ == "__main__":
    main()
