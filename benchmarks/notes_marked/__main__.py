"""`python -m benchmarks.notes_marked [HALF] [--details]`.

Halves are the files beside this one, `held_out` the notes of `benchmarks.note_reader` that are kept
back from training, or the path of a file of marked notes.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.note_reader.data import whole
from benchmarks.notes_marked.marks import Marked, Statement, marked
from workers.summarize.summary import summarize
from workers.summarize.validation import cited

_HERE = Path(__file__).parent
_COVERED = 0.6  # of the letters of a statement that an item must hold, or of an item (ours)
_WORD = re.compile(r"\w+")


def measured(note: Marked) -> tuple[Counter[str], list[str]]:
    """Counts over one note, and a line for each fault.

    `orders`, those `planned`, `recommended` and those of them `unasked`; `items` and those in the
    `right` list; `problems` and those `found` in problems or assessment; `listed` among problems
    and those of them that are `none`; `statements` that no item `uncovered`; pairs of orders of
    different urgency and those `in_order`.
    """
    result = summarize(note.text)
    counts, faults = Counter[str](), list[str]()
    plan = [_span(one["source"]) for one in result["plan"]["recommendations"]]
    orders = [one for one in note.statements if one.urgency]
    ranks: list[tuple[int, int]] = []
    for order in orders:
        at = next((n for n, span in enumerate(plan) if _share(order, span) >= _COVERED), None)
        counts["orders"] += 1
        counts["planned"] += at is not None
        if at is None:
            faults.append(f"not planned: {note.text[order.start : order.end]}")
        else:
            ranks.append((order.urgency or 0, at))
    for start, end in plan:
        inside = [one for one in note.statements if _overlap(one, (start, end)) > 2]
        asked = [one for one in inside if one.urgency != 0]
        counts["recommended"] += 1
        if not asked:
            counts["unasked"] += 1
            faults.append(f"unasked: {note.text[start:end]}")
    for n, (urgent, at) in enumerate(ranks):
        for other, place in ranks[n + 1 :]:
            if urgent != other:
                counts["pairs"] += 1
                counts["in_order"] += (urgent < other) == (at < place)
    _lists(note, result["summary"], counts, faults)
    return counts, faults


def _lists(
    note: Marked, summary: Mapping[str, Any], counts: Counter[str], faults: list[str]
) -> None:
    covered: set[int] = set()
    for name, items in summary.items():
        for one in items:
            span = _span(one["source"])
            most = _COVERED * (span[1] - span[0])
            held = {
                n for n, each in enumerate(note.statements)
                if _share(each, span) >= _COVERED or _overlap(each, span) > most
            }  # fmt: skip
            if not held:
                continue  # a heading that is shown, a greeting
            covered |= held
            right = sum(name in note.statements[n].lists for n in held)
            counts["items"] += 1
            if name == "key_problems":
                counts["listed"] += 1
                if not right and not _of_a_problem(note, one["text"]):
                    counts["none"] += 1
                    faults.append(f"no problem: {one['text']}")
            if 2 * right >= len(held):
                counts["right"] += 1
            else:
                faults.append(f"{name}: {one['text']}")
    counts["statements"] += len(note.statements)
    counts["uncovered"] += len(note.statements) - len(covered)
    faults += [
        f"uncovered: {note.text[one.start : one.end]}"
        for n, one in enumerate(note.statements) if n not in covered
    ]  # fmt: skip
    told = " ".join(
        one["text"] for name in ("key_problems", "assessment") for one in summary[name]
    ).casefold()
    for problem in note.problems:
        found = any(_named(each, told) for each in problem.casefold().split("/"))
        counts["problems"] += 1
        counts["found"] += found
        if not found:
            faults.append(f"problem not found: {problem}")


def _of_a_problem(note: Marked, words: str) -> bool:
    told = words.casefold()
    return any(_named(one, told) for each in note.problems for one in each.casefold().split("/"))


def _named(problem: str, told: str) -> bool:
    return all(word in told for word in _WORD.findall(problem))


def _span(source: str) -> tuple[int, int]:
    place = cited(source)
    return (place.start, place.end) if place else (0, 0)


def _overlap(one: Statement, span: tuple[int, int]) -> int:
    return max(0, min(one.end, span[1]) - max(one.start, span[0]))


def _share(one: Statement, span: tuple[int, int]) -> float:
    return _overlap(one, span) / max(1, one.end - one.start)


def shares(counts: Counter[str]) -> dict[str, Any]:
    """The figures of the report."""

    def share(part: str, whole: str) -> float | None:
        return round(counts[part] / counts[whole], 3) if counts[whole] else None

    counts = counts + Counter(asked=counts["recommended"] - counts["unasked"])
    return {
        "plan_recall": share("planned", "orders"),
        "plan_precision": share("asked", "recommended"),
        "urgency_in_order": share("in_order", "pairs"),
        "right_list": share("right", "items"),
        "problems_found": share("found", "problems"),
        "listed_that_are_none": share("none", "listed"),
        "uncovered": share("uncovered", "statements"),
        "counts": dict(counts),
    }


def _halves(chosen: str) -> Iterator[tuple[str, Marked]]:
    if Path(chosen).is_file():
        for note in marked(Path(chosen)):
            yield Path(chosen).stem, note
    if chosen == "held_out":
        for note in whole(held_out=True):
            yield chosen, note
    for half in ("development", "more_development", "locked", "strangers", "more_sealed"):
        if chosen in (half, "all"):
            for note in marked(_HERE / f"{half}.txt"):
                yield half, note


def main() -> None:
    """Prints the figures of each part; `--details` the faults of what may be looked at."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("half", nargs="?", default="all")
    options.add_argument("--details", action="store_true")
    chosen = options.parse_args()
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    styles: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for half, note in _halves(chosen.half):
        counts, faults = measured(note)
        totals[half] += counts
        figures = shares(counts)
        styles[f"{half} {note.name.split('_')[0]}"].append(
            (figures["plan_recall"] or 0, figures["right_list"] or 0)
        )
        if chosen.details and (half.endswith("development") or half in ("held_out", chosen.half)):
            print(note.name, *faults, sep="\n  ")
    by_style = {
        name: [round(mean(column), 2) for column in zip(*rows, strict=True)]
        for name, rows in styles.items()
    }
    figures = {half: shares(counts) for half, counts in totals.items()}
    print(json.dumps(figures | {"plan_recall_and_right_list": by_style}, indent=1))


if __name__ == "__main__":
    main()
