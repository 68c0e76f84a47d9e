"""Where the headings and labels of a document stand, known or not. Pure.

Headings of reports are labels more often than lines of their own ("CONCLUSION: biopsy of …"): a
label with a colon wherever a line or a run-on sentence begins or a gap ends, a known one before a
gap, or a line that looks like a heading (`clinical_text.forms`).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from clinical_text.forms import CAPITALS, PLAIN, Form, Line, headings_by_form, lines_of
from clinical_text.headings import BOLD_LEVEL
from clinical_text.layouts.sheet import Named
from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, field_policies, vocabulary
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.texts.cognates import cognate
from workers.extract.rules.texts.titles import MARKS, known_title, lettered, title

_LONGEST_HEADING = 60
_FIRST = 160
"""Characters of a value that say what it is of (ours)."""
_MOST_WORDS = 7
"""Words of a heading with a colon (ours)."""
_SHORT = 5
"""Words up to which a line below is an entry of a list (ours)."""
LABEL = re.compile(
    r"(?P<name>(?:[A-Z]\.){1,4}[A-Z]\.?|[A-Z]\.(?:[A-Z01]\.){1,3}|"
    r"(?:(?:\d{1,2}|[A-Z])[.)]\s*)?(?:[A-Za-z]{3,8}\.[ ])?"
    r"[A-Za-zÀ-ÿ](?:[A-Za-zÀ-ÿ0-9,/&'()_\-]|\.(?=[A-Za-z])|[ ](?![ ]\S)){0,58}?)"
    r"\.?\**\s*(?:(?<!\d):|:(?!\d)|\|)"
)
"""A label; a colon between digits is that of a time."""
_IN_BRACKETS = re.compile(r"\[(?P<name>[A-Za-z][A-Za-z /&'()-]{1,40})\][ :]*(?=\S)")
_ROW_OF_TWO = re.compile(r"\|[ ]*(?P<name>[A-Za-z][^|\n]{1,40}?)[ ]*\|[ ]*(?=[^|\s][^|\n]*\|?$)")
_LABEL_BEFORE_A_GAP = re.compile(
    r"(?P<name>(?:[A-Z][.)][ ])?[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ /&'()_\-]{1,40}?)"
    r"(?:[ \t]{2,}|\t|[ \t]+[-–][ \t]+)(?=\S)"
)
"""A label without a colon: what it labels stands behind a gap or a dash."""
_OWN_MARK = re.compile(
    r"(?P<name>[A-Za-zÀ-ÿ](?:[A-Za-zÀ-ÿ0-9,/&'()_#.-]|[ ](?![ ])(?![-–=>]{1,2}[ ])){0,40}?)"
    r"(?P<mark>[ \t]*(?:=|={1,2}>|-{1,2}>|>{1,2}|[»→~]|::)[ \t]*|"
    r"[ \t]+[-–—][ \t]+|[ ]{2,}|\t[ \t]*)"
    r"(?=\S)(?![-=>:])"
)
"""A name, a mark that may stand between names and values all over a document, and its value."""
_FIGURES = re.compile(r":|\d{2}")
_NUMBERED = re.compile(r"[A-Z]?\d{1,2}[ \t]++(?=[A-Za-z])")
"""A number before the name of a form's line: "Q4  Visceral pleural invasion"."""
_LEAST_MARKED, _LEAST_NAMED = 3, 0.5
"""Lines of a mark from which it is the document's own, and the share of their names that are known
to state something (ours)."""


@cache
def other_titles() -> frozenset[str]:
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
    return listed_labels() | vocabulary().background | vocabulary().conclusive | other_titles()


@cache
def listed_labels() -> frozenset[str]:
    """Every heading that a field lists."""
    return frozenset(label for one in field_policies().values() for label in one.labels)


@cache
def bare_titles() -> frozenset[str]:
    """Every heading that is one without a colon, too."""
    return labels() | patients().family_headings | patients().medicines.bare_headings


@cache
def _inside() -> re.Pattern[str]:
    """A known heading in a run-on text: written large, with a colon."""
    return re.compile(
        r"(?:(?<=[a-z0-9.)])\s?|(?<=[A-Za-z0-9.)])[ \t]{2,})"
        rf"(?=[A-Z])(?P<name>(?i:{alternatives(tuple(labels()))})):"
    )


Head = tuple[int, int, str, bool, int]
"""Start of heading, start of what it heads, title, whether alone in its line, level."""


def heads(text: str, named: Sequence[Named] = ()) -> list[Head]:
    """Every heading and label, known or not; `named` by the head of their column."""
    found: dict[int, Head] = {}
    lines = lines_of(text)
    forms = {one.start: one for one in headings_by_form(lines)}
    above: Head | None = None
    foreign: list[Head] = []
    marks = _own_marks(lines)
    for line in lines:
        head = (
            _salutation(line)
            or _label_head(line.start, line.words)
            or _behind_its_mark(line, marks)
        )
        form = forms.get(line.start)
        if head is None and form is not None and _opens(form, above):
            head = (form.start, form.end, title_of(form.title), True, form.level)
        above = head
        if head is not None:
            found[head[0]] = head
        elif len(line.words) < _LONGEST_HEADING and cognate(title_of(line.words), _cognates_of()):
            foreign.append((line.start, line.end, title_of(line.words), True, PLAIN))
        for place, begin, name in _behind_gaps(line.words):
            at = line.start + place
            found[at] = (at, line.start + begin, name, False, PLAIN)
    for one in named:
        found[one.start] = (one.start, one.start, title_of(one.title), False, PLAIN)
    found = _in_our_words(found, foreign)
    bodies = {start: body for start, body, _, _, _ in found.values()}
    starts = sorted(bodies)
    for inner in _inside().finditer(text):
        at = inner.start("name")
        before = bisect_right(starts, at) - 1
        within = before >= 0 and inner.end() <= bodies[starts[before]]
        if not within:
            found[at] = (at, inner.end(), title_of(inner["name"]), False, PLAIN)
    return list(found.values())


_SALUTATION = re.compile(
    r"(?:Dear\s(?:[A-Z]|colleague|sir|doctor)[^.:\n]{0,60}|To whom it may concern|"
    r"Yours (?:sincerely|faithfully|truly)|(?:Kind|Best|Warm)(?:est)? regards|"
    r"With (?:kind|best|warm)[^.:\n]{0,30}|"
    r"Sincerely)[,.]?"
)
"""A line that begins or closes a letter: what stood above it goes on no further."""


def _salutation(line: Line) -> Head | None:
    if _SALUTATION.fullmatch(line.words) is None:
        return None
    return line.start, line.end, SALUTATION, True, 0


SALUTATION = "salutation"
"""The title of such a line."""


def _own_marks(lines: Sequence[Line]) -> frozenset[str]:
    """The marks that the document sets between names and values: of the lines that have one, so
    many begin with the name of a field that the others are of its kind, known or not."""
    told: dict[str, list[bool]] = {}
    for line in lines:
        one = _marked(line.words)
        if one is not None:
            words = one.string[one.end() : one.end() + _FIRST]
            named = title_of(one["name"])
            states = stated(Unit(named, words)).values()
            told.setdefault(_kind_of(one["mark"]), []).append(
                named in labels() or max(states) >= LEAST
            )
    return frozenset(
        mark for mark, named in told.items()
        if len(named) >= _LEAST_MARKED and sum(named) >= max(2, _LEAST_NAMED * len(named))
    )  # fmt: skip


def _marked(words: str) -> re.Match[str] | None:
    """The name and the mark that a line begins with; none where a drug or a test is named."""
    number = _NUMBERED.match(words)
    one = _OWN_MARK.match(words, number.end() if number else 0)
    if one is None or len(one["name"].split()) > _MOST_WORDS or _FIGURES.search(one["name"]):
        return None
    if title_of(one["name"]) in labels():
        return one
    return None if drugs_named(one["name"]) or lab_named(one["name"]) else one


def _kind_of(mark: str) -> str:
    return mark.strip() or "gap"


def _behind_its_mark(line: Line, marks: frozenset[str]) -> Head | None:
    """The label that a line begins with by a mark of the document's own."""
    one = _marked(line.words) if marks else None
    if one is None or _kind_of(one["mark"]) not in marks:
        return None
    at, begin = line.start + one.start("name"), line.start + one.end()
    return at, begin, title_of(one["name"]), False, _level(line.words)


def _opens(form: Form, above: Head | None) -> bool:
    """Whether an unknown heading heads a part: right below one of a field it is its value."""
    if form.level < CAPITALS or above is None or not above[3]:
        return True
    return above[2] not in labels()


def _label_head(start: int, words: str) -> Head | None:
    """The label that a line begins with, or the known heading that it is."""
    lead = len(words) - len(words.lstrip(MARKS))
    bare = words[lead:]
    at, level = start + lead, _level(words)
    label = LABEL.match(bare) or _IN_BRACKETS.match(bare) or _ROW_OF_TWO.match(bare)
    gap = _LABEL_BEFORE_A_GAP.match(bare)
    if gap is not None and title_of(gap["name"]) in labels():
        label = gap
    name = title_of(label["name"]) if label is not None else ""
    if label is not None and lettered(label["name"]) and name not in labels():
        label = None
    if label is not None and len(name.split()) <= _MOST_WORDS:
        after = bare[label.end() :].lstrip("* \t")
        return at, start + len(words) - len(after), name, not after.strip(), level
    if len(bare) < _LONGEST_HEADING and title_of(bare) in bare_titles():
        return at, start + len(words), title_of(bare), True, level
    return None


def _level(words: str) -> int:
    """The level of a heading that is known, by its form."""
    marks = len(words) - len(words.lstrip("#"))
    if marks or words[:2] == "**":
        return marks or BOLD_LEVEL
    return CAPITALS if words.partition(":")[0].isupper() else PLAIN


_BEHIND_A_GAP = re.compile(
    r"(?:(?:(?<![ ])[ ]{2,}+|\t|[ ]\|[ ]|;[ ]?)"
    r"(?P<name>[A-Za-z](?:[A-Za-z0-9/&'()._-]|[ ](?![ ])){1,40}?)|"
    r"(?<=[a-z)][.;])[ ](?P<short>[A-Z]{2,4}))[ ]?:[ \t]*+(?=\S)"
)


def _behind_gaps(line: str) -> list[tuple[int, int, str]]:
    """The labels with a colon behind gaps of a line, where their values are, their titles."""
    return [
        (one.start(kind), one.end(), title_of(one[kind]))
        for one in _BEHIND_A_GAP.finditer(line)
        if (kind := "name" if one["name"] else "short") and len(one[kind].split()) <= _SHORT
    ]


def title_of(words: str) -> str:
    """The title of a heading, by which it is known where it is; without what programs add."""
    found = known_title(words, bare_titles())
    if found in bare_titles():
        return found
    if "." in words and " " not in words.strip():
        return _of_path(words)
    bare, _, last = found.rpartition(" ")
    known = known_title(bare, bare_titles()) if last in _ADDED else ""
    return known if known in bare_titles() else found


def _in_our_words(found: dict[int, Head], alone: Sequence[Head]) -> dict[int, Head]:
    """Headings by the titles of which they are cognates, where a document has several: it is in
    another language; those that stand `alone` in their lines are headings then, too."""
    unknown = {one[2] for one in (*found.values(), *alone)} - bare_titles()
    meant = {one: near for one in unknown if (near := cognate(one, _cognates_of())) is not None}
    if len(set(meant.values())) < _LEAST_FOREIGN:
        return found
    found |= {one[0]: one for one in alone if one[0] not in found}
    return {at: (*one[:2], meant.get(one[2], one[2]), *one[3:]) for at, one in found.items()}


_LEAST_FOREIGN = 2
"""Headings in cognates from which a document is in another language (ours)."""


@cache
def _cognates_of() -> frozenset[str]:
    return labels() | patients().family_headings


def _of_path(words: str) -> str:
    """The title of a path of names ("Condition.diagnosis.text"): the last known, else all."""
    names = [title(one.strip("_0123456789")) for one in words.split(".")]
    known = [one for one in names
             if one not in _ADDED and known_title(one, bare_titles()) in bare_titles()]  # fmt: skip
    return known_title(known[-1], bare_titles()) if known else " ".join(filter(None, names))


_ADDED = frozenset(["name", "text", "value", "list", "description", "code", "display"])
"""Words that names of programs end in: "facilityName", "plan_text"."""
