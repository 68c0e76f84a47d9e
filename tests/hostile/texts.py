"""Hostile texts, each drawn from a seed: real documents repeated, spliced, cut, with runs between.

Most are short and some as long as the way in allows: what grows faster than its text shows at
length, what trips over a splice shows anywhere.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from tests.linearity.texts import CHARACTERS, UNITS

ROOT = Path(__file__).parents[2]
SHORT, LONG = 0.9, 0.99
"""Ours: so many of all are up to `SHORT_CHARACTERS`, so many up to a tenth of the limit."""
SHORT_CHARACTERS = 4_000
_LEAST = 20


@cache
def documents() -> tuple[str, ...]:
    """The real texts that the repository holds: evidence, clinical documents and notes."""
    found = []
    for path in sorted((ROOT / "samples" / "records").glob("*.jsonl")):
        found += [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
    for folder in ("tests/fixtures/documents", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.txt")):
            found.append(path.read_text("utf-8"))
    return tuple(text for text in found if text.strip())


def length(draw: Random, limit: int) -> int:
    """A length in characters: evenly over the orders of magnitude of its class."""
    chance = draw.random()
    if chance < SHORT:
        most = min(SHORT_CHARACTERS, limit)
    else:
        most = limit // 10 if chance < LONG else limit
    least = _LEAST if chance < SHORT else min(SHORT_CHARACTERS, most)
    return int(least * (max(most, least) / least) ** draw.random())


def hostile(seed: int, limit: int) -> str:
    """The text of a seed, at most `limit` characters."""
    draw = Random(seed)
    wanted, pieces, so_far = length(draw, limit), list[str](), 0
    repeats = draw.random() < 0.5
    while so_far < wanted:
        piece = _piece(draw, wanted - so_far)
        if repeats:
            times = draw.choice((1, 2, 10, 100, 10_000))
            piece *= min(times, (wanted - so_far) // max(1, len(piece)) + 1)
        piece = piece[: wanted - so_far]
        pieces.append(piece)
        so_far += len(piece)
    return "".join(pieces)


def _piece(draw: Random, left: int) -> str:
    """A slice of a document, a run of something, or a slice with a part of it changed."""
    kind = draw.random()
    if kind < 0.35:
        unit = draw.choice(UNITS) if draw.random() < 0.6 else draw.choice(CHARACTERS)
        return unit * max(1, draw.choice((1, 5, 50, 500, left)) // len(unit))
    text = draw.choice(documents())
    start = draw.randrange(len(text))
    part = text[start : start + draw.choice((1, 5, 20, 100, 1_000, left))]
    if kind < 0.6:
        return part
    return _changed(draw, part)


def _changed(draw: Random, part: str) -> str:
    at = draw.randrange(len(part) + 1)
    match draw.randrange(5):
        case 0:
            return part[:at] + draw.choice(UNITS) * draw.choice((1, 30)) + part[at:]
        case 1:
            return part.replace(" ", draw.choice(("", "  ", "\n", "\t", "\u00a0", ", ")))
        case 2:
            return part.replace(draw.choice(("e", "a", ".", "1")), draw.choice(CHARACTERS))
        case 3:
            return part.swapcase() if draw.random() < 0.5 else part.upper()
        case _:
            return "\n".join(_shuffled(draw, part.split("\n")))


def _shuffled(draw: Random, lines: Sequence[str]) -> list[str]:
    return draw.sample(lines, len(lines))
