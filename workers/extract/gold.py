"""Is an extracted value what a person wrote down as right? For measuring only. Pure.

What is compared how (everything in any case, spaces folded):

- Both sides are read by the same rules, so "Grade II", "G2", "2" and "moderately differentiated"
  are one grade, "3 cm" and "30 mm" one size, "p.Leu858Arg" and "L858R" one variant.
- A part that the gold does not give (distance of a margin, percentage, unit, allele fraction, N and
  M of a TNM) is not compared; one that it gives must agree.
- Drugs: of one name, or of one substance ("metoprolol succinate", "metoprolol").
- Names and texts: the gold's words must be there, with at most as many again around them, or four
  fifths of all words agree.
- What a model located and no rule reads is "as written": right where it holds the gold's name and
  number, in a dozen words.
- Fields of many values and mappings: F1 of the entries; `{"includes": [...]}`: the share of them
  that is there, whatever else is.
- null, "", [], {} and "not present": right where nothing was found. "ambiguous": right where the
  field is called ambiguous; where one value is the gold and ours is ambiguous, half if it is among
  the readings.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workers.extract.fields import FieldResult, Status
from workers.extract.rubrics import field_named, field_policies, plain, vocabulary
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.laboratory.lab_parts import lab_named
from workers.extract.rules.laboratory.lab_tables import lab_of
from workers.extract.rules.reading import read_every, read_words
from workers.extract.rules.texts.numbers import days
from workers.extract.rules.tumors.markers import marker_named
from workers.extract.rules.tumors.tumors import presence_of
from workers.extract.values import (
    Amount,
    Day,
    Grade,
    LabValue,
    Margin,
    Marker,
    Measurement,
    Medication,
    Mutation,
    Nodes,
    Presence,
    Tnm,
    Value,
    Words,
)

_NOTHING = frozenset(["", "notpresent", "none", "null", "na", "notstated", "absentfield", "missing",
                      "notfound", "notreported", "notmentioned"])  # fmt: skip
_AMBIGUOUS = frozenset(["ambiguous", "contradictory", "conflicting"])
_TNM_PARTS = {"pt": "t", "t": "t", "tstage": "t", "ptstage": "t", "pn": "n", "n": "n",
              "nstage": "n", "pnstage": "n", "m": "m", "pm": "m", "mstage": "m"}  # fmt: skip


def right(
    name: str, gold: Any, fields: Mapping[str, FieldResult], document_type: str
) -> float | None:
    """How right the field that the gold calls `name` is, 0-1; None where no field has that name."""
    key = plain(name)
    if key in _TNM_PARTS and not isinstance(gold, Mapping):
        return _one_part(_TNM_PARTS[key], gold, fields.get("tnm"))
    field = field_named(name, document_type)
    if field is None:
        return _one_entry(name, gold, fields)
    best = compare(field, gold, fields.get(field))
    if not found_is_wanted(gold):
        return best
    # "diagnosis" of a pathology report is its histology, "impression" of a note its diagnosis
    for other in _neighbours(field):
        if best < 1.0 and other in fields:
            best = max(best, compare(other, gold, fields[other]))
    return best


def found_is_wanted(gold: Any) -> bool:
    """Whether the gold is a value, and not that there is none or more than one."""
    value, status = _unwrapped(gold)
    nothing = value is None or value in ([], {}) or _says(value, _NOTHING | _AMBIGUOUS)
    return status in (None, "found") and not nothing


def _neighbours(field: str) -> Sequence[str]:
    pairs = {
        "grade": ("gleason",),
        "diagnosis": ("impression", "histology"),
        "impression": ("diagnosis",),
        "tnm": ("stage",),
        "stage": ("tnm",),
        "measurements": ("tumor_size",),
    }
    return pairs.get(field, ())


def compare(field: str, gold: Any, result: FieldResult | None) -> float:
    """How right a result of a known field is, 0-1."""
    gold, status = _unwrapped(gold)
    found = result is not None and result.status is not Status.NOT_PRESENT
    if status == "ambiguous" or _says(gold, _AMBIGUOUS):
        return float(result is not None and result.status is Status.AMBIGUOUS)
    if status == "not_present" or gold in ([], {}) or gold is None or _says(gold, _NOTHING):
        empty = not found or (result is not None and not result.items)
        # "Complications: None" is a value where the document says so
        return float(empty or (result is not None and _says_nothing(result, gold)))
    if result is None or not found:
        return 0.0
    if isinstance(gold, Mapping) and set(gold) == {"includes"}:
        held = [one.value for one in result.items]
        wanted = entries(field, gold["includes"])
        return sum(any(same(one, value) for one in held) for value in wanted) / len(wanted)
    if field_policies()[field].many:
        return _compare_many(field, gold, result)
    share = 1.0 if result.status is Status.FOUND else 0.5
    return share * any(_same(field, gold, one.value) for one in result.items)


def _unwrapped(gold: Any) -> tuple[Any, str | None]:
    """The value of `{value, status, …}` and the status; else the gold itself."""
    if isinstance(gold, Mapping) and "status" in gold and "value" in gold:
        return gold["value"], plain(str(gold["status"])).replace("notpresent", "not_present")
    if isinstance(gold, Mapping) and set(gold) == {"status"} and plain(str(gold["status"])) in (
        "notpresent", "ambiguous",
    ):  # fmt: skip
        return None, plain(str(gold["status"])).replace("notpresent", "not_present")
    return gold, None


def _says_nothing(result: FieldResult, gold: Any) -> bool:
    value = result.items[0].value
    return isinstance(value, Words) and isinstance(gold, str) and plain(value.text) == plain(gold)


def _says(gold: Any, words: frozenset[str]) -> bool:
    return isinstance(gold, str) and plain(gold) in words


def _one_part(part: str, gold: Any, result: FieldResult | None) -> float:
    value = result.items[0].value if result is not None and result.items else None
    said = getattr(value, part, None)
    if gold is None or _says(gold, _NOTHING):
        return float(said is None)
    wanted = re.sub(r"^[ycpra]*[TNM]", "", str(gold).strip())
    return float(said is not None and said.lower() == wanted.lower())


def _one_entry(name: str, gold: Any, fields: Mapping[str, FieldResult]) -> float | None:
    """A marker, an analyte or a gene as a field of its own."""
    marker, lab = marker_named(name), lab_named(name.replace("_", " "))
    gene = name if name in vocabulary().genes else None
    for field, known, key in (
        ("ihc_markers", marker, "marker"),
        ("lab_values", lab, "name"),
        ("mutations", gene, "gene"),
    ):
        if known is None or field not in fields:
            continue
        items = [one for one in fields[field].items if getattr(one.value, key) == known]
        if gold is None or _says(gold, _NOTHING):
            return float(not items)
        wanted = entries(field, {known: gold})
        return float(any(same(one.value, value) for one in items for value in wanted))
    return None


def _compare_many(field: str, gold: Any, result: FieldResult) -> float:
    wanted = entries(field, gold)
    ours = [one.value for one in result.items]
    if not wanted:
        return 0.0
    return 2 * matched(ours, wanted) / (len(wanted) + len(ours))


def matched(ours: Sequence[Value], wanted: Sequence[Value]) -> int:
    """How many of the wanted values are among ours, each of ours for one of them."""
    left = list(ours)
    for value in wanted:
        place = next((i for i, one in enumerate(left) if same(one, value)), None)
        if place is not None:
            left.pop(place)
    return len(ours) - len(left)


def entries(field: str, gold: Any) -> list[Value]:
    """The gold's values of a field of many."""
    if isinstance(gold, str):
        return read_every(field, gold) or [
            one for part in re.split(r"[;\n]|,\s+", gold) for one in _entry(field, part)
        ]
    if isinstance(gold, Mapping):
        if _is_entry(gold):
            return _entry(field, gold)
        return [one for name, value in gold.items() for one in _entry(field, value, str(name))]
    if isinstance(gold, Sequence):
        return [value for one in gold for value in _entry(field, one)]
    return _entry(field, gold)


_NAMES = ("name", "marker", "gene", "test", "analyte", "drug", "medication", "size", "dimensions",
          "parameter", "biomarker")  # fmt: skip


def _is_entry(gold: Mapping[str, Any]) -> bool:
    return any(plain(str(key)) in _NAMES for key in gold)


def _entry(field: str, gold: Any, name: str = "") -> list[Value]:
    kind = field_policies()[field].kind
    if isinstance(gold, Mapping):
        low = {plain(str(key)): value for key, value in gold.items() if value not in (None, "")}
        words = _words_of_entry(kind, low, name)
    elif kind == "marker" and name:
        words = f"{name}: {_percent(gold)}"
    elif isinstance(gold, int | float) and kind == "measurement":
        return [Measurement(dimensions=(float(gold),), unit="mm")]
    else:
        words = f"{name}: {gold}" if name else str(gold)
    found = read_every(field, words)
    if not found and kind == "lab" and (told := _lab(name, gold)) is not None:
        return [told]
    if not found and kind == "medication":
        whole = words.strip(": ")
        name, _, last = whole.rpartition(" ")
        if name and _NUMBER.fullmatch(last):  # a dose whose unit the gold does not give
            return [Medication(name=name.rstrip(), dose=float(last))]
        return [Medication(name=whole, dose=None)]
    return found or [Words(text=words)]


_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


def _lab(name: str, gold: Any) -> Value | None:
    """The value of an analyte whose gold is a number, or has a name and a value."""
    if isinstance(gold, Mapping):
        low = {plain(str(key)): value for key, value in gold.items()}
        name = name or next((str(low[one]) for one in _NAMES if one in low), "")
        gold = f"{low.get('value', low.get('result', ''))} {low.get('unit', '')}"
    return lab_of(name, str(gold))


def _percent(gold: Any) -> str:
    bare = isinstance(gold, int | float) or re.fullmatch(r"\d+(?:\.\d+)?", str(gold).strip())
    return f"{gold}%" if bare else str(gold)


def _words_of_entry(kind: str, low: Mapping[str, Any], name: str) -> str:
    """An entry with parts, written as a report would."""

    def first(*keys: str) -> str:
        return next((str(low[one]) for one in keys if one in low), "")

    name = name or first(*_NAMES[:-4], "biomarker", "parameter")
    value, unit = first("value", "result", "status", "size", "dose"), first("unit", "units")
    if kind == "marker":
        percent = first("percent", "percentage", "percentpositive", "index")
        percent = f"{percent.rstrip('%')}%" if percent else ""
        return f"{name}: {value} {percent} {first('score')}".strip()
    if kind == "mutation":
        change = " ".join(
            str(low[one])
            for one in ("hgvsc", "cdna", "coding", "hgvs", "variant", "hgvsp", "protein",
                        "mutation",
                        "alteration", "change", "event", "type")
            if one in low
        )  # fmt: skip
        share = first("vaf", "allelefrequency", "allelefraction", "variantallelefrequency")
        return f"{name} {change}" + (f" VAF {share.rstrip('%')}%" if share else "")
    if kind == "measurement":
        size = first("size", "dimensions", "value", "measurement", "diameter")
        return f"{re.sub(r'[^0-9.,x× a-z]', ' ', size.replace(', ', ' x '))} {unit}"
    if kind == "medication":
        return f"{name} {first('dose', 'dosage', 'strength')} {unit} {first('route')} " + first(
            "frequency", "freq"
        )
    return f"{name}: {value} {unit}"


def _same(field: str, gold: Any, ours: Value) -> bool:
    kind = field_policies()[field].kind
    if isinstance(gold, Mapping):
        gold = _in_words(kind, {plain(str(k)): v for k, v in gold.items() if v is not None})
    if isinstance(gold, bool):
        gold = "present" if gold else "absent"
    if isinstance(gold, Sequence) and not isinstance(gold, str):
        return bool(gold) and all(_same(field, one, ours) for one in gold)
    if kind == "measurement" and isinstance(gold, int | float) and isinstance(ours, Measurement):
        return any(_near(gold, one) for one in (*ours.dimensions, *ours.millimeters))
    words = str(gold)
    value: Value | None
    if kind == "presence":
        state = presence_of(words)
        value = Presence(state=state) if state else None
    elif kind == "day":
        value = next((one.value for one in days(words)), None)
    else:
        value = read_words(field, words)
    return same(ours, value if value is not None else Words(text=words))


def _in_words(kind: str, low: Mapping[str, Any]) -> str:
    """A value with parts, written as a report would."""
    if kind == "nodes":
        positive = low.get("positive", low.get("involved", 0))
        return f"{positive}/{low.get('examined', low.get('total', ''))}"
    if kind == "tnm":
        return " ".join(
            f"{part.upper()}{re.sub('^[ycpra]*[TNM]', '', str(low[key]))}"
            for key, part in _TNM_PARTS.items()
            if key in low
        )
    if kind == "margin":
        distance = low.get("distance", low.get("closest", ""))
        unit = "mm" if isinstance(distance, int | float) else ""
        distance = low.get("distancemm", distance)
        unit = "mm" if "distancemm" in low else unit
        return f"{low.get('status', low.get('value', ''))} {distance} {unit}"
    return " ".join(str(one) for one in low.values())


def same(ours: Value, gold: Value) -> bool:
    """Whether our value says what the gold says."""
    if isinstance(gold, Words):
        return _same_words(ours, gold)
    if isinstance(ours, Words):
        return _as_written(ours, gold)
    if type(ours) is not type(gold):
        return False
    if isinstance(ours, Measurement) and isinstance(gold, Measurement):
        return _same_size(ours, gold)
    if isinstance(ours, Grade) and isinstance(gold, Grade):
        sums = {ours.level.split("=")[-1], gold.level.split("=")[-1]}
        return ours.level == gold.level or (len(sums) == 1 and "+" in ours.level + gold.level)
    if isinstance(ours, Day) and isinstance(gold, Day):
        return gold.iso in (ours.iso, ours.other)
    if isinstance(ours, Amount) and isinstance(gold, Amount):
        return _near(ours.number, gold.number) and gold.comparator in (None, ours.comparator)
    if isinstance(ours, Marker) and isinstance(gold, Marker):
        return _same_marker(ours, gold)
    if isinstance(ours, Medication) and isinstance(gold, Medication):
        alike = _same_drug(ours.name, gold.name)
        return alike and _agrees(ours.dose, gold.dose) and _agrees(ours.unit, gold.unit)
    parts: dict[type, tuple[str, ...]] = {
        Tnm: ("t", "n", "m"),
        Margin: ("status", "distance_mm"),
        Nodes: ("positive", "examined"),
        LabValue: ("name", "number", "unit", "text"),
        Mutation: ("gene", "protein", "coding", "event", "vaf"),
    }
    if type(gold) in parts:
        return all(_agrees(getattr(ours, one), getattr(gold, one)) for one in parts[type(gold)])
    return ours.key == gold.key


def _same_drug(ours: str, gold: str) -> bool:
    """The same name, or names of one substance: a salt, a release or a brand tells no other."""
    if _agrees(ours, gold):
        return True
    said, meant = ({one.name for one in drugs_named(name)} for name in (ours, gold))
    return len(meant) == 1 and said == meant


def _agrees(ours: object, gold: object) -> bool:
    """Equal, or the gold does not say."""
    if gold is None:
        return True
    if isinstance(gold, float) and isinstance(ours, float):
        return _near(ours, gold)
    if isinstance(gold, str) and isinstance(ours, str):
        a, b = (re.sub(r"[\s^*x×]", "", one.lower()).replace("μ", "u").replace("µ", "u")
                for one in (ours, gold))  # fmt: skip
        return a == b
    return ours == gold


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 + 0.001 * abs(b)


def _same_size(ours: Measurement, gold: Measurement) -> bool:
    """The same sizes; one size alone may be any of ours."""
    if len(gold.dimensions) == 1:
        return any(_near(one, gold.millimeters[0]) for one in ours.millimeters)
    return len(ours.millimeters) == len(gold.millimeters) and all(
        _near(a, b) for a, b in zip(ours.millimeters, gold.millimeters, strict=True)
    )


def _same_marker(ours: Marker, gold: Marker) -> bool:
    if ours.marker != gold.marker:
        return False
    result = ours.result
    if result is None and ours.percent is not None and ours.marker in ("ER", "PR"):
        result = "positive" if ours.percent >= 1 else "negative"
    if gold.result is not None and result is not None and gold.result != result:
        return False
    if gold.result is not None and result is None and gold.percent is None and gold.score is None:
        return False
    return all(
        _agrees(getattr(ours, one), getattr(gold, one))
        for one in ("percent", "percent_to", "score")
    )


def _as_written(ours: Words, gold: Value) -> bool:
    """Whether words that no rule reads hold the gold's name and number, and little else."""
    parts = gold.model_dump(exclude_none=True)
    name = next((str(parts[one]) for one in ("name", "marker", "gene") if one in parts), "")
    number = next((parts[one] for one in ("dose", "number", "percent") if one in parts), None)
    said = _tokens(ours.text)
    figures = {float(one) for one in said if _NUMBER.fullmatch(one)}
    if (not name and number is None) or len(said) > _MOST:
        return False
    return _tokens(name) <= said and (number is None or number in figures)


_MOST = 12
"""Words in which an unread value is told (ours)."""
_LIGHT = frozenset(["the", "a", "an", "of", "with", "and", "in", "type", "no", "special", "nst",
                    "nos", "tumor", "tumour"])  # fmt: skip


def _same_words(ours: Value, gold: Words) -> bool:
    said = ours.text if isinstance(ours, Words) else " ".join(
        str(one) for one in ours.model_dump(exclude_none=True, exclude={"kind"}).values()
    )  # fmt: skip
    a, b = _tokens(said), _tokens(gold.text)
    if not b:
        return False
    common = len(a & b)
    # all of the gold, and little else; or nearly the same words
    inside = b <= a and len(a) <= 2 * len(b) + 2
    return inside or (bool(a) and 2 * common / (len(a) + len(b)) >= 0.8)


def _tokens(words: str) -> set[str]:
    found = re.findall(r"[a-z0-9]+(?:\.\d+)?", words.lower().replace("tumour", "tumor"))
    return {re.sub(r"(?<=[a-z]{3})s$", "", one) for one in found} - _LIGHT
