"""`python -m benchmarks.bodies`: what the worst bodies cost a gateway, and who else asks it.

Starts a gateway of its own for each way in, over embedded servers and without workers, sends as
many of the worst bodies at once as asked for, and asks `/healthz` meanwhile.

Prints one JSON object a way in: `statuses` of what was sent, `rss_mb` of the idle gateway and its
peak (`VmHWM` of Linux, MiB), milliseconds of `/healthz` (p95 before, then p50, p95 and max
meanwhile; the senders share its cores), the gateway's `cpu_s`.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.commands.demo import free_port
from store.core.database import connect
from store.core.schema import migrate
from store.embedded import EmbeddedServers, embedded

MIB = 1024 * 1024
MOST = 32 * MIB
"""The default of `ATTEST_MAX_BODY_BYTES`."""
WITHIN_SECONDS = 300.0
_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_PARTS = "multipart/form-data; boundary=x"
_TOGETHER = "\U0001f600 \u00e9"
"""A text of these takes four bytes a character in Python, whatever else is in it."""


@dataclass(frozen=True)
class Way:
    """A way in, and a body that is dear to read there."""

    name: str
    path: str
    kind: str
    body: Callable[[], bytes]


def _full(before: bytes, piece: bytes, after: bytes, size: int = MOST - 2048) -> bytes:
    """As many pieces as there is room for."""
    return before + piece * ((size - len(before) - len(after)) // len(piece)) + after


def _file(name: str, content: bytes) -> bytes:
    disposition = f'form-data; name="file"; filename="{name}"'
    head = f"--x\r\nContent-Disposition: {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n--x--\r\n"


def _objects() -> bytes:
    return _full(b"[", b'{"":0},', b"0]")


def _words(size: int = MOST - 2048) -> bytes:
    return _full(b"", f"{_TOGETHER} ".encode(), b"", size)


def _record(text: bytes) -> bytes:
    return b'{"source_type":"guideline","title":"t","text":"' + text + b'"}'


def _documents(size: int = 640_000) -> bytes:
    one = b'{"title":"t","text":"' + _words(size) + b'"}'
    return b'{"text":"a","documents":[' + b",".join([one] * 50) + b"]}"


def _files() -> bytes:
    one = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    return (one + _words(320_000) + b"\r\n") * 100 + b"--x--\r\n"


WAYS = (
    Way("extraction: file of objects", "/v1/extractions", _PARTS, lambda: _file("a", _objects())),
    Way(
        "extraction: JSON file of objects",
        "/v1/extractions",
        _PARTS,
        lambda: _file("a.json", _objects()),
    ),
    Way("extraction: text file", "/v1/extractions", _PARTS, lambda: _file("a.txt", _words())),
    Way("extraction: JSON", "/v1/extractions", _JSON, lambda: b'{"text":"' + _words() + b'"}'),
    Way(
        "document: JSON file of objects",
        "/v1/documents",
        _PARTS,
        lambda: _file("a.json", _objects()),
    ),
    Way(
        "document: JSON line of objects",
        "/v1/documents",
        _PARTS,
        lambda: _file("a.jsonl", _objects()),
    ),
    Way("document: text file", "/v1/documents", _PARTS, lambda: _file("a.txt", _words())),
    Way(
        "document: record",
        "/v1/documents",
        _JSON,
        lambda: _record(_full(b"", b"\\ud83d\\ude00", b"", 20_000_000)),
    ),
    Way("document: fitting record", "/v1/documents", _JSON, lambda: _record(_words(9_900_000))),
    Way(
        "document: empty lists",
        "/v1/documents",
        _JSON,
        lambda: _full(b'{"facts":[', b"[],", b"0]}", 6_000_000),
    ),
    Way("verification: documents", "/v1/verifications", _JSON, _documents),
    Way(
        "verification: fitting documents",
        "/v1/verifications",
        _JSON,
        lambda: _documents(165_000),
    ),
    Way("note: JSON", "/v1/notes", _JSON, lambda: b'{"text":"' + _words() + b'"}'),
    Way(
        "note: fitting JSON",
        "/v1/notes",
        _JSON,
        lambda: b'{"text":"' + b"\\ud83d\\ude00" * 199_000 + b'"}',
    ),
    Way(
        "question: JSON",
        "/v1/questions",
        _JSON,
        lambda: b'{"question":"' + _words(60_000) + b'"}',
    ),
    Way(
        "replay: empty lists",
        "/v1/dead-letters/replay",
        _JSON,
        lambda: _full(b"[", b"[],", b"0]", 6_000_000),
    ),
    Way("page of documents", "/evidence", _PARTS, _files),
    Way("page of notes", "/notes", _PARTS, lambda: _file("a.txt", _words())),
    Way("page of extractions", "/extractions", _PARTS, lambda: _file("a.txt", _words())),
    Way(
        "page of texts",
        "/verify",
        _FORM,
        lambda: b"&".join(b"source%d=" % n + b"%41" * 300_000 for n in range(1, 36)),
    ),
    Way(
        "page of notes: punycode",
        "/notes",
        f"{_PARTS}; charset=punycode",
        lambda: (
            b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n'
            + b"a" * 60_000
            + b"-"
            + b"b" * 60_000
            + b"\r\n--x--\r\n"
        ),
    ),
)


@contextmanager
def gateway(servers: EmbeddedServers, directory: Path) -> Iterator[tuple[int, int]]:
    """A gateway in a process of its own; gives its port and the number of the process."""
    port = free_port()
    env = {
        **os.environ,
        "ATTEST_DATABASE_URL": servers.database_url,
        "ATTEST_REDIS_URL": servers.redis_url,
        "ATTEST_DATA_DIR": str(directory),
        "ATTEST_PORT": str(port),
        "ATTEST_LOG_LEVEL": "ERROR",
        "ATTEST_BACKLOG_MAX": "1000000",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "gateway"], env=env, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if _asked(port) is not None:
                    break
            except OSError:
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _asked(port: int) -> float | None:
    """Milliseconds of `/healthz`; None: it did not answer as it should."""
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_SECONDS)
    try:
        connection.request("GET", "/healthz")
        found = connection.getresponse()
        found.read()
    finally:
        connection.close()
    return (time.perf_counter() - begun) * 1000 if found.status == 200 else None


@dataclass
class Seen:
    """What was seen meanwhile."""

    statuses: Counter[str] = field(default_factory=Counter)
    healthz: list[float] = field(default_factory=list)


def _send(port: int, way: Way, body: bytes, seen: Seen, together: threading.Barrier) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_SECONDS)
    together.wait()
    try:
        connection.request("POST", way.path, body, {"Content-Type": way.kind})
        answer = connection.getresponse()
        answer.read()
        seen.statuses[str(answer.status)] += 1
    except OSError as error:
        seen.statuses[type(error).__name__] += 1
    finally:
        connection.close()


def _watch(port: int, seen: Seen, ended: threading.Event) -> None:
    while not ended.is_set():
        took = _asked(port)
        seen.healthz.append(WITHIN_SECONDS * 1000 if took is None else took)
        ended.wait(0.01)


def _process(pid: int) -> Mapping[str, float]:
    """Resident memory now and at most, in MiB, and seconds of CPU."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    told = dict(line.split(":", 1) for line in lines if line.startswith("Vm"))
    now, peak = (int(told[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    return {"now": now, "peak": peak, "cpu": cpu}


def measure(servers: EmbeddedServers, directory: Path, way: Way, many: int) -> dict[str, Any]:
    """Send so many at once, and see what becomes of the gateway."""
    body, seen, ended = way.body(), Seen(), threading.Event()
    with gateway(servers, directory) as (port, pid):
        alone = sorted(_asked(port) or 0.0 for _ in range(100))
        idle = _process(pid)
        together = threading.Barrier(many)
        senders = [
            threading.Thread(target=_send, args=(port, way, body, seen, together))
            for _ in range(many)
        ]
        watcher = threading.Thread(target=_watch, args=(port, seen, ended))
        begun = time.perf_counter()
        for thread in (watcher, *senders):
            thread.start()
        for thread in senders:
            thread.join()
        took = time.perf_counter() - begun
        ended.set()
        watcher.join()
        after = _process(pid)
    times = sorted(seen.healthz)
    return {
        "way": way.name,
        "bytes": len(body),
        "statuses": dict(sorted(seen.statuses.items())),
        "seconds": round(took, 1),
        "cpu_s": round(after["cpu"] - idle["cpu"], 1),
        "rss_mb": {"idle": round(idle["now"]), "peak": round(after["peak"])},
        "healthz_ms": {
            "p95_alone": round(alone[95], 1),
            "p50": round(times[len(times) // 2], 1),
            "p95": round(times[int(0.95 * (len(times) - 1))], 1),
            "max": round(times[-1], 1),
        },
    }


def main() -> None:
    """Measure each way in that was asked for."""
    parser = argparse.ArgumentParser(description="Send the worst bodies to a gateway.")
    parser.add_argument("--many", type=int, default=32, help="at once")
    parser.add_argument("--only", default="", help="ways whose name has this in it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attest-bodies-") as name:
        directory = Path(name)
        with embedded(directory / "data") as servers:
            engine = connect(servers.database_url)
            migrate(engine)
            engine.dispose()
            for way in WAYS:
                if given.only in way.name:
                    print(json.dumps(measure(servers, directory, way, given.many)), flush=True)


if __name__ == "__main__":
    main()
