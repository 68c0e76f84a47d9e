"""What real sentences assert of a finding, against the marks of readers who saw no output.

    python -m benchmarks.assertions FOLDER [--weights FILE] [MARKS ...]

FOLDER holds the open sets; MARKS are names of files beside this one, those that nothing learned if
left out (README.md). With the weights of a trained reader a second line each says what it adds.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.assertions.data import UNSEEN, Mark, marks, sentences
from benchmarks.assertions.reader import LAYERS, AssertionReader
from clinical_text.assertion.marks import Reading
from clinical_text.doc import Doc

Read = Callable[[Doc, int, int], Reading]


def counted(found: Iterable[Mark], read: Read) -> Counter[str]:
    """How many findings are read as marked, as marked or accepted, and denied or not."""
    counts = Counter[str]()
    for one in found:
        said = read(Doc(one.sentence), one.start, one.end).assertion.value
        counts["findings"] += 1
        counts["as marked"] += said == one.means
        counts["as marked or accepted"] += said in one.accepted
        counts["denied that is not"] += said == "negated" and "negated" not in one.accepted
        counts["not denied that is"] += one.means == "negated" and said not in one.accepted
    return counts


def main() -> None:
    """Print the counts of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("marks", nargs="*", default=UNSEEN)
    parser.add_argument("--weights", type=Path)
    options = parser.parse_args()
    held = sentences(options.folder)
    readers: dict[str, Read] = {"cues": Doc.reading}
    if options.weights:
        readers["with the reader"] = AssertionReader(options.weights, LAYERS).reading
    for name in options.marks:
        found = list(marks(name, held))
        for who, read in readers.items():
            print(name, who, dict(counted(found, read)))


if __name__ == "__main__":
    main()
