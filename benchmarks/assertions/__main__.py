"""What real sentences assert of a finding, against the marks of a reader who saw no output.

    python -m benchmarks.assertions FOLDER [MARKS]

FOLDER holds the open sets `aci_bench`, `mts_dialog`, `syngp500`, `dragon_reports` and `pubmedqa`.
`marks.tsv` has no text of theirs: a sentence is known by its hash, a finding by its place, with
what is said of it and what else the reader accepts. Of each set 37 sentences with a word that may
deny or suppose and 15 without were drawn, those with a finding marked; all before the first run.
`marks_second.tsv` has 343 findings of 231 further sentences by another reader who saw no output (of
each set 50 with such a word and 16 without were drawn).
"""

import csv
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from clinical_text.doc import Doc

MARKS = Path(__file__).parent / "marks.tsv"
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
"""Where a sentence was cut when it was drawn; not the product's own rule."""


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Every text with the set that it is of."""
    csv.field_size_limit(10_000_000)
    for name, pattern, column in (
        ("aci_bench", "aci_bench/dev/*.csv", "note"),
        ("mts_dialog", "mts_dialog/dev/*.csv", "section_text"),
    ):
        for path in sorted(folder.glob(pattern)):
            with path.open() as file:
                yield from ((name, row[column]) for row in csv.DictReader(file) if column in row)
    for name, pattern in (
        ("syngp500", "syngp500/dev/*.txt"),
        ("dragon", "dragon_reports/english/*.md"),
    ):
        yield from ((name, path.read_text()) for path in sorted(folder.glob(pattern)))
    for one in json.loads((folder / "pubmedqa/dev/pqal_dev500.json").read_text()).values():
        yield "pubmedqa", "\n".join((*one["CONTEXTS"], one["LONG_ANSWER"]))


def sentences(folder: Path) -> Mapping[str, str]:
    """The sentences by the beginning of their hash."""
    found = {}
    for _, text in texts(folder):
        for cut in _ENDS.split(text):
            sentence = " ".join(cut.split())
            found[hashlib.sha256(sentence.encode()).hexdigest()[:16]] = sentence
    return found


def main(folder: Path, marks: Path = MARKS) -> None:
    """Print how many findings are read as marked, as marked or accepted, and denied or not."""
    held, counts = sentences(folder), Counter[str]()
    with marks.open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            sentence = held.get(row["sha256"])
            if sentence is None:
                counts["not held"] += 1
                continue
            read = Doc(sentence).reading(int(row["start"]), int(row["end"])).assertion.value
            accepted = {row["means"], *row["also"].split()}
            counts["findings"] += 1
            counts["as marked"] += read == row["means"]
            counts["as marked or accepted"] += read in accepted
            counts["denied that is not"] += read == "negated" and "negated" not in accepted
            counts["not denied that is"] += row["means"] == "negated" and read not in accepted
    print(dict(counts))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
