"""What a line of a document is by its form, whatever it says: a heading, the mark of an export, an
entry of a table of contents, the number of a page. Pure.

A heading is what looks like one: marked, underlined, bold, in capitals over other words, or a short
line in no sentence with space above and words below. Levels: 0 an export's mark, 1-6 Markdown,
7 bold, 8 capitals, 9 any other line of its own. Time is linear in the text.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clinical_text.headings import BOLD_LEVEL, heading_line

CAPITALS, PLAIN = 8, 9
_LONGEST = 45
"""Characters of an unmarked heading in small letters (ours)."""
_LEAST_ENTRIES = 3
"""Lines from which a run of the document's own headings is its table of contents (ours)."""
_EXPORT = re.compile(
    r"(?i)\[[^\]\n=]{1,40}=[^\]\n]{0,80}\]|"
    r"[\[(<*=~_-]{1,8}\s?(?:begin|end|start)\b[^\n]{0,60}?[\])>*=~_-]{1,8}"
)
_PAGE = re.compile(r"(?im)^[ \t\W]{0,8}page[ ]\d{1,4}(?:[ ]?(?:of|/)[ ]?\d{1,4})?(?=\s|\]|$)")
_DOTS = re.compile(r"(?<=[\w)])[ ]?\.(?:[ ]?\.){3,}(?=[ ]?\S)")
"""Points that lead from a label to its value."""
_SLASHES = re.compile(r"(?<=[ ])//(?=[ ])")
"""Strokes that part entries of a line, as points and bars do."""
_SIGNED = frozenset(["by", "sincerely", "regards", "faithfully"])
_PLAIN_WORDS = re.compile(r"[A-Z][A-Za-z'’/&(),-]*+(?:[ ][A-Za-z'’/&(),-]++){0,5}")
_LIST_MARK = re.compile(r"(?:[-*+•>]|\d{1,2}[.)])[ \t]+")
_LEADERS = re.compile(r"(?<![. \t])[ \t]*+(?:\.[ \t]?+){3,}+[ \t]*+\d{0,4}$")
_MARKS = "#*_ \t=-•>:"


class Line(NamedTuple):
    """A line that shows something, without the space around it; `fresh` after a blank one;
    `indent`: spaces before it."""

    start: int
    end: int
    words: str
    fresh: bool
    indent: int = 0


class Form(NamedTuple):
    """A line that is a heading by its form, its title, and its level."""

    start: int
    end: int
    title: str
    level: int


def lines_of(text: str) -> Sequence[Line]:
    """The lines that show something, in order."""
    found, at, fresh = [], 0, True
    for line in text.split("\n"):
        words = line.strip()
        if words:
            start = at + line.index(words[0])
            found.append(Line(start, start + len(words), words, fresh, start - at))
        fresh = not words
        at += len(line) + 1
    return found


def headings_by_form(lines: Sequence[Line]) -> list[Form]:
    """The lines that are headings, in order."""
    found: list[Form] = []
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else None
        before = _before(lines[index - 1].words) if index else ""
        form = _form(line, below, before)
        if form is not None:
            found.append(form)
    return found


def _before(above: str) -> str:
    """How the line above ends: one that is not in capitals does not go on in a line that is."""
    return "." if not above.isupper() or ":" in above else above[-1:]


def _form(line: Line, below: Line | None, before: str) -> Form | None:
    words = line.words
    if _EXPORT.fullmatch(words):
        return Form(line.start, line.end, "", 0)
    if _LIST_MARK.match(words) or below is None:
        return None
    directly = "" if below.fresh else below.words
    heading = heading_line(line.start, words, fresh=line.fresh, before=before, following=directly)
    if heading is not None and (heading.level <= BOLD_LEVEL or words.isupper()):
        return Form(line.start, heading.end, heading.title, min(heading.level, CAPITALS))
    if len(words) > _LONGEST or _PLAIN_WORDS.fullmatch(words) is None:
        return None
    if below.indent > line.indent and directly and _stands_over(words, directly, before):
        return Form(line.start, line.end, words, PLAIN)
    if not line.fresh:
        return None
    over = directly and not words.endswith((",", ")")) and _is_other(words, directly)
    return Form(line.start, line.end, words, PLAIN) if over else None


def _stands_over(words: str, below: str, before: str) -> bool:
    """Whether a line stands over what is set in below it, and no sentence goes on there."""
    ends = words.endswith((",", ")")) or (below[:1].islower() and not _LIST_MARK.match(below))
    return not ends and before[-1:] not in ",;"


def _is_other(words: str, below: str) -> bool:
    """Whether the line below is no line of the same kind, as in an address or a list of names."""
    return (
        below[-1:] in ".;:?"
        or _LIST_MARK.match(below) is not None
        or any(one.isdigit() for one in below)
        or len(below.split()) > len(words.split()) + 1
    )


def ends_a_part(title: str) -> bool:
    """Whether a label names who signed: nothing of the part before it follows."""
    return not _SIGNED.isdisjoint(title.lower().split()[-1:])


def without_furniture(text: str) -> str:
    """The text with spaces for page numbers, leading points and its table of contents; as long as
    before."""
    spans = [one.span() for pattern in (_PAGE, _DOTS) for one in pattern.finditer(text)]
    spans += _contents(lines_of(text))
    if _SLASHES.search(text):
        text = _SLASHES.sub("; ", text)
    if not spans:
        return text
    kept, at = [], 0
    for start, end in sorted(spans):
        start = max(at, start)
        kept += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
        at = max(at, end)
    return "".join((*kept, text[at:]))


def _contents(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Runs of lines that are nothing but headings that stand elsewhere in the document."""
    heads: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        title = _heads(line, lines[index + 1] if index + 1 < len(lines) else None)
        if title:
            heads.setdefault(title, []).append(index)
    found, first, hits = [], 0, 0
    for index, words, fresh in [*((at, one.words, one.fresh) for at, one in enumerate(lines)),
                                (len(lines), "", True)]:  # fmt: skip
        title = _entry(words) if not (fresh and hits) else ""
        if title and any(abs(at - index) > 1 for at in heads.get(title, ())):
            first = index if not hits else first
            hits += 1
            continue
        if hits >= _LEAST_ENTRIES:
            found.append((lines[first].start, lines[index - 1].end))
        hits = 0
    return found


def _heads(line: Line, below: Line | None) -> str:
    """The title where a line is a heading or begins with a label; else nothing."""
    words = line.words
    if _LEADERS.search(words):
        return ""
    name, colon, _ = words.partition(":")
    if colon:
        return _plain(name)
    marked = words[:1] == "#" or words[:2] == "**"
    alone = line.fresh and below is not None and (not below.fresh or len(words) <= _LONGEST)
    return _plain(words) if marked or (alone and not _LIST_MARK.match(words)) else ""


def _entry(words: str) -> str:
    """What an entry of contents names; nothing where the line says more than a title."""
    bare = _LEADERS.sub("", _LIST_MARK.sub("", words, count=1))
    if ":" in bare.rstrip(":") or bare[:1] == "#" or bare[-1:] in ".,;:" or len(bare) > 80:
        return ""
    return _plain(bare)


def _plain(words: str) -> str:
    return " ".join(_LIST_MARK.sub("", words, count=1).strip(_MARKS).casefold().split())
