"""Which lines of a clinical note begin a part of it, and whether their words say more than that.

A heading is hidden only where the whole of it is a known name; the words of any other are shown
beside those under it, for they may turn what those mean: `MEDICATIONS STOPPED`, `# Sepsis`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from knowledge.documents.notes import section_policy
from knowledge.subjects.drugs import drugs_at
from workers.summarize.forms import begins_with_box
from workers.summarize.lines import Line, is_foreign, label_of
from workers.summarize.names import (
    BRACKETS,
    MARKS,
    NUMBERING,
    is_statement,
    kind_of,
    names_only,
    plain,
    unqualified,
)

OTHER = "other"
"""The kind of a part whose heading names none that is known, and of what no heading stands over."""
PLANS = ("assessment", "plan", "assessment_plan")
_BEFORE_PLANS = ("history", "past_history", "systems", "examination")
"""Kinds of parts that no plan has come before: "Treatment" above them told what there is."""
_OF_PROBLEMS = (*PLANS, "complaint", "diagnosis", "past_history", "family_social")
"""Kinds of parts in which PE is an embolism."""

_ATX = re.compile(r"#{1,6}[ \t]*(?=\S)")
_WORDS_BEHIND = re.compile(r":(?=\s+\S|[A-Z])")
_SENTENCE_BEFORE = re.compile(r"(?:\w{3}|\d)[.?!;]\s")
_NUMBER = re.compile(r"[<>~]?\d{2,3}(?:[./]\d+)?%?\W?\Z")
_SOAP = {
    "s": ("complaint",),
    "o": ("history", "complaint"),
    "a": ("history", "examination", "results"),
    "p": ("assessment", "diagnosis", "examination", "history"),
}
"""The letters that stand for parts, with the kinds of which one comes before."""


class Heading(NamedTuple):
    """The words of a line that begin a part; `end` is where those of the part begin."""

    title: str
    kind: str
    end: int
    shown: bool = False
    """Whether its words are also a statement of the part, which stands over the others."""
    problem: bool = False
    """Whether it names a problem within an assessment and plan."""


class Headings:
    """Finds the headings of a note; goes over its lines once, in order."""

    def __init__(self, text: str, lines: Sequence[Line]) -> None:
        self.text, self.lines = text, lines
        self.begin_anew()
        labels = (label_of(self._written(n)) for n in range(len(lines)))
        self.letters = {name.casefold() for name in labels if name and name.casefold() in _SOAP}
        formed = (n for n in range(len(lines)) if self._has_plain_form(n))
        self.plain_form = sum(kind_of(self._written(n)) is not None for n in formed) > 1

    def begin_anew(self) -> None:
        """Forget what came before: an entry of another day begins."""
        self.seen: set[str] = set()
        self.planning = False
        self.by_problem = False

    def at(self, n: int, kind: str) -> Heading | None:
        """The heading that line `n` is or begins with, under a part of a kind."""
        line = self.lines[n]
        written = self.text[line.start : line.end]
        if not any(map(str.isalpha, written[: section_policy().heading_chars])):
            return None
        if begins_with_box(written):
            return None
        found = self._whole_line(n, written, kind) or self._label(n, written, kind)
        if found is not None:
            self.seen.add(found.kind)
            self.planning = found.kind in ("plan", "assessment_plan") or (
                self.planning and found.kind not in _BEFORE_PLANS
            )
            if not found.problem:
                self.by_problem = found.kind == "assessment_plan"
        return found

    def _whole_line(self, n: int, written: str, current: str) -> Heading | None:
        policy, line = section_policy(), self.lines[n]
        if len(written) > policy.heading_chars or len(written.split()) > policy.heading_words:
            return None
        marked = bool(_ATX.match(written)) or _is_bold(written)
        inner = _ATX.sub("", written, count=1).strip("*_").strip()
        if not marked and (
            inner[:1] in "-•–—→>+*(\"'“‘" or (inner[-1:] in ".,;!?" and inner[:1] != "[")
        ):
            return None
        if _WORDS_BEHIND.search(BRACKETS.sub(" ", inner)):
            return None  # "# PE: hold heparin" says what is to be done
        numbered = NUMBERING.match(inner)
        if numbered and not marked and current in PLANS:
            return None  # "2  Meds" divides a plan
        title = inner[numbered.end() if numbered else 0 :].strip(MARKS + "[]")
        if not title or (not marked and title[0].islower()):
            return None
        short = line.broken and len(title.split()) <= 3
        alone = marked or line.gap or short or inner[-1:] == ":" or title.isupper()
        shown = not names_only(title)
        kind = None
        if not (marked and shown and current in PLANS):  # "#2 PE - heparin" is a problem
            kind = self._kind_of_line(
                n, title, current, alone=alone, colon=marked or inner[-1:] == ":"
            )
        if kind is not None:
            return Heading(title, self._in_context(kind, title), line.end, shown)
        if marked or inner[:1] == "[" or self._stands_over(n, inner, title, current):
            inherited = current if marked or title.isupper() else OTHER
            within = self.planning and marked
            kind = "plan" if within else inherited
            return Heading(title, kind, line.end, shown=True, problem=within and self.by_problem)
        if self.plain_form and current not in PLANS and self._is_plain_heading(n, title):
            return Heading(title, OTHER, line.end, shown=True)
        return None

    def _has_plain_form(self, n: int) -> bool:
        """Whether a line has the form of a heading without marks: short, in words that begin with a
        capital, below a blank line, its words directly below it."""
        line, written = self.lines[n], self._written(n)
        if not line.gap or n + 1 >= len(self.lines) or self.lines[n + 1].gap:
            return False
        if len(written) > section_policy().heading_chars or not written[0].isupper():
            return False
        small = len(written.split()) <= section_policy().divider_words
        return small and written[-1].isalpha() and "," not in written

    def _is_plain_heading(self, n: int, title: str) -> bool:
        """Whether an unknown line has the form that the known headings of this note have."""
        if not self._has_plain_form(n) or any(map(str.isdigit, title)) or ":" in title:
            return False
        return not is_statement(title) and not drugs_at(title)

    def _in_context(self, kind: str, title: str) -> str:
        """Medicines and tests that come a second time, behind a plan's heading, are planned; but
        what somebody takes now, or goes home with, is a list of medicines wherever it stands."""
        if kind == "medicines" and _stands(title):
            return kind
        again = self.planning and kind in self.seen and kind in ("medicines", "results")
        return "plan" if again else kind

    def _kind_of_line(
        self, n: int, title: str, current: str, *, alone: bool, colon: bool
    ) -> str | None:
        policy, line = section_policy(), self.lines[n]
        exact = policy.by_name.get(plain(title))
        if exact is not None and current == "results" and not line.gap:
            return None if plain(title) in policy.inside_results else exact
        if plain(title) in policy.telling and (current in PLANS or not colon):
            return exact if line.gap and current not in _OF_PROBLEMS else None
        if exact is not None:
            if self._measures(n, plain(title), current):
                return None
            if len(plain(title)) <= 2 and not (line.gap or line.broken or colon):
                return exact if self._in_series(n, plain(title), exact, current) else None
            return exact if alone or line.broken or len(title) > 1 else None
        if not alone or is_statement(title):
            return None
        kind = kind_of(title)
        if _is_a_step(title, kind, current):
            return None
        return kind if self.seen or kind != "plan" else None  # "F/U – sleep" says why they came

    def _stands_over(self, n: int, inner: str, title: str, current: str) -> bool:
        """Whether an unknown line is a heading by its form: capitals, or a colon in no section."""
        if sum(map(str.isalpha, title)) < 4 or any(map(str.isdigit, title)):
            return False
        if not self.lines[n].gap or n + 1 >= len(self.lines):
            return False
        if inner[-1] == ":":
            return current == OTHER or title.isupper()
        below = self._written(n + 1)
        return title.isupper() and not below.isupper()

    def _label(self, n: int, written: str, current: str) -> Heading | None:
        """`HPI: words`, `**Plan**: words`, `PMH - words`."""
        policy, line = section_policy(), self.lines[n]
        found = re.search(
            r":(?=\W|\Z)|:(?=[A-Z])|[ \t][-–—][ \t]", written[: policy.label_chars + 2]
        )
        if found is None:
            return None
        name = written[: found.start()].strip(MARKS + "[]")
        name = name[numbered.end() :] if (numbered := NUMBERING.match(name)) else name
        if not name or not name[0].isupper() or written[:1] in "-•–—→>+":
            return None
        if _SENTENCE_BEFORE.search(name):
            return None  # "Day 2. Plan: ..." has a statement before its label
        dash = ":" not in found[0]
        words = plain(name)
        if words in policy.identifiers:
            return None  # "Signed by: ...", no part of the note
        bare = " ".join(BRACKETS.sub(" ", words).split())
        known = policy.by_name.get(words) or policy.by_name.get(unqualified(bare))
        if known is None and not dash and len(words.split()) <= 4 and (line.gap or name.isupper()):
            known = None if is_statement(name) else kind_of(name)
            known = None if _is_a_step(name, known, current) else known
        if known is None or (dash and (len(words) <= 2 or len(words.split()) > 3)):
            return None
        if known == "plan" and dash and not self.seen:
            return None
        inside = current == "results" and not line.gap and words in policy.inside_results
        inside = inside and not self._plan_follows(n)
        divides = numbered and current in PLANS
        if inside or divides or (len(words) == 1 and not name.isupper()):
            return None
        if not self._opens(n, words, known, current):
            return None
        kind = self._in_context(known, name)
        if not names_only(name):
            return Heading(name, kind, line.start)  # the words of the part begin with it
        end = line.start + found.end()
        while written[end - line.start : end - line.start + 1] in ("*", "_") and end < line.end:
            end += 1
        return Heading(name, kind, end)

    def _plan_follows(self, n: int) -> bool:
        """Whether the line below opens a plan, so that an impression is the author's own."""
        name = label_of(self._written(n + 1)) if n + 1 < len(self.lines) else None
        return (
            bool(name)
            and section_policy().by_name.get(plain(name or "")) == "plan"
            and (plain(name or "") not in ("recommendation", "recommendations"))
        )

    # --- siblings ---------------------------------------------------------------------------------

    def _opens(self, n: int, words: str, kind: str, current: str) -> bool:
        """Whether a known label begins a part, and is not one of a row: `Neuro: `, `ID: `."""
        if len(words) <= 2:
            return self._in_series(n, words, kind, current)
        if current not in PLANS or kind in PLANS or self.lines[n].gap:
            return True
        return words not in section_policy().telling and self._foreign_beside(n) == (False, False)

    def _in_series(self, n: int, words: str, kind: str, current: str) -> bool:
        """Whether a name of one or two letters is a part's: it stands among others, S-O-A-P, and
        neither among vital signs (`P: 132`) nor among organ systems (`ID: MRSA`)."""
        line, (above, below) = self.lines[n], self._foreign_beside(n)
        if (above and below) or self._measures(n, words, current):
            return False
        if words in _SOAP and (len(self.letters) > 1 or self.seen & set(_SOAP[words])):
            return True
        if current in PLANS and kind not in PLANS:
            return line.gap and not above and not below
        return len(words) > 1 and (line.gap or not (above or below))

    def _measures(self, n: int, words: str, current: str) -> bool:
        """Whether a letter stands before or over a number, among findings or alone: `P: 132`."""
        behind = self._written(n).partition(":")[2].split()
        if not behind and n + 1 < len(self.lines):
            behind = self._written(n + 1).split()
        if len(words) > 1 or not behind or not _NUMBER.match(behind[0]):
            return False
        return current == "examination" or len(behind) <= 2

    def _foreign_beside(self, n: int) -> tuple[bool, bool]:
        """Whether the lines above and below have labels that name no part."""
        above = n > 0 and is_foreign(self._written(n - 1))
        below = n + 1 < len(self.lines) and is_foreign(self._written(n + 1))
        return above, below

    def _written(self, n: int) -> str:
        return self.text[self.lines[n].start : self.lines[n].end]


def _is_a_step(title: str, kind: str | None, current: str) -> bool:
    """Whether a line of a plan says what becomes of medicines or tests: "Medications to stop:"."""
    if current not in PLANS or kind not in ("medicines", "results"):
        return False
    return not names_only(title) and not _stands(title)


def _stands(title: str) -> bool:
    """Whether medicines are those that somebody takes, at home, now or from the discharge on."""
    return not section_policy().standing.isdisjoint(plain(title).split())


def _is_bold(written: str) -> bool:
    bare = written.rstrip(":").rstrip()
    return len(bare) > 4 and bare[:2] == bare[-2:] and bare[:2] in ("**", "__")
