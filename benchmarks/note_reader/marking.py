"""What the trained layers learn of a text: the words that name a problem, and each unit's act."""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.note_reader.data import (
    CODES,
    Lines,
    Place,
    acts_of,
    composed,
    named,
    whole,
    written,
)
from benchmarks.notes_marked.marks import Marked, Statement
from clinical_text.assertion.marks import Assertion
from clinical_text.doc import doc
from clinical_text.names import names
from store.core.spans import Span
from workers.encoder.tokens import Tokens, tokens_of
from workers.summarize.note_reader import stretches, token_places
from workers.summarize.persons import is_of_a_relative
from workers.summarize.sections import outline

_FORMS = ("headed", "labelled", "plain", "prose")
_NOT_HIS = frozenset({Assertion.NEGATED, Assertion.OTHER})
_TELLING, _STATING = "hmaks", "ks"
_OPEN = 0.15
"""Weight of words of a line that may name a problem which its marks do not have (ours)."""
_SPREAD = 8
"""Words within which those of one name may stand apart (ours)."""


class Example(NamedTuple):
    """Tokens that are read together; of each, whether it is of a problem's name (0 or 1) and how
    much that counts; the first token of each unit, the one behind its last, and its act."""

    tokens: Tokens
    tags: list[float]
    weights: list[float]
    units: list[tuple[int, int, int]]


class Marks(NamedTuple):
    """Of a text: places that name a problem, and those that count less, with their weights."""

    named: list[tuple[int, int]]
    less: list[tuple[int, int, float]]


Forms = list[list[Example]]
"""The forms of a text, one of which is learned at a time, each in its stretches."""


def examples(*, held_out: bool = False) -> Iterator[Forms]:
    """Every text that is learned; `held_out`: the notes that are kept back instead."""
    for note in whole(held_out=held_out):
        acts = dict(acts_of(note, outline(note.text)))
        yield [list(_cut(note.text, marks_of(note), acts))]
    if held_out:
        return
    for lines, places in named():
        yield _forms(lines, places, set())
    for _, lines in written():
        places, unsure = _found_in(lines)
        yield _forms(lines, places, unsure)


def _found_in(lines: Lines) -> tuple[list[list[tuple[int, int]]], set[int]]:
    """Where each line of a fragment names a problem that a line of problems of it has, and the
    lines that may name others."""
    known = _known_names()
    own = {one[0].casefold() for code, words in lines if code == "k"
           for one in known.finditer(words)}  # fmt: skip
    places, unsure = list[list[tuple[int, int]]](), set[int]()
    for n, (code, words) in enumerate(lines):
        found = [one.span() for one in known.finditer(words)]
        if code not in _STATING:
            found = [one for one in found if words[slice(*one)].casefold() in own]
            if found and not (code in _TELLING and all(_is_his(words, one) for one in found)):
                unsure.add(n)
                found = []
        elif code == "s" or not found:
            unsure.add(n)
        places.append(found)
    return places, unsure


def _forms(lines: Lines, held: Sequence[Sequence[tuple[int, int]]], unsure: Set[int]) -> Forms:
    forms = []
    for form in _FORMS:
        text, places = composed(lines, form)
        marks = Marks([], [])
        for place in places:
            marks.named.extend(
                (place.words + start, place.words + end) for start, end in held[place.line]
            )
            if place.line in unsure:
                marks.less.append((place.start, place.end, _OPEN))
        forms.append(list(_cut(text, marks, _acts(text, places))))
    return forms


def _acts(text: str, places: Sequence[Place]) -> dict[int, int]:
    found = {}
    for n, unit in enumerate(outline(text).units):
        for place in places:
            if min(unit.end, place.end) - max(unit.start, place.start) > 0.6 * (
                unit.end - unit.start
            ):
                found[n] = list(CODES).index(place.code)
                break
    return found


def _cut(text: str, marks: Marks, acts: dict[int, int]) -> Iterator[Example]:
    """A text as the reader reads it, in its stretches."""
    tokens = tokens_of(text)
    units = [Span(one.start, one.end) for one in outline(text).units]
    places = token_places(tokens, units)
    tags, weights = [0.0] * len(tokens.ids), [1.0] * len(tokens.ids)
    for start, end, weight in marks.less:
        for n, (first, last) in enumerate(tokens.places):
            if first < end and start < last:
                weights[n] = weight
    for start, end in marks.named:
        for n, (first, last) in enumerate(tokens.places):
            if first < end and start < last:
                tags[n], weights[n] = 1.0, 1.0
    for first, last in stretches(tokens, units):
        held = [
            (max(start, first) - first, min(end, last) - first, acts[n])
            for n, (start, end) in enumerate(places)
            if n in acts and start < last and first < end and start < end
        ]
        yield Example(
            tokens.stretch(first, last - first), tags[first:last], weights[first:last], held
        )


def marks_of(note: Marked) -> Marks:
    """Where a whole note names the problems that it is marked with."""
    found = Marks([], [])
    for problem in note.problems:
        for name in problem.split("/"):
            for one in places_of(name, note.text):
                place = _statement(note, one)
                sure = place is not None and _tells(place) and _is_his(note.text, one, place)
                if sure:
                    found.named.append(one)
                else:
                    found.less.append((*one, 0.0))
    for statement in note.statements:
        if "key_problems" in statement.lists:
            words = note.text[statement.start : statement.end]
            found.less.extend(
                (statement.start + one.start, statement.start + one.end, 0.0)
                for one in names(words) if "disease" in one.kinds
            )  # fmt: skip
    return found


def places_of(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a name stand in a text: one behind the other, else within a few words."""
    words = re.findall(r"\w+", name)
    if not words:
        return
    pattern = r"\W{1,3}".join(map(re.escape, words))
    found = [one.span() for one in re.finditer(rf"(?i)(?<!\w){pattern}\w{{0,3}}", text)]
    if not found and len(words) > 1:
        gap = rf"(?:\W{{1,3}}\w+){{0,{_SPREAD}}}?\W{{1,3}}"
        for order in (words, words[::-1]):
            apart = gap.join(map(re.escape, order))
            found += [one.span() for one in re.finditer(rf"(?i)(?<!\w){apart}", text)]
    yield from found


def _statement(note: Marked, place: tuple[int, int]) -> Statement | None:
    return next(
        (one for one in note.statements if one.start < place[1] and place[0] < one.end), None
    )


def _tells(one: Statement) -> bool:
    """Whether a statement tells of the patient, and orders or finds nothing."""
    return not one.urgency and bool(
        one.lists
        & {"key_problems", "patient_snapshot", "assessment", "pertinent_history",
           "medicines_allergies"}
    )  # fmt: skip


def _is_his(text: str, place: tuple[int, int], within: Statement | None = None) -> bool:
    start, end = (within.start, within.end) if within else (0, len(text))
    words = text[start:end]
    reading = doc(words).reading(max(0, place[0] - start), min(end, place[1]) - start)
    return not reading.marks & _NOT_HIS and not is_of_a_relative(words)


@cache
def _known_names() -> re.Pattern[str]:
    """The names of the problems of `written_*.txt`, marked in their lines of problems."""
    path = Path(__file__).parent / "problem_names.txt"
    every = {one.strip() for one in re.split(r"[;\n]", path.read_text("utf-8")) if one.strip()}
    longest = sorted(map(re.escape, every), key=len, reverse=True)
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(longest)})(?!\w)")
