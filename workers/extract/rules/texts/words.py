"""Texts under a label or heading, and where a document comes from. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

from clinical_text.forms import ends_a_part
from knowledge.names.tables import tables
from workers.extract.fields import Found
from workers.extract.parts import (
    Parts,
    Section,
    behind_spaces,
    labels,
    line_end,
    listed_labels,
    tells_on,
)
from workers.extract.rubrics import FieldPolicy, alternatives, field_policies, vocabulary
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.texts.titles import MARKS
from workers.extract.units import told
from workers.extract.values import Words

_PLACE_WORD = r"[A-Z][A-Za-z'’.&\-]{0,24}"
_HOPELESS = re.compile(
    r"(?i)^(?:\W*|n/?a|none given|not (?:given|stated|provided|specified)|unknown|pending)$"
)
_NO_PLACE = re.compile(
    r"(?i)[ ](?:note|report|letter|summary|visit|consultation|reference|number|no\b\.?|id|course|"
    r"stay|day)\b"
)
_OF_A_LABEL = re.compile(r"[ ]?:|[ ]&[ ]")
"""Behind words that are a label or a part of a heading, and no place."""
_INCORPORATED = r"(?:[ ](?:\(Pty\)[ ]Ltd|(?:Pty[ ])?Ltd|Inc|LLC|PLLC|plc)\b\.?)?+"
"""Behind the name of a company."""
_HEAD_LINES = 3
"""Lines of a document in which a place's name may stand alone (ours)."""
_SEGMENT_ENDS = re.compile(r"\n|[|,;:]|[ \t]{2}|\t|[ \t][-–][ \t]")
_ENTRY = re.compile(r"(?:[-•*–]|\d{1,2}[.)])(?=\s)")
"""What marks an entry of a list."""
_TAIL = 80
"""Characters at the end of a list in which it says that it goes on (ours)."""
_GOES_ON = re.compile(r"(?i)(?:,|;|\b(?:and|or))\s*+$")
_NOTHING = re.compile(r"(?i)(?:none|nkd?a|no|nil|denies|denied)\b")
_SHORT = 5
"""Words up to which a line below is an entry (ours)."""
_RULE_OF_SIGNS = re.compile(
    r"\n[ \t\r]*+(?:[-=_*#]{4,}|\f)|"
    r"(?i:\n[ \t]*+\n[ \t]*+(?:dictated|electronically|signed|authori[sz]ed|verified|reported)\b)"
)


def labelled(parts: Parts, name: str) -> Iterator[Found]:
    """What stands under a field's labels, in the order of the labels; then what stands under those
    that no list has and that the learned reader takes for the field's."""
    field = field_policies()[name]
    for title in field.labels:
        for index in parts.titled.get(title, ()):
            found = value_under(parts, index, field)
            if found is not None:
                yield found
    yield from under_learned(parts, name)


def under_learned(parts: Parts, name: str) -> Iterator[Found]:
    """What stands under titles that no list has and that the learned reader takes for a field's."""
    for one in told(parts, name):
        title = "" if one.section is None else parts.sections[one.section].title
        if one.section is not None and len(title) > 1 and title not in listed_labels():
            found = value_under(parts, one.section, field_policies()[name])
            if found is not None:
                yield found


def value_under(parts: Parts, index: int, field: FieldPolicy) -> Found | None:
    """What stands under the section of a number, as far as the field's values reach."""
    sections, one = parts.sections, parts.sections[index]
    if (cell := _first_cell(parts, one)) is not None and field.kind == "words":
        return cell
    end = _line(one, parts)
    if field.extent == "list":
        end = _list_end(sections, index, parts.text)
    elif field.extent != "line":
        inside = field.extent == "section"
        end = _end(sections, index, parts.text, labels_inside=inside)
    if field.extent != "section":
        end = _next_row(parts.text, one, end)
    return _trimmed(parts.text, one.start, end)


def _first_cell(parts: Parts, one: Section) -> Found | None:
    """The first cell of the only row below the head of a table, which stands under a heading."""
    if not one.alone:
        return None
    begin = behind_spaces(parts.text, one.start, one.end)
    lines = parts.text[begin : one.end].split("\n")[:3]
    cells = [_GAP.split(line.strip()) for line in lines]
    if (
        len(lines) < _TABLE_LINES
        or len(cells[0]) < _LEAST_CELLS
        or any(sign.isdigit() or sign in ".:|" for sign in lines[0])
    ):
        return None
    if not _LEAST_CELLS <= len(cells[1]) <= len(cells[0]) or len(cells[2:3] and cells[2]) > 1:
        return None
    start = parts.text.index(cells[1][0], begin + len(lines[0]))
    return Found(Words(text=cells[1][0]), start, start + len(cells[1][0]))


_GAP = re.compile(r"[ ]{2,}|\t")
_TABLE_LINES, _LEAST_CELLS = 2, 3
"""Lines and cells of a table that stands under a heading (ours)."""


def _next_row(text: str, one: Section, end: int) -> int:
    """Where the value of a row of two columns ends: at the next row, or, in whatever layout, at
    another label behind a gap in its line."""
    line = text.rfind("\n", 0, one.start) + 1
    stop = line_end(text, one.start, end)
    label = _LABEL_IN_LINE.search(text, one.start, stop)
    if label is not None and text[one.start : label.start()].strip():
        return label.start()
    gap = None if one.alone else _WIDE_GAP.search(text, behind_spaces(text, one.start, stop), stop)
    if gap is not None and ":" in text[line : one.start]:
        return gap.start()
    if not one.alone and _STORY.match(text, stop) and stop < end:
        return stop
    if one.alone or ":" in text[line : one.start] or not _GAP_BEFORE.search(text[line : one.start]):
        return end
    return stop if stop < end and _TWO_COLUMNS.match(text, stop + 1) else end


_LABEL_IN_LINE = re.compile(
    r"(?:(?<![ ])[ ]{2,}+|\t[ \t]{0,80}+)(?=[A-Z][A-Za-z /.'-]{1,30}:(?:\s|$))"
)
_WIDE_GAP = re.compile(r"(?<=\S)(?:[ ]{4,}+|\t[ \t]*+)(?=[A-Za-z])")
"""What parts the cells of a line: words behind it are of another column."""
_STORY = re.compile(
    r"\n[ \t]*+(?:He|She|They|We|I|Mr|Mrs|Ms|Miss|The patient|This (?:man|lady|gentleman|woman))\s"
)
"""Below a label's own line: sentences about the patient, which belong to no label."""
_GAP_BEFORE = re.compile(r"\S(?:[ ]{2,}|\t[ \t]*+)$")
_TWO_COLUMNS = re.compile(r"[ \t]{0,80}+[A-Za-z][^\n:]{1,45}?(?:[ ]{2}|\t)[ \t]{0,80}+\S")


def _line(one: Section, parts: Parts) -> int:
    """A value of one line: the label's own, or the next one under a heading alone."""
    text = parts.text
    lead = len(text[one.start : one.end]) - len(text[one.start : one.end].lstrip())
    stop = text.find("\n", one.start + lead)
    return min(one.end, stop if stop >= 0 else len(text))


def _list_end(sections: Sequence[Section], index: int, text: str) -> int:
    """Where a list ends: at a label that is none of its entries, at a blank line that no marked
    entry follows, and behind a label's own line at words that begin no entry."""
    one = sections[index]
    begin = behind_spaces(text, one.start)
    limit = _other_label(sections, index, begin, text)
    first = end = line_end(text, begin, limit)
    listed = _ENTRY.match(text, begin) is not None
    while end < limit:
        at = behind_spaces(text, end + 1)
        stop = line_end(text, at, limit)
        marked = _ENTRY.match(text, at) is not None
        if at >= limit or ("\n" in text[end + 1 : at] and not (marked and listed)):
            break
        alone = one.alone and (marked or not tells_on(text[begin:first], text[at:stop]))
        if not (alone or (marked and listed) or _continued(text, begin, end, text[at:stop])):
            break
        end = stop
    return min(end, limit)


def _continued(text: str, begin: int, end: int, line: str) -> bool:
    """Whether a line below the label's own, which no mark begins, belongs to its list."""
    if _GOES_ON.search(text, max(begin, end - _TAIL), end) or line[:1].islower():
        return True
    if _NOTHING.match(text, begin, end) or _ENTRY.match(line) or line.rstrip().endswith("."):
        return False
    return len(line.split()) <= _SHORT


def _other_label(sections: Sequence[Section], index: int, begin: int, text: str) -> int:
    """Where the next label stands that is no entry such as "- Penicillin: rash"."""
    first = sections[index + 1 : index + 2]
    alike = bool(first) and sections[index].alone and first[0].heading_start == begin
    for later in islice(sections, index + 1, None):
        line = text.rfind("\n", 0, later.heading_start) + 1
        known = later.title in labels() or later.title in _MORE
        marked = _ENTRY.match(text[line : later.heading_start].lstrip()) is not None
        if known or later.alone or not (alike or marked):
            return line if marked else later.heading_start
    return len(text)


def _end(sections: Sequence[Section], index: int, text: str, *, labels_inside: bool) -> int:
    """A section ends at the next heading of its rank: a line alone, or one that is known to open
    a section, or its own again; labels inside it ("Liver: normal") belong to it."""
    own = sections[index]
    row = index > 0 and _is_row(own, text) and _is_row(sections[index - 1], text)
    for later in islice(sections, index + 1, None):
        again = later.title == own.title
        if row and later.level <= own.level and _is_row(later, text) and not _of_body(later.title):
            return later.heading_start
        if _DATED.match(text, later.start, later.end):
            return later.heading_start
        ranks = later.alone and later.level <= sections[index].level
        opens = later.title in openers() or ends_a_part(later.title)
        if ranks or not labels_inside or again or opens:
            return later.heading_start
    return len(text)


def _is_row(one: Section, text: str) -> bool:
    """Whether a label begins a line, with its value behind it: a row of a form."""
    line = text.rfind("\n", 0, one.heading_start) + 1
    return not one.alone and not text[line : one.heading_start].strip(MARKS)


def _of_body(title: str) -> bool:
    """Whether a label names a part of the body, of which a section of findings tells in turn."""
    names = {form for word in title.split() for form in (word, word.removesuffix("s"))}
    return any(
        "anatomy" in tables().kinds(sense.entry) for one in names for sense in tables().senses(one)
    )


_DATED = re.compile(
    r"\s{0,9}(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|[A-Za-z]{3,9}[ ]\d{1,2}\b)[^\n]{0,30}(?:\n|$)"
)
"""Behind a label: nothing but a day, as in what the system prints below a report."""


@cache
def openers() -> frozenset[str]:
    """Headings that end a section: all that are known, but those of single values inside one."""
    return (labels() - _INSIDE) | _MORE


_INSIDE = frozenset(
    ["size", "site", "lab", "lesion size", "tumor size", "tumour size", "location", "margin",
     "grade", "greatest dimension", "dod", "doa", "cc", "course", "rx", "test", "surgery",
     "treatment",
     "nodes", "lymph nodes", "operation", "results", "drugs", "organ", "pi-rads", "pirads", "psa",
     "bi-rads", "psa density", "prostate volume", "stage", "staging", "tnm", "complication",
     "vascular invasion", "issued", "signed", "discharged", "admitted", "admission",
     "differentiation"]
)  # fmt: skip
_MORE = frozenset(
    ["signed", "electronically signed", "electronically signed by", "signed by", "reported by",
     "radiologist", "pathologist", "dictated by", "disposition", "discharge instructions",
     "condition at discharge", "discharge condition", "physician", "attending", "subjective",
     "objective", "history of present illness", "social history", "review of systems", "vitals",
     "vital signs", "physical exam", "surgeon", "exam", "hpi", "prescriber", "indications",
     "description of procedure", "operative findings", "note", "addendum", "details",
     "details of procedure", "operative details", "operation details", "post-op instructions"]
)  # fmt: skip


def _trimmed(text: str, start: int, end: int) -> Found | None:
    words = text[start:end]
    lead = len(words) - len(words.lstrip(" \t\n*:|-•"))
    words = words[lead:].rstrip(" \t\n*|;-_=#")
    # a disclaimer below a rule of signs belongs to nobody, nor does a signature
    cut = _RULE_OF_SIGNS.search(words)
    if cut:
        words = words[: cut.start()].rstrip()
    if _HOPELESS.match(words):
        return None
    return Found(Words(text=words), start + lead, start + lead + len(words))


def institutions(text: str) -> Iterator[Found]:
    """Names of hospitals and laboratories: capitalized words around one of their nouns."""
    nouns = alternatives(vocabulary().institutions)
    pattern = re.compile(
        rf"(?<![A-Za-z])(?:{_PLACE_WORD}[ ]{{1,2}}(?:of[ ]+|and[ ]+|for[ ]+|"
        rf"the[ ]+)?){{1,5}}(?i:{nouns})(?![a-z]){_INCORPORATED}"
        rf"(?:[ ]+(?:of|for|and|at)[ ]+(?:the[ ]+)?{_PLACE_WORD}(?:[ ]+{_PLACE_WORD}){{0,3}})?"
        rf"|(?<![A-Za-z])(?:University|Institute|Hospital)[ ]+(?:of|"
        rf"for)[ ]+{_PLACE_WORD}(?:[ ]+(?:and[ ]+)?{_PLACE_WORD}){{0,4}}"
    )
    yield from _in_head(text)
    for match in pattern.finditer(text):
        words = match.group()
        if _NO_PLACE.match(text, match.end()) or negated(text, match.start(), match.start()):
            continue
        if _OF_A_LABEL.match(text, match.end()):
            continue
        general = vocabulary().institution_general
        if all(one.lower() in general or one.lower() in nouns for one in words.split()):
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        early = match.start() < 400 or text[line : match.start()].strip() == ""
        yield Found(Words(text=words), *match.span(), wide=not early)


@cache
def _examination() -> re.Pattern[str]:
    words = alternatives(vocabulary().examinations)
    return re.compile(
        rf"(?i:{words})(?![A-Za-z])"
        rf"(?:[ ]+(?!(?:{_OF_A_SENTENCE})\b)[A-Za-z&/,+-]{{1,20}}){{1,8}}"
    )


_OF_A_SENTENCE = (
    "is|was|were|showed?|shows|shown|showing|confirmed|demonstrat\\w+|revealed|report\\w*|scans?|"
    "on|done|today|please|results?|requested|booked|pending|normal|to|there|she|he|and"
)
"""What makes a sentence of the name of an examination, or a title of a report."""
_EXAMINED_LINES = 8
"""Lines of a document in which the name of its examination may stand alone (ours)."""


def examinations(text: str) -> Iterator[Found]:
    """An examination whose name stands alone in the first lines: of a cell, or of a line."""
    end = -1
    for _ in range(_EXAMINED_LINES):
        end = line_end(text, min(end + 1, len(text)), len(text))
    for cell in _HEAD_CELL.finditer(text, 0, end):
        words = cell.group().rstrip(":")
        if _examination().fullmatch(words):
            yield Found(Words(text=words), cell.start(), cell.start() + len(words))


_HEAD_CELL = re.compile(r"(?<![^\n\t|])[^\s|]++(?: [^\s|]++)*")


@cache
def _place_name() -> re.Pattern[str]:
    nouns = alternatives((*vocabulary().institutions_in_head, *vocabulary().institutions))
    return re.compile(
        rf"(?:{_PLACE_WORD}[ ](?:of[ ]|and[ ]|&[ ])?){{1,6}}(?i:{nouns}|\w{{4,30}}ology)(?![a-z])"
        rf"{_INCORPORATED}(?:[ ](?i:of|at|for)[ ](?i:the[ ])?(?:{_PLACE_WORD}[ ]){{0,3}}"
        rf"{_PLACE_WORD})?"
    )


def _is_general(words: str) -> bool:
    return all(one.lower() in vocabulary().institution_general for one in words.split())


def _in_head(text: str) -> Iterator[Found]:
    """A name that stands alone in the first lines and ends in what such places are called."""
    lead = len(text) - len(text.lstrip())
    end = lead
    for _ in range(_HEAD_LINES):
        end = line_end(text, min(end + 1, len(text)), len(text))
    at = lead
    for stop in (*(one.end() for one in _SEGMENT_ENDS.finditer(text, lead, end)), end):
        words = text[at:stop].strip(" \t\n|,;:-–")
        label = text[stop - 1 : stop] == ":"
        named = _place_name().fullmatch(words) is not None and not _is_general(words)
        if named and not label:
            start = text.index(words, at)
            yield Found(Words(text=words), start, start + len(words))
        at = stop
