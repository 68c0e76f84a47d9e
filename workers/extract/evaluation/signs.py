"""What a second reading by other rules finds left over: signs of fields that no value covers. Pure.

The rules that extract cannot see what they cannot read. These look for less: a shape, a name, a
label like one of ours; what of that no span covers, nobody denied and no background explains, was
missed. Nothing here gives a value.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workers.extract.evaluation.signs_policy import Sign, signs_policy
from workers.extract.field_reader import LEAST, stated
from workers.extract.fields import Attempt
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.drugs.listed_drugs import drug_lists
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.laboratory.labs import measured_pattern, not_of_today
from workers.extract.rules.placing import set_aside
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.tumors.genomes import gene_pattern
from workers.extract.rules.tumors.grades import of_something_else
from workers.extract.rules.tumors.markers import marker_pattern
from workers.extract.units import told, units

_NOT_DONE = re.compile(
    r"(?i)\b(?:not\s+(?:assess\w*|applicable|performed|reported|provided|stated|given|done|part|"
    r"available|evaluated|tested|requested|submitted|specified|included|measured|examined)|n/a|"
    r"cannot\s+be|could\s+not\s+be|pending|to\s+follow|deferred|insufficient|awaited|unknown|"
    r"ha?emoly[sz]ed|clotted|cancel+ed|unsuitable|lipa?emic|tnp|qns)\b"
)
_NO_RESULT = re.compile(
    r"(?i)\b(?:previous(?:ly)?\s+(?:reported|issued|given|result)|was\s+reported\s+as|target)\b"
)
"""Before a value in its line: it is one that was replaced, or that a control should have."""
_DENIES = re.compile(
    r"(?i)\b(?:no|not|none|without|negative|wild[- ]?type|wt|undetected|absent|not found)\b"
)
_EXPLAINS = re.compile(
    r"(?i)\b(?:desirable|optimal|therapeutic|diagnostic|suggest(?:s|ive)|indicat(?:es|ive)|consistent|"
    r"cut-?off|threshold|recommended|prevention)\b"
)
"""In a line that explains what values mean, and states none."""
_NAMES = {"markers": marker_pattern, "genes": gene_pattern, "labs": measured_pattern}
_SHAPED_ONLY = frozenset(["mutations", "lab_values", "measurements"])
"""Fields of many values of which the words behind a label say one only where one has its shape."""
_TEXTS = frozenset(["raw_text", "findings", "impression", "hospital_course", "plan"])
"""Values that are stretches of text: they cover nothing."""


_MOST_TOLD = 20_000
"""Characters of an attempt's spans in which the words of a place are looked for again (ours)."""


class Place(NamedTuple):
    """Where a sign stands."""

    start: int
    end: int


_seen: "WeakKeyDictionary[Parts, dict[str, Sequence[Place]]]" = WeakKeyDictionary()


def signs_of(field: str, parts: Parts) -> Sequence[Place]:
    """Every place that a second reading takes for a statement of the field."""
    held = _seen.setdefault(parts, {})
    if field not in held:
        found = {*_shaped(field, parts), *_labelled(field, parts)}
        held[field] = sorted(found)
    return held[field]


def leftovers(field: str, parts: Parts, attempt: Attempt) -> Sequence[Place]:
    """The signs of a field that no value of the attempt covers."""
    spans = covered(attempt)
    result = attempt.fields.get(field)
    told = "\n".join(
        parts.text[one.start : one.end].lower() for one in (result.items if result else ())
    )
    told = told[:_MOST_TOLD]
    return [
        one
        for one in signs_of(field, parts)
        # the same words again say nothing new
        if not _inside(one, spans) and parts.text[one.start : one.end].lower() not in told
    ]


def unread_entries(parts: Parts, attempt: Attempt) -> int:
    """How many marked entries of lists of medicines gave no drug, and are not set aside."""
    text, spans = parts.text, covered(attempt)
    count = 0
    for start, end in drug_lists(parts):
        for match in _ENTRY.finditer(text, start, end):
            place = Place(*match.span("words"))
            words = match["words"]
            if _inside(place, spans) or _NOT_DONE.search(words) or _NO_ENTRY.search(words):
                continue
            count += not set_aside("medications", parts, place.start, place.end)
    return count


def unread_drugs(parts: Parts, attempt: Attempt) -> int:
    """How many drugs are named outside background, and not set aside, that no value has."""
    named = set(_drug_places(parts.text))
    result = attempt.fields.get("medications")
    items = result.items if result else ()
    read = {name.name for one in items for name in drugs_named(parts.text[one.start : one.end])}
    return sum(
        1
        for place in leftovers("medications", parts, attempt)
        if place in named
        and not any(one.name in read for one in drugs_named(parts.text[place.start : place.end]))
    )


_ENTRY = re.compile(r"(?m)^[ \t]*+(?:[-•*]|\d{1,2}[.)])[ \t]++(?P<words>[A-Za-z][^\n]{2,80})")
_NO_ENTRY = re.compile(
    r"(?i)^(?:no\b|none|nil|stop|hold|held|discontinu|as\s|see\s|please|continue\s+(?:all|other|home)|"
    r"all\s|other\s|home\s|resume\s+(?:all|home))|:\s*$|\b(?:stopped|discontinued|held|ceased)\b"
)
"""An entry that names no drug that is taken."""


def covered(attempt: Attempt) -> Sequence[tuple[int, int]]:
    """The spans of all values but of those that are stretches of text."""
    found = []
    for name, result in attempt.fields.items():
        if name not in _TEXTS:
            found += [(one.start, one.end) for one in result.items]
            found += [result.stated] if result.stated else []
    return _merged(sorted(found))


def _merged(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Spans that touch made one, so that the last that begins before a place decides."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _inside(place: Place, spans: Sequence[tuple[int, ...]]) -> bool:
    at = bisect_left(spans, (place.end,)) - 1
    return at >= 0 and place.start < spans[at][1]


def _shaped(field: str, parts: Parts) -> Iterator[Place]:
    sign = signs_policy().fields.get(field)
    if sign is None:
        return
    patterns = list(sign.compiled)
    if sign.names is not None:
        patterns += [_NAMES[sign.names]()] if sign.names in _NAMES else []
    aside = not_of_today(parts.text) if sign.names == "labs" else []
    places = (
        Place(*match.span()) for pattern in patterns for match in pattern.finditer(parts.text)
    )
    named = _drug_places(parts.text) if sign.names == "drugs" else ()
    for place in (*places, *named):
        if not _inside(place, aside) and _counts(field, sign, parts, place):
            yield place


def _drug_places(text: str) -> Iterator[Place]:
    """Where drugs are named that are no analytes: "potassium", "vitamin D" may be either."""
    for one in drugs_named(text):
        if lab_named(text[one.start : one.end]) is None:
            yield Place(one.start, one.end)


def _counts(field: str, sign: Sign, parts: Parts, place: Place) -> bool:
    text, day = parts.text, field_policies()[field].kind == "day"
    if not day and parts.rank(place.start) == 0:
        return False
    if set_aside(field, parts, place.start, place.end):
        return False
    start, end = _line(text, place)
    if sign.company is not None:
        before = text[max(start, place.start - sign.reach) : place.start]
        after = text[place.end : min(end, place.end + (0 if day else sign.reach))]
        if not sign.company.search(before) and not sign.company.search(after):
            return False
    if day:
        return True
    if sign.names == "labs" and _EXPLAINS.search(text, start, end):
        return False
    if _NOT_DONE.search(text[place.start : min(end, place.end + 60)]):
        return False
    if sign.names == "labs" and (
        _NO_RESULT.search(text, start, place.end) or _NOT_DONE.search(text, start, place.start)
    ):
        return False
    if field == "grade" and of_something_else(text, place.start, place.end):
        return False
    if field == "mutations":
        return _DENIES.search(text, start, end) is None
    if field in ("ihc_markers", "lymphovascular_invasion", "perineural_invasion", "margins"):
        return True
    return not negated(text, place.start, place.end)


def _line(text: str, place: Place) -> tuple[int, int]:
    """The line around a place, of at most some hundred characters on each side."""
    start = text.rfind("\n", max(0, place.start - 200), place.start) + 1
    end = text.find("\n", place.end, place.end + 200)
    start = start or max(0, place.start - 200)
    return start, end if end >= 0 else min(len(text), place.end + 200)


def _labelled(field: str, parts: Parts) -> Iterator[Place]:
    """What stands under a label of the field's by the learned reader."""
    day = field_policies()[field].kind == "day"
    for one in told(parts, field):
        counts = day or parts.rank(one.start) > 0
        if field in _SHAPED_ONLY and not _has_a_shape(field, one.unit.value):
            continue
        if (
            counts
            and not _NOT_DONE.match(one.unit.value)
            and not set_aside(field, parts, one.start, one.end)
        ):
            yield Place(one.start, one.end)


def _has_a_shape(field: str, words: str) -> bool:
    shaped = field_policies()[field].shaped
    sign = signs_policy().fields.get(field)
    every = [*(sign.compiled if sign else ()), *([shaped] if shaped else ())]
    return any(one.search(words) for one in every)


_labelled_places: "WeakKeyDictionary[Parts, Sequence[int]]" = WeakKeyDictionary()


def labelled_values(parts: Parts) -> Sequence[int]:
    """Where the words behind a label like one of ours begin, whichever field it is of."""
    if parts not in _labelled_places:
        _labelled_places[parts] = [
            one.start
            for one in units(parts)
            if one.section is not None
            and max(stated(one.unit).values()) >= LEAST
            and not _NOT_DONE.match(one.unit.value)
        ]
    return _labelled_places[parts]


def apart(places: Sequence[Place], text: str) -> int:
    """How many statements places are: those that share a line's stretch are one."""
    count, end = 0, -1
    for one in places:
        if one.start >= end:
            count += 1
        end = max(end, one.end, text.find("\n", one.start, one.start + 2))
    return count
