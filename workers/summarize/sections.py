"""Finds the sections of a clinical note by rules, with its paragraphs and sentences.

Notes are not articles: short forms stand for headings, a line is often a statement of its own, and
the same name means a part on a line alone and a word in a sentence. Names and sizes:
knowledge/note_sections.yaml. Offsets are exact; nothing of the text is changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from knowledge.notes import plan_policy, section_policy
from store.spans import Section, Span, Structure
from workers.reading.sentences import sentence_spans
from workers.summarize.headings import OTHER, PLANS, Heading, Headings
from workers.summarize.lines import (
    BARE_MARK,
    LIST_MARK,
    NUMBERED,
    RULE,
    STOPS,
    Line,
    column_of,
    cut,
    label_of,
    lines_of,
    paragraphs_of,
    unfinished,
)
from workers.summarize.names import plain

__all__ = ["OTHER", "NoteOutline", "NoteSection", "Unit", "outline"]

ADMINISTRATIVE = "administrative"


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
    problem: bool = False
    """Whether it stands over what is done for a problem, which it names."""
    over: int | None = None
    """The index of the unit that stands over it: `Stopped:` over a medicine."""


@dataclass(frozen=True, slots=True)
class NoteOutline:
    """What is found in a note."""

    sections: tuple[NoteSection, ...]
    structure: Structure
    units: tuple[Unit, ...]


def outline(text: str, inferred: Sequence[tuple[int, str, str]] = ()) -> NoteOutline:
    """The sections, paragraphs and sentences of `text`; any string will do.

    Args:
        inferred: places, titles and kinds of parts that have no heading in the text, in order; a
            section begins at each, beside those that headings begin.

    Sections follow each other without a gap and cover the text. What stands before the first
    heading is one titled "".
    """
    lines = list(cut(text, lines_of(text), [start for start, _, _ in inferred]))
    reader = _Reader(text, lines, {start: (title, kind) for start, title, kind in inferred})
    return reader.read()


@dataclass
class _Part:
    """A section while it is read: its heading, if that has words of its own, and its lines."""

    section: NoteSection
    heading: Heading | None = None
    lines: list[Line] = field(default_factory=list)


class _Reader:
    """Goes over the lines once, and once over the lines of each section."""

    def __init__(self, text: str, lines: list[Line], inferred: dict[int, tuple[str, str]]) -> None:
        self.text, self.lines, self.inferred = text, lines, inferred
        longest = max((line.end - line.start for line in lines), default=0)
        policy = section_policy()
        self.width = longest if policy.wrap_least <= longest <= policy.wrap_most else 0
        openings = (text[line.start : line.end].split(None, 1)[0] for line in lines)
        self.is_letter = any(one.strip(",").casefold() in policy.salutations for one in openings)

    def read(self) -> NoteOutline:
        parts, headings = [_Part(NoteSection("", OTHER, 0, 0, 0))], Headings(self.text, self.lines)
        kind = OTHER  # of the part that a line stands in, where no administrative one interrupts
        for n, line in enumerate(self.lines):
            if line.start in self.inferred:
                title, kind = self.inferred[line.start]
                parts.append(_Part(NoteSection(title, kind, line.start, 0, line.start)))
                parts[-1].lines.append(line)
                continue
            found = headings.at(n, kind)
            if found is None:
                if self._ends(parts[-1], line):
                    kind = OTHER if parts[-1].section.kind != ADMINISTRATIVE else kind
                    parts.append(_Part(NoteSection("", kind, line.start, 0, line.start)))
                parts[-1].lines.append(line)
                continue
            kind = kind if found.kind == ADMINISTRATIVE else found.kind
            body = line.start if found.shown else found.end
            section = NoteSection(found.title, found.kind, line.start, 0, body)
            parts.append(_Part(section, found if found.end > line.start else None))
            rest = self.text[found.end : line.end]
            if rest.strip():
                start = line.end - len(rest.lstrip())
                parts[-1].lines.append(Line(start, line.end, gap=True, broken=False))
        return self._finish(parts)

    def _ends(self, part: _Part, line: Line) -> bool:
        """Whether a line without a heading ends the part before it: an administrative one, and in a
        letter one whose words stand on the line of its label, with its paragraph."""
        if part.section.kind == ADMINISTRATIVE:
            return self._is_past(part, line)
        if not self.is_letter or part.section.kind == OTHER or not line.gap or not part.lines:
            return False
        return "\n" not in self.text[part.section.start : part.lines[0].start]

    def _is_past(self, part: _Part, line: Line) -> bool:
        """Whether an administrative part has ended: it is one line, or one paragraph."""
        if not part.lines:
            return False
        last = part.lines[-1]
        written = self.text[line.start : line.end]
        if line.gap or written.isupper() or label_of(written) is not None:
            return True
        own_line = "\n" not in self.text[part.section.start : last.end]
        return own_line and not self._goes_on(last, line)

    def _finish(self, parts: list[_Part]) -> NoteOutline:
        if len(parts) > 1 and not parts[0].lines:
            parts = parts[1:]
        ends = [one.section.start for one in parts[1:]] + [len(self.text)]
        placed = [
            replace(one.section, start=one.section.start if n else 0, end=ends[n])
            for n, one in enumerate(parts)
        ]
        paragraphs: list[Span] = []
        sentences: list[Span] = []
        units: list[Unit] = []
        for n, part in enumerate(parts):
            base = None
            if part.heading is not None:
                span = Span(part.section.start, part.heading.end)
                paragraphs.append(span)
                sentences.append(span)
                if part.heading.shown:
                    base = len(units)
                    units.append(self._shown(part.heading, span, n))
            paragraphs.extend(paragraphs_of(part.lines))
            for one in self._units(part, n, base, len(units)):
                sentences.append(one[0])
                if one[1] is not None:
                    units.append(one[1])
        structure = Structure.model_construct(
            sections=tuple(Section(title=s.title, start=s.start, end=s.end) for s in placed),
            paragraphs=tuple(paragraphs),
            sentences=tuple(sentences),
        )
        return NoteOutline(tuple(placed), structure, tuple(units))

    def _shown(self, heading: Heading, span: Span, index: int) -> Unit:
        mark = LIST_MARK.match(self.text, span.start, span.end)
        start = mark.end() if mark else span.start
        return Unit(start, span.end, index, divider=True, problem=heading.problem)

    # --- words ------------------------------------------------------------------------------------

    def _units(
        self, part: _Part, index: int, base: int | None, count: int
    ) -> Iterator[tuple[Span, Unit | None]]:
        """Every sentence of a section, as it stands, and without its list mark.

        Args:
            base: the unit that stands over the section.
            count: how many units there are before these.
        """
        own, at, scope = part.lines, 0, _Scope(self.text, base)
        while at < len(own):
            first, last = own[at], at
            while last + 1 < len(own) and self._goes_on(own[last], own[last + 1]):
                last += 1
            start, end = first.start, own[last].end
            if BARE_MARK.fullmatch(self.text, start, end) and at + 1 < len(own):
                yield Span(start, end), None  # "1." over its entry
                at = last + 1
                continue
            mark = LIST_MARK.match(self.text, start, end)
            words = mark.end() if mark else start
            listed = (mark or NUMBERED.match(self.text, start, end)) is not None
            covers = self._covers(own, last, words, alone=last == at and mark is None)
            divides = covers or self._names(part, at, words, alone=last == at and mark is None)
            problem = divides and part.section.kind == "assessment_plan"
            spans = list(sentence_spans(self.text, start, end, label_from=words))
            for n, (begin, stop) in enumerate(spans):
                here, top = divides and n == len(spans) - 1, n == 0
                over = scope.over(first if top else None, listed=listed and top, closed=here)
                if here and covers:
                    scope.open(count, column_of(self.text, first))
                unit = Unit(
                    words if top else begin, stop, index, here, listed and top, problem and here,
                    over,
                )  # fmt: skip
                yield Span(begin, stop), unit
                count += 1
            at = last + 1

    def _goes_on(self, line: Line, below: Line) -> bool:
        """Whether a sentence may run from a line into the next."""
        if below.gap or below.broken or LIST_MARK.match(self.text, below.start, below.end):
            return False
        if self.text[below.start] == "|" or self._labels(below):
            return False
        last, first = self.text[line.end - 1], self.text[below.start]
        if last in STOPS or last == ":" or RULE.fullmatch(self.text, line.start, line.end):
            return False
        if first.islower() or last == "," or unfinished(self.text[line.start : line.end]):
            return True
        word = self.text[below.start : below.end].split(None, 1)[0]
        return bool(self.width) and line.end - line.start + 1 + len(word) > self.width

    def _labels(self, line: Line) -> bool:
        """Whether a line begins with the label of a known part: "ADR: NSAIDs"."""
        name = label_of(self.text[line.start : line.end])
        return bool(name) and name is not None and plain(name) in section_policy().by_name

    def _covers(self, own: list[Line], at: int, words: int, *, alone: bool) -> bool:
        """Whether a line stands over entries: by its colon, or over a list. It may turn them."""
        line, written = own[at], self.text[words : own[at].end]
        policy, size = section_policy(), len(written.split())
        if written[-1:] == ":":
            return size <= policy.over_words
        if not self._may_divide(own, at, written, alone=alone):
            return False
        below = own[at + 1]
        headed = line.gap or at == 0
        return headed and LIST_MARK.match(self.text, below.start, below.end) is not None

    def _names(self, part: _Part, at: int, words: int, *, alone: bool) -> bool:
        """Whether a line only names what the longer line below it is about, as a problem does that
        stands over what is thought of it; or is one of those that say nothing."""
        own, policy = part.lines, section_policy()
        line, written = own[at], self.text[words : own[at].end]
        if plain(written) in policy.dividers:
            return True
        if part.section.kind not in PLANS or not self._may_divide(own, at, written, alone=alone):
            return False
        if not (line.gap or at == 0) or written[-1] in STOPS or plan_policy().orders(written):
            return False
        below = own[at + 1]
        return len(self.text[below.start : below.end].split()) > policy.divider_words

    def _may_divide(self, own: list[Line], at: int, written: str, *, alone: bool) -> bool:
        """Whether a line is short, begins as a name does, and has one directly below it."""
        if not alone or at + 1 >= len(own) or own[at + 1].gap or written[0].islower():
            return False
        short = len(written.split()) <= section_policy().divider_words
        return short and not any(map(str.isdigit, written))


class _Scope:
    """Which unit stands over the next one of a section."""

    def __init__(self, text: str, base: int | None) -> None:
        self._text, self._base = text, base
        self._current: int | None = None
        self._column = 0
        self._entry: tuple[bool, bool, bool] | None = None
        """Of the first unit below: whether a blank line stands above it, and a list mark before it,
        and whether it is indented."""

    def open(self, unit: int, column: int) -> None:
        """A unit stands over what follows; its line is indented so far."""
        self._current, self._column, self._entry = unit, column, None

    def over(self, line: Line | None, *, listed: bool, closed: bool) -> int | None:
        """The unit over a sentence, the first of a line or (None) a further one of it.

        What stood over the lines before ends at the next that stands over some, behind a list of
        entries, where the lines are no longer indented, and at a blank line if there was none above
        the first entry.
        """
        if closed:
            self._current = None
        elif line is not None and self._current is not None:
            deeper = column_of(self._text, line) > self._column
            if self._entry is None:
                self._entry = (line.gap, listed, deeper)
            spaced, in_list, indented = self._entry
            left = (in_list and not listed) or (indented and not deeper)
            if left or (line.gap and not spaced and not in_list):
                self._current = None
        return self._base if self._current is None else self._current
