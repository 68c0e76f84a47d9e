"""The marked findings, and the sentences of the open sets that they stand in."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
LEARNED = ("marks.tsv", "marks_learned.tsv")
"""Marks of real sentences that the reader learns; `INVENTED` it learns, too."""
INVENTED = "invented.tsv"
UNSEEN = ("marks_second.tsv", "marks_third.tsv")
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
"""Where a sentence was cut when it was drawn; not the product's own rule."""
_SHORTEST = 60
"""Characters from which on a string of a trial's record is a text (ours)."""
_TAG = re.compile(r"<[^>]+>")


class Mark(NamedTuple):
    """A finding at `[start, end)` of a sentence, what is said of it, and all that its reader
    accepts as said of it."""

    sentence: str
    start: int
    end: int
    means: str
    accepted: frozenset[str]


def marks(name: str, held: Mapping[str, str]) -> Iterator[Mark]:
    """The marks of a file beside this one; of sentences that are not held none.

    Args:
        held: the sentences by the beginning of their hash.
    """
    with (FOLDER / name).open() as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            sentence = row["sentence"] if "sentence" in row else held.get(row["sha256"])
            if sentence is not None:
                accepted = frozenset((row["means"], *row["also"].split()))
                place = (int(row["start"]), int(row["end"]))
                yield Mark(sentence, *place, row["means"], accepted)


@cache
def sentences(folder: Path) -> Mapping[str, str]:
    """The sentences of the open sets in a folder by the beginning of their hash."""
    found = {}
    for text in _texts(folder):
        for cut in _ENDS.split(text):
            sentence = " ".join(cut.split())
            found[hashlib.sha256(sentence.encode()).hexdigest()[:16]] = sentence
    return found


def _texts(folder: Path) -> Iterator[str]:
    csv.field_size_limit(10_000_000)
    for pattern, column in (
        ("aci_bench/dev/*.csv", "note"),
        ("mts_dialog/dev/*.csv", "section_text"),
    ):
        for path in sorted(folder.glob(pattern)):
            with path.open() as file:
                yield from (row[column] for row in csv.DictReader(file) if column in row)
    for pattern in ("syngp500/dev/*.txt", "dragon_reports/english/*.md", "rct_numeric/dev/text/*"):
        yield from (path.read_text() for path in sorted(folder.glob(pattern)))
    for one in json.loads((folder / "pubmedqa/dev/pqal_dev500.json").read_text()).values():
        yield "\n".join((*one["CONTEXTS"], one["LONG_ANSWER"]))
    for path in sorted(folder.glob("bioasq/dev/[789]B*.json")):
        for question in json.loads(path.read_text())["questions"]:
            yield from (one["text"] for one in question.get("snippets", []))
    for path in sorted(folder.glob("openfda/spl/*.xml")):
        yield _TAG.sub("\n", path.read_text())
    with (folder / "cms_lcd/chunks.jsonl").open() as file:
        for line in file:
            yield json.loads(line)["text"].replace("&ldquo;", '"').replace("&rdquo;", '"')
    for path in sorted(folder.glob("ctgov_v2/full/*.json")):
        yield from _strings(json.loads(path.read_text()))


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        if len(node) > _SHORTEST:
            yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _strings(value)
