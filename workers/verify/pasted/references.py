"""Which lines of a pasted text only name a source. Pure.

A numbered line with an identifier may be a reference or a statement: "1. The drug cured all
patients (PMID: 1)". So a line is a reference by its form, and by where it stands: under a heading
of references, where a citation marker points to it, or among lines of that form that end the text.
What follows the name of the source on such a line, and tells something, is no part of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from clinical_text.identifiers import identifiers, spans_of_identifiers
from knowledge.loader import load
from store.core.spans import Span
from workers.verify.pasted.markup import LIST_MARK, bare, number_of
from workers.verify.pasted.stating import names_as_a_title

_LONGEST_NAMES = 600  # characters in which the names of the authors are looked for
_UPPER = "A-ZÀ-ÖØ-ÞŁŚŠŽČĆĐŐŰĞİ"
_GIVEN = rf"[{_UPPER}][\w'’-]{{1,40}}"
_PARTICLE = r"(?i:van|von|de|der|den|la|le|di|da|dos|del|el|al|ten|ter)[ -]"
_SURNAME = rf"(?:{_PARTICLE}){{0,4}}{_GIVEN}(?:[ -]{_GIVEN})?"
_INITIALS = rf"(?:[{_UPPER}]\.?[ -]?){{1,4}}(?!\w)"
_AUTHOR = rf"(?:{_SURNAME},?\s{{1,9}}{_INITIALS}|{_INITIALS}\s{{0,9}}{_SURNAME})"
_JOINT = r"\s{0,9}(?:[,;]\s{0,9}(?:and\s{1,9}|&\s{0,9})?|\s{1,9}and\s{1,9}|\s{0,9}&\s{0,9})"
_BODY = r"(?:Group|Investigators|Collaboration|Consortium|Committee)"
_GROUP = rf"(?:the\s{{1,9}})?{_GIVEN}(?![\w'’-])[\w'’ -]{{0,99}}\s{_BODY}"
_YEAR = r"(?:19|20)\d\d"
_ET_AL = r"(?:,?\s{1,9}et\s{1,9}al\b\.?)"
_FIRST = (
    rf"(?:{_GROUP}|{_AUTHOR}|{_SURNAME}(?=,?\s{{1,9}}et\s{{1,9}}al\b)"
    rf"|{_SURNAME},\s{{1,9}}{_GIVEN}(?:\s{{1,9}}[{_UPPER}]\.)?(?=,?\s{{1,9}}et\s{{1,9}}al\b)"
    rf"|{_SURNAME}(?={_JOINT}{_SURNAME}\s{{0,9}}\(?{_YEAR}))"
)
_OTHERS = rf"(?:{_JOINT}(?:{_GROUP}|{_AUTHOR}|{_SURNAME}(?=\s{{0,9}}\(?{_YEAR}))){{0,60}}{_ET_AL}?"
_WHEN = (
    rf"(?P<year>\s{{0,9}}\(?{_YEAR}[a-z]?\b(?:[^()\n]{{0,20}}\))?)?+"
    rf"(?:\s{{0,9}}\([^()\n]{{0,80}}{_YEAR}[^()\n]{{0,80}}\))?+"
)
_TITLE = r"(?:[^\Wa-z_]|[\"“‘'*_\[]|\((?![^()\n]{0,200}\)\s{0,9}[a-z])|$)"
"""What a title begins with: no small letter, which would go on with a verb ("et al. found")."""
_AUTHORS = re.compile(
    rf"\A{_FIRST}(?P<more>{_OTHERS})\s{{0,9}}[.,:;]?{_WHEN}[\s.,:;]{{0,20}}{_TITLE}"
)
_PAGE = r"[A-Za-z]{0,3}\d+"
_PRINTED = re.compile(
    rf"(?i)\b{_YEAR}\b[^()\n;:]{{0,20}}[;:][\s*_]{{0,20}}\d{{1,12}}[\s*_]{{0,20}}+"
    rf"(?:\([^()]{{0,80}}\))?[\s*_]{{0,20}}[:,][\s*_]{{0,20}}{_PAGE}"
    rf"|\b\d+\s*\([^()]{{1,20}}\)\s*[:,]\s*{_PAGE}|\bvol\.?\s*\d+|\bpp\.?\s*{_PAGE}"
    rf"|\b{_YEAR};\s*\d+|\b(?:available\s+(?:from|at)|accessed|retrieved)\b[:\s]"
)
"""Year, volume and pages, or where a page was seen."""
_PAGES = re.compile(rf"\b{_YEAR},\s*\d+,\s*\d+|\b\d+\s*,\s*{_PAGE}\s*[–-]\s*{_PAGE}\b")
"""Volume and pages as they may also stand in a statement: they count only behind authors."""
_A_YEAR = re.compile(rf"\b{_YEAR}\b")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>]*[^\s<>.,;:)\]]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WORD = re.compile(r"[^\W\d_]+")
_PIECES = re.compile(r";\s+")
_ITEM = re.compile(
    r"(?<![ \t>])[ \t>]*+"
    r"(?:[-*+•‣◦▪●·–—]|\(?\d{1,3}[.)]|\[\^?[\w-]{1,30}\]:?|[⁰¹²³⁴-⁹]{1,3})[ \t\u00a0]"
)
_HEADING = re.compile(r"(?<![ \t])[ \t]*+(?:#{1,6}[ \t]|\*\*[^*\n]+\*\*:?\s*$)")


_FRAME = re.compile(r"^[\s>#*_\d.)-]+|(?<![\s#*_:.-])[\s#*_:.-]++$")


@dataclass(frozen=True)
class Entry:
    """A line, with those that go on from it, that may name a source.

    `named` is the part that only does so, None where the line states something; `number` is ""
    where it bears none.
    """

    number: str
    place: Span
    named: Span | None
    identifiers: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    """`[start, end)`, its words from `words` on, behind the mark of the list."""

    number: str
    start: int
    end: int
    words: int
    under: bool = False
    """Whether it stands under a heading of references."""
    several: bool = False
    """Whether it may name several sources, parted by semicolons."""


def entries(text: str, pointing: Mapping[int, Sequence[str]]) -> list[Entry]:
    """The lines that may name a source, in order.

    Args:
        pointing: for the places of citation markers the numbers that they name.
    """
    lines = list(_lines(text))
    closing = _closing(text, lines)
    pointed: dict[str, list[int]] = {}
    for at, numbers in sorted(pointing.items()):
        for number in set(numbers):
            pointed.setdefault(number, []).append(at)
    last = {line.number: line for line in lines}
    found = []
    for line in lines:
        trusted = line.under or (
            last[line.number] is line
            and any(not line.start <= at < line.end for at in pointed.get(line.number, ()))
        )
        named = _named(text, line, trusted=trusted, closing=line in closing)
        found.append(
            Entry(
                line.number,
                Span(line.start, line.end),
                Span(line.start, line.words + named) if named else None,
                tuple(sorted(identifiers(text[line.start : line.end]))),
            )
        )
    return found


def _lines(text: str) -> Iterator[_Line]:
    """Lines with a number, and under a heading of references every line; each goes on until the
    next mark of a list, heading or empty line."""
    at, under, paragraph = 0, False, False
    going: _Line | None = None
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        label = _label(raw)
        ends = not raw.strip() or label or _HEADING.match(raw) or _ITEM.match(raw)
        if going and not ends:
            going = replace(going, end=at)
            continue
        if going:
            yield going
            going = None
        if label:
            paragraph = bool(raw[label:].strip())
            under = not paragraph
            if paragraph:
                mark = LIST_MARK.match(text, start + label, at)
                words = mark.end() if mark else start + label
                number = number_of(mark) if mark else ""
                going = _Line(number, start, at, words, under=True, several=True)
            continue
        if not raw.strip() or _HEADING.match(raw):
            paragraph = False
            under = under and not raw.strip()
            continue
        mark = LIST_MARK.match(text, start, at)
        number = number_of(mark) if mark else ""
        if mark and (number or under or paragraph) and "|" not in raw:
            going = _Line(number, start, at, mark.end(), under=under or paragraph)
    if going:
        yield going


@cache
def _policy(group: str) -> frozenset[str]:
    return frozenset(load("answering/verifying")[group])


def is_heading_of_references(words: str) -> bool:
    """Whether a line says that references follow."""
    return words.strip(" .:").casefold() in _policy("reference_headings")


def _label(raw: str) -> int:
    """Where the words behind a heading of references begin; 0 if the line has none."""
    head, colon, rest = raw.partition(":")
    if not is_heading_of_references(_FRAME.sub("", head)):
        return 0
    return len(raw) - len(rest.lstrip(" \t*_")) if colon else len(raw)


def _closing(text: str, lines: Sequence[_Line]) -> set[_Line]:
    """The lines that end the text with nothing but their like below."""
    found: set[_Line] = set()
    below = len(text)
    for line in reversed(lines):
        if text[line.end : below].strip() or not _named(text, line, trusted=False, closing=True):
            break
        found.add(line)
        below = line.start
    return found


def _named(text: str, line: _Line, *, trusted: bool, closing: bool) -> int:
    """How much of the words of a line only names a source; 0 if they state something.

    Args:
        trusted: a heading stands above them, or a marker points to them.
        closing: they end the text, with others of their form.
    """
    words = text[line.words : line.end].rstrip()
    found = _name(words, trusted=trusted, closing=closing)
    if line.several and found < len(words):
        pieces = _PIECES.split(words)
        if all(_name(one, trusted=True, closing=False) == len(one) for one in pieces):
            return len(words)
    return found


def _name(words: str, *, trusted: bool, closing: bool) -> int:
    data = _data(words)
    said = _first_said(words)
    begin = max((one.end for one in data if one.start <= said), default=0)
    behind = [one for one in data if one.start >= begin]
    title = words[begin : behind[0].start if behind else len(words)]
    body = bare(_ADDRESS.sub("", title), begins_line=False).strip(" .,:;–—-[]()*_")
    authors = _authors(body)
    year = _A_YEAR.search(words) is not None
    outside = _BRACKETS.sub(" ", words)
    printed = _PRINTED.search(outside) is not None
    printed = printed or (authors > 0 and _PAGES.search(outside) is not None)
    if not (data or authors or (trusted and (year or _is_titled(body)))):
        return 0
    studied = names_as_a_title(body)
    if authors > 1 and (trusted or closing or year):
        ends = studied or (bool(data) and (printed or trusted))
    elif trusted:
        ends = studied or (bool(data) and (authors > 0 or printed or _is_titled(body)))
    elif closing:
        clear = printed or _is_titled(body) or not _said(body)
        ends = (clear and studied) or (authors > 0 and printed)
    else:
        ends = False
    return _end(words, begin, behind, trusted=trusted, known=authors > 0) if ends else 0


def _data(words: str) -> list[Span]:
    """Where identifiers, addresses and the place in a journal stand; none overlaps another."""
    found = [Span(*one) for one in spans_of_identifiers(words)]
    found += [Span(*one.span()) for one in _ADDRESS.finditer(words)]
    for printed in (_PRINTED, _PAGES):
        found += [Span(*one.span()) for one in printed.finditer(words)]
    kept: list[Span] = []
    for one in sorted(found):
        if kept and one.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(one.end, kept[-1].end))
        else:
            kept.append(one)
    return kept


def _end(words: str, begin: int, data: Sequence[Span], *, trusted: bool, known: bool) -> int:
    """Where the name of the source ends: behind the last of its data before something is told."""
    at = data[0].end if data else begin
    for one in data[1:]:
        if _tells_more(words[at : one.start], trusted=trusted):
            return at
        at = one.end
    if not data and (begin == 0 or known):
        return len(words)
    return at if _tells_more(words[at:], trusted=trusted) else len(words)


def _tells_more(words: str, *, trusted: bool) -> bool:
    """Whether words behind the name of a source tell something of it."""
    said = len(_said(words))
    return said > 0 and not names_as_a_title(words) if trusted else said > 1


def _said(words: str) -> list[str]:
    """The words that are not those in which identifiers, dates and addresses are given."""
    return [one for one in _WORD.findall(words) if one.casefold() not in _policy("reference_words")]


def _first_said(words: str) -> int:
    """Where the first of them stands; behind all words, if there is none."""
    given = _policy("reference_words")
    found = (one.start() for one in _WORD.finditer(words) if one[0].casefold() not in given)
    return next(found, len(words))


def _authors(body: str) -> int:
    """0: it begins with no author; 1: with words that may be one; 2: with authors."""
    found = _AUTHORS.match(body[:_LONGEST_NAMES])
    if found is None:
        return 0
    if found["more"] or found["year"]:
        return 2
    return 1 if found[0][:-1].rstrip(" \"“‘'*_([").endswith(".") else 0


def _is_titled(body: str) -> bool:
    """Whether the longer words are written in capitals, as a title's are."""
    longer = [one for one in _WORD.findall(body) if len(one) > 3]
    return (
        bool(longer)
        and not body.isupper()
        and sum(one[0].isupper() for one in longer) >= 0.75 * len(longer)
    )
