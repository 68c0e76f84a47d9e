"""Each field's values in a document, and the value of quoted words: one door to the rules. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import inf
from weakref import WeakKeyDictionary

from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.fields import Found
from workers.extract.heads import title_of
from workers.extract.parts import Parts, line_end, plain_points
from workers.extract.rubrics import alternatives, field_policies
from workers.extract.rules.drugs import drugs
from workers.extract.rules.drugs.drug_records import recorded
from workers.extract.rules.drugs.listed_drugs import (
    called_drug,
    listed,
    quoted_drug,
)
from workers.extract.rules.laboratory import labs
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.laboratory.lab_tables import (
    compact_day,
    heading_days,
    lab_of,
    message_days,
)
from workers.extract.rules.placing import of_the_patient
from workers.extract.rules.quoted import quoted_value
from workers.extract.rules.texts import allergies, dictated, numbers, words
from workers.extract.rules.texts.others import inside
from workers.extract.rules.texts.place_names import may_be_a_place
from workers.extract.rules.tumors import genomes, grades, markers, staging, tumors
from workers.extract.rules.tumors.microsatellites import microsatellites
from workers.extract.values import Day, Microsatellites, Presence, Value, Words

Finder = Callable[[str], Iterable[Found]]

_BY_KIND: dict[str, Finder] = {
    "grade": grades.grades,
    "tnm": staging.tnms,
    "stage": staging.stages,
    "marker": markers.markers,
    "margin": tumors.margins,
    "measurement": numbers.sizes,
    "msi": microsatellites,
    "mutation": genomes.mutations,
    "lab": labs.lab_values,
    "nodes": numbers.nodes,
    "day": numbers.days,
    "medication": drugs.medications,
}
_BY_FIELD: dict[str, Finder] = {
    "gleason": grades.gleasons,
    "tumor_size": numbers.tumor_sizes,
    "tmb": genomes.burdens,
}
_UNITS = {
    "psa": r"(?:ng|µg|ug|μg)\s?/\s?(?:m?[lL])",
    "psa_density": r"ng/m[lL](?:/(?:cc|g|m[lL]))?",
    "prostate_volume": r"(?:cc|m[lL]|cm\s?(?:3|³|\^3)|cubic\s+centimet(?:er|re)s)",
    "blood_loss": r"(?:m[lL]|cc|millilit(?:er|re)s)",
    "assessment_category": r"(?:(?<=\d)[abcx](?![a-z]))",
}
_MOST = {
    "psa": 20_000.0,
    "psa_density": 1_000.0,
    "prostate_volume": 900.0,
    "blood_loss": 50_000.0,
    "assessment_category": 10.0,
}
"""More than this no patient has (ours, wide); in the unit of the field."""
_NOT_MEASURED = frozenset(["assessment_category"])
_OTHER_DAY = re.compile(
    r"(?i)birth|dob|born|compar|prior|since|(?-i:surgery|SURGERY)|surgery(?:\s*:|\s+on\b)|"
    r"d\.o\.b|supersed|replac|previous|original|amend(?:s|ing)\b|correct(?:s|ing)\b|copied"
)
"""Before a day: it is none of the document. A "Surgery" may be a general practice."""
_REPLACED = re.compile(r"(?i)\b(?:supersed|replac|previous|original|prior)[a-z]*\b[^\n]{0,30}$")
"""Before a label and its day: they are of an earlier version."""
_OF_A_COPY = re.compile(
    r"(?i)\b(?:print|fax|download|export|generat|typ)[a-z]{0,4}\b[^\n\d]{0,12}$"
)
"""Before a day: that of a copy, which dates a document that names no other."""
_OF_A_TABLE = re.compile(r"\S(?:[ ]{2,}|\t)\S[^\n]*?\S(?:[ ]{2,}|\t)\S")
"""Two gaps in one line: those between the heads of a table's columns."""
_DICTATED = re.compile(r"(?i)\bdictat\w+[\s:]*(?:on\s+)?(?:the\s+)?$")
_YEARS = 10
"""Years before the latest date of a document that its own cannot be: a birthday may (ours)."""
_OF_THE_SAMPLE = re.compile(r"(?i)\brec(?:eive)?'?d\b|received|\bcoll|taken|drawn")
"""Before a day: that of the sample, which dates a report that names no other."""
_HEAD = 300
"""Characters in which an unlabelled date is that of the document (ours)."""
_LONGEST_LABEL = 60
"""Characters before a value in which its label is written (ours)."""
_BARE = 80
"""Characters below which words may be a number and its unit alone (ours)."""


_held: "WeakKeyDictionary[Parts, dict[str, Sequence[Found]]]" = WeakKeyDictionary()


def read_document(field: str, parts: Parts) -> Sequence[Found]:
    """Every place in a document that gives a value of the field, in the order of the text.

    Labelled texts come in the order of the labels instead. Places that only the second reading
    accepts are marked `wide`. What is told of a relative, and drugs that are not taken, are none.
    """
    held = _held.setdefault(parts, {})
    if field not in held:
        held[field] = [
            _as_printed(parts, one) for one in of_the_patient(field, parts, _read(field, parts))
        ]
    return held[field]


def _as_printed(parts: Parts, one: Found) -> Found:
    """A text with its signs as they stand, where a scan mistook some."""
    printed = parts.printed[one.start : one.end]
    if (
        isinstance(one.value, Words)
        and one.value.text == parts.text[one.start : one.end] != printed
    ):
        return one._replace(value=Words(text=printed))
    return one


def read_at(field: str, parts: Parts, start: int, end: int) -> list[Found]:
    """Those of them that share a character with `[start, end)`."""
    return [one for one in read_document(field, parts) if one.start < end and start < one.end]


def _read(field: str, parts: Parts) -> list[Found]:
    policy = field_policies()[field]
    if policy.extent == "document":
        return _whole(parts.whole)
    if field == "histology":
        return _histologies(parts)
    if field == "institution":
        named = [one for one in words.labelled(parts, field)
                 if not _OF_A_TABLE.search(parts.text, one.start, one.end)
                 and not _are_results(parts.text[one.start : one.end])]  # fmt: skip
        return [one for one in named if may_be_a_place(parts.text[one.start : one.end])]
    if policy.kind == "words":
        return _texts(field, parts)
    if policy.kind == "day":
        return list(_labelled_days(parts, field))
    if field == "grade":
        return _grades(parts)
    found = list(_finder(field)(parts.text))
    if field == "medications":
        found = _with_records(parts, found)
        found += listed(parts, found)
    if field == "lab_values":
        # "Heparin Sodium (Porcine) 5,000 unit/mL" is a drug
        doses = [(one.start, one.end) for one in drugs.medications(parts.text)]
        found = [one for one in found if not inside(doses, one.start)]
    if field == "lymph_nodes":
        found = [*_inside_labels(parts, field, numbers.bare_nodes), *found]
    if not found and policy.kind in _BARE_KINDS:
        found += _bare_values(field, parts)
    return found


def _are_results(words: str) -> bool:
    return any(True for _ in labs.lab_values(words))


def _histologies(parts: Parts) -> list[Found]:
    return [*_types_labelled(parts), *_inside_labels(parts, "histology", tumors.histologies),
             *tumors.histologies(parts.text)]  # fmt: skip


def _with_records(parts: Parts, found: Sequence[Found]) -> list[Found]:
    """The drugs that stand in cells, and those of the other places."""
    records = recorded(parts)
    lines = [(one.start, line_end(parts.text, one.end, len(parts.text))) for one in records]
    return [*records, *(one for one in found if not inside(lines, one.start))]


def _types_labelled(parts: Parts) -> Iterator[Found]:
    """What stands under a label of the type of a tumor: all of it, where it names one and little
    else ("Follicular carcinoma, minimally invasive")."""
    for one in words.labelled(parts, "histology"):
        line = _TYPE_ENDS.split(parts.text[one.start : one.end])[0].rstrip(" ,")
        named = next(iter(tumors.histologies(line)), None)
        if named is not None and not named.wide and len(line.split()) <= _MOST_OF_A_TYPE:
            yield Found(Words(text=line), one.start, one.start + len(line))


_TYPE_ENDS = re.compile(
    r"(?i)[;.(|\n]|[ ]{2}|,?\s(?=(?:(?:(?:tumou?r|nuclear|histologic\w*|[a-z]{3,12})\s)?"
    r"grade\b|g[1-4]\b|(?:well|poorly|moderately|un)[ -]?differentiated)|p?T\d)"
)
_MOST_OF_A_TYPE = 8
"""Words of a type of tumor with what it says of itself (ours)."""


def _grades(parts: Parts) -> list[Found]:
    direct = [*_inside_labels(parts, "grade", grades.bare_grades), *grades.grades(parts.text)]
    certain = any(not one.wide for one in direct)
    return direct if certain else [*grades.gleasons(parts.text), *direct]


def _bare_values(field: str, parts: Parts) -> Iterator[Found]:
    policy = field_policies()[field]
    for one in words.labelled(parts, field):
        before = parts.text[max(0, one.start - _LONGEST_LABEL) : one.start].lower()
        if policy.kind == "amount" and any(label in before for label in policy.labels):
            continue  # the field's own pattern has read it, or had reason not to
        line = parts.text[one.start : one.end].split("\n")[0]
        value = _bare(field, line.strip())
        if value is not None:
            yield Found(value, one.start, one.start + len(line))


_BARE_KINDS = frozenset(["amount", "presence", "margin", "msi"])
"""Kinds whose label alone says what their values are of."""


def _texts(field: str, parts: Parts) -> list[Found]:
    """What stands under a label."""
    found = list(words.labelled(parts, field))
    if field == "allergies":
        found += allergies.told_of(parts)
    if field == "modality":
        # "Exam: 12 June 2023" is when it was, and not what
        found = [one for one in found if not _is_a_day(parts.text[one.start : one.end])]
    return found


def _is_a_day(words: str) -> bool:
    return any(one.start == 0 and one.end == len(words) for one in numbers.days(words))


def _whole(text: str) -> list[Found]:
    stripped = text.strip()
    if not stripped:
        return []
    at = text.index(stripped)
    return [Found(Words(text=stripped), at, at + len(stripped))]


@cache
def _finder(field: str) -> Finder:
    if field in _BY_FIELD:
        return _BY_FIELD[field]
    policy = field_policies()[field]
    if policy.kind == "presence":
        label = f"{alternatives(policy.labels)}|{tumors.INVASIONS[field]}"
        return lambda text: tumors.presences(label, text)
    if policy.kind == "amount":
        label = alternatives(policy.labels)
        if field == "psa":
            label += r"(?!(?:\s*+-)?\s*+dens)"
        if field == "assessment_category":
            label += r"(?:\s+v?\d\.\d|\s+v\d)?(?:\s*(?:category|score|version))*"
        measured = field not in _NOT_MEASURED
        pattern = numbers.amounts(label, _UNITS.get(field, r"(?!)"), measured=measured)
        if field == "blood_loss":
            return lambda text: [
                *numbers.amount(pattern, text, _MOST[field]),
                *dictated.spoken_amount(label, _UNITS[field], text),
                *dictated.lost_blood(text),
            ]
        if field == "prostate_volume":
            return lambda text: [
                *numbers.amount(pattern, text, _MOST[field]),
                *dictated.volume_of_the_gland(_UNITS[field], text),
            ]
        return lambda text: numbers.amount(pattern, text, _MOST.get(field, inf))
    return _BY_KIND[policy.kind]


def _inside_labels(parts: Parts, field: str, finder: Finder) -> Iterator[Found]:
    """What a finder reads in the line after a label."""
    for one in words.labelled(parts, field):
        for found in finder(parts.text[one.start : one.end]):
            yield found._replace(
                start=found.start + one.start, end=found.end + one.start, wide=False
            )
            break


def _labelled_days(parts: Parts, field: str) -> Iterator[Found]:
    policy = field_policies()[field]
    of_document = "date" in policy.labels
    of_columns = heading_days(parts.text) if of_document else {}
    seen = {at for at, latest in of_columns.items() if not latest}
    if of_document:
        yield from message_days(parts.text, "reported")
    for one in words.labelled(parts, field):
        for found in numbers.days(parts.text[one.start : one.end]):
            if found.start <= 12 and found.start + one.start not in of_columns:
                seen.add(found.start + one.start)
                yield found._replace(start=found.start + one.start, end=found.end + one.start)
            break
    text = parts.text
    label = re.compile(rf"(?i)\b(?:{alternatives(policy.labels)})\b[\s:]*(?:on\s+|the\s+)?$")
    others = [one for one in numbers.days(text) if one.start not in seen]
    before = {one.start: text[max(0, one.start - 40) : one.start] for one in others}
    told = [
        one
        for one in others
        if (label.search(before[one.start]) or _said_before(field, before[one.start]))
        and not _REPLACED.search(before[one.start])
    ]
    # a report is of the day on which it was signed rather than dictated
    copies = [one for one in told if _OF_A_COPY.search(before[one.start])]
    own = [one for one in told if one not in copies]
    yield from sorted(own, key=lambda one: _DICTATED.search(before[one.start]) is not None)
    if not of_document:
        return
    yield from message_days(parts.text, "observed")
    labelled = {one.start for one in told}
    latest = max((_year(one) for one in numbers.days(text)), default=0)
    behind = [one for one in others if _OF_A_COPY.search(before[one.start])]
    for found in (*(one for one in others if one not in behind), *behind):
        if (found.start in labelled and found not in copies) or _OTHER_DAY.search(
            before[found.start]
        ):
            continue
        # unlabelled: the date of the document where it stands in the head
        of_the_sample = _OF_THE_SAMPLE.search(before[found.start]) is not None
        far = found.start > _HEAD and found.start not in of_columns
        if latest - _year(found) <= _YEARS:
            yield found._replace(wide=far or of_the_sample or _in_a_sentence(text, found))


def _in_a_sentence(text: str, found: Found) -> bool:
    """Whether a day is told of within a sentence: words stand before it in its line, and the last
    is a small one. It says when something was, and not of when the document is."""
    line = text[text.rfind("\n", 0, found.start) + 1 : found.start]
    if _CELL_ENDS.match(text, found.end):
        return False
    return _TOLD.search(line) is not None and _GREETS.search(text, 0, found.start) is None


_CELL_ENDS = re.compile(r"[ \t]*(?:$|\n|[ ]{2}|\t|\d)")
_TOLD = re.compile(r"\S[ \t]{1,9}+\S[^\n]{0,200}[ \t](?!on\b)[a-z]{2,9}[ \t]{1,9}$")
_GREETS = re.compile(r"(?m)^(?:Dear|To|Re)\b")
_PIECE = re.compile(r"[\n;|,(]|[ \t]{2}|\.[ ]")


def _said_before(field: str, before: str) -> bool:
    """Whether the words before a day, with no colon, name the field by the learned reader."""
    words = _PIECE.split(before.rstrip(" \t:|-"))[-1].strip()
    title = title_of(words)
    if title in field_policies()[field].labels:
        return True
    return bool(words) and stated(Unit(title, "1/1/2000")).get(field, 0.0) >= LEAST


def _year(found: Found) -> int:
    return int(found.value.iso[:4]) if isinstance(found.value, Day) else 0


def read_words(field: str, quoted: str) -> Value | None:
    """The value that quoted words state, None where they state none of the field's kind."""
    value = find_value(field, quoted)
    if value is not None:
        return value
    return quoted_value(field, field_policies()[field].kind, plain_points(quoted).strip())


def find_value(field: str, quoted: str) -> Value | None:
    """The value in words that may be of something else, None where they state none for sure."""
    policy = field_policies()[field]
    stripped = plain_points(quoted).strip()
    if not stripped:
        return None
    if policy.kind == "words":
        return Words(text=quoted.strip())
    for finder in _readers(field):
        found = list(finder(stripped))
        if found:
            return found[0].value
    return _bare(field, stripped)


def read_every(field: str, quoted: str) -> list[Value]:
    """All values that quoted words state, for a field of many."""
    found = [one.value for one in _finder(field)(plain_points(quoted).strip())]
    single = None if found else read_words(field, quoted)
    return found or ([single] if single is not None else [])


def _readers(field: str) -> Sequence[Finder]:
    kind = field_policies()[field].kind
    if field == "gleason":
        return (grades.gleasons, grades.bare_grades)
    if kind == "grade":
        return (grades.grades, grades.bare_grades, grades.gleasons)
    if kind == "stage":
        return (staging.stages, staging.bare_stages)
    if kind == "nodes":
        return (numbers.nodes, numbers.bare_nodes)
    if kind == "measurement":
        return (numbers.sizes,)
    return (_finder(field),)


_QUOTED_LAB = re.compile(
    r"(?P<name>[A-Za-z][^\d:=\n]{0,40}?)\s*+(?:[:=]|\bis|\bwas)?\s*+(?P<result>[<>≤≥]?\s?\d[^\n(]{0,30}?)"
    r"\s*+(?:\([^\n]*)?$"
)


def _bare(field: str, stripped: str) -> Value | None:
    """Words that name their value without saying of what, as models and people quote them."""
    kind = field_policies()[field].kind
    value: Value | None = None
    if kind == "margin":
        value = tumors.margin_of(f"margins {stripped}")
    elif kind == "presence":
        state = tumors.presence_of(stripped)
        value = Presence(state=state) if state else None
    elif kind == "msi" and (
        match := re.fullmatch(r"(?i)\W{0,200}+(stable|high|low|instable)\W{0,200}+", stripped)
    ):
        status = {"stable": "MSS", "low": "MSI-L"}.get(match[1].lower(), "MSI-H")
        value = Microsatellites(status=status)
    elif kind == "medication":
        called = called_drug(stripped, 0, len(stripped))
        value = (called and called.value) or quoted_drug(stripped)
    elif kind == "lab":
        named = _QUOTED_LAB.match(stripped)
        value = (
            lab_of(named["name"], named["result"]) if named and lab_named(named["name"]) else None
        )
    elif kind == "day":
        value = compact_day(stripped)
    elif kind == "amount" and len(stripped) < _BARE:
        unit = None if field in _NOT_MEASURED else _UNITS.get(field)
        value = numbers.bare_amount(stripped, unit, _MOST.get(field, inf))
    return value
