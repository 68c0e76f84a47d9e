"""Do the values agree with each other? Rules of seed marc_v1 section 3.3.1, and ours. Pure."""

import re
from collections.abc import Callable, Iterator

from workers.extract.evaluation.lab_doubts import contradicted
from workers.extract.evaluation.scores import Issue
from workers.extract.fields import Attempt, Status
from workers.extract.rules.choosing import LOW_ER_PERCENT
from workers.extract.values import Day, LabValue, Margin, Marker, Nodes, Tnm, Value, Words

Said = Callable[[str], bool]
_OF_ONE_SIDE = ("preoperative_diagnosis", "postoperative_diagnosis", "procedure", "specimen")
_SIDE = re.compile(r"(?i)\b(left|right)\b")
_BOTH = re.compile(r"(?i)\bbilateral|\bboth\b")


def consistency(attempt: Attempt, spoken: Said) -> list[Issue]:
    """What contradicts itself inside the attempt.

    Args:
        spoken: whether the document speaks of a field; one that it does not speak of may be absent.
    """
    found = [
        *_companions(attempt, spoken),
        *_markers(attempt),
        *_numbers(attempt),
        *_dates(attempt),
    ]
    minor = [
        Issue(severity="minor", field=field, description=words, suggested_fix=None)
        for field, words in found
    ]
    return [*_sides(attempt), *minor]


def _sides(attempt: Attempt) -> Iterator[Issue]:
    """An operation on another side than the diagnosis: one of them may be a slip, a grave one."""
    named = [
        (field, sides.pop())
        for field in _OF_ONE_SIDE
        for one in _values(attempt, field)
        if isinstance(one, Words)
        and len(sides := {word.lower() for word in _SIDE.findall(one.text)}) == 1
        and not _BOTH.search(one.text)
    ]
    for field, side in named[1:]:
        if side != named[0][1]:
            words = f'"{field}" names the {side} side, and "{named[0][0]}" the {named[0][1]} one'
            yield Issue(severity="critical", field=field, description=words, suggested_fix=None)


def _values(attempt: Attempt, field: str) -> list[Value]:
    result = attempt.fields.get(field)
    return [one.value for one in result.items] if result else []


def _lacks(attempt: Attempt, field: str, spoken: Said) -> bool:
    result = attempt.fields.get(field)
    if result is None:
        return True
    return result.status is Status.NOT_PRESENT and spoken(field)


def _companions(attempt: Attempt, spoken: Said) -> Iterator[tuple[str, str]]:
    named = [one.text.lower() for one in _values(attempt, "histology") if isinstance(one, Words)]
    if any("carcinoma" in one for one in named) and _lacks(attempt, "grade", spoken):
        yield "grade", "Carcinoma identified but grade not extracted"
    if _values(attempt, "mutations") and _lacks(attempt, "msi_status", spoken):
        yield "msi_status", "Mutations present but MSI status not extracted"


def _markers(attempt: Attempt) -> Iterator[tuple[str, str]]:
    for value in _values(attempt, "ihc_markers"):
        if not isinstance(value, Marker):
            continue
        if value.marker in ("ER", "PR") and value.percent is not None:
            most = value.percent_to or value.percent
            if value.result == "positive" and most < LOW_ER_PERCENT and value.comparator != ">":
                yield "ihc_markers", f"{value.marker} is called positive below 1 %"
            if value.result == "negative" and value.percent >= 10 and value.comparator != "<":
                yield "ihc_markers", f"{value.marker} is called negative above 1 %"
        if value.marker == "HER2" and value.score and value.result:
            wrong = {"3+": "negative", "0": "positive"}.get(value.score)
            if value.result == wrong:
                yield "ihc_markers", "HER2 score and result contradict each other"


def _numbers(attempt: Attempt) -> Iterator[tuple[str, str]]:
    nodes = [one for one in _values(attempt, "lymph_nodes") if isinstance(one, Nodes)]
    formulas = [one for one in _values(attempt, "tnm") if isinstance(one, Tnm)]
    for one in nodes:
        if one.examined is not None and one.positive > one.examined:
            yield "lymph_nodes", "More nodes with tumor than nodes examined"
        for formula in formulas:
            n = (formula.n or "X")[0]
            if (n == "0" and one.positive > 0) or (n in "123" and one.positive == 0):
                yield "tnm", "The N of the TNM does not agree with the number of nodes"
    for margin in _values(attempt, "margins"):
        if isinstance(margin, Margin) and margin.status == "negative" and margin.distance_mm == 0:
            yield "margins", "Negative margin at a distance of 0 mm"
    for lab in _values(attempt, "lab_values"):
        if isinstance(lab, LabValue) and contradicted(lab):
            yield "lab_values", f"the flag of {lab.name} does not agree with its range"


def _dates(attempt: Attempt) -> Iterator[tuple[str, str]]:
    days = {
        field: one.iso
        for field in ("admission_date", "discharge_date")
        for one in _values(attempt, field)
        if isinstance(one, Day) and one.other is None
    }
    if len(days) == 2 and days["discharge_date"] < days["admission_date"]:
        yield "discharge_date", "Discharge before admission"
