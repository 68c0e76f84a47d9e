"""Finds the sections of a clinical note by rules, with its paragraphs and sentences.

Notes are not articles: short forms stand for headings, a line is often a statement of its own, and
the same name means a part on a line alone and a word in a sentence. Names and sizes:
knowledge/note_sections.yaml. Offsets are exact; nothing of the text is changed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from knowledge.notes import section_policy
from store.spans import Section, Span, Structure
from workers.reading.sentences import sentence_spans
from workers.summarize.names import (
    BRACKETS,
    MARKS,
    NUMBERING,
    is_statement,
    kind_of,
    plain,
    unqualified,
)

OTHER = "other"
"""The kind of a part whose heading names none that is known, and of what no heading stands over."""

_ATX = re.compile(r"#{1,6}[ \t]*(?=\S)")
_RULE = re.compile(r"[=\-_*~—–]{3,}")
# Only what cannot belong to the words: "2.5 mg", "-3.0 D", "> 5 cm" and "2 tablets" keep theirs.
_LIST_MARK = re.compile(
    r"(?:[•‣◦▪●·→][ \t\u00a0]*"
    r"|(?:[-*–—]|\(?\d{1,2}[.)]|#\d{1,2}[.)]?|\(?[a-z]\)|\(?[ivx]{1,4}\))[ \t\u00a0]+)(?=\S)"
)
_NUMBERED = re.compile(r"\d{1,2}[ \t]{1,3}[A-Z]")
_STOPS = ".!?;"


class Line(NamedTuple):
    """A line that shows something, `[start, end)` without the white space around it."""

    start: int
    end: int
    gap: bool
    """Whether a blank line, or the beginning of the text, stands above it."""
    broken: bool
    """Whether the line above ends in two spaces: a hard break of Markdown."""


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A part of a note: its title as written ("" where there is none), its kind, its place."""

    title: str
    kind: str
    start: int
    end: int
    body: int
    """Where its words begin, behind its heading."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a line that is one, without its list mark, in the section of an index."""

    start: int
    end: int
    section: int
    divider: bool = False
    """Whether it only stands over what follows, such as a problem in a plan."""
    listed: bool = False
    """Whether it is the first of an entry of a list."""


@dataclass(frozen=True, slots=True)
class NoteOutline:
    """What is found in a note."""

    sections: tuple[NoteSection, ...]
    structure: Structure
    units: tuple[Unit, ...]


class _Heading(NamedTuple):
    title: str
    kind: str
    end: int


def outline(text: str, inferred: Sequence[tuple[int, str, str]] = ()) -> NoteOutline:
    """The sections, paragraphs and sentences of `text`; any string will do.

    Args:
        inferred: places, titles and kinds of parts that have no heading in the text, in order; a
            section begins at each, beside those that headings begin.

    Sections follow each other without a gap and cover the text. What stands before the first
    heading is one titled "".
    """
    lines = list(_cut(text, _lines(text), [start for start, _, _ in inferred]))
    reader = _Reader(text, lines, {start: (title, kind) for start, title, kind in inferred})
    return reader.read()


def _lines(text: str) -> Iterator[Line]:
    at, gap, broken = 0, True, False
    for raw in text.splitlines(keepends=True):
        visible = raw.strip()
        if visible:
            start = at + len(raw) - len(raw.lstrip())
            yield Line(start, start + len(visible), gap, broken)
            tail = raw[len(raw.rstrip()) :].rstrip("\r\n")
            broken, gap = len(tail) >= 2, "\x0c" in raw[-2:]
        elif raw.count("\n") + raw.count("\r") or "\x0c" in raw:
            gap = True
        at += len(raw)


def _cut(text: str, lines: Iterator[Line], places: Sequence[int]) -> Iterator[Line]:
    """The lines, cut where a part without a heading begins within one."""
    for line in lines:
        start, end, gap, broken = line
        for place in places:
            if start < place < end:
                before = text[start:place]
                yield Line(start, start + len(before.rstrip()), gap, broken)
                start, gap, broken = place, True, False
        yield Line(start, end, gap, broken)


class _Reader:
    """Goes over the lines once, and once over the lines of each section."""

    def __init__(self, text: str, lines: list[Line], inferred: dict[int, tuple[str, str]]) -> None:
        self.text, self.lines, self.inferred = text, lines, inferred
        longest = max((line.end - line.start for line in lines), default=0)
        policy = section_policy()
        self.seen: set[str] = set()
        self.planning = False
        self.width = longest if policy.wrap_least <= longest <= policy.wrap_most else 0

    def read(self) -> NoteOutline:
        sections: list[NoteSection] = [NoteSection("", OTHER, 0, 0, 0)]
        members: list[list[Line]] = [[]]
        headings: dict[int, int] = {}
        for n, line in enumerate(self.lines):
            current = sections[-1]
            if line.start in self.inferred:
                title, kind = self.inferred[line.start]
                sections.append(NoteSection(title, kind, line.start, 0, line.start))
                members.append([line])
                continue
            found = self._heading(n, line, current)
            if found is None:
                members[-1].append(line)
                continue
            headings[line.start] = found.end
            self.seen.add(found.kind)
            self.planning = self.planning or found.kind in ("plan", "assessment_plan")
            sections.append(NoteSection(found.title, found.kind, line.start, 0, found.end))
            members.append([])
            rest = self.text[found.end : line.end]
            if rest.strip():
                start = line.end - len(rest.lstrip())
                members[-1].append(Line(start, line.end, gap=True, broken=False))
        return self._finish(sections, members, headings)

    def _finish(
        self, sections: list[NoteSection], members: list[list[Line]], headings: dict[int, int]
    ) -> NoteOutline:
        if len(sections) > 1 and not members[0]:
            sections, members = sections[1:], members[1:]
        ends = [one.start for one in sections[1:]] + [len(self.text)]
        placed = [
            replace(one, start=one.start if n else 0, end=ends[n]) for n, one in enumerate(sections)
        ]
        paragraphs: list[Span] = []
        sentences: list[Span] = []
        units: list[Unit] = []
        for n, (one, own) in enumerate(zip(sections, members, strict=True)):
            if one.start in headings:
                heading = Span(one.start, headings[one.start])
                paragraphs.append(heading)
                sentences.append(heading)
            paragraphs.extend(_paragraphs(own))
            for span, unit in self._units(own, n):
                sentences.append(span)
                units.append(unit)
        structure = Structure.model_construct(
            sections=tuple(Section(title=s.title, start=s.start, end=s.end) for s in placed),
            paragraphs=tuple(paragraphs),
            sentences=tuple(sentences),
        )
        return NoteOutline(tuple(placed), structure, tuple(units))

    # --- headings ---------------------------------------------------------------------------------

    def _heading(self, n: int, line: Line, current: NoteSection) -> _Heading | None:
        written = self.text[line.start : line.end]
        if not any(map(str.isalpha, written[: section_policy().heading_chars])):
            return None
        return self._whole_line(n, line, written, current) or self._label(line, written, current)

    def _whole_line(
        self, n: int, line: Line, written: str, current: NoteSection
    ) -> _Heading | None:
        policy = section_policy()
        if len(written) > policy.heading_chars or len(written.split()) > policy.heading_words:
            return None
        marked = bool(_ATX.match(written)) or _is_bold(written)
        inner = _ATX.sub("", written, count=1).strip("*_").strip()
        if not marked and (
            inner[:1] in "-•–—→>+*(\"'“‘" or (inner[-1:] in ".,;!?" and inner[:1] != "[")
        ):
            return None
        numbered = NUMBERING.match(inner)
        if numbered and not marked and current.kind in ("assessment", "plan", "assessment_plan"):
            return None  # "2  Meds" divides a plan
        title = inner[numbered.end() if numbered else 0 :].strip(MARKS + "[]")
        if not title or (not marked and title[0].islower()):
            return None
        short = line.broken and len(title.split()) <= 3
        alone = line.gap or short or inner[-1:] == ":" or title.isupper()
        kind = self._kind_of_line(title, line, current, alone=alone or marked)
        if kind is not None:
            return _Heading(title, self._in_context(kind), line.end)
        if marked or inner[:1] == "[" or self._stands_over(n, line, inner, title, current):
            inherited = current.kind if marked or title.isupper() else OTHER
            within = self.planning and marked and inherited != "administrative"
            return _Heading(title, "plan" if within else inherited, line.end)
        return None

    def _in_context(self, kind: str) -> str:
        """Medicines and tests that come a second time, behind a plan's heading, are planned."""
        again = self.planning and kind in self.seen and kind in ("medicines", "results")
        return "plan" if again else kind

    def _kind_of_line(
        self, title: str, line: Line, current: NoteSection, *, alone: bool
    ) -> str | None:
        policy = section_policy()
        exact = policy.by_name.get(plain(title))
        if exact is not None and current.kind == "results" and not line.gap:
            return None if plain(title) in policy.inside_results else exact
        if exact is not None:
            return exact if alone or line.broken or len(title) > 1 else None
        if not alone or is_statement(title):
            return None
        kind = kind_of(title)
        return kind if self.seen or kind != "plan" else None  # "F/U – sleep" says why they came

    def _stands_over(
        self, n: int, line: Line, inner: str, title: str, current: NoteSection
    ) -> bool:
        """Whether an unknown line is a heading by its form: capitals, or a colon in no section."""
        if sum(map(str.isalpha, title)) < 4 or any(map(str.isdigit, title)):
            return False
        if not line.gap or n + 1 >= len(self.lines):
            return False
        if inner[-1] == ":":
            return current.kind == OTHER or title.isupper()
        below = self.lines[n + 1]
        return title.isupper() and not self.text[below.start : below.end].isupper()

    def _label(self, line: Line, written: str, current: NoteSection) -> _Heading | None:
        """`HPI: words`, `**Plan**: words`, `PMH - words`."""
        policy = section_policy()
        found = re.search(
            r":(?=\W|\Z)|:(?=[A-Z])|[ \t][-–—][ \t]", written[: policy.label_chars + 2]
        )
        if found is None:
            return None
        name = written[: found.start()].strip(MARKS + "[]")
        name = name[numbered.end() :] if (numbered := NUMBERING.match(name)) else name
        if not name or not name[0].isupper() or written[:1] in "-•–—→>+":
            return None
        dash = ":" not in found[0]
        words = plain(name)
        if words in policy.identifiers:
            return None  # "Signed by: ...", no part of the note
        bare = " ".join(BRACKETS.sub(" ", words).split())
        known = policy.by_name.get(words) or policy.by_name.get(unqualified(bare))
        if known is None and not dash and len(words.split()) <= 4 and (line.gap or name.isupper()):
            known = kind_of(name)
        if known is None or (dash and (len(words) < 2 or len(words.split()) > 3)):
            return None
        if known == "plan" and dash and not self.seen:
            return None
        inside = current.kind == "results" and not line.gap and words in policy.inside_results
        divides = numbered and current.kind in ("assessment", "plan", "assessment_plan")
        if inside or divides or (len(words) == 1 and not name.isupper()):
            return None
        end = line.start + found.end()
        while written[end - line.start : end - line.start + 1] in ("*", "_") and end < line.end:
            end += 1
        return _Heading(name, self._in_context(known), end)

    # --- words ------------------------------------------------------------------------------------

    def _units(self, own: list[Line], index: int) -> Iterator[tuple[Span, Unit]]:
        """Every sentence of a section, as it stands, and without its list mark."""
        at = 0
        while at < len(own):
            last = at
            while last + 1 < len(own) and self._goes_on(own[last], own[last + 1]):
                last += 1
            start, end = own[at].start, own[last].end
            mark = _LIST_MARK.match(self.text, start, end)
            words = mark.end() if mark else start
            divider = last == at and self._divides(own, at, words, marked=mark is not None)
            for n, (begin, stop) in enumerate(
                sentence_spans(self.text, start, end, label_from=words)
            ):
                listed = n == 0 and (mark or _NUMBERED.match(self.text, start, end)) is not None
                unit = Unit(words if n == 0 else begin, stop, index, divider, listed)
                yield Span(begin, stop), unit
            at = last + 1

    def _goes_on(self, line: Line, below: Line) -> bool:
        """Whether a sentence may run from a line into the next."""
        if below.gap or below.broken or _LIST_MARK.match(self.text, below.start, below.end):
            return False
        last, first = self.text[line.end - 1], self.text[below.start]
        if last in _STOPS or last == ":" or _RULE.fullmatch(self.text, line.start, line.end):
            return False
        if first.islower() or last == ",":
            return True
        word = self.text[below.start : below.end].split(None, 1)[0]
        return bool(self.width) and line.end - line.start + 1 + len(word) > self.width

    def _divides(self, own: list[Line], at: int, words: int, *, marked: bool) -> bool:
        """Whether a line only stands over the lines below it."""
        line, written = own[at], self.text[words : own[at].end]
        policy = section_policy()
        if plain(written) in policy.dividers:
            return True
        if len(written.split()) > policy.divider_words or any(map(str.isdigit, written)):
            return False
        if written[-1] == ":":
            return True
        if marked or written[0].islower() or at + 1 >= len(own) or own[at + 1].gap:
            return False
        if at and not line.gap:
            return False
        below = own[at + 1]
        follows = self.text[below.start : below.end]
        listed = _LIST_MARK.match(follows) is not None
        return listed or (written[-1] not in _STOPS and len(follows.split()) > policy.divider_words)


def _is_bold(written: str) -> bool:
    bare = written.rstrip(":").rstrip()
    return len(bare) > 4 and bare[:2] == bare[-2:] and bare[:2] in ("**", "__")


def _paragraphs(own: list[Line]) -> Iterator[Span]:
    start = -1
    end = -1
    for line in own:
        if line.gap or start < 0:
            if start >= 0:
                yield Span(start, end)
            start = line.start
        end = line.end
    if start >= 0:
        yield Span(start, end)
