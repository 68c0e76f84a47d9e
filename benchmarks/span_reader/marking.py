"""Documents with the words that state their fields: marked by hand, or found by their gold."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cli.evaluate.extraction_cases import Case, read_cases
from workers.extract.fields import FieldResult, Found, Item, Status
from workers.extract.gold import compare, found_is_wanted
from workers.extract.parts import Parts
from workers.extract.rubrics import DOCUMENT_TYPES, field_named, field_policies, rubric
from workers.extract.rules.choosing import extract_field
from workers.extract.rules.reading import read_document
from workers.extract.rules.texts.numbers import days
from workers.extract.span_reader import TAGS

HERE = Path(__file__).parent
WITH_GOLD = (
    *(f"documents/{one}" for one in
      ("development", "exports", "formats", "handovers", "layouts", "written")),
    "extraction_unseen", "extraction_unseen_2", "extraction_unseen_3", "extraction_unseen_4",
)  # fmt: skip
"""Folders of benchmarks/ that are learned; no other is read."""
MARKED = ("written_1", "written_2", "written_3")
"""Folders of documents with marks, none of them at entries of lists."""
MARKED_WITH_LISTS = (
    "written_4",
    "written_5",
    "written_6",
    "written_7",
    "written_8",
    "written_9",
    "written_10",
    "written_11",
    "written_12",
    "written_13",
    "written_14",
)
"""Those with marks at each entry, too."""
_MARK = re.compile(r"\[\[([a-z_]+):|\]\]")
_HEAD = re.compile(r"(?m)^=====(?:TYPE=====)?([a-z-]+)(?:=====)?[ \t]*\n")
_MOST_PLACES = 3
"""Other places of one value that are looked at (ours)."""
_LONGER, _ROOM = 3, 10
"""The rules' words are the value's place if they are not so many times as long, and characters."""


_One = TypeVar("_One")


class Span(NamedTuple):
    """Words at `[start, end)` that state a field; `sure`: or may, and are then not learned."""

    field: str
    start: int
    end: int
    sure: bool = True


@dataclass(frozen=True)
class Marked:
    """A document, and what is known of it; of a field that is not `known` nothing is learned."""

    text: str
    type: str
    spans: Sequence[Span]
    known: frozenset[str]


def every(left_out: int | None = None) -> Iterator[Marked]:
    """All that is learned.

    Args:
        left_out: 0 or 1: not every second document of a folder, from the first or the second on.
    """
    for folder in WITH_GOLD:
        yield from map(by_gold, learned(read_cases(HERE.parent / folder), left_out))
    for folder in (*MARKED, *MARKED_WITH_LISTS):
        yield from learned(marked(folder), left_out)


def marked(folder: str) -> Iterator[Marked]:
    """The documents of a folder with marks, in their order."""
    for path in sorted((HERE / folder).glob("*.txt")):
        yield from by_hand(path.read_text("utf-8"), lists=folder in MARKED_WITH_LISTS)


def learned(documents: Iterable[_One], left_out: int | None) -> Iterator[_One]:
    """Of a folder's documents those that are learned."""
    return (one for n, one in enumerate(documents) if left_out is None or n % 2 != left_out)


def by_hand(written: str, *, lists: bool) -> Iterator[Marked]:
    """Documents whose values stand in `[[field:words]]`, each behind a line with its type.

    Args:
        lists: entries of lists are marked, too.

    Raises:
        ValueError: brackets do not balance.
    """
    pieces = _HEAD.split(written)
    for kind, body in zip(pieces[1::2], pieces[2::2], strict=True):
        text, at = "", 0
        begun: list[tuple[str, int]] = []
        spans = []
        for mark in _MARK.finditer(body := body.strip("\n") + "\n"):
            text += body[at : mark.start()]
            at = mark.end()
            if mark[1]:
                begun.append((mark[1], len(text)))
            elif not begun:
                raise ValueError(f"a mark ends that did not begin: {body[:80]}")
            else:
                field, start = begun.pop()
                spans.append(Span(field, start, len(text)))
        if begun:
            raise ValueError(f"a mark does not end: {body[:80]}")
        spans = [one for one in spans if one.field in TAGS and one.end > one.start]
        known = (one for one in tags_of(kind) if lists or not field_policies()[one].many)
        yield Marked(text + body[at:], kind, spans, frozenset(known))


def tags_of(kind: str) -> list[str]:
    """The fields of a type of document that are read."""
    return [one for one in rubric(kind).fields if one in TAGS] if kind in DOCUMENT_TYPES else []


def by_gold(case: Case) -> Marked:
    """A document whose gold has values without their places."""
    kind, parts = case.types[0], Parts(case.text)
    spans: list[Span] = []
    known: set[str] = set()
    for name, gold in case.fields.items():
        field = field_named(name, kind)
        if field is None or field not in TAGS:
            continue
        many = field_policies()[field].many
        if not found_is_wanted(gold):
            if gold is None or gold in ([], {}):
                known.add(field)
        elif not many and (placed := _of_one(field, gold, parts)):
            spans += placed
            known.add(field)
    return Marked(case.text, kind, spans, frozenset(known))


def _of_one(field: str, gold: Any, parts: Parts) -> list[Span]:
    """Where the value stands: where the rules read it, if they are right, else wherever it does."""
    places = _places(field, gold, parts)
    read = extract_field(field, parts)
    if not _is_right(field, gold, read):
        return [Span(field, *one) for one in places[:_MOST_PLACES]]
    own = (read.items[0].start, read.items[0].end)
    if field_policies()[field].kind == "words" and places:
        own = own if own[1] - own[0] <= _LONGER * len(str(gold)) + _ROOM else places[0]
    others = [one for one in places if one[1] <= own[0] or own[1] <= one[0]]
    return [Span(field, *own), *(Span(field, *one, False) for one in others[:_MOST_PLACES])]


def _is_right(field: str, gold: Any, read: FieldResult) -> bool:
    return read.status is Status.FOUND and bool(read.items) and compare(field, gold, read) == 1.0


def _places(field: str, gold: Any, parts: Parts) -> list[tuple[int, int]]:
    """Everywhere that words state the value."""
    kind = field_policies()[field].kind
    if kind == "words":
        return _words(str(gold), parts.text)
    if kind == "amount":
        number = re.search(r"\d+(?:[.,]\d+)?", str(gold))
        if number is None:
            return []
        pattern = rf"(?<![\d.]){re.escape(number[0])}(?!\d|\.\d)"
        return [one.span() for one in re.finditer(pattern, parts.text)]
    found = days(parts.text) if kind == "day" else read_document(field, parts)
    return [(one.start, one.end) for one in found if _states(field, gold, one)]


def _states(field: str, gold: Any, one: Found) -> bool:
    items = (Item(value=one.value, start=one.start, end=one.end),)
    return compare(field, gold, FieldResult(status=Status.FOUND, items=items)) == 1.0


def _words(name: str, text: str) -> list[tuple[int, int]]:
    words = re.findall(r"\w+", name)
    if not words:
        return []
    pattern = r"(?<!\w)" + r"\W{1,6}".join(map(re.escape, words)) + r"(?!\w)"
    return [one.span() for one in re.finditer(pattern, text, re.IGNORECASE)]
