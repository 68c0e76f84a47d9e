"""`python -m benchmarks.notes_unseen [--details] [--json]`.

Summarizes the notes of this folder by rules and counts, against their truths, what is found, missed
and told though it must not be; then lets a lying model choose, and counts the lies that are told.
The exit code says whether no lie was told.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.notes_unseen.lying import told_lies
from benchmarks.notes_unseen.measure import Figures, judge
from benchmarks.notes_unseen.shown import shown
from workers.summarize.plan import recommendations
from workers.summarize.summary import read

HERE = Path(__file__).parent
NAMES = (
    "notes", "lines", "required", "found", "elsewhere", "missed", "forbidden", "told",
    "told_under_its_heading", "unreadable_alone", "not_in_span",
)  # fmt: skip


def notes_of(folder: Path) -> Mapping[str, str]:
    """The notes by name, with their line ends as they are."""
    return {one.stem: one.read_bytes().decode() for one in sorted(folder.glob("*.txt"))}


def by_rules(folder: Path) -> Figures:
    """What the rules make of the notes of a folder."""
    figures = Figures()
    for name, note in notes_of(folder).items():
        gold = json.loads((folder / f"{name}.json").read_bytes())
        reading = read(note)
        lines = shown(reading, reading.items, recommendations(note, reading.items))
        judge(name, note, gold, lines, figures)
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--details", action="store_true", help="a line for each that is wrong")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = by_rules(HERE / "notes")
    lies = json.loads((HERE / "lies.json").read_bytes())
    told = told_lies(notes_of(HERE / "notes"), lies)
    body = {name: figures.counts[name] for name in NAMES}
    body |= {"lies": len(lies), "lies_told": len(told)}
    if given.details:
        details = [*figures.details, *(f"LIE | {json.dumps(one)}" for one in told)]
        sys.stdout.write("".join(f"{one}\n" for one in details))
    written = json.dumps(body) if given.json else "\n".join(f"{k:24} {v}" for k, v in body.items())
    sys.stdout.write(f"{written}\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
