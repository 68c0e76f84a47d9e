"""What a pasted text states: its sentences with the quotations and identifiers in them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.loader import load
from store.index.terms import term_set
from store.spans import Span
from workers.reading.identifiers import identifiers, spans_of_identifiers
from workers.reading.structure import segment
from workers.verify.marks import quotations

_MARKER = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
"""A citation such as [3], [1, 2] or [4-6]."""
_ENTRY = re.compile(r"^\s*(?:\[(?P<square>\d{1,3})\]|(?P<plain>\d{1,3})[.)])\s+(?=\S)")
_LABEL = re.compile(r"(?:\b(?:PMCIDs?|DOIs?|identifier|number|no\.?|registered as))?[\s:#]*$", re.I)
"""What introduces an identifier."""
_EMPTY = re.compile(r"\s*[(\[][\s:;,.]*[)\]]")
"""Brackets that held nothing but identifiers."""
_BEFORE_STOP = re.compile(r"\s+([.,;:])")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_MOST_OF_A_RANGE = 50


@dataclass(frozen=True)
class Statement:
    """A sentence at `[start, end)` of the pasted text.

    `words` are the sentence without its citation markers; `names` the identifiers in it and, by its
    markers, those of the references at the end of the text. What `claims` nothing (a heading, a
    question, an entry of the list of references) is not judged.
    """

    statement_id: str
    start: int
    end: int
    words: str
    quotations: tuple[Span, ...]
    identifiers: tuple[str, ...]
    cited: tuple[str, ...]
    claims: bool


class TooLong(ValueError):
    """A text has more sentences than are checked at once."""


def statements(text: str) -> list[Statement]:
    """The sentences of `text`, in order.

    Raises:
        TooLong: there are more than `knowledge/verifying.yaml` allows.
    """
    entries = _references(text)
    found: list[Statement] = []
    for span in segment(text).sentences:
        sentence = span.of(text)
        own = tuple(sorted(identifiers(sentence)))
        words = " ".join(_MARKER.sub("", sentence).split())
        is_reference = any(entry.place.start <= span.start < entry.place.end for entry in entries)
        found.append(
            Statement(
                statement_id=f"s{len(found) + 1}",
                start=span.start,
                end=span.end,
                words=words,
                quotations=tuple(
                    Span(span.start + inner.start, span.start + inner.end)
                    for inner in quotations(sentence)
                ),
                identifiers=own,
                cited=() if is_reference else _cited(sentence, own, entries),
                claims=_claims(words) and not is_reference,
            )
        )
    most = int(load("verifying")["statements"])
    if len(found) > most:
        raise TooLong(f"the text has {len(found)} sentences; at most {most} are checked at once")
    return found


def plain(words: str) -> str:
    """A statement without the identifiers in it: what is left is judged by its content."""
    kept, at = [], 0
    for start, end in spans_of_identifiers(words):
        kept.append(_LABEL.sub("", words[at:start]))
        at = end
    bare = _EMPTY.sub("", "".join([*kept, words[at:]]))
    return _BEFORE_STOP.sub(r"\1", " ".join(bare.split()))


def _claims(words: str) -> bool:
    """Whether a sentence states something that could be true or false."""
    least = int(load("verifying")["least_terms"])
    heading = words.lstrip().startswith("#") or words.endswith((":", "?"))
    return not heading and len(term_set(plain(words))) >= least


@dataclass(frozen=True)
class _Entry:
    """A numbered entry of a list of references that bears an identifier."""

    number: str
    place: Span
    identifiers: tuple[str, ...]


def _references(text: str) -> list[_Entry]:
    """The entries of the list of references; each ends at the next one or at an empty line."""
    begun: list[tuple[str, int, int]] = []
    at, is_open = 0, False
    for line in text.splitlines(keepends=True):
        match = _ENTRY.match(line)
        if match:
            begun.append((match["square"] or match["plain"], at, at + len(line)))
            is_open = True
        elif not line.strip():
            is_open = False
        elif is_open:
            number, start, _ = begun[-1]
            begun[-1] = (number, start, at + len(line))
        at += len(line)
    entries = [
        _Entry(number, Span(start, end), tuple(sorted(identifiers(text[start:end]))))
        for number, start, end in begun
    ]
    return [one for one in entries if one.identifiers]


def _cited(sentence: str, own: Sequence[str], entries: Sequence[_Entry]) -> tuple[str, ...]:
    """The identifiers that a sentence cites: its own, and those of the entries its markers name."""
    numbers = {number for found in _MARKER.findall(sentence) for number in _numbers(found)}
    named = [name for one in entries if one.number in numbers for name in one.identifiers]
    return tuple(dict.fromkeys([*own, *named]))


def _numbers(marker: str) -> list[str]:
    """The numbers that a marker names, ranges spelled out."""
    found: list[str] = []
    for part in re.split(r"[,;]", marker):
        both = _RANGE.fullmatch(part.strip())
        if both is None:
            found.append(part.strip())
        else:
            first, last = int(both[1]), int(both[2])
            found += [str(n) for n in range(first, min(last, first + _MOST_OF_A_RANGE) + 1)]
    return found
