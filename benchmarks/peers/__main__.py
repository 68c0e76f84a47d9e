"""`make bench-peers`: Attest beside PaperQA, LlamaIndex and Haystack, in one run.

    python -m benchmarks.peers [--sizes 200,1000,5000] [--questions 40] [--peers paperqa,haystack]
                               [--only speed,probes,encoder,hops] [--json FILE] [--write]
    python -m benchmarks.peers --given FILE --write

Each peer runs in a virtual environment of its own, which is made when first needed (in
`.venv/peers`, or where PEERS_VENVS says), offline, with the same texts, the same embedding and a
model that answers at once. Progress goes to standard error, the tables to standard output, with
`--write` into `docs/benchmarks.md` and its plot too.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.peers import encoding, hops, probes, report
from benchmarks.peers.measure import DIRECT, PEERS, Ours, Plan, peer, say, speed, started, tried
from benchmarks.peers.plot import plot

DOCS = Path(__file__).resolve().parents[2] / "docs"
PARTS = ("speed", "probes", "encoder", "hops")
QUOTATIONS = 20


def _listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="200,1000,5000", help="texts held, growing")
    parser.add_argument("--questions", type=int, default=40, help="of each system at each size")
    parser.add_argument("--characters", type=int, default=2000, help="of a text")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure")
    parser.add_argument("--json", type=Path, help="write the result here too")
    parser.add_argument("--given", type=Path, help="measure nothing: the result is in this file")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    given = parser.parse_args()
    given.sizes = sorted({int(size) for size in _listed(given.sizes)})
    given.peers, given.only = _listed(given.peers), _listed(given.only)
    unknown = {*given.peers, *given.only} - {*PEERS, *PARTS}
    if unknown or not given.sizes or given.sizes[0] < 1 or given.questions < 1:
        parser.error(f"there is no {', '.join(sorted(unknown))}" if unknown else "nothing to do")
    return given


def _command() -> str:
    """How this was called, without the folders of this machine."""
    words = [word for word in sys.argv[1:] if word != "--write"]
    if "--json" in words:
        at = words.index("--json")
        del words[at : at + 2]
    return f'make bench-peers ARGS="{" ".join(words)}"' if words else "make bench-peers"


def machine() -> dict[str, Any]:
    """What it was measured on."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    model = next((one.partition(":")[2].strip() for one in lines if "model name" in one), "")
    return {
        "cores": os.cpu_count(),
        "cpu": model or platform.machine(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
    }


def measured(given: argparse.Namespace) -> dict[str, Any]:
    """The result of all parts that were asked for."""
    plan = Plan(given.sizes, given.questions, given.characters, given.peers)
    result: dict[str, Any] = {
        "when": f"{datetime.now(UTC):%d %B %Y, %H:%M} UTC",
        "command": _command(),
        "machine": machine(),
        "plan": vars(plan),
        "versions": {},
        "systems": {},
        "load": {},
        "probes": {},
    }
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory, ExitStack() as stack:
        if {"speed", "probes"} & set(given.only):
            systems, result["versions"] = started(stack, plan)
        if "speed" in given.only:
            result |= speed(plan, systems)
        if "probes" in given.only:
            instance = systems["attest"]
            assert isinstance(instance, Ours)
            say("probes: attest")
            result["probes"]["attest"] = probes.ours(instance.instance, Path(directory) / "attest")
    if "probes" in given.only:
        _probe(given, plan, result["probes"])
    if "encoder" in given.only:
        say("encoders")
        result["encoder"] = tried("encoder", lambda: encoding.measure(rounds=3))
    if "hops" in given.only:
        say("hops")
        result["hops"] = hops.measure(hops=50, flood=300, rounds=3)
    return result


def _probe(given: argparse.Namespace, plan: Plan, found: dict[str, Any]) -> None:
    say("probes: attest with a model that alters quotations")
    found["attest"]["quotations"] = probes.our_quotations(QUOTATIONS, plan.characters)
    for name in given.peers:
        if name == DIRECT:
            continue  # the same system
        say(f"probes: {name}")
        found[name] = tried(name, partial(_theirs, name, plan))


def _theirs(name: str, plan: Plan) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory, peer(name) as running:
        return probes.theirs(running, Path(directory), QUOTATIONS, plan.characters)


def main() -> int:
    """Measure, print, and write where asked to."""
    given = arguments()
    result = json.loads(given.given.read_text("utf-8")) if given.given else measured(given)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(report.section(result))
    if given.write:
        page = DOCS / "benchmarks.md"
        text = report.replaced(page.read_text("utf-8"), "peers", report.section(result))
        page.write_text(text, "utf-8")
        (DOCS / "benchmarks-peers.svg").write_text(plot(result), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
