"""`attest evaluate notes DIR`: counts the words of summaries that are not in the span they cite."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from workers.summarize.summary import summarize

_SUMS = (
    "items",
    "recommendations",
    "items_inside_span",
    "invalid_citations",
    "orphans",
    "malformed",
    "unknown_chunk",
    "section_mismatches",
    "out_of_bounds",
    "not_inherited",
    "unsupported",
)


def evaluate_notes(
    directory: Path, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Summarize every `*.txt` of `directory` by rules and check its citations.

    `items` counts the items of the seven lists and the recommendations, all of which are checked;
    `recommendations` of them are in plans. `characters_covered` is the share of visible characters
    that are in an item; `ms_per_note` the mean time. NAME.json beside NAME.txt may have `sections`,
    the note's titles in order. Then the result has `section_recall`, and `sections_missed` with
    file names and the number of titles not found.

    Raises ValueError, in one line, if there is no note or one cannot be read.
    """
    if not directory.is_dir():
        raise ValueError(f"{directory} is no folder")
    paths = sorted(directory.rglob("*.txt"))
    if not paths:
        raise ValueError(f"{directory} holds no *.txt")
    report: dict[str, Any] = dict.fromkeys(("notes", *_SUMS, "sections"), 0)
    wanted = found = visible = covered = spent_ns = 0
    missed: dict[str, int] = {}
    for done, path in enumerate(paths, start=1):
        note = note_of(path)
        started = perf_counter_ns()
        result = summarize(note)
        spent_ns += perf_counter_ns() - started
        counts = result["validation"]
        for name in _SUMS:
            report[name] += counts[name]
        report["notes"] += 1
        report["sections"] += len(result["sections"])
        note_covered = _covered(note, result)
        visible, covered = visible + note_covered[1], covered + note_covered[0]
        titles = _gold(path.with_suffix(".json"))
        if titles:
            hits = _in_order(titles, [section["title"] for section in result["sections"]])
            wanted, found = wanted + len(titles), found + hits
            if hits < len(titles):
                missed[path.stem] = len(titles) - hits
        if progress is not None:
            progress(done, len(paths))
    report["items"] += report["recommendations"]
    report["characters_covered"] = round(covered / visible, 4) if visible else 1.0
    report["ms_per_note"] = round(spent_ns / len(paths) / 1e6, 2)
    if wanted:
        report |= {"section_recall": round(found / wanted, 4), "sections_missed": missed}
    return report


def note_of(path: Path) -> str:
    """Return the text of a note with its line ends unchanged: spans count every character.

    Raises:
        ValueError: it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def _covered(note: str, result: dict[str, Any]) -> tuple[int, int]:
    """Return the number of visible characters in items, and in the note."""
    inside = bytearray(len(note))
    for items in result["summary"].values():
        for item in items:
            start, _, end = item["source"].rpartition(":")[2].partition("-")
            inside[int(start) : int(end)] = b"\x01" * (int(end) - int(start))
    shown = [not letter.isspace() for letter in note]
    return sum(
        1 for in_item, is_visible in zip(inside, shown, strict=True) if in_item and is_visible
    ), sum(shown)


def _gold(path: Path) -> Sequence[str]:
    try:
        titles = json.loads(path.read_bytes()).get("sections", [])
    except FileNotFoundError:
        return []
    except (ValueError, AttributeError):
        raise ValueError(f"{path} is no JSON object with sections") from None
    return [str(title) for title in titles]


def _in_order(wanted: Sequence[str], titles: Sequence[str]) -> int:
    """Count the wanted titles that are found in order; case is ignored."""
    at = hits = 0
    plain = [" ".join(title.casefold().split()).strip(":") for title in titles]
    for title in wanted:
        name = " ".join(title.casefold().split()).strip(":")
        if name in plain[at:]:
            at, hits = plain.index(name, at) + 1, hits + 1
    return hits
