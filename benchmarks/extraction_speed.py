"""How the time of reading grows with a document's length, for texts made to be hard.

    python -m benchmarks.extraction_speed [--length 4000]

Reads each phrase over and over again, in a text of a length and in one four times as long, with
every rule of every field, the section reader, the classifier, the readability check and the
evaluator's second reading. Prints the worst pairs: a ratio near 4 is linear, near 16 quadratic.
"""

import argparse
import signal
import time
from collections.abc import Callable
from typing import Any

from workers.extract.documents import classify
from workers.extract.evaluation.damage import damage
from workers.extract.evaluation.signs import signs_of
from workers.extract.parts import Parts
from workers.extract.readability import assess
from workers.extract.rubrics import field_policies
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_every, read_words

PHRASES = [
    "invasive ductal ", "ductal ", "metastatic of special type ", "in situ in-situ ", "carcinoma ",
    "squamous cell, and type ", "margin ", "margins free of tumor ", "involved at the margin ",
    "grade ", "nottingham ", "histologic ", "Gleason ", "gleason 3+", "T1 N1 ", "pT2 ", "stage ",
    "ER ", "ER, PR, HER2 and ", "positive for ER, ", "Ki-67 ", "HER2: ", "negative for ", "KRAS ",
    "EGFR L858R ", "EML4-ALK ", "c.12A>T ", "p.Gly12 ", "exon 19 ", "VAF ", "12 mm x ", "1 x ",
    "12 ", "1,234 ", "1.5 cm ", "3/12 nodes ", "nodes ", "12 lymph nodes , ", "lymph ", "2024-01-",
    "12 March ", "PSA ", "PSA: ", "Hb ", "sodium 140 ", "A, ", "a ", "a: ", "Aspirin 5 ",
    "aspirin mg ", "take ", "tablet ", "University of ", "General Hospital of the ", "St. ",
    "A B C D E ", "The ", "DIAGNOSIS: ", "Findings: ", "Findings:\n", "a\n", "\n", " ", "\t", ".",
    ":", "|", "- ", "(", "((", "1", "1.", "x", "X1", "no ", "not ", "no mutation ", "no relevant ",
    "microsatellite ", "MSI ", "TMB ", "tumor mutational burden ", "present ", "LVI ", "lymph/",
    "previous ", "from ", "perineural invasion ", "a,b;c", "é", "µ", "mm", "%", "5%", "- 5% ",
    "BI-RADS v2 ", "BI-RADS category ", "prostate volume ", "oma", "Xcarcinoma", "Ab1c ", "##",
    "==", "LABORATORY REPORT\n", "Lab: 5 - \n", "Sodium  ", "a 1 1-1\n", "on 5 ", "of 1,000", "12/",
]  # fmt: skip
MOST_SECONDS = 10.0


class _TooLong(Exception):
    """One reading took longer than is worth waiting for."""


def _stop(*_: Any) -> None:
    raise _TooLong


def readers() -> dict[str, Callable[[str], object]]:
    """Every reader of a document by its name."""

    def field(name: str) -> Callable[[str], object]:
        return lambda text: extract_field(name, Parts(text), wide=True)

    def quoted(name: str) -> Callable[[str], object]:
        many = field_policies()[name].many
        return lambda text: (read_every if many else read_words)(name, text)

    def signs(name: str) -> Callable[[str], object]:
        return lambda text: signs_of(name, Parts(text))

    found: dict[str, Callable[[str], object]] = {
        "sections": lambda text: Parts(text).sections,
        "classify": classify,
        "readability": assess,
        "damage": damage,
    }
    for name in field_policies():
        found[f"field {name}"] = field(name)
        found[f"quoted {name}"] = quoted(name)
        found[f"signs {name}"] = signs(name)
    return found


def seconds(read: Callable[[str], object], text: str) -> float:
    """Processor time of one reading; MOST_SECONDS where it takes longer."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    start = time.process_time()
    try:
        read(text)
    except _TooLong:
        return MOST_SECONDS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=4_000)
    parser.add_argument("--tell", type=float, default=1.0, help="seconds: tell of it at once")
    parser.add_argument("--shown", type=int, default=30)
    given = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _stop)
    rows = []
    for name, read in readers().items():
        for phrase in PHRASES:
            short = (phrase * given.length)[: given.length]
            took = seconds(read, (phrase * given.length * 4)[: given.length * 4])
            if took > 0.05:  # shorter ones are not told apart from noise
                rows.append((took, took / max(seconds(read, short), 1e-4), name, phrase))
                if took > given.tell:
                    print(f"{took:8.2f} s  {name:32} {phrase!r}", flush=True)
    rows.sort(reverse=True)
    print(f"{len(readers())} readers, {len(PHRASES)} phrases, {given.length * 4} characters")
    for took, ratio, name, phrase in rows[: given.shown]:
        print(f"{took:8.2f} s  ratio {ratio:5.1f}  {name:32} {phrase!r}")
    worst = max((row[0] for row in rows), default=0.0)
    print(f"slowest {worst:.2f} s; {sum(row[1] > 8 for row in rows)} above ratio 8")


if __name__ == "__main__":
    main()
