"""`python -m tests.hostile`: so many hostile texts at each way in, each in a process of its own.

Prints a JSON object a way: how many were read and refused, the CPU seconds of the slowest and its
seed, the most memory, the processes that were lost. Exit code 1 where a text took more than
`MOST_SECONDS`, the process more than `MOST_MB`, or a process was lost. A seed gives the same text
again: `--way NAME --first SEED --count 1`.
"""

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

MOST_SECONDS = 5.0
MOST_MB = 700
"""Of issue 29."""


def _read(way: str, first: int, count: int) -> None:
    """In a process of its own: a line as each begins, and one as it ends."""
    from tests.hostile.texts import documents, hostile
    from tests.hostile.ways import WAYS, Refused

    one = WAYS[way]
    with contextlib.suppress(Refused):
        one.take(documents()[0][: one.limit])  # loads what is loaded once
    for seed in range(first, first + count):
        text = hostile(seed, one.limit)
        _say(begin=seed, characters=len(text))
        began, refused, size = time.process_time(), False, 0
        try:
            size = one.take(text)
        except Refused:
            refused = True
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        _say(
            end=seed, seconds=time.process_time() - began, refused=refused, size=size, peak_mb=peak
        )


def _say(**told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _lines(way: str, first: int, count: int) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.hostile", "--here", "--way", way]
    options = ["--first", str(first), "--count", str(count)]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)


def tried(way: str, first: int, count: int) -> dict[str, Any]:
    """All of a way; what ends its process is noted, and the next process goes on behind it."""
    found: dict[str, Any] = {
        "way": way, "texts": 0, "refused": 0, "characters": 0, "slowest": 0.0, "slowest_seed": None,
        "seconds": 0.0, "over": [], "peak_mb": 0, "largest_ratio": 0.0, "lost": [],
    }  # fmt: skip
    at, last = first, first + count
    while at < last:
        begun, length = None, 1
        for line in _lines(way, at, last - at):
            if "begin" in line:
                begun, length = line["begin"], line["characters"]
                continue
            begun, at = None, line["end"] + 1
            found["texts"] += 1
            found["refused"] += line["refused"]
            found["characters"] += length
            found["seconds"] = round(found["seconds"] + line["seconds"], 2)
            found["peak_mb"] = max(found["peak_mb"], line["peak_mb"])
            ratio = round(line["size"] / max(length, 1_000), 1)
            found["largest_ratio"] = max(found["largest_ratio"], ratio)
            if line["seconds"] > found["slowest"]:
                found["slowest"] = round(line["seconds"], 2)
                found["slowest_seed"] = line["end"]
            if line["seconds"] > MOST_SECONDS:
                found["over"].append(line["end"])
        if begun is not None:
            found["lost"].append(begun)
            at = begun + 1
        elif at < last and not found["texts"]:
            raise RuntimeError(f"the process of {way} does not start")
    return found


def main() -> int:
    """Try the ways asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--way", default="", help="this one only")
    parser.add_argument("--first", type=int, default=1, help="seed of the first text")
    parser.add_argument("--count", type=int, default=10_000, help="texts for each way")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        _read(given.way, given.first, given.count)
        return 0
    from tests.hostile.ways import WAYS

    red = False
    for way in [given.way] if given.way else list(WAYS):
        found = tried(way, given.first, given.count)
        _say(**found)
        red = red or bool(found["over"] or found["lost"]) or found["peak_mb"] > MOST_MB
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
