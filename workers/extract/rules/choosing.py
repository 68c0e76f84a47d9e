"""Of all places that give a value, what a field's value is, by rules alone. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from workers.extract.fields import NOT_PRESENT, FieldResult, Found, Item, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies
from workers.extract.rules.reading import read_document
from workers.extract.rules.texts import words
from workers.extract.rules.texts.allergies import different
from workers.extract.rules.texts.days import STAY, lost_a_digit, settled, stay
from workers.extract.rules.texts.negation import doubted
from workers.extract.rules.tumors import genomes
from workers.extract.rules.tumors.hybridization import settles
from workers.extract.rules.tumors.times import present
from workers.extract.values import Day, Grade, Margin, Marker, Measurement, Tnm, Value, Words

_ORDERED = frozenset(["words", "day"])
"""Kinds whose first label wins: other places of the same kind contradict nothing."""
CHOSEN = frozenset(["tumor_size", "prostate_volume", "psa", "assessment_category", "date",
                    "admission_date", "discharge_date"])  # fmt: skip
"""Fields of which a document may state several values, and one is chosen."""
_OF_TODAY = frozenset(["ihc_markers", "mutations"])
"""Fields whose values in the background give way to those of the document itself."""
_LEADING = frozenset(["tumor_size", "prostate_volume", "psa", "assessment_category"])
_MOST_READINGS = 20
"""Readings of one field that are kept apart; more tell no more (ours)."""
_WORST = ("positive", "close", "negative")
_TWO_LEVELS = "two levels"


_chosen: "WeakKeyDictionary[Parts, dict[tuple[str, bool], FieldResult]]" = WeakKeyDictionary()


def extract_field(field: str, parts: Parts, *, wide: bool = False) -> FieldResult:
    """What the rules make of a field.

    Args:
        wide: accept what only a second reading does: general words, places of background.
    """
    held = _chosen.setdefault(parts, {})
    if (field, wide) not in held:
        held[field, wide] = _choose(field, parts, wide=wide)
    return held[field, wide]


def _choose(field: str, parts: Parts, *, wide: bool) -> FieldResult:
    policy = field_policies()[field]
    found = read_document(field, parts)
    if policy.many:
        return _many(field, parts, found, wide=wide)
    strict = [one for one in found if not one.wide]
    if field == "institution":
        strict = strict[:1]
    usable = strict or (found if wide else [])
    if not usable:
        return NOT_PRESENT
    if policy.kind == "margin":
        return _margins(parts, usable)
    if field == "findings":
        return _result([max(usable, key=lambda one: one.end - one.start)], Status.FOUND)
    if policy.kind == "day":
        return _day(field, parts, usable, wide=wide)
    if field == "allergies":
        told = different(usable, parts.text)
        return _result(told, Status.FOUND if len(told) == 1 else Status.AMBIGUOUS)
    if policy.kind in _ORDERED and field != "histology":
        return _result(usable[:1], Status.FOUND)
    best = _best(parts, usable)
    if field == "histology":
        own = {one.start for one in words.labelled(parts, field)}
        concluded = [one for one in best if parts.rank(one.start) == 2 or one.start in own] or best
        return _histology(parts.text, concluded)
    if field in _LEADING:
        return _leading(field, parts, best)
    readings = _distinct(best)
    status = Status.FOUND if len(readings) == 1 else Status.AMBIGUOUS
    return _result(readings, status)


def _result(found: Sequence[Found], status: Status, *, many: bool = False) -> FieldResult:
    items = tuple(Item(value=one.value, start=one.start, end=one.end) for one in found)
    return FieldResult(status=status, items=items, many=many)


def _day(field: str, parts: Parts, usable: Sequence[Found], *, wide: bool) -> FieldResult:
    """The first date; ambiguous where the discharge would be before the admission."""
    (own,) = settled(parts, usable[:1])
    if field not in STAY:
        return _result([own], Status.FOUND)
    (other,) = (one for one in STAY if one != field)
    found = read_document(other, parts)
    found = [one for one in found if not one.wide] or (list(found) if wide else [])
    if not found:
        return _result([own], Status.FOUND)
    pair = {field: own, other: settled(parts, found[:1])[0]}
    fitting = stay(parts.text, *(pair[one] for one in STAY))
    if fitting is None:
        worn = {one: lost_a_digit(parts.text, pair[one]) for one in STAY}
        sure = worn[other] and not worn[field]
        return _result([own], Status.FOUND if sure else Status.AMBIGUOUS)
    return _result([fitting[STAY.index(field)]], Status.FOUND)


def _many(field: str, parts: Parts, found: Sequence[Found], *, wide: bool) -> FieldResult:
    """All different values, by place; of two that differ only in detail, the fuller."""
    kept: dict[object, Found] = {}
    told_now = field == "measurements" or (
        field in _OF_TODAY and any(parts.rank(one.start) > 0 for one in found)
    )
    for one in found:
        if one.wide and not wide:
            continue
        if told_now and parts.rank(one.start) == 0:
            continue
        key = one.value.key if field != "ihc_markers" else one.value.key[1]
        held = kept.get(key)
        if held is None or _fuller(parts.text, one, held):
            kept[key] = one
    if not kept:
        none = genomes.nothing_found(parts.text) if field == "mutations" else None
        if none is None:
            return FieldResult(status=Status.NOT_PRESENT, many=True)
        return FieldResult(status=Status.FOUND, many=True, stated=none)
    every = sorted(kept.values(), key=lambda one: one.start)
    if field == "ihc_markers" and (opposed := _opposed(parts, found)):
        every = sorted(dict.fromkeys((*every, *opposed)), key=lambda one: one.start)
        return _result(every, Status.AMBIGUOUS, many=True)
    return _result(every, Status.FOUND, many=True)


def _fuller(text: str, one: Found, held: Found) -> bool:
    """Whether one says more; of HER2 a hybridization says more than an equivocal stain."""
    if getattr(held.value, "result", None) == "equivocal" and settles(text, one):
        return True
    if getattr(one.value, "result", None) == "equivocal" and settles(text, held):
        return False
    return _detail(one.value) > _detail(held.value)


def _opposed(parts: Parts, found: Sequence[Found]) -> list[Found]:
    """Of each marker that the author calls both positive and negative, the fullest of either."""
    told = [one for one in found if not one.wide and not doubted(parts.text, one.start)]
    told = [one for one in told if parts.rank(one.start) > 0]
    fullest: dict[tuple[str, bool], Found] = {}
    for one in told:
        sign = _sign(one.value)
        if sign is None:
            continue
        held = fullest.get(sign)
        if held is None or _detail(one.value) > _detail(held.value):
            fullest[sign] = one
    return [one for (name, sign), one in fullest.items() if (name, not sign) in fullest]


def markers_contradict(values: Iterable[Value]) -> bool:
    """Whether one marker is called both positive and negative."""
    signs = {_sign(one) for one in values} - {None}
    return any((one[0], not one[1]) in signs for one in signs if one is not None)


LOW_ER_PERCENT = 1.0
"""ER and PR are positive from 1 % of nuclei (ASCO/CAP 2020, doi:10.1200/JCO.19.02309)."""


def _sign(value: Value) -> tuple[str, bool] | None:
    """A marker with whether it is positive; None where it is neither."""
    if not isinstance(value, Marker):
        return None
    if value.result in ("positive", "intact"):
        return value.marker, True
    if value.result in ("negative", "lost"):
        return value.marker, False
    if value.result is None and value.percent is not None and value.marker in ("ER", "PR"):
        return value.marker, value.percent >= LOW_ER_PERCENT and value.comparator not in ("<", "≤")
    return None


def _detail(value: Value) -> int:
    return len(value.model_dump(exclude_none=True))


def _best(parts: Parts, found: Sequence[Found]) -> list[Found]:
    """Of places, those where the author concludes, else those that are no background."""
    plain = [one for one in found if not doubted(parts.text, one.start)] or list(found)
    top = max(parts.rank(one.start) for one in plain)
    if top == 0:
        return list(plain)
    settled = [one for one in plain if parts.rank(one.start) >= 1]
    # An amended value rules; else a conclusion and the description must agree, or it is ambiguous.
    amended = [
        one for one in settled if parts.title_at(one.start) in ("addendum", "amended diagnosis")
    ]
    return amended or settled


def _histology(text: str, found: Sequence[Found]) -> FieldResult:
    """The type that says most; ambiguous where specimens of one report are of different tumors."""
    said = max(found, key=lambda one: (_weight(one), -one.start))
    specimens = [(one.start(), one["name"].upper()) for one in _SPECIMEN.finditer(text)]
    mine, at = _type_words(said), _specimen(specimens, said.start)
    others = [
        one
        for one in found
        if _weight(one)[0]
        and at is not None
        and _specimen(specimens, one.start) not in (None, at)
        and not (mine <= _type_words(one) or _type_words(one) <= mine)
    ]
    if not _weight(said)[0] or not others:
        return _result([said], Status.FOUND)
    every = {frozenset(_type_words(one)): one for one in (*reversed(others), said)}
    ordered = sorted(every.values(), key=lambda one: (one is not said, one.start))
    return _result(ordered[:_MOST_READINGS], Status.AMBIGUOUS)


_SPECIMEN = re.compile(r"(?m)^[ \t]*+(?:part\s++)?(?P<name>[A-Z]|\d{1,2})[.):][ \t]", re.IGNORECASE)
_GENERAL = frozenset(["of", "no", "special", "type", "nos", "nst", "and", "with", "cell", "the"])
_BENIGN = ("adenoma", "nevus", "polyp", "papilloma", "lipoma", "leiomyoma", "colitis", "gastritis")


def _specimen(specimens: Sequence[tuple[int, str]], place: int) -> str | None:
    """The letter or number of the specimen that a place is told of."""
    before = bisect_right(specimens, place, key=lambda one: one[0])
    return specimens[before - 1][1] if before else None


def _type_words(one: Found) -> set[str]:
    words = one.value.text.lower() if isinstance(one.value, Words) else ""
    return set(re.findall(r"[a-z]+", words)) - _GENERAL


def _weight(one: Found) -> tuple[bool, int]:
    """How much a histologic type says: invasive tumors before those in situ, then more words."""
    words = one.value.text.lower() if isinstance(one.value, Words) else ""
    aside = "in situ" in words or "in-situ" in words or words.startswith("metastatic")
    aside = aside or words.endswith(_BENIGN)
    return not aside, len(words.split())


def _distinct(found: Sequence[Found]) -> list[Found]:
    """One place for each different value: the one with the most detail first seen."""
    kept: list[Found] = []
    for one in found:
        for index, held in enumerate(kept):
            if compatible(one.value, held.value):
                if _says_more(one.value, held.value):
                    kept[index] = one
                break
        else:
            if len(kept) < _MOST_READINGS:
                kept.append(one)
    return kept


def _says_more(one: Value, held: Value) -> bool:
    """Whether a value is the fuller of two that can both be so; a number says more than "high"."""
    if isinstance(one, Grade) and isinstance(held, Grade) and _systems_differ(one, held):
        return held.system == _TWO_LEVELS
    return _detail(one) > _detail(held)


def compatible(a: Value, b: Value) -> bool:
    """Whether two values of one field can both be true: equal, or one only says more."""
    if isinstance(a, Tnm) and isinstance(b, Tnm):
        pairs = ((a.t, b.t), (a.n, b.n), (a.m, b.m))
        return all(x is None or y is None or x.lower() == y.lower() for x, y in pairs)
    if isinstance(a, Grade) and isinstance(b, Grade):
        return a.level == b.level or _same_gleason(a.level, b.level) or _systems_differ(a, b)
    if isinstance(a, Day) and isinstance(b, Day):
        return bool({a.iso, a.other} & {b.iso, b.other} - {None})
    if isinstance(a, Margin) and isinstance(b, Margin):
        return a.status == b.status
    if isinstance(a, Measurement) and isinstance(b, Measurement):
        short, long = sorted((a, b), key=lambda one: len(one.dimensions))
        # "31 mm" of a tumor of 31 x 28 x 25 mm
        return a.key == b.key or short.millimeters == long.millimeters[: len(short.dimensions)]
    return a.key == b.key


def _same_gleason(a: str, b: str) -> bool:
    return a.split("=")[-1] == b.split("=")[-1] and ("+" in a or "+" in b)


def _systems_differ(a: Grade, b: Grade) -> bool:
    """High and low grade stand beside numbers; they contradict only each other."""
    return _TWO_LEVELS in (a.system, b.system) and a.system != b.system


def _leading(field: str, parts: Parts, found: Sequence[Found]) -> FieldResult:
    """Of the present sizes the first, of categories the highest, of levels the first.

    Where all are of earlier times, it is ambiguous.
    """
    now = present(parts.text, found)
    ordered = now or found
    if field == "assessment_category":
        ordered = sorted(ordered, key=lambda one: -float(getattr(one.value, "number", 0.0)))
    return _result(ordered[:1], Status.FOUND if now else Status.AMBIGUOUS)


def _margins(parts: Parts, found: Sequence[Found]) -> FieldResult:
    """The worst of the margins; ambiguous where one margin is called both ways."""
    values = [(one, one.value) for one in _best(parts, found) if isinstance(one.value, Margin)]
    by_name: dict[str, set[str]] = {}
    for _, value in values:
        for name in (value.which or "").split(", "):
            by_name.setdefault(name, set()).add("positive" if value.status == "positive" else "not")
    contradictory = any(len(states) > 1 for states in by_name.values())
    ordered = sorted(
        values,
        key=lambda pair: (
            _WORST.index(pair[1].status),
            pair[1].distance_mm is None,
            pair[1].distance_mm or 0.0,
        ),
    )
    if contradictory:
        return _result(_distinct([one for one, _ in ordered]), Status.AMBIGUOUS)
    return _result([ordered[0][0]], Status.FOUND)
