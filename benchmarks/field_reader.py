"""Fits the reader of fields and measures it on sets that it did not see.

    python -m benchmarks.field_reader           # a set left out at a time
    python -m benchmarks.field_reader --write   # knowledge/rubrics/field_reader.npz

It learns from the documents of this folder whose fields are marked (documents/development,
documents/handovers, documents/written and documents/formats, the four unseen sets, and synthetic
ones, which count less), from the labels that knowledge/rubrics and documents/written/headings.txt
list, cells of heads from documents/written/cells.txt and sentences: documents/written/sentences.txt
and such as are made of labels with predicates.txt, or with the texts of marked documents.
documents/held_back, documents/strangers, documents/kept_apart and documents/sealed are not read.
"""

import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.made_documents import heldout, reports, styles
from benchmarks.made_documents.writing import written
from benchmarks.sayings import told_in
from cli.evaluate.extraction_cases import Case, read_cases
from workers.extract.field_reader import (
    BUCKETS,
    NOTHING,
    Reader,
    Unit,
    indices,
    meaning,
    read,
    word_vectors,
)
from workers.extract.fields import FieldResult, Item, Status
from workers.extract.gold import compare, entries, found_is_wanted
from workers.extract.parts import Parts
from workers.extract.patients import patients
from workers.extract.rubrics import DOCUMENT_TYPES, field_named, field_policies, vocabulary
from workers.extract.rules.reading import read_words
from workers.extract.rules.texts.numbers import days
from workers.extract.rules.texts.words import value_under
from workers.extract.units import Placed, units
from workers.extract.values import Medication, Value, Words

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "rubrics" / "field_reader.npz"
HEADINGS = HERE / "documents" / "written" / "headings.txt"
SENTENCES = HERE / "documents" / "written" / "sentences.txt"
PREDICATES = HERE / "documents" / "written" / "predicates.txt"
HEAD_CELLS = HERE / "documents" / "written" / "cells.txt"
BY_HAND = ("documents/development", "documents/written", "documents/formats", "documents/handovers",
           "extraction_unseen",
           "extraction_unseen_2", "extraction_unseen_3", "extraction_unseen_4")  # fmt: skip
SYNTHETIC = {"reports": reports, "styles": styles,
             "heldout": heldout}  # fmt: skip
OF_SYNTHETIC, OF_A_LIST, OF_A_CELL, OF_A_SENTENCE, OF_A_MADE = 0.1, 2.0, 0.5, 1.0, 0.3
"""What a synthetic document, a listed label, a listed cell of a head, at each of its places, and a
sentence that was written and one that is made weigh; a document written by hand weighs 1."""
OF_A_PREDICATE, LONGEST, SHORTEST = 3, 12, 3
"""Sentences made of a predicate; words of a text that is made a sentence; letters of no label."""
NO_FIELD = "none"
RIDGE, STEPS, PACE = 2e-3, 400, 0.05
READ = ("words", "day", "amount", "presence", "margin", "medication")
FIELDS = (
    *(name for name, one in field_policies().items()
      if one.kind in READ and one.extent != "document" and one.labels),
    "background", "stopped", NOTHING,
)  # fmt: skip
"""The fields, what is told of other times and persons, drugs that are not taken, and what a
sentence says that is no value of any field."""
PARAGRAPHS = ("findings", "impression", "plan", "hospital_course", "follow_up", "diagnosis")
CELLS = ("institution", "modality", "date")
PLACES = ("0", "1", "2", "3", "4")
Array = NDArray[Any]


class Example(NamedTuple):
    """A unit, of which fields it is known whether it states them (1, 0; else nan), its weight."""

    held_in: str
    unit: Unit
    states: Array
    weight: float


def examples() -> list[Example]:
    """Those of all documents and lists."""
    found = [
        one
        for name in BY_HAND
        for case in read_cases(HERE / name)
        for one in of_case(name, case, 1.0)
    ]
    for name, module in SYNTHETIC.items():
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), module.reports())
            for case in read_cases(Path(folder)):
                found += of_case(name, case, OF_SYNTHETIC)
    return [*found, *_of_lists(), *_of_sentences()]


def of_case(name: str, case: Case, weight: float) -> Iterator[Example]:
    """The units of a document."""
    if case.type not in DOCUMENT_TYPES:
        return
    parts = Parts(case.text)
    golds = {field_named(field, case.type): gold for field, gold in case.fields.items()}
    known = {one: gold for one, gold in golds.items() if one in FIELDS}
    for placed in units(parts):
        states = np.full(len(FIELDS), np.nan, np.float32)
        for field, gold in known.items():
            states[FIELDS.index(field)] = found_is_wanted(gold) and _states(
                field, gold, parts, placed
            )
        if np.nansum(states) > 0 or placed.section is not None:
            # what is stated of one field is none of those that documents of the type have not
            states[np.isnan(states)] = 0.0 if np.nansum(states) > 0 else np.nan
        states[FIELDS.index(NOTHING)] = np.nan
        yield Example(name, placed.unit, states, weight)


def _states(field: str, gold: Any, parts: Parts, placed: Placed) -> bool:
    policy = field_policies()[field]
    start, end = placed.start, placed.end
    if placed.section is None and field not in (
        CELLS if placed.unit.kind == "cell" else PARAGRAPHS
    ):
        return False
    if placed.section is not None:
        found = value_under(parts, placed.section, policy)
        if found is None:
            return False
        start, end = found.start, found.end
    words = parts.text[start:end]
    if policy.kind == "medication":
        section = parts.sections[placed.section or 0]
        body = parts.text[section.start : section.end].lower()
        names = [one.name.lower() for one in entries(field, gold) if isinstance(one, Medication)]
        return sum(name in body for name in names) * 2 >= len(names) > 0
    value: Value | None = Words(text=words)
    if policy.kind == "day":
        value = next((one.value for one in days(words[:40]) if one.start < 12), None)
    elif policy.kind != "words":
        value = read_words(field, words.split("\n")[0])
    if value is None:
        return False
    item = Item(value=value, start=start, end=end)
    if compare(field, gold, FieldResult(status=Status.FOUND, items=(item,))) == 1.0:
        return True
    # a part of a long text, or the line that a short one stands in
    text, wanted = " ".join(words.lower().split()), " ".join(str(gold).lower().split())
    return (
        policy.kind == "words"
        and isinstance(gold, str)
        and len(text) > 25
        and (text in wanted and 3 * len(text) > len(wanted))
    )


def _of_sentences() -> Iterator[Example]:
    """What sentences say, each of one field or of none: those that were written, and those that are
    made of the labels of fields, what is said of any subject, and the texts of marked documents."""
    for line in SENTENCES.read_text().splitlines():
        name, _, sentence = line.partition(": ")
        yield from _of_sentence("sentences", name, sentence, OF_A_SENTENCE)
    rng = random.Random(0)
    labels = {name: _plain_labels(name) for name in FIELDS if _is_text(name)}
    for predicate in PREDICATES.read_text().splitlines():
        for name in rng.sample(sorted(labels), OF_A_PREDICATE):
            made = f"The {rng.choice(labels[name])} {predicate}."
            yield from _of_sentence("sentences", NO_FIELD, made, OF_A_MADE)
    for folder in BY_HAND:
        for case in read_cases(HERE / folder):
            for field, gold in case.fields.items():
                name = field_named(field, case.type) or ""
                if name in labels and isinstance(gold, str) and len(gold.split()) <= LONGEST:
                    joined = rng.choice(("is", "was", "is a", "was the", "is an"))
                    made = f"The {rng.choice(labels[name])} {joined} {gold.rstrip('.')}."
                    yield from _of_sentence(folder, name, made, OF_A_MADE)


def _is_text(name: str) -> bool:
    return name in field_policies() and field_policies()[name].kind == "words"


def _plain_labels(name: str) -> list[str]:
    """The labels of a field that are words of a sentence."""
    return [one for one in field_policies()[name].labels if len(one) > SHORTEST and
            one.replace(" ", "").isalpha()]  # fmt: skip


def _of_sentence(held_in: str, name: str, sentence: str, weight: float) -> Iterator[Example]:
    states = np.array([one == name for one in FIELDS], np.float32)
    states[FIELDS.index(NOTHING)] = name == NO_FIELD if name in (*FIELDS, NO_FIELD) else np.nan
    for placed in told_in(Parts(sentence + "\n")):
        yield Example(held_in, placed.unit, states, weight)


def _of_lists() -> Iterator[Example]:
    """Labels alone: those that the rubrics list, and headings in other words."""
    listed: dict[str, set[str]] = defaultdict(set)
    for line in HEADINGS.read_text().splitlines():
        name, _, told = line.partition(": ")
        for heading in told.split("; "):
            listed[heading] |= {name} & {*FIELDS}
    for name in FIELDS:
        for label in field_policies()[name].labels if name in field_policies() else ():
            listed[label].add(name)
    words = patients()
    for label in vocabulary().background | words.family_headings:
        listed[label].add("background")
    for label in words.medicines.refused_headings:
        listed[label] |= {"stopped"} - ({"stopped"} if "allergies" in listed[label] else set())
    for label, names in listed.items():
        states = np.array([one in names for one in FIELDS], np.float32)
        states[FIELDS.index(NOTHING)] = np.nan
        yield Example("lists", Unit(label, ""), states, OF_A_LIST)
    for line in HEAD_CELLS.read_text().splitlines():
        name, _, told = line.partition(": ")
        states = np.array([one == name for one in FIELDS], np.float32)
        states[FIELDS.index(NOTHING)] = np.nan
        for cell in told.split("; "):
            # over other words it is a heading, which labels none of them as itself
            yield Example("lists", Unit(cell.lower(), ""), states * 0.0, OF_A_LIST)
            for place in PLACES:
                yield Example("lists", Unit("", cell, "cell", place), states, OF_A_CELL)


def fitted(held: Sequence[Example]) -> Reader:
    """A logistic reader for each field, by Adam over all examples."""
    words, vectors = word_vectors()
    empty = np.zeros(0, np.float32)
    bare = Reader(FIELDS, words, vectors, empty, empty, empty)
    dense = np.stack([meaning(bare, one.unit) for one in held])
    sparse = np.zeros((len(held), BUCKETS), np.float32)
    for row, one in enumerate(held):
        sparse[row, indices(one.unit)] = 1.0
    matrix = np.concatenate([dense, sparse, np.ones((len(held), 1), np.float32)], axis=1)
    wanted = np.stack([one.states for one in held])
    weight = np.array([one.weight for one in held], np.float32)[:, None] * ~np.isnan(wanted)
    wanted = np.nan_to_num(wanted)
    table = np.zeros((matrix.shape[1], len(FIELDS)), np.float32)
    first, second = np.zeros_like(table), np.zeros_like(table)
    total = weight.sum(axis=0)
    for step in range(1, STEPS + 1):
        told = 1 / (1 + np.exp(-(matrix @ table)))
        slope = matrix.T @ (weight * (told - wanted)) / total + RIDGE * table / 10
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        table -= PACE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    width = dense.shape[1]
    return Reader(FIELDS, words, vectors, table[:width], table[width:-1], table[-1])


def measured(known: Reader, held: Sequence[Example], least: float) -> dict[str, list[int]]:
    """Of each field by units: rightly told, told, stated."""
    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in FIELDS}
    for one in held:
        told = read(known, one.unit)
        for at, name in enumerate(FIELDS):
            if np.isnan(one.states[at]) or name not in told:
                continue
            said, so = told[name] >= least, bool(one.states[at])
            counts[name][0] += said and so
            counts[name][1] += said
            counts[name][2] += so
    return counts


def main() -> None:
    """Print the figures, or write the reader."""
    every = examples()
    if "--write" in sys.argv:
        known = fitted(every)
        scale = np.abs(known.table).max(axis=0) / 127
        np.savez_compressed(
            TO,
            fields=np.frombuffer("\n".join(FIELDS).encode(), np.uint8),
            means=known.means.astype(np.float16),
            table=np.rint(known.table / scale).astype(np.int8),
            scale=scale,
            bias=known.bias,
        )
        print(f"{len(every)} units, {TO.stat().st_size} bytes")
        return
    totals: dict[str, list[int]] = {name: [0, 0, 0] for name in FIELDS}
    for name in BY_HAND:
        known = fitted([one for one in every if one.held_in != name])
        for field, counts in measured(known, [o for o in every if o.held_in == name], 0.5).items():
            totals[field] = [a + b for a, b in zip(totals[field], counts, strict=True)]
    for field, (right, told, stated) in totals.items():
        print(f"{field:26} {right:4} right of {told:4} told, {stated:4} stated")
    right, told, stated = map(sum, zip(*totals.values(), strict=True))
    print(f"precision {right / told:.3f}, recall {right / stated:.3f}")


if __name__ == "__main__":
    main()
