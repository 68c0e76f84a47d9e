"""A clinical document's sections: which words stand under which heading. Pure.

Headings of reports are labels more often than lines of their own ("CONCLUSION: biopsy of …"), so a
heading is a known label with a colon, wherever a line or a run-on sentence begins, or a line of its
own.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, field_policies, vocabulary

_LINE = re.compile(r"[^\n]*")
_BLANK = re.compile(r"\n[ \t]*+\n")
_QUESTIONS = frozenset(["indication", "clinical indication", "reason for exam", "technique",
                        "reason for examination", "comparison", "clinical question", "question",
                        "targeted question"])  # fmt: skip
"""Headings of a line or two: what follows a blank line is no part of them."""
_LONGEST_HEADING = 60
_MARKS = "#*_ \t=-•>"
_LABEL = re.compile(
    r"(?P<name>(?:\d{1,2}[.)]\s*)?[A-Za-z][A-Za-z0-9 ,/&'()\-]{0,58}?)\**\s*[:|](?=\D|$|\s*\S)"
)
_CLAUSE_ENDS = re.compile(r"[.;!?](?=\s|$)|\n\s*\n|\n(?=\s*(?:[-•*]|\d+[.)]))")


@dataclass(frozen=True)
class Section:
    """A heading, and where its words stand."""

    title: str
    heading_start: int
    start: int
    end: int
    alone: bool
    """Whether the heading has a line to itself."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A text with its sections, in order; words before the first heading are in none.

    Line ends of other systems are read as ours, each character in its place (`plain_lines`).
    """

    text: str

    def __post_init__(self) -> None:
        """Read every line end as ours."""
        object.__setattr__(self, "text", plain_lines(self.text))

    @cached_property
    def sections(self) -> Sequence[Section]:
        """Every section and labelled line, in order; each ends where the next begins."""
        heads = sorted(_heads(self.text))
        found = []
        for index, (at, start, title, alone) in enumerate(heads):
            end = heads[index + 1][0] if index + 1 < len(heads) else len(self.text)
            found.append(Section(title, at, start, end, alone))
        return found

    @cached_property
    def _majors(self) -> tuple[list[int], list[str], list[int]]:
        """Where those that open sections begin, their titles, and how far they reach."""
        known = vocabulary().background | vocabulary().conclusive | _others()
        major = [one for one in self.sections if one.title in known]
        starts, titles = [one.heading_start for one in major], [one.title for one in major]
        return starts, titles, [self._reach(one) for one in major]

    def _reach(self, one: Section) -> int:
        """Where a section's rule ends: a question that has its heading's line, at a blank line."""
        if one.alone or one.title not in _QUESTIONS:
            return len(self.text)
        blank = _BLANK.search(self.text, one.start)
        return blank.start() if blank else len(self.text)

    def title_at(self, place: int) -> str | None:
        """The heading that rules at a place: of those that open sections, the last before it."""
        at = bisect_right(self._majors[0], place) - 1
        return self._majors[1][at] if at >= 0 and place < self._majors[2][at] else None

    def rank(self, place: int) -> int:
        """2 where the author concludes, 0 where others are told of, else 1."""
        title = self.title_at(place)
        if title in vocabulary().conclusive:
            return 2
        return 0 if title in vocabulary().background else 1

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
        found = []
        for index, one in enumerate(self.sections):
            if not opens(one):
                continue
            if not one.alone:
                found.append((one.heading_start, min(one.end, _line_of(self.text, one.start))))
                continue
            later = (other for other in self.sections[index + 1 :] if ends(other))
            end = next((other.heading_start for other in later), len(self.text))
            if to_blank:
                lead = len(self.text[one.start : end]) - len(self.text[one.start : end].lstrip())
                blank = _BLANK.search(self.text, one.start + lead, end)
                end = blank.start() if blank else end
            found.append((one.heading_start, end))
        return found

    def under(self, titles: frozenset[str]) -> list[Section]:
        """The sections with one of these headings."""
        return [one for one in self.sections if one.title in titles]


@cache
def _others() -> frozenset[str]:
    """Headings that end a background section without being conclusive."""
    return frozenset(
        ["findings", "report", "microscopic description", "microscopic examination", "microscopy",
         "gross description", "macroscopic examination", "macroscopy", "immunohistochemistry",
         "biomarkers", "medications", "discharge medications", "hospital course", "margins",
         "mutations", "plan", "assessment", "assessment and plan", "laboratory results", "labs",
         "description of procedure", "operative findings", "specimen", "tnm", "stage",
         "physical examination", "physical exam", "course", "follow-up", "measurements"]
    )  # fmt: skip


@cache
def labels() -> frozenset[str]:
    """Every heading that is known."""
    named = {label for one in field_policies().values() for label in one.labels}
    return frozenset(named) | vocabulary().background | vocabulary().conclusive | _others()


@cache
def _bare() -> frozenset[str]:
    """Every heading that is one without a colon, too."""
    return labels() | patients().family_headings | patients().medicines.bare_headings


@cache
def _inside() -> re.Pattern[str]:
    """A known heading in a run-on text: written large, with a colon."""
    return re.compile(rf"(?<=[a-z0-9.)])\s?(?P<name>(?i:{alternatives(tuple(labels()))})):")


def _heads(text: str) -> list[tuple[int, int, str, bool]]:
    """Start of heading, start of what it heads, title, whether alone in its line."""
    found: dict[int, tuple[int, int, str, bool]] = {}
    for match in _LINE.finditer(text):
        line = match.group()
        if not line.strip():
            continue
        lead = len(line) - len(line.lstrip(_MARKS))
        at = match.start() + lead
        bare = line[lead:]
        label = _LABEL.match(bare)
        if label is not None and len(label["name"].split()) <= 7:
            after = bare[label.end() :].lstrip("* \t")
            start = match.start() + len(line) - len(after)
            found[at] = (at, start, _title(label["name"]), not after.strip())
        elif len(bare) < _LONGEST_HEADING and _title(bare) in _bare():
            found[at] = (at, match.end(), _title(bare), True)
    for inner in _inside().finditer(text):
        name = inner["name"]
        at = inner.start("name")
        if at not in found and name[0].isupper():
            found[at] = (at, inner.end(), _title(name), False)
    return list(found.values())


def plain_lines(text: str) -> str:
    """The text with "\\n" at each line's end; as long as before, so that places stay."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def _title(words: str) -> str:
    words = re.sub(r"^\d{1,2}[.)]\s*|\([^)]*\)", "", words.strip(_MARKS + ":")).strip()
    return " ".join(words.lower().replace("_", " ").split())


_NEW_LINE = re.compile(r"\n")
_LONGEST_CLAUSE = 400
"""Characters to each side in which a clause ends (ours): reading stays linear."""
_FULL_LINE = 60
"""Characters from which a line is one that was cut by its width (ours)."""


def clause(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence, or entry of a list, around a span."""
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


def _line_of(text: str, at: int) -> int:
    """Where the line around a place ends, with those that go on in it behind a comma."""
    for line in _NEW_LINE.finditer(text, at):
        if not text[at : line.start()].rstrip().endswith(","):
            return line.start()
    return len(text)


def _wrapped(text: str, at: int) -> bool:
    """Whether the line that ends at `at` goes on in the next: long, no stop, no new entry."""
    line = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
    below = text[at + 1 : at + 60].lstrip()
    if not below or line.endswith((".", ":", ";")):
        return False
    return below[0].islower() or (len(line) >= _FULL_LINE and not _LABEL.match(below))


__all__ = ["Parts", "Section", "clause", "labels", "plain_lines"]
