"""A clinical document's sections: which words stand under which heading. Pure.

Where headings and labels stand, `workers.extract.heads` says.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from clinical_text.forms import PLAIN, without_furniture
from clinical_text.layouts.plain import View, plain_view
from clinical_text.layouts.sheet import FILL
from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.heads import (
    LABEL,
    bare_titles,
    heads,
    labels,
    listed_labels,
    other_titles,
    title_of,
)
from workers.extract.rubrics import field_policies, vocabulary
from workers.extract.rules.texts.tick_boxes import plain_ticks
from workers.extract.rules.texts.titles import MARKS
from workers.extract.scanned import unscanned

_BLANK = re.compile(r"\n(?=[ \t]*+\n)")
_SPACES = re.compile(r"\s*+")
_SENTENCE = re.compile(r"[a-z0-9)][.](?:\s|$)")
_FIRST = 160
"""Characters of a section that say what it is of (ours)."""
_SHORT = 5
"""Words up to which a line below is an entry of a list (ours)."""
_CLAUSE_ENDS = re.compile(
    r"[;!?](?=\s|$)|"
    # "Tab. Losartan": a form of drugs that is cut short ends no sentence
    r"(?<!\b(?i:tab))(?<!\b(?i:cap))(?<!\b(?i:inj))(?<!\b(?i:syp))(?<!\b(?i:dr))\.(?=\s|$)|"
    r"\n\s*\n|\n(?=\s*(?:[-•*]|\d+[.)]))"
)


@dataclass(frozen=True)
class Section:
    """A heading, and where its words stand."""

    title: str
    heading_start: int
    start: int
    end: int
    alone: bool
    """Whether the heading has a line to itself."""
    level: int = PLAIN
    """How deep it stands, by its form (`clinical_text.forms`)."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A text with its sections, in order; words before the first heading are in none.

    Line ends of other systems and points in the middle of the line are read as ours, each character
    in its place (`plain_lines`, `plain_points`).
    """

    text: str
    view: View | None = field(default=None, repr=False)
    """The text without its layout (`plain_view`), where it is a part of a longer one."""
    whole: str = field(init=False, repr=False)
    """The text as it was given."""
    printed: str = field(init=False, repr=False)
    """The text that is read, with what a scan mistook as it stands: the words of values."""

    def __post_init__(self) -> None:
        """Read line ends and decimal points as ours, and neither furniture nor unticked boxes."""
        object.__setattr__(self, "whole", self.text)
        view = plain_view(plain_lines(self.text)) if self.view is None else self.view
        object.__setattr__(self, "view", view)
        plain = without_furniture(plain_points(view.text))
        ticked = plain_ticks(plain, lambda one: title_of(one) in labels())
        object.__setattr__(self, "text", ticked)
        signs = zip(ticked, plain_lines(self.whole), strict=True)
        printed = "".join(
            own if not (own.isalnum() and one.isalnum()) else one for own, one in signs
        )
        object.__setattr__(self, "printed", printed.replace(FILL, " "))

    @cached_property
    def sections(self) -> Sequence[Section]:
        """Every section and labelled line, in order; each ends where the next begins."""
        every = sorted(heads(self.text, self.view.named if self.view is not None else ()))
        found = []
        for index, (at, start, name, alone, level) in enumerate(every):
            end = every[index + 1][0] if index + 1 < len(every) else len(self.text)
            found.append(Section(name, at, start, end, alone, level))
        return found

    @cached_property
    def titled(self) -> Mapping[str, Sequence[int]]:
        """The places among the sections of those with a title, by title."""
        found: dict[str, list[int]] = {}
        for index, one in enumerate(self.sections):
            found.setdefault(one.title, []).append(index)
        return found

    @cached_property
    def _majors(self) -> tuple[list[int], list[Section], list[int]]:
        """Where those that open sections begin, they, and how far they reach."""
        known = vocabulary().background | vocabulary().conclusive | other_titles()
        major: list[Section] = []
        for one in self.sections:
            # what looks like a heading of no lower rank ends the rule of the one before
            if (
                one.title in known
                or self._is_background(one)
                or (one.alone and major and one.level <= major[-1].level)
            ):
                major.append(one)
        starts = [one.heading_start for one in major]
        return starts, major, [self._reach(one) for one in major]

    def told_of(self, one: Section, role: str) -> bool:
        """Whether a section whose heading no list has is of a field or a role, by its words."""
        if one.title in labels():
            return False
        value = self.text[one.start : min(one.end, one.start + _FIRST)].strip()
        return stated(Unit(one.title, value)).get(role, 0.0) >= LEAST

    def _is_background(self, one: Section) -> bool:
        return one.title in vocabulary().background or self.told_of(one, "background")

    def _reach(self, one: Section) -> int:
        """Where a section's rule ends: of background on its heading's line, with the paragraph of
        it; of a diagnosis before an operation, where its line or its list does."""
        if one.title in _before_operation():
            return self._end_of_entries(one)
        if one.alone or not self._is_background(one):
            return len(self.text)
        return self._end_of_paragraph(one.start)

    def _end_of_paragraph(self, at: int) -> int:
        """Where the words end that begin on a heading's line: at a blank line, at the next label,
        and behind a line that was not cut by its width."""
        text = self.text
        start, end = text.rfind("\n", 0, at) + 1, line_end(text, at, len(text))
        while end < len(text):
            stop = line_end(text, end + 1, len(text))
            below = text[end + 1 : stop].lstrip(MARKS)
            full = end - start >= _FULL_LINE or below[:1].islower()
            if not below or not full or LABEL.match(below) or title_of(below) in bare_titles():
                break
            start, end = end + 1, stop
        return end

    def _end_of_entries(self, one: Section) -> int:
        """Where a list ends: at a label that is known, a blank line, or words that are a story."""
        text = self.text
        begin = behind_spaces(text, one.start)
        at = bisect_right(self._labelled, begin)
        limit = self._labelled[at] if at < len(self._labelled) else len(text)
        first = end = line_end(text, begin, limit)
        while end < limit:
            stop = line_end(text, end + 1, limit)
            line = text[end + 1 : stop]
            if not line.strip() or tells_on(text[begin:first], line):
                break
            end = stop
        return end

    def title_at(self, place: int) -> str | None:
        """The heading that rules at a place: of those that open sections, the last before it."""
        ruling = self._ruling(place)
        return ruling.title if ruling is not None else None

    def label_at(self, place: int) -> str | None:
        """The heading or label that stands before a place, of whatever rank."""
        at = bisect_right(self._starts, place) - 1
        return self.sections[at].title if at >= 0 else None

    @cached_property
    def _starts(self) -> list[int]:
        """Where headings and labels begin."""
        return [one.heading_start for one in self.sections]

    def _ruling(self, place: int) -> Section | None:
        at = bisect_right(self._majors[0], place) - 1
        return self._majors[1][at] if at >= 0 and place < self._majors[2][at] else None

    def rank(self, place: int) -> int:
        """2 where the author concludes, 0 where others are told of, else 1."""
        ruling = self._ruling(place)
        if ruling is None:
            return 1
        if ruling.title in vocabulary().conclusive:
            return 2
        return 0 if self._is_background(ruling) else 1

    def stretches(
        self,
        opens: Callable[[Section], bool],
        ends: Callable[[Section], bool],
        *,
        to_blank: bool,
    ) -> list[tuple[int, int]]:
        """What stands under some headings: the line behind one, all below one that has its line.

        Args:
            opens: whether a section's heading is one of them.
            ends: whether a later heading ends what stands below one.
            to_blank: whether a blank line behind the first words does, too.
        """
        found: list[tuple[int, int]] = []
        for one, end in zip(self.sections, self._ended_by(ends), strict=True):
            if not opens(one):
                continue
            if not one.alone:
                end = _line_of(self.text, one.start, one.end)
            elif to_blank:
                at = bisect_left(self._blanks, behind_spaces(self.text, one.start))
                end = min(end, self._blanks[at]) if at < len(self._blanks) else end
            if found and one.heading_start < found[-1][1]:
                # a heading of the same kind inside: what was read once is not read again
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((one.heading_start, end))
        return found

    def _ended_by(self, ends: Callable[[Section], bool]) -> list[int]:
        """Of each section, where the next begins that ends one."""
        stops, stop = [], len(self.text)
        for one in reversed(self.sections):
            stops.append(stop)
            stop = one.heading_start if ends(one) else stop
        return stops[::-1]

    @cached_property
    def _blanks(self) -> list[int]:
        """Where blank lines begin."""
        return [one.start() for one in _BLANK.finditer(self.text)]

    @cached_property
    def _labelled(self) -> list[int]:
        """Where sections begin whose heading is a known label."""
        return [one.heading_start for one in self.sections if one.title in labels()]

    def under(self, titles: frozenset[str]) -> list[Section]:
        """The sections with one of these headings."""
        return [one for one in self.sections if one.title in titles]


def behind_spaces(text: str, at: int, limit: int | None = None) -> int:
    """Where the first words behind a place begin; the limit, where none do before it."""
    match = _SPACES.match(text, at, len(text) if limit is None else limit)
    return match.end() if match else at


def line_end(text: str, at: int, limit: int) -> int:
    """Where the line around a place ends, or what is read of it."""
    stop = text.find("\n", at, limit)
    return stop if stop >= 0 else limit


def tells_on(entry: str, line: str) -> bool:
    """Whether a line below an entry is a sentence, and the entry none: it begins a story."""
    if entry.rstrip().endswith((".", ",", ";", "and", "or")) or not line.strip()[:1].isupper():
        return False
    return _SENTENCE.search(line) is not None and len(line.split()) > _SHORT


@cache
def _before_operation() -> frozenset[str]:
    return frozenset(field_policies()["preoperative_diagnosis"].labels)


def plain_lines(text: str) -> str:
    """The text with "\\n" at each line's end; as long as before, so that places stay."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


_MIDDLE = re.compile(
    r"(?<![\d.,·∙⋅])(\d{1,5})[·∙⋅](?=\d{1,4}(?![\d·∙⋅]|[.,]\d))(?!10\s?[\^*⁰¹²³⁴-⁹])"
)


def plain_points(text: str) -> str:
    """The text with "." for a decimal point in the middle of the line ("1·2"); as long as before.

    Before a power of ten it multiplies. What a scan mistook is as it was meant (`scanned`).
    """
    return unscanned(_MIDDLE.sub(r"\1.", text))


_NEW_LINE = re.compile(r"\n")
_LONGEST_CLAUSE = 400
"""Characters to each side in which a clause ends (ours): reading stays linear."""
_LONG = 2_000
"""Characters from which a text is a document of many values (ours)."""
_NEAR = 40
_FULL_LINE = 60
"""Characters from which a line is one that was cut by its width (ours)."""


@lru_cache(maxsize=8)  # the rules ask for that of one place one after the other
def clause(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence, or entry of a list, around a span."""
    if len(text) > _LONG:
        return _clause_of_many(text, start, end)
    begin = 0
    for one in _CLAUSE_ENDS.finditer(text, max(0, start - _LONGEST_CLAUSE), start):
        begin = one.end()
    begin = max(begin, start - _LONGEST_CLAUSE, 0)
    for line in _NEW_LINE.finditer(text, begin, start):
        if not _wrapped(text, line.start()):
            begin = line.end()
    last = min(len(text), end + _LONGEST_CLAUSE)
    after = _CLAUSE_ENDS.search(text, end, min(len(text), last + 1))
    stop = min(after.start() if after else len(text), last)
    for line in _NEW_LINE.finditer(text, end, stop):
        if not _wrapped(text, line.start()):
            return begin, line.start()
    return begin, stop


def _clause_of_many(text: str, start: int, end: int) -> tuple[int, int]:
    """The same in a document, whose clauses are looked for once and for all its places."""
    starts, ends, breaks = _bounds(text)
    first, last = max(0, start - _LONGEST_CLAUSE), min(len(text), end + _LONGEST_CLAUSE)
    # what stands just before a value may end a clause only because the value is none of it
    begin = first
    for one in _CLAUSE_ENDS.finditer(text, max(first, start - _NEAR), start):
        begin = one.end()
    at = bisect_right(ends, start) - 1
    begin = max(begin, ends[at]) if at >= 0 and starts[at] >= first else begin
    at = bisect_left(breaks, start) - 1
    begin = max(begin, breaks[at] + 1) if at >= 0 else begin
    at = bisect_left(starts, end)
    stop = min(starts[at], last) if at < len(starts) else last
    at = bisect_left(breaks, end)
    return begin, min(breaks[at], stop) if at < len(breaks) else stop


@lru_cache(maxsize=4)
def _bounds(text: str) -> tuple[list[int], list[int], list[int]]:
    """Where what ends clauses begins and ends, and the ends of lines that do not go on."""
    spans = [one.span() for one in _CLAUSE_ENDS.finditer(text)]
    lines = (one.start() for one in _NEW_LINE.finditer(text))
    breaks = [at for at in lines if not _wrapped(text, at)]
    return [start for start, _ in spans], [end for _, end in spans], breaks


def _line_of(text: str, at: int, limit: int) -> int:
    """Where the line around a place ends, with those that go on in it behind a comma."""
    goes_on, begin = False, at
    for line in _NEW_LINE.finditer(text, at, limit):
        words = text[begin : line.start()].rstrip()
        goes_on = words.endswith(",") if words else goes_on
        if not goes_on:
            return line.start()
        begin = line.end()
    return limit


def _wrapped(text: str, at: int) -> bool:
    """Whether the line that ends at `at` goes on in the next: long, no stop, no new entry."""
    line = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
    below = text[at + 1 : at + 60].lstrip()
    if not below or line.endswith((".", ":", ";")):
        return False
    return below[0].islower() or (len(line) >= _FULL_LINE and not LABEL.match(below))


__all__ = ["Parts", "Section", "behind_spaces", "clause", "labels", "line_end", "listed_labels",
           "plain_lines", "plain_points", "tells_on"]  # fmt: skip
