"""Which sentences of a stored version may become claims. Pure."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from clinical_text.instructions import (
    addresses_reader,
    announces,
    outside_enclosures,
    without_instructions,
)
from contracts.retrieval import Found
from knowledge.loader import load
from knowledge.works.anchors import trial_of
from knowledge.works.links import written
from store.core.spans import Span, sentences_of
from workers.generate.facets import is_left_out, states
from workers.generate.findings import Finding, finding
from workers.generate.snippets import Version
from workers.generate.wording import is_whole, leans, may_be_value

_GAP = re.compile(r"[^\S\n]{0,4}\n?[^\S\n]{0,4}")
_MOST_BEFORE = 2
_LIMITS = ("limitation", "open_question")


@dataclass  # frozen, each of a question's hundreds would take three times as long to make
class Candidate:
    """A quotation that may become a claim, with what it is judged by.

    `text` is one sentence, or several that follow each other where the last leans on the others.
    """

    evidence_id: str
    source_type: str
    text: str
    title: str
    passage_score: float
    publication_type: str | None = None
    section: str = ""
    """The title of the part it stands in."""
    named: str = ""
    """The identifiers of its document, as people write them, and the trial that it reports."""
    publisher: str = ""
    whole: str = field(default="", repr=False)
    """The text that it stands in; a short one without what speaks to a program."""
    found: bool = True
    """Whether it stands in a passage that was retrieved; otherwise it only adds details."""
    asked_for: bool = False
    """Whether the question names the work it stands in."""
    is_value: bool = False
    """Whether it says something only under its heading: "Completed." under "Status"."""
    sentences: tuple[str, ...] = field(default=(), repr=False)
    """Those of `text`, one by one, behind one that announces them."""

    @cached_property
    def speaks_to_program(self) -> bool:
        """Whether it holds, or was announced by, words for the program that reads it. Asked of the
        few that are wanted: it takes longer than to score them all."""
        return any(map(addresses_reader, {self.text, self.title, *self.sentences}))

    @cached_property
    def finding(self) -> Finding:
        """What it reports."""
        return finding(self.text)


_LONG = 5_000
"""Characters of a text of which fewer are kept: a label has twenty times those of an abstract."""


@dataclass(frozen=True)
class _Source:
    """What the lines of a version depend on: never the question."""

    text: str
    structure: Mapping[str, Any] = field(hash=False)
    source_type: str
    publication_type: str | None


@dataclass
class _Line:
    """A sentence that can be shown, and its quotation."""

    source: _Source = field(repr=False)
    last: Span
    """The place of the sentence itself."""
    start: int
    """Where its quotation begins: with what it leans on."""
    text: str
    section: str
    sentences: tuple[str, ...]
    is_value: bool = False
    """Whether it is no sentence, and says something under its heading alone."""

    @cached_property
    def is_detail(self) -> bool:
        """Whether it is wanted, outside the passages too, for what it states of its document."""
        return _is_detail(self.source, self.text, self.section)


def candidates_of(entry: Found, version: Version) -> list[Candidate]:
    """The candidates of one document: what was found in it, and what it states of itself anywhere.

    Some may speak to a program: they must be asked before they are shown.

    Args:
        entry: the retrieval's evidence entry for the version; of a long one only the passages count
            as found.
    """
    text = version.text
    passages = [(one.start, one.end) for one in entry.passages]
    is_read_whole = len(text) <= load("questions/answers")["whole_chars"]
    named, publisher = _called(version.identifiers), version.publisher or ""
    found: list[Candidate] = []
    source = _Source(text, version.structure, version.source_type, version.publication_type)
    whole = _without_orders(source) if is_read_whole else text
    for line in _lines(source):
        if line.is_value and not entry.named:
            continue
        inside = is_read_whole or _inside(line.last, passages)
        if not inside and not line.is_detail:
            continue
        found.append(
            Candidate(
                evidence_id=entry.evidence_id,
                source_type=version.source_type,
                text=line.text,
                title=version.title,
                named=named,
                passage_score=entry.worth,
                publication_type=version.publication_type,
                section=line.section,
                publisher=publisher,
                whole=whole,
                found=inside,
                sentences=line.sentences,
                asked_for=entry.named,
                is_value=line.is_value,
            )
        )
    return found


def _called(identifiers: Mapping[str, str]) -> str:
    return f"{written(identifiers)} {trial_of(identifiers)}".strip()


def _lines(source: _Source) -> tuple[_Line, ...]:
    """The sentences of a version that can be shown, in order, but for parts that are left out."""
    return _of_long(source) if len(source.text) > _LONG else _of_short(source)


def _read_lines(source: _Source) -> tuple[_Line, ...]:
    text, sections = source.text, source.structure["sections"]
    places = outside_enclosures(text, sentences_of(source.structure))
    starts = [section["start"] for section in sections]
    pieces = [_Piece(place, place.of(text)) for place in places]
    found = []
    for number, last in enumerate(pieces):
        first = _first(text, pieces, number)
        of_value = first is None and not pieces[number].is_whole and may_be_value(last.words)
        if of_value:
            first = number
        if first is None:
            continue
        start = pieces[first].place.start
        quote = last.words if first == number else text[start : last.place.end]
        section = _title_at(sections, starts, last.place.start)
        if (section or not of_value) and not is_left_out(quote, section, source.source_type):
            announced = first > 0 and announces(pieces[first - 1].words)
            said = tuple([one.words for one in pieces[first - announced : number + 1]])
            found.append(_Line(source, last.place, start, quote, section, said, of_value))
    return tuple(found)


# Much is asked of few works, and what a version says never changes.
_of_short, _of_long = lru_cache(maxsize=512)(_read_lines), lru_cache(maxsize=64)(_read_lines)


@lru_cache(maxsize=512)
def _without_orders(source: _Source) -> str:
    """The text without its sentences for a program: they name nothing that a work has, and no line
    answers the better for them."""
    text, sentences = source.text, sentences_of(source.structure)
    kept = without_instructions(text, sentences)
    if kept == list(sentences):
        return text
    parts, at, number = list[str](), 0, 0
    for one in sentences:
        parts.append(text[at : one.start])
        while number < len(kept) and kept[number].end <= one.end:
            parts.append(kept[number].of(text))
            number += 1
        at = one.end
    return "".join((*parts, text[at:]))


class _Piece:
    """A sentence of a text, read once for itself and for those behind it that lean on it."""

    def __init__(self, place: Span, words: str) -> None:
        self.place, self.words = place, words
        self.is_whole = is_whole(words)
        self.leans = self.is_whole and leans(words)


def _first(text: str, pieces: Sequence[_Piece], number: int) -> int | None:
    """Where a sentence's quotation begins: with what it leans on; None if that cannot be shown."""
    end, most = pieces[number].place.end, load("questions/answers")["most_chars"]
    for at in range(number, max(-1, number - _MOST_BEFORE - 1), -1):
        first = pieces[at]
        start = first.place.start
        if not first.is_whole or end - start > most:
            return None
        if not first.leans:
            return at
        if at == 0 or not _GAP.fullmatch(text[pieces[at - 1].place.end : start]):
            return None
    return None


def _inside(span: Span, passages: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span.start and span.end <= end for start, end in passages)


def _title_at(sections: Sequence[Mapping[str, Any]], starts: Sequence[int], place: int) -> str:
    at = bisect_right(starts, place) - 1
    return str(sections[at]["title"]) if 0 <= at < len(sections) else ""


def _is_detail(version: _Source, sentence: str, section: str) -> bool:
    """Whether a sentence outside the passages is wanted for what it states of its document."""
    wanted: tuple[str, ...] = ()
    if version.source_type == "clinicaltrials":
        wanted = ("name", "primary_result", *load("questions/answers")["particulars"])
    elif version.source_type in load("questions/answers")["sections"]["guidelines"][0]["sources"]:
        wanted = ("category", "version")
    elif "trial" in (version.publication_type or "").lower():
        wanted = ("identity", "name", "enrollment", "endpoint")
    return any(states(name, sentence, section) for name in (*wanted, *_LIMITS))
