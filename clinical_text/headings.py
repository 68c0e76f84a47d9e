"""Which lines of a text are headings, and which words of a heading are its title.

Vocabulary: knowledge/reading/headings.yaml. Every test looks at one line and at most its
neighbours.
"""

import re
from typing import NamedTuple

from knowledge.loader import load

MAX_HEADING = 300  # characters of a marked heading; titles of papers have 80-250
_MAX_PLAIN = 80  # of a line that only looks like one
_MAX_WORDS = 10
_MAX_COLON_WORDS = 6

_ATX = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_NUMBERING = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[IVXivx]{1,5}\.)\s+(?=\S)")
_ITEM = re.compile(r"\d{1,3}[.)]\s")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LOOSE_NUMBER = re.compile(r"(?<![\w-])\d|\d[.,/:]\d")
_LEADS_ON = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|includes?|included|including|following|follows|"
    r"that|which|to|of|the|a|an|by|with|for|from|and|or|in|on|as|if)\s*:$",
    re.IGNORECASE,
)
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|will|should|may|can)\b", re.IGNORECASE)
_MARKS = "*_ \t"


class Heading(NamedTuple):
    """A heading found: its title, where it ends, and how deep it stands (1 is the top)."""

    title: str
    end: int
    level: int
    underlined: bool = False


# Marked headings have the depth of their marks; the depth of others is not known.
BOLD_LEVEL = 7
UNMARKED_LEVEL = 8


def _known() -> frozenset[str]:
    lists = load("reading/headings")
    return frozenset(word for group in lists.values() for word in group)


_KNOWN = _known()
_OF_ABSTRACTS = frozenset(load("reading/headings")["abstract"])
_JOINED = re.compile(r"(?<!\s)(?:\s*+[/&,]\s*+|\s++and\s++)")
_LONGEST_KNOWN = max(map(len, _KNOWN))


def heading_line(
    start: int, line: str, *, fresh: bool, before: str, following: str
) -> Heading | None:
    """The heading that the line at `start` is, or None.

    `line` has no surrounding white space. `fresh` says that it begins a paragraph, `before` holds
    the last characters of the line before it in the same paragraph, `following` is the next line
    where no blank line stands between (else empty).
    """
    end = start + len(line)
    if line[0] == "#":
        return _atx(line, end)
    if len(line) > MAX_HEADING:
        return None
    if fresh and _is_underlined(line, following):
        # the underline belongs to the heading; the caller extends `end`
        return Heading(line.strip(_MARKS), end, 1 if following[:1] == "=" else 2, underlined=True)
    if len(line) > _MAX_PLAIN + 8:
        return None
    if line[:2] in ("**", "__"):
        return _emphasized(line, end)
    if len(line) > _MAX_PLAIN or not line[0].isalnum() or line[0].islower():
        return None
    if _is_plain_heading(line, fresh=fresh, before=before, following=following):
        title = line.rstrip(":").rstrip()
        return Heading(title, end, UNMARKED_LEVEL)
    return None


def _is_underlined(line: str, following: str) -> bool:
    if not line[0].isalnum() or not _UNDERLINE.fullmatch(following):
        return False
    return following[0] == "=" or line[-1] not in ".;,"  # a rule under running text is a rule


def label(text: str, start: int, end: int) -> Heading | None:
    """The label that begins a line of an abstract or a note: `RESULTS:`, `**Results**:`."""
    colon = text.find(":", start, min(end, start + _LONGEST_KNOWN + 6))
    if colon < 0:
        return None
    written = text[start:colon]
    title = written.strip(_MARKS)
    marks = written[:2] if written[:2] in ("**", "__") else ""
    known = bool(title) and not title[0].islower() and is_known(title)
    if not known and not (marks and title.isupper() and len(title) > 2):
        return None
    after = colon + 1
    if marks and text.startswith(marks, after):
        after += 2
    if after < end and not text[after].isspace():
        return None  # "Ratio:1", "Methods::x"
    return Heading(title, after, UNMARKED_LEVEL + 1)


def is_part_of_abstract(title: str) -> bool:
    """Whether the words name a part of an abstract ("Results"), or several ("Methods/findings"),
    whatever their case."""
    words = title.casefold()
    return words in _OF_ABSTRACTS or all(one in _OF_ABSTRACTS for one in _JOINED.split(words))


def is_known(title: str) -> bool:
    """Whether the words are a known name of a part, whatever their case and numbering."""
    if len(title) > _LONGEST_KNOWN + 24:
        return False
    words = title.rstrip(":").rstrip().casefold()
    if words in _KNOWN:
        return True
    number = _NUMBERING.match(words)
    if number:
        words = words[number.end() :]
    if words.endswith(")"):  # "Exam (focused)"
        words = words.split(" (", 1)[0]
    return words in _KNOWN


def _atx(line: str, end: int) -> Heading | None:
    found = _ATX.fullmatch(line) if len(line) <= MAX_HEADING else None
    if not found:
        return None
    title = found[2].rstrip("#").strip(_MARKS).rstrip(":").strip(_MARKS)
    return Heading(title, end, len(found[1])) if title else None


def _emphasized(line: str, end: int) -> Heading | None:
    """A line that is nothing but bold words."""
    mark = line[:2]
    inner = line.rstrip(":").rstrip()
    if not inner.endswith(mark) or mark in inner[2:-2]:
        return None
    title = inner[2:-2].strip(_MARKS).rstrip(":").rstrip()
    if not title or title[-1] in ".!?;," or title[0].islower():
        return None
    return Heading(title, end, BOLD_LEVEL)


def _is_plain_heading(line: str, *, fresh: bool, before: str, following: str) -> bool:
    if is_known(line):
        # a word in running text, broken over lines, is no heading
        free = fresh or before[-1:] in ".!?:;)" or line.isupper() or line[-1] == ":"
        return free and (line[-1] == ":" or not following[:1].islower())
    if line[-1] == ":":
        return _is_colon_heading(line)
    return line.isupper() and _is_capitals(line, fresh=fresh, before=before, following=following)


def _is_colon_heading(line: str) -> bool:
    words = line.split()
    return (
        len(words) <= _MAX_COLON_WORDS
        and _LETTERS.search(line) is not None
        and not _ITEM.match(line)
        and ". " not in line
        and not _LEADS_ON.search(line)
        and not _FINITE.search(line)
        and " | " not in line
    )


def _is_capitals(line: str, *, fresh: bool, before: str, following: str) -> bool:
    """A line of capitals that stands over something, not part of a list of such lines."""
    if line[-1] in ".,;!?" or " | " in line or _NUMBERING.match(line):
        return False
    if sum(c.isalpha() for c in line) < 4 or len(line.split()) > _MAX_WORDS:
        return False
    if _LOOSE_NUMBER.search(line):
        return False
    if following[:1].islower() or following.isupper():
        return False
    return fresh or before[-1:] in ".!?:;)"
