"""Finds the sections of a clinical note by rules, with its paragraphs and sentences.

Notes are not articles: short forms stand for headings, a line is often a statement of its own, and
the same name means a part on a line alone and a word in a sentence. Names and sizes:
knowledge/documents/note_sections.yaml. Offsets are exact; nothing of the text is changed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from clinical_text.instructions import addresses_reader
from clinical_text.sentences.splitting import sentence_spans
from knowledge.documents.notes import plan_policy, section_policy
from knowledge.subjects.drugs import drugs_at
from store.core.spans import Section, Span, Structure
from workers.summarize.acts import UNREAD, Act
from workers.summarize.entries import earlier, entries_of
from workers.summarize.forms import EMPTY_BOX, TICKED_BOX, is_unfilled
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
    is_foreign,
    label_of,
    lines_of,
    paragraphs_of,
    unfinished,
)
from workers.summarize.names import plain
from workers.summarize.turns import Stretch, stretches, turns_of

__all__ = ["OTHER", "NoteOutline", "NoteSection", "Unit", "outline"]

ADMINISTRATIVE = "administrative"
_NARROW = ("complaint", "diagnosis", "medicines", "allergies")
"""Kinds of parts in which a label of none is not of them."""
_LISTS = (*_NARROW, "family_social", "past_history")
"""Kinds of parts that are lists as a rule."""
_PROSE = 60  # characters of a line that is no entry of such a list (ours)
_LABEL_WORDS = 4  # of such a label (ours)
_ADDRESSED = 1200
"""Characters of a line that stay behind words for a program in it: below a chunk (ours)."""


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A part of a note: its title as written ("" where there is none), its kind, its place."""

    title: str
    kind: str
    start: int
    end: int
    body: int
    """Where its words begin, behind its heading."""
    inferred: bool = False
    """Whether a language model named it, and no heading of the note."""


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
    aloud: bool = False
    """Whether it is what a clinician says in a dialogue, and no question or answer."""
    earlier: bool = False
    """Whether it is of an entry of a record before the one whose plan is in force."""
    act: Act = UNREAD
    """What it does, where that was read."""
    problems: tuple[Span, ...] = ()
    """The words that name a problem of the patient, where they were read."""


@dataclass(frozen=True, slots=True)
class NoteOutline:
    """What is found in a note."""

    sections: tuple[NoteSection, ...]
    structure: Structure
    units: tuple[Unit, ...]
    entries: int = 0
    """How many entries of different days there are, where there are more than one."""


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
    entry: bool = False
    """Whether its heading begins an entry of a record of several days."""


class _Reader:
    """Goes over the lines once, and once over the lines of each section."""

    def __init__(self, text: str, lines: list[Line], inferred: dict[int, tuple[str, str]]) -> None:
        self.text, self.lines, self.inferred = text, lines, inferred
        self.whole_lines = {line.start for line in lines}
        longest = max((line.end - line.start for line in lines), default=0)
        policy = section_policy()
        self.width = longest if policy.wrap_least <= longest <= policy.wrap_most else 0
        self.turns = turns_of(text, lines)
        self.turn_starts = {one.start for one in self.turns}
        self.entries = entries_of(text, lines)
        openings = (text[line.start : line.end].split(None, 1)[0] for line in lines)
        self.is_letter = any(one.strip(",").casefold() in policy.salutations for one in openings)

    def read(self) -> NoteOutline:
        parts, headings = [_Part(NoteSection("", OTHER, 0, 0, 0))], Headings(self.text, self.lines)
        kind = OTHER  # of the part that a line stands in, where no administrative one interrupts
        begins = {one.start for one in self.entries}
        for n, line in enumerate(self.lines):
            if line.start in self.inferred:
                title, kind = self.inferred[line.start]
                section = NoteSection(title, kind, line.start, 0, line.start, inferred=True)
                parts.append(_Part(section, lines=[line]))
                continue
            if line.start in begins:
                headings.begin_anew()
                kind = OTHER
                title = self.text[line.start : line.end]
                section = NoteSection(title, kind, line.start, 0, line.start)
                parts.append(_Part(section, Heading(title, kind, line.end, shown=True), entry=True))
                continue
            found = None if line.start in self.turn_starts else headings.at(n, kind)
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
        """Whether a line without a heading ends the part before it: an administrative one; in a
        letter one whose words stand on the line of its label, with its paragraph; and one of
        problems, medicines or allergies where a label follows that names nothing of the kind."""
        if part.section.kind == ADMINISTRATIVE:
            return self._is_past(part, line)
        if part.section.kind in _NARROW and part.lines and self._is_of_another(part, line):
            return True
        if part.section.kind in _LISTS and self._is_prose_behind_a_list(part, line):
            return True
        if not self.is_letter or part.section.kind == OTHER or not line.gap or not part.lines:
            return False
        return "\n" not in self.text[part.section.start : part.lines[0].start]

    def _is_of_another(self, part: _Part, line: Line) -> bool:
        """Whether a line begins with a label that names no part, behind a blank line or a part that
        is one line behind its own label: `Allergies: eggs`, `Outcome: seen today`."""
        written = self.text[line.start : line.end]
        label = label_of(written)
        if not label or not is_foreign(written) or not written[0].isupper():
            return False
        if part.section.kind in ("medicines", "allergies") and drugs_at(written):
            return False  # "Inhalers: salbutamol"
        if len(label.split()) > _LABEL_WORDS or not written.partition(":")[2].strip():
            return False
        on_its_line = "\n" not in self.text[part.section.start : part.lines[-1].end]
        return line.gap or on_its_line

    def _is_prose_behind_a_list(self, part: _Part, line: Line) -> bool:
        """Whether a long sentence stands in a paragraph of its own behind short entries."""
        written = self.text[line.start : line.end]
        if not line.gap or not part.lines or len(written) < _PROSE or label_of(written):
            return False
        if written[-1] not in ".!?" or LIST_MARK.match(written) or not written[0].isupper():
            return False
        entries = (self.text[one.start : one.end] for one in part.lines)
        return all(len(one) < _PROSE and one[-1] not in STOPS for one in entries)

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
        entry: int | None = None
        for n, part in enumerate(parts):
            base = entry
            if part.heading is not None:
                span = Span(part.section.start, part.heading.end)
                paragraphs.append(span)
                sentences.append(span)
                if part.heading.shown:
                    base = len(units)
                    over = None if part.entry else entry
                    entry = base if part.entry else entry
                    units.append(replace(self._shown(part.heading, span, n), over=over))
            paragraphs.extend(paragraphs_of(part.lines))
            for one in self._units(part, n, base, len(units)):
                sentences.append(one[0])
                if one[1] is not None:
                    units.append(one[1])
        together = sorted(
            [*stretches(self.text, self.turns, sentences), *self._addressed(sentences)],
            key=lambda one: one.start,
        )
        units = _told_together(units, together)
        sentences, paragraphs = _joined(sentences, together), _joined(paragraphs, together)
        planned = [one.start for one in placed if one.kind in PLANS]
        past = earlier(self.entries, planned, len(self.text))
        if past:
            units = [replace(one, earlier=_inside(one.start, past)) for one in units]
        structure = Structure.model_construct(
            sections=tuple(Section(title=s.title, start=s.start, end=s.end) for s in placed),
            paragraphs=tuple(paragraphs),
            sentences=tuple(sentences),
        )
        return NoteOutline(tuple(placed), structure, tuple(units), len(self.entries))

    def _addressed(self, sentences: Sequence[Span]) -> Iterator[Stretch]:
        """A sentence that speaks to a program, with what follows it in its line: alone, that would
        read as a statement of the note."""
        if self.turns:
            return
        end = 0
        for one in sentences:
            if one.start < end or not addresses_reader(one.of(self.text)):
                continue
            line = self.text.find("\n", one.start)
            end = len(self.text) if line < 0 else line
            last = max(
                (two.end for two in sentences if one.start <= two.start < end), default=one.end
            )
            end = max(one.end, min(last, one.start + _ADDRESSED))
            yield Stretch(one.start, end)

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
        if self.text[below.start] == "|" or self._labels(below) or below.start in self.turn_starts:
            return False
        if any(one.match(self.text, below.start, below.end) for one in (EMPTY_BOX, TICKED_BOX)):
            return False
        last, first = self.text[line.end - 1], self.text[below.start]
        if last in STOPS or last == ":" or RULE.fullmatch(self.text, line.start, line.end):
            return False
        if is_unfilled(self.text[line.start : line.end]):
            return False  # "[ ] yes [ ] no" ends in no open word
        word = self.text[below.start : below.end].split(None, 1)[0]
        if last == "," or unfinished(self.text[line.start : line.end]):
            return True
        if first.islower() and (
            not self._begins_small(line) or word.strip(",") in section_policy().going_on
        ):
            return True
        return bool(self.width) and line.end - line.start + 1 + len(word) > self.width

    def _begins_small(self, line: Line) -> bool:
        """Whether a line itself begins with a small letter and no list mark, as those of a list or
        a dictation without capitals do, where one below it says nothing of going on."""
        return self.text[line.start].islower() and line.start in self.whole_lines

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


def _inside(at: int, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of these, which stand in order."""
    n = bisect_right(places, at, key=lambda one: one[0])
    return n > 0 and at < places[n - 1][1]


def _joined(spans: Sequence[Span], together: Sequence[Stretch]) -> list[Span]:
    """The spans, those that a stretch touches as one."""
    found: list[Span] = []
    at = 0
    for span in spans:
        while at < len(together) and together[at].end <= span.start:
            at += 1
        inside = at < len(together) and together[at].start < span.start
        if inside and found:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _told_together(units: Sequence[Unit], together: Sequence[Stretch]) -> list[Unit]:
    """The units, those of one stretch as one, unless parts begin within it."""
    found: list[Unit] = []
    index: dict[int, int] = {}
    at = 0
    for n, unit in enumerate(units):
        while at < len(together) and together[at].end <= unit.start:
            at += 1
        here = together[at] if at < len(together) and together[at].start <= unit.start else None
        last = found[-1] if found else None
        if here and last and here.start <= last.start and last.section == unit.section:
            found[-1] = replace(last, end=unit.end, divider=False, problem=False)
        else:
            over = None if unit.over is None else index[unit.over]
            aloud = here is not None and here.clinician
            found.append(replace(unit, over=over, aloud=aloud))
        index[n] = len(found) - 1
    return found


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
