"""What kind of clinical document a text is, and its parts where it is several. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from clinical_text.layouts.plain import plain_view
from clinical_text.persons import people
from knowledge.loader import load
from workers.extract.document_types import UNKNOWN, features_of, type_of, type_reader
from workers.extract.parts import Parts, plain_lines
from workers.extract.rubrics import DOCUMENT_TYPES, any_of, field_policies, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.texts.words import examinations, institutions
from workers.extract.scanned import unscanned

_NARRATIVE = frozenset(["discharge-summary", "clinical-notes", "surgical-notes"])
"""These quote other reports under headings of one word, and stay one document."""
_WHOLE_DOCUMENT = re.compile(r"(?i)\b(?:report|summary|note|notes|prescription|letter|order)\b")
_MOST_PIECES = 200
"""Titled stretches that are looked at one by one (ours); what is behind them is one rest."""
_MOST_JOINED = 20
"""Stretches that are no document of their own, joined to one before it counts as one (ours)."""
_LEAST_PART = 60
"""Characters below which a titled stretch is no document of its own (ours)."""


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    head_lines: int
    title_weight: float
    most_parts: int = Field(ge=1)
    head_sure: float
    titles: Mapping[str, tuple[str, ...]]


class Part(NamedTuple):
    """A stretch of a document that is of one type."""

    document_type: str
    start: int
    end: int
    person: int = 0
    """Which of the patients it is of, where there are several."""
    rest: bool = False
    """Whether it is all that was left when no more parts were made: of several documents."""


class Classification(NamedTuple):
    """The type, how sure that is (0-1), and the parts; several parts: a composite."""

    document_type: str
    confidence: float
    parts: Sequence[Part]

    @property
    def is_composite(self) -> bool:
        """Whether it is more than one document."""
        return len(self.parts) > 1


@cache
def _policy() -> _Policy:
    found = _Policy.model_validate(load("rubrics/classification"))
    if set(found.titles) != set(DOCUMENT_TYPES) - {UNKNOWN}:
        raise ValueError("classification.yaml does not list the types of documents that there are")
    return found


def classify(text: str) -> Classification:
    """The type of a document by its words; "unknown" where too few of them are there."""
    text = unscanned(plain_view(plain_lines(text)).text)
    whole = _type_of(text)
    parts = _parts(text, whole[0])
    if len(parts) > 1:
        kinds = list(dict.fromkeys(one.document_type for one in parts))
        return Classification("+".join(kinds), 0.9, parts)
    return Classification(whole[0], whole[1], [Part(whole[0], 0, len(text))])


def kind_of(text: str) -> tuple[str, float]:
    """The one type that the words of a text are most of, and how sure that is, 0-1."""
    return _type_of(text)


def as_type(text: str, document_type: str) -> Classification:
    """The document as one of the type that somebody said it is.

    Raises:
        ValueError: there is no such type.
    """
    if document_type not in DOCUMENT_TYPES:
        raise ValueError(f"there is no document type {document_type}")
    return Classification(document_type, 1.0, [Part(document_type, 0, len(text))])


def _type_of(text: str) -> tuple[str, float]:
    """The type by all words; a title in the first lines counts beside them."""
    policy = _policy()
    likeness = type_reader().likeness(features_of(text))
    head = _without_places("\n".join(text.strip().splitlines()[: policy.head_lines]))
    for name in {name for line in head.splitlines() for name in _titles(line)}:
        likeness[name] += policy.title_weight
    if any(True for _ in examinations(text)):
        likeness["radiology"] += policy.title_weight
    return type_of(likeness)


def _without_places(head: str) -> str:
    """The first lines without the names of places: a pathology service titles no report."""
    kept, at = [], 0
    for one in sorted(institutions(head), key=lambda one: one.start):
        start, end = max(at, one.start), max(at, one.end)
        kept += [head[at:start], " " * (end - start)]
        at = end
    return "".join((*kept, head[at:]))


@cache
def _title_lines() -> Mapping[str, re.Pattern[str]]:
    return {name: any_of(titles) for name, titles in _policy().titles.items()}


def _titles(line: str) -> list[str]:
    """The types that a line is a title of: it holds a title and little else."""
    bare = line.strip(" \t#*=-_:|>[]").strip()
    if not bare or len(bare) > 80 or re.search(r"[.;?!]\s|[.;]$", bare):
        return []
    found = []
    for name, pattern in _title_lines().items():
        match = pattern.search(bare)
        if match and len(bare) - len(match.group()) <= 30 and ":" not in bare[match.end() :][:40]:
            found.append((len(match.group()), name))
    longest = max((length for length, _ in found), default=0)
    return [name for length, name in found if length == longest]


def _parts(text: str, whole: str) -> list[Part]:
    """The document cut at the titles of documents in it, and where another patient's begins.

    The parts hold every character once; one part where there is one title and one patient.
    """
    titles = list(_title_marks(text, whole))
    persons = people(text, [at for at, _ in titles])
    if len({name for _, name in titles}) < 2 and len(persons) < 2:
        return []
    pieces, more = _pieces(text, titles, persons, whole), []
    if len(pieces) > _MOST_PIECES:
        pieces, more = pieces[:_MOST_PIECES], [_rest(text, pieces, _MOST_PIECES)]
    parts = [*_joined(text, pieces), *more]
    most = _policy().most_parts
    if len(parts) > most:
        parts = [*parts[: most - 1], _rest(text, parts, most - 1)]
    return parts if len(parts) > 1 else []


def _rest(text: str, parts: Sequence[Part], first: int) -> Part:
    """The parts from one on as one; of several patients, it is of none of the others."""
    left = parts[first:]
    persons = {one.person for one in left}
    person = left[0].person if len(persons) == 1 else max(one.person for one in parts) + 1
    kind = left[0].document_type
    if len({one.document_type for one in left}) > 1:
        kind, _ = _type_of(text[left[0].start :])
    return Part(kind, left[0].start, len(text), person, rest=True)


def _title_marks(text: str, whole: str) -> Iterator[tuple[int, str]]:
    """Where lines stand that are the title of a document, and of which type."""
    for match in re.finditer(r"[^\n]+", text):
        line = match.group()
        titles = _titles(line)
        if len(titles) != 1:
            continue
        if _WHOLE_DOCUMENT.search(line) or (whole not in _NARRATIVE and _decorated(line)):
            yield match.start(), titles[0]


def _pieces(
    text: str, titles: Sequence[tuple[int, str]], persons: Sequence[tuple[int, int]], whole: str
) -> list[Part]:
    """The text cut wherever type or patient changes; a head is of the first title's type."""
    first = titles[0] if titles else (0, whole)
    marks: list[tuple[int, str, int]] = [(0, _type_of_head(text, first), 0)]
    places = sorted({at for at, _ in titles} | {at for at, _ in persons})
    named, whose = dict(titles), dict(persons)
    for at in places:
        name, person = named.get(at, marks[-1][1]), whose.get(at, marks[-1][2])
        if (name, person) != marks[-1][1:]:
            marks.append((at, name, person))
    bounds = [*(at for at, _, _ in marks), len(text)]
    every = [
        Part(name, bounds[index], bounds[index + 1], person)
        for index, (_, name, person) in enumerate(marks)
    ]
    return [one for one in every if one.start < one.end]


def _type_of_head(text: str, first: tuple[int, str]) -> str:
    """The type of what stands before the first title: its own where it is long and sure."""
    if first[0] < _LEAST_PART * 8:
        return first[1]
    kind, sure = _type_of(text[: first[0]])
    return kind if kind != "unknown" and sure >= _policy().head_sure else first[1]


def _joined(text: str, pieces: Sequence[Part]) -> list[Part]:
    """The pieces; those that are no document of their own joined to one of the same patient."""
    out: list[Part] = []
    waiting: Part | None = None
    joined = 0
    for piece in pieces:
        one = piece
        if waiting is not None and waiting.person == one.person:
            one, joined = one._replace(start=waiting.start), joined + 1
        elif waiting is not None:
            out.append(waiting)
            joined = 0
        waiting = None
        alone = joined >= _MOST_JOINED or _stands_alone(text, one)
        held = out[-1] if out and out[-1].person == one.person else None
        if held is not None and (held.document_type == one.document_type or not alone):
            out[-1] = held._replace(end=one.end)
        elif alone:
            out.append(one)
        else:
            waiting = one
    return out if waiting is None else [*out, waiting]


def _stands_alone(text: str, part: Part) -> bool:
    """Whether a titled stretch is a document of its own: long, or with values of its type."""
    if part.end - part.start >= _LEAST_PART and _supported(text, part):
        return True
    parts, wanted = parts_of(text, part), rubric(part.document_type)
    return any(
        extract_field(field, parts).items
        for field in wanted.required + wanted.important
        if field_policies()[field].kind not in ("words", "day")
    )


def _decorated(line: str) -> bool:
    bare = line.strip()
    return bool(re.search(r"[=#*_-]{2,}", bare)) and bare.upper() == bare


def _supported(text: str, part: Part) -> bool:
    """Whether the words of a part are of its title's type, too."""
    return _type_of(text[part.start : part.end])[0] == part.document_type


def parts_of(text: str, part: Part) -> Parts:
    """The words of a part, with their sections; places count from the part's start."""
    start, end = part.start, part.end
    if end - start == len(text):
        return Parts(text)
    return Parts(text[start:end], plain_view(plain_lines(text)).part(start, end))
