"""Fits how likely a field is right from the evidence of its readers.

    python -m benchmarks.likelihood          # the figures of sets that it does not learn from
    python -m benchmarks.likelihood --write HALF  # knowledge/rubrics/likelihood.yaml

HALF are the weights of a reader of documents that was trained with `--without 1`
(`benchmarks.span_reader.layers`). It learns from the documents with gold that this had not seen;
those with marks were tried too, and made the score lower than the truth (.87 where .93 of the
fields are right). documents/held_back, documents/kept_apart and documents/strangers are not learned
from. The gold of the four unseen sets
names stated fields only: one that it does not name and that was not found is taken as right. They
count less, since the rules were worked on with them.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.field_reader import examples, fitted
from benchmarks.span_reader.marking import (
    WITH_GOLD,
)
from cli.evaluate.extraction import evaluate_extraction
from cli.evaluate.extraction_cases import Case, read_cases
from workers.extract import field_reader, span_reader
from workers.extract.documents import as_type, parts_of
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.evaluation.likelihood import Evidence, evidence
from workers.extract.fields import Attempt, Status
from workers.extract.gold import right
from workers.extract.loop.extraction import extract_by_rules
from workers.extract.loop.loop import iterate
from workers.extract.rubrics import DOCUMENT_TYPES, field_named, rubric
from workers.extract.span_reader import LAYERS, SpanReader

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "rubrics" / "likelihood.yaml"
MEASURED = ("documents/strangers", "documents/kept_apart", "documents/held_back")
LEFT_OUT = 1
OF_UNSEEN, NOT_NAMED = 0.4, 0.5
"""What a document of the unseen sets weighs, and in it a field that its gold does not name."""
RIDGE, STEPS, PACE, LEAST_SEEN = 0.3, 600, 0.05, 3
HEAD = """\
# How much each piece of evidence says for a field's being right, as workers/extract/evaluation/
# likelihood.py weighs it: a logistic reader, fitted by `python -m benchmarks.likelihood --write` on
# marked documents of benchmarks/. Written by that command; not edited by hand.

version: 1
weights:
"""


class Example(NamedTuple):
    """The evidence of a field, how right it is, and what the example weighs."""

    seen: Evidence
    right: float
    weight: float


def of_case(case: Case, weight: float, *, whole: bool) -> Iterator[Example]:
    """The fields of a document with gold; `whole` gold names every field."""
    gold = {field_named(name, case.type): name for name in case.fields}

    def told(field: str, made: Attempt) -> tuple[float, float]:
        name = gold.get(field)
        if name is not None:
            return right(name, case.fields[name], made.fields, case.type) or 0.0, weight
        missing = not whole and made.fields[field].status is Status.NOT_PRESENT
        return 1.0, NOT_NAMED * weight * missing

    yield from of_document(case.text, parts_type(case), told)


def of_document(
    text: str, kind: str, told: Callable[[str, Attempt], tuple[float, float]]
) -> Iterator[Example]:
    """The fields of the first two attempts at a document of a type; `told` says of one how right it
    is, and what it weighs."""
    parts, wanted = parts_of(text, as_type(text, kind).parts[0]), rubric(kind)
    first = iterate(parts, wanted, None, extract_by_rules, evaluate)
    for made in (first, iterate(parts, wanted, first, extract_by_rules, evaluate)):
        breakdown = made.evaluation.score.breakdown
        for field, seen in evidence(parts, wanted, made.attempt, breakdown).items():
            share, weight = told(field, made.attempt)
            if weight:
                yield Example(seen, share, weight / 2)


def parts_type(case: Case) -> str:
    """The type of a case, "unknown" where we have none of it."""
    return case.type if case.type in DOCUMENT_TYPES else "unknown"


def fitted_weights(held: Sequence[Example]) -> dict[str, float]:
    """A logistic reader by Adam over all examples."""
    counts = Counter(name for one in held for name, value in one.seen.items() if value)
    at = {name: i for i, name in enumerate(n for n, c in counts.items() if c >= LEAST_SEEN)}
    matrix = np.zeros((len(held), len(at)), np.float32)
    for row, one in enumerate(held):
        for name, value in one.seen.items():
            if name in at:
                matrix[row, at[name]] = value
    wanted = np.array([one.right for one in held], np.float32)
    weight = np.array([one.weight for one in held], np.float32)
    told = np.zeros(len(at), np.float32)
    first, second = np.zeros_like(told), np.zeros_like(told)
    for step in range(1, STEPS + 1):
        shares = 1 / (1 + np.exp(-(matrix @ told)))
        slope = (matrix.T @ (weight * (shares - wanted)) + RIDGE * told) / weight.sum()
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        told -= PACE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return {name: float(told[i]) for name, i in at.items()}


def learned(half: SpanReader) -> dict[str, float]:
    """The weights, of documents that were each read by readers that had not seen them.

    Args:
        half: a reader of documents, trained without every second one.
    """
    units = examples()
    packaged = field_reader.reader()
    held: list[Example] = []
    span_reader.load = lambda: half  # type: ignore[assignment]
    for name in WITH_GOLD:
        apart = fitted([one for one in units if one.held_in != name])
        with_reader(apart._replace(fields=packaged.fields))
        unseen = "unseen" in name
        for case in read_cases(HERE / name)[LEFT_OUT::2]:
            if case.type in DOCUMENT_TYPES:
                weight = OF_UNSEEN if unseen else 1.0
                held += of_case(case, weight, whole=not unseen)
    with_reader(packaged)
    return fitted_weights(held)


def with_reader(known: field_reader.Reader) -> None:
    """Read labels with another reader than the packaged one."""
    field_reader.stated.cache_clear()
    field_reader.reader = lambda: known  # type: ignore[assignment]


def main() -> None:
    """Print the figures, or write the weights."""
    if "--write" in sys.argv:
        told = learned(SpanReader(Path(sys.argv[2]), LAYERS))
        lines = [f'  "{name}": {value:.3f}\n' for name, value in sorted(told.items())]
        TO.write_text(HEAD + "".join(lines))
        print(f"{len(lines)} weights")
        return
    for name in MEASURED:
        print(name, evaluate_extraction(HERE / name)["honesty"])


if __name__ == "__main__":
    main()
