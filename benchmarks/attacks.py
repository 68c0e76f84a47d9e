"""Texts that once stopped or slowed everybody, sent to a whole system while somebody else asks.

Starts `attest up` with keys and the sample corpus. One owner sends each text, another one asks a
question a second meanwhile. Prints a line an attack: what became of it, how long that took, how
large what came back is, what the other's questions took, and whether a worker was lost.

    python -m benchmarks.attacks [--only NAME] [--patience SECONDS]

The attacks are those of the review of 26 November 2026, as large as is accepted now.
"""

import argparse
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from benchmarks.system import system
from cli.commands.demo import QUESTIONS, SAMPLES
from cli.commands.evidence import follow, submit
from store.access import keys
from store.core.unit_of_work import Store
from store.models import now

NOTE, TEXT, DOCUMENT, EVIDENCE = 119_000, 99_000, 79_000, 999_000
"""Characters, below what notes, pasted texts, clinical documents and evidence may have."""


def _run(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@dataclass(frozen=True)
class Attack:
    """A body for a way in. `made` gives the keyword arguments of the request."""

    name: str
    path: str
    made: Callable[[], dict[str, Any]]


def _note(name: str, unit: str) -> Attack:
    return Attack(name, "/v1/notes", lambda: {"json": {"text": f"a{_run(unit, NOTE)}"}})


def _text(name: str, unit: str) -> Attack:
    return Attack(name, "/v1/verifications", lambda: {"json": {"text": f"a{_run(unit, TEXT)}"}})


def _document(name: str, unit: str) -> Attack:
    return Attack(name, "/v1/extractions", lambda: {"json": {"text": f"a{_run(unit, DOCUMENT)}"}})


def _evidence(name: str, unit: str, length: int) -> Attack:
    def made() -> dict[str, Any]:
        record = {"source_type": "label", "title": name, "text": f"a{_run(unit, length)}b."}
        return {"json": {**record, "source_key": f"attack-{name}"}}

    return Attack(name, "/v1/documents", made)


ATTACKS = (
    _note("a note of #", "#"),
    _note("a note of # in lines", "# \n"),
    _text("a text of spaces", " "),
    _text("a text of digits", "1"),
    _text("a text of curly quotes", "“"),
    _text("a text of quotations", "“a” "),
    _document("a document of one letter", "a"),
    _document("a document of doses", "10 mg, 20 mg, "),
    _document("a document of stages", "stage IIIA "),
    _evidence("evidence of spaces", " ", 100_000),
    _evidence("evidence of unclosed tables", "<table><tr><td>", EVIDENCE),
    Attack(
        "a page of unclosed tables",
        "/v1/documents",
        lambda: {"files": {"file": ("a.html", b"<table><tr><td>" * 66_000, "text/html")}},
    ),
    Attack(
        "a file of 32 MB of JSON",
        "/v1/extractions",
        lambda: {"files": {"file": ("a.json", b'[{"":0},' * 4_000_000, "application/json")}},
    ),
)


@dataclass
class Asking:
    """Somebody else's questions, one a second, until `stop`."""

    url: str
    key: str
    seconds: list[float] = field(default_factory=list)
    unanswered: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the last question end."""
        self._over.set()
        self._thread.join(90)

    def _run(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}", "Prefer": "wait=30"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=60) as client:
            count = 0
            while not self._over.is_set():
                begun = time.monotonic()
                asked = {"question": QUESTIONS[count % len(QUESTIONS)]}
                body = client.post("/v1/questions", json=asked).json()
                if body.get("status") == "answered":
                    self.seconds.append(time.monotonic() - begun)
                else:
                    self.unanswered += 1
                count += 1
                self._over.wait(max(0.0, 1.0 - (time.monotonic() - begun)))


def _attack(url: str, key: str, attack: Attack, patience: float) -> dict[str, Any]:
    """Send it, and follow it until it has ended or `patience` has."""
    begun, size, state = time.monotonic(), 0, "refused"
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=headers, timeout=120) as client:
        found = client.post(attack.path, **attack.made())
        if found.status_code == httpx.codes.ACCEPTED:
            place = found.headers["location"]
            while time.monotonic() - begun < patience:
                shown = client.get(place)
                size, state = len(shown.content), str(shown.json().get("status"))
                if state not in ("queued", "running", "pending"):
                    break
                time.sleep(0.2)
    return {
        "http": found.status_code,
        "state": state,
        "seconds": round(time.monotonic() - begun, 1),
        "bytes": size,
    }


def _workers(data_dir: Path) -> dict[str, int]:
    """The workers of this instance by process id, with the most memory each has had, in MiB."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            if b"worker" not in command and b"gateway" not in command:
                continue
            if str(data_dir).encode() not in (entry / "environ").read_bytes():
                continue
            status = (entry / "status").read_text("ascii")
        except (OSError, ValueError):
            continue
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        found[entry.name] = int(peak.split()[1]) // 1024
    return found


def _key(store: Store, owner: str) -> str:
    with store.unit_of_work("attacks") as work:
        made = keys.create(
            work,
            name=owner,
            owner=owner,
            scopes=["ask", "read", "documents"],
            expires_at=now() + timedelta(days=1),
            limits=keys.Limits(rate_per_minute=6000),
        )
    return made.secret


def measured(patience: float, only: str) -> Iterator[dict[str, Any]]:
    """One line for each attack."""
    os.environ["ATTEST_REQUIRE_KEYS"] = "true"
    with system("minilm") as (url, store, settings):
        follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
        attacker, other = _key(store, "attacker"), _key(store, "ward-3")
        warm = Asking(url, other)
        time.sleep(6)
        warm.stop()
        for attack in ATTACKS:
            if only not in attack.name:
                continue
            before = _workers(settings.data_dir)
            asking = Asking(url, other)
            found = _attack(url, attacker, attack, patience)
            asking.stop()
            after = _workers(settings.data_dir)
            waits = sorted(asking.seconds)
            yield {
                "attack": attack.name,
                **found,
                "questions": len(waits),
                "unanswered": asking.unanswered,
                "p50": round(statistics.median(waits), 2) if waits else None,
                "p95": round(waits[int(0.95 * (len(waits) - 1))], 2) if waits else None,
                "lost": len(before.keys() - after.keys()),
                "peak_mb": max(after.values(), default=0),
            }


def main() -> int:
    """Print one JSON object a line."""
    parser = argparse.ArgumentParser(description="Send what once stopped everybody.")
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    parser.add_argument("--patience", type=float, default=180.0, help="seconds, for each")
    given = parser.parse_args()
    for line in measured(given.patience, given.only):
        print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
