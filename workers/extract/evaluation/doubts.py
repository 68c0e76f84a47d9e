"""Why a value that its span bears may be wrong all the same. Pure.

Each doubt is a factor on the field's accuracy and a sentence for the feedback; the factors stand in
`knowledge/rubrics/signs.yaml`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workers.extract.evaluation.damage import Damage
from workers.extract.evaluation.signs import labelled_values
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.fields import Item
from workers.extract.parts import Parts, clause
from workers.extract.rubrics import field_policies
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.drugs.drug_statuses import status_unknown
from workers.extract.rules.texts.negation import doubted
from workers.extract.rules.texts.numbers import days
from workers.extract.rules.texts.words import labelled
from workers.extract.values import Day, Medication, Words


class Doubt(NamedTuple):
    """What a doubt costs, and what it says."""

    factor: float
    words: str
    grave: bool = False
    """Whether a person should look at it, whatever the score."""


_STRETCHES = frozenset(["raw_text", "findings"])
"""Values that may hold labels of their own."""
_SUSPECTED = frozenset(["histology", "grade", "stage", "tnm"])
_LABEL_REACH = 40
_OFTEN_REACH = 120
"""Characters behind a dose in which it is said how often it is taken (ours)."""
_DOSE = re.compile(r"(?i)\d[\d.,]{0,20}+\s?(?:mg|mcg|µg|g|units?|iu|ml)\b")
_GAP = re.compile(r"[A-Za-z,;)](?:[ ]{3,}|\t+)[A-Za-z(]")
"""Between two columns."""
_BIRTH = re.compile(r"(?i)\b(?:dob|d\.o\.b\.?|date\s+of\s+birth|born(?:\s+on)?)\b[\s:]{0,4}")
_DATE_REACH = 24
_MORE = re.compile(r"\s{0,40}+,|[^\n]{0,20}\n[ \t]{0,40}+(?:[-•*–]|\d{1,2}[.)])\s")
"""Behind a value: its list goes on."""


def doubts(field: str, parts: Parts, item: Item, damage: Damage) -> Iterator[Doubt]:
    """The doubts about one value of a field."""
    limits = signs_policy()
    if field not in _STRETCHES and _damaged(parts.text, item, damage):
        yield Doubt(limits.damaged_line, f'words around the value of "{field}" look damaged')
    if isinstance(item.value, Words) and field not in _STRETCHES and _runs_on(parts, item):
        words = f'the value of "{field}" runs on into what another label says'
        yield Doubt(limits.runs_on, words, grave=True)
    if isinstance(item.value, Words) and _entries_left(field, parts, item):
        yield Doubt(limits.entries_left, f'further entries stand under the label of "{field}"')
    if field in _SUSPECTED and doubted(parts.text, item.start):
        yield Doubt(
            limits.doubted,
            f'"{field}" is only suspected, or of earlier times, where it stands',
            grave=True,
        )
    if isinstance(item.value, Day) and item.value.other is not None:
        words = f'"{field}" may be {item.value.iso} or {item.value.other}: nothing says which'
        yield Doubt(limits.either_date, words, grave=True)
    if isinstance(item.value, Day) and (born := _born(parts.text)) and item.value.iso <= born:
        yield Doubt(limits.before_birth, f'"{field}" is not after the birth', grave=True)
    one_line = field_policies()[field].extent != "section"
    if (
        one_line
        and field not in _STRETCHES
        and isinstance(item.value, Words)
        and _meets_a_gap(parts, item.value, item.end)
    ):
        words = f'the value of "{field}" runs over the gap between two columns'
        yield Doubt(limits.two_columns, words, grave=True)
    if isinstance(item.value, Medication) and _frequency_left(parts, item, item.value):
        words = f"how often {item.value.name} is taken stands there and was not read"
        yield Doubt(limits.frequency_unread, words, grave=True)


def _meets_a_gap(parts: Parts, value: Words, end: int) -> bool:
    """Whether words run over the gap between two columns, or from line to line up to one."""
    over = _GAP.search(value.text) is not None
    return over or ("\n" in value.text and _GAP.match(parts.text, end - 1) is not None)


def drug_doubts(parts: Parts, items: Sequence[Item]) -> list[list[Doubt]]:
    """The doubts about drugs whose names nobody knows, about one that has two doses, and about one
    of which it is open whether it is taken."""
    doses: dict[str, set[tuple[float | None, str | None]]] = {}
    for item in items:
        if isinstance(item.value, Medication) and item.value.dose is not None:
            doses.setdefault(item.value.name.lower(), set()).add((item.value.dose, item.value.unit))
    found = []
    for item in items:
        name = item.value.name if isinstance(item.value, Medication) else ""
        own = []
        if name and not drugs_named(name):
            words = f"{name} is no name of a drug that is known"
            own.append(Doubt(signs_policy().drug_unknown, words, grave=True))
        several = len(doses.get(name.lower(), ())) > 1
        words = f"{name} is given in two doses: which of them is taken now?"
        own += [Doubt(signs_policy().two_doses, words, grave=True)] if several else []
        told = status_unknown(parts, item.start) if name else None
        if told is not None:
            words = f'of {name} "{told}" is said: is it taken now?'
            own.append(Doubt(signs_policy().status_unknown, words, grave=True))
        found.append(own)
    return found


def _born(text: str) -> str | None:
    """The patient's birthday; of two readings the earlier, for it only sets a limit."""
    told = _BIRTH.search(text)
    for found in days(text[told.end() : told.end() + _DATE_REACH]) if told else ():
        if isinstance(found.value, Day) and found.start == 0:
            return min(found.value.iso, found.value.other or found.value.iso)
    return None


def _damaged(text: str, item: Item, damage: Damage) -> bool:
    """Whether a damaged word stands in the lines of a value; of a long one, in it."""
    start = text.rfind("\n", 0, item.start) + 1
    end = text.find("\n", item.end)
    end = len(text) if end < 0 else end
    at = bisect_left(damage.places, (start, 0))
    return at < len(damage.places) and damage.places[at][0] < end


def _runs_on(parts: Parts, item: Item) -> bool:
    every = labelled_values(parts)
    at = bisect_right(every, item.start)
    return at < len(every) and every[at] < item.end


def _entries_left(field: str, parts: Parts, item: Item) -> bool:
    """Whether a list goes on behind a value: a comma, a marked entry, or as the rules read it."""
    extent = field_policies()[field].extent
    if extent not in ("list", "entry"):
        return False
    behind = parts.text[item.end : item.end + _LABEL_REACH]
    if _MORE.match(behind) or parts.text[item.start : item.end].endswith(","):
        return True
    lists = labelled(parts, field) if extent == "list" else ()
    return any(one.start <= item.start < item.end < one.end for one in lists)


def _frequency_left(parts: Parts, item: Item, value: Medication) -> bool:
    """Whether words of how often stand behind a drug that was given none, before the next dose."""
    if value.frequency is not None:
        return False
    _, stop = clause(parts.text, item.start, item.end)
    behind = parts.text[item.end : min(stop, item.end + _OFTEN_REACH)]
    dose = _DOSE.search(behind)
    return signs_policy().often.search(behind[: dose.start()] if dose else behind) is not None
