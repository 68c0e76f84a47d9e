"""`python -m benchmarks.stance.measure`: what the reader of sides makes of what it never learned.

Families that are only measured, by the kind of what they say; sentences of BioASQ 9B4 and 9B5 and
of a quarter of PubMedQA's development half that were read and marked; and whole questions of
BioASQ, by the five sentences of their snippets that the selector puts first. One JSON object is
printed.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.stance.families import members
from benchmarks.stance.pairs import MEASURED, marked, said_in
from contracts.answer import Siding
from store.core.spans import Span
from workers.generate.selector import selector
from workers.verify.gate import Verified
from workers.verify.lead.stance import read_stances, stance

SEED = 7
MOST = 5


class Row(NamedTuple):
    """A question, the sentences that answer it together, and what is to be said."""

    question: str
    sentences: tuple[str, ...]
    label: str
    group: str


def _claim(number: int, text: str) -> Verified:
    return Verified(f"c{number}", text, "E1", "EVIDENCE", "verbatim", Span(0, len(text)), "words")


def said(row: Row) -> str:
    """The side that is said of a row, `neither` if none is."""
    claims = [_claim(number, text) for number, text in enumerate(row.sentences)]
    read: Iterable[Siding] = read_stances(row.question, claims).values()
    return stance(read) or "neither"


def of_families() -> list[Row]:
    """The families that are only measured."""
    return [
        Row(one.question, (one.sentence,), one.label, f"families: {one.kind}")
        for one in members(SEED, dressed=0.35)
        if one.measured
    ]


def of_marked(shared: Path, annotations: Path | None = None) -> list[Row]:
    """Marked sentences that are only measured."""
    return [
        Row(one.question, (one.sentence,), one.label, f"{_set(one.key)}: {one.label}")
        for one in marked(shared, annotations)
        if one.measured
    ]


def _set(key: str) -> str:
    return {24: "BioASQ 9B4, 9B5", 10: "asked of sentences"}.get(len(key), "PubMedQA")


def of_questions(shared: Path, names: Sequence[str]) -> list[Row]:
    """Yes/no questions of BioASQ with the sentences that hold most of them."""
    found = []
    for name in names:
        path = shared / f"data/bioasq/dev/{name}_golden.json"
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            if one["type"] != "yesno":
                continue
            lines = list(
                dict.fromkeys(line for each in one["snippets"] for line in said_in(each["text"]))
            )
            scores = selector().scores(one["body"], [(line, "", line) for line in lines])
            best = [lines[at] for at in (-scores).argsort()[:MOST]]
            found.append(
                Row(one["body"], tuple(best), one["exact_answer"].lower(), f"questions: {name}")
            )
    return found


def told(rows: Sequence[Row], say: Callable[[Row], str] = said) -> dict[str, dict[str, int]]:
    """Of each group, how many are there and how often each side was said, rightly or wrongly."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        own = counts.setdefault(row.group, Counter())
        own["all"] += 1
        side = say(row)
        if side != "neither":
            own[f"{side} {'right' if side == row.label else 'wrong'}"] += 1
    return {group: dict(own) for group, own in counts.items()}


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--annotations", type=Path, help="Evidence Inference's own `annotations`")
    options = parser.parse_args()
    rows = [
        *of_families(),
        *of_marked(options.shared, options.annotations),
        *of_questions(options.shared, MEASURED),
    ]
    print(json.dumps(told(rows), indent=1))


if __name__ == "__main__":
    main()
