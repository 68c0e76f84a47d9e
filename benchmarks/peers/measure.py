"""The run: all systems side by side and in turns, so that a busy moment of the machine hits all."""

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers import corpus
from benchmarks.peers.children import Child, ChildFailed, child
from benchmarks.peers.figures import spread
from benchmarks.peers.ours import Attest, attest
from benchmarks.peers.venvs import NotInstalled, python_of

BLOCK = 1000
"""Texts that one system takes before the next one has its turn."""
TURN = 5
"""Questions of a turn."""
WARM_UP = 3
DIRECT = "paperqa-direct"
"""PaperQA with its model called directly, without the client library that it goes through."""
PEERS = ("paperqa", DIRECT, "llamaindex", "haystack")


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    sizes: Sequence[int]
    questions: int
    characters: int
    peers: Sequence[str]


class System(Protocol):
    """A system that takes part."""

    def ingest(self, numbers: Sequence[int], files: Sequence[Path]) -> dict[str, Any]:
        """Seconds, and CPU seconds, for these texts; if more follows, until `searchable` too."""

    def ask(self, questions: Sequence[str]) -> dict[str, Any]:
        """Seconds of each question, CPU seconds of all, how many answers cite something."""

    def memory(self) -> dict[str, Any]:
        """MB."""


class Ours:
    """Attest among the others."""

    def __init__(self, instance: Attest, characters: int) -> None:
        self.instance, self._characters = instance, characters

    def ingest(self, numbers: Sequence[int], files: Sequence[Path]) -> dict[str, Any]:  # noqa: ARG002
        """Through the bulk path, which takes JSON Lines."""
        return self.instance.ingest(numbers, self._characters)

    def ask(self, questions: Sequence[str]) -> dict[str, Any]:
        """Over HTTP."""
        return self.instance.ask(questions)

    def memory(self) -> dict[str, Any]:
        """Of all processes."""
        return dict(self.instance.memory())


class Theirs:
    """A peer in its process."""

    def __init__(self, running: Child) -> None:
        self.child = running

    def ingest(self, numbers: Sequence[int], files: Sequence[Path]) -> dict[str, Any]:  # noqa: ARG002
        """From files."""
        return self.child.do("ingest", files=list(map(str, files)))

    def ask(self, questions: Sequence[str]) -> dict[str, Any]:
        """In its process."""
        return self.child.do("ask", questions=list(questions))

    def memory(self) -> dict[str, Any]:
        """Of its process."""
        return self.child.do("memory") | {"processes": 1}


def say(words: str) -> None:
    """Progress, with the machine's load."""
    load = os.getloadavg()[0]
    print(f"{time.strftime('%H:%M:%S')}  load {load:4.1f}  {words}", file=sys.stderr, flush=True)


@contextmanager
def peer(name: str) -> Iterator[Child]:
    """A peer's process.

    Raises:
        NotInstalled: there is no virtual environment for it.
    """
    home = name.partition("-")[0]
    arguments = ["--direct"] if name == DIRECT else []
    with child(python_of(home), f"benchmarks.peers.{home}", arguments) as running:
        yield running


def started(stack: ExitStack, plan: Plan) -> tuple[dict[str, System], dict[str, str]]:
    """All systems that can be had, Attest first, and their versions; it is said which cannot."""
    instance = stack.enter_context(attest())
    systems: dict[str, System] = {"attest": Ours(instance, plan.characters)}
    versions = dict(instance.versions)
    for name in plan.peers:
        try:
            running = stack.enter_context(peer(name))
        except (NotInstalled, ChildFailed) as error:
            say(str(error))
        else:
            systems[name] = Theirs(running)
            versions |= running.versions
    return systems, versions


def speed(plan: Plan, systems: Mapping[str, System]) -> dict[str, Any]:
    """Ingest, questions and memory of every system at every size."""
    found: dict[str, Any] = {
        name: {"ingest": {}, "questions": {}, "memory": {}} for name in systems
    }
    loads: dict[str, float] = {}
    turns = itertools.cycle(range(len(systems)))
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
        before = 0
        for size in plan.sizes:
            say(f"ingest up to {size:,} texts")
            grown = _grown(plan, systems, range(before, size), Path(directory), turns)
            asked = _asked(plan, systems, turns, size)
            for name, system in systems.items():
                found[name]["ingest"][str(size)] = grown[name]
                found[name]["questions"][str(size)] = asked[name]
                found[name]["memory"][str(size)] = system.memory()
            loads[str(size)] = round(os.getloadavg()[0], 1)
            before = size
    return {"systems": found, "load": loads}


def _in_turn(systems: Mapping[str, System], turns: Iterator[int]) -> list[tuple[str, System]]:
    """Each time another one begins."""
    order, first = list(systems.items()), next(turns)
    return order[first:] + order[:first]


def _grown(
    plan: Plan,
    systems: Mapping[str, System],
    numbers: range,
    directory: Path,
    turns: Iterator[int],
) -> dict[str, dict[str, Any]]:
    counted = ("documents", "seconds", "searchable", "cpu")
    total = {name: dict.fromkeys(counted, 0.0) for name in systems}
    for first in range(numbers.start, numbers.stop, BLOCK):
        block = range(first, min(first + BLOCK, numbers.stop))
        files = corpus.write(directory / "texts", block, plan.characters)
        for name, system in _in_turn(systems, turns):
            taken, so_far = system.ingest(block, files), total[name]
            so_far["documents"] += len(block)
            so_far["seconds"] += taken["seconds"]
            so_far["searchable"] += taken.get("searchable", taken["seconds"])
            so_far["cpu"] += taken["cpu"]
            say(f"  {name}: {len(block) / taken.get('searchable', taken['seconds']):.0f} texts/s")
    return {
        name: {
            "documents": int(one["documents"]),
            "per_second": round(one["documents"] / one["searchable"], 1),
            "finished_per_second": round(one["documents"] / one["seconds"], 1),
            "cpu_ms": round(one["cpu"] / one["documents"] * 1000, 2),
        }
        for name, one in total.items()
    }


def _asked(
    plan: Plan, systems: Mapping[str, System], turns: Iterator[int], size: int
) -> dict[str, dict[str, Any]]:
    say(f"{plan.questions} questions each")
    for system in systems.values():
        system.ask(corpus.questions(WARM_UP, seed=size))
    heard: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    questions = corpus.questions(plan.questions, seed=size + 1)
    for first in range(0, plan.questions, TURN):
        for name, system in _in_turn(systems, turns):
            heard[name].append(system.ask(questions[first : first + TURN]))
    made = {name: _summed(answers) for name, answers in heard.items()}
    for name, one in made.items():
        say(f"  {name}: p50 {one['p50']} ms, p95 {one['p95']} ms, CPU {one['cpu_ms']} ms")
    return made


def _summed(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    seconds = [one for answer in answers for one in answer["seconds"]]
    stages = [one for answer in answers for one in answer.get("stages", ())]
    found: dict[str, Any] = {
        "asked": len(seconds),
        "cited": sum(answer["cited"] for answer in answers),
        **spread([one * 1000 for one in seconds]),
        "cpu_ms": round(sum(answer["cpu"] for answer in answers) / len(seconds) * 1000, 1),
    }
    if stages:
        found["stages_p50"] = {
            name: spread([one[name] for one in stages])["p50"] for name in stages[0]
        }
    return found


def tried(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` gives; what a peer cannot do is said and left out."""
    try:
        return work()
    except (NotInstalled, ChildFailed) as error:
        say(f"{name}: {error}")
        return {}
