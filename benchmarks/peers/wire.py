"""The child's side: a peer in a process of its own, told what to do a JSON line at a time.

One line in, one line out, so that the systems can take turns on a machine that is never quiet.
Only the standard library and this package: it runs in the virtual environments of the peers.
"""

import json
import logging
import os
import socket
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers.material import compared


@dataclass(frozen=True)
class Told:
    """What a system answers: its words, whether it cites, and what it had the model read."""

    text: str
    cited: bool
    read: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Piece:
    """A chunk as a system holds it; `start` is where it says the chunk is, if it says so."""

    file: str
    text: str
    start: int | None


class Peer(Protocol):
    """A system under measurement, with a model that says at once what it is told to say."""

    versions: dict[str, str]

    def ingest(self, files: Sequence[Path]) -> None:
        """Make the files searchable, in memory."""

    def ask(self, question: str) -> Told:
        """Answer from what is held."""

    def pieces(self) -> list[Piece]:
        """Every chunk that is held."""

    def say(self, words: str) -> None:
        """What the model answers from now on, with a citation of the first thing it is shown."""

    def hold(self, folder: Path) -> None:
        """Read a folder as the system's documents say to; the second time it has changed."""


Order = Callable[[Any, dict[str, Any]], dict[str, Any]]
asked_hosts: set[str] = set()


def stay_offline() -> None:
    """Let no name but this machine's be resolved; remember which were asked for."""
    resolve = socket.getaddrinfo

    def local(host: Any, *args: Any, **options: Any) -> Any:
        if host in ("localhost", "127.0.0.1", "::1", None):
            return resolve(host, *args, **options)
        asked_hosts.add(str(host))
        raise OSError("measured offline")

    socket.getaddrinfo = local


def memory_mb() -> dict[str, float]:
    """MB of this process: resident, and with its part of what is shared (Linux, `smaps_rollup`)."""
    found = {}
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss"):
            found[name.lower()] = int(rest.split()[0]) / 1024
    return found


def serve(make: Callable[[], Any], orders: Mapping[str, Order] | None = None) -> None:
    """Do what standard input says until it ends. What libraries print goes to standard error.

    Args:
        make: gives the system; it has `versions`.
        orders: what can be asked of it; those of a peer if left out.
    """
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    peer = make()
    print(json.dumps({"versions": peer.versions}), file=out)
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "new":
            peer, result = make(), {}
        else:
            result = (orders or _ORDERS)[order["do"]](peer, order)
        result["hosts"] = sorted(asked_hosts)
        print(json.dumps(result), file=out)


def _ingest(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    files = [Path(name) for name in order["files"]]
    begun, worked = time.perf_counter(), time.process_time()
    peer.ingest(files)
    return {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - worked}


def _ask(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    seconds, cited, worked = [], 0, time.process_time()
    for question in order["questions"]:
        begun = time.perf_counter()
        told = peer.ask(question)
        seconds.append(time.perf_counter() - begun)
        cited += told.cited
    return {"seconds": seconds, "cited": cited, "cpu": time.process_time() - worked}


def memory(_peer: Peer, _order: dict[str, Any]) -> dict[str, Any]:
    """MB of the process, resident and with its part of what is shared."""
    return dict(memory_mb())


def _pieces(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    """What `material.compared` makes of all chunks."""
    files = {Path(name).name: Path(name).read_bytes().decode() for name in order["files"]}
    return dict(compared([(files[one.file], one.text, one.start) for one in peer.pieces()]))


def _quote(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    """Which of the words that the model is made to say reach the caller under a citation."""
    shown = []
    for case in order["cases"]:
        peer.say(case["words"])
        told = peer.ask(case["question"])
        shown.append(told.cited and case["words"] in told.text)
    return {"shown": shown}


def _hold(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    peer.hold(Path(order["folder"]))
    return {}


def _read(peer: Peer, order: dict[str, Any]) -> dict[str, Any]:
    """What the model was given to answer from."""
    return {"read": peer.ask(order["question"]).read}


_ORDERS: dict[str, Order] = {
    "ingest": _ingest,
    "ask": _ask,
    "memory": memory,
    "pieces": _pieces,
    "quote": _quote,
    "hold": _hold,
    "read": _read,
}
