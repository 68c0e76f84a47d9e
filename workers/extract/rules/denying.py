"""Does the sentence around a value deny it, or say another? Pure."""

from workers.extract.fields import Item
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies
from workers.extract.rules.choosing import compatible
from workers.extract.rules.placing import set_aside
from workers.extract.rules.reading import read_at
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.tumors.grades import of_something_else
from workers.extract.values import Margin, Microsatellites, Presence, Value

_DENIED_IS_NO_VALUE = frozenset(["histology", "grade", "gleason", "tnm", "stage", "mutations"])
_AFFIRMED = frozenset(["present", "positive", "MSI-H", "MSI-L"])
"""Presence, margins and MSI: a denial is a value of its own, and turns these round."""


def against(field: str, parts: Parts, item: Item) -> str | None:
    """What the words around an item say against it, None where they bear it."""
    text, start, end = parts.text, item.start, item.end
    aside = set_aside(field, parts, start, end)
    if aside is not None:
        return f'what stands at the span of "{field}" is {aside}'
    if field == "grade" and of_something_else(text, start, end):
        return f'what stands at the span of "{field}" is of something else than a tumor'
    policy = field_policies()[field]
    if policy.kind != "words" and not policy.many:
        there = read_at(field, parts, start, end)
        borne = any(compatible(item.value, one.value) for one in there)
        if there and not borne:
            return f'the sentence around the span of "{field}" says another value'
        if not borne and _affirmed(item.value) and negated(text, start, end):
            return f'"{field}" is denied where it is said to stand'
    if field in _DENIED_IS_NO_VALUE and negated(text, start, end):
        return f'"{field}" is denied where it is said to stand'
    return None


def _affirmed(value: Value) -> bool:
    if isinstance(value, Presence):
        return value.state in _AFFIRMED
    return isinstance(value, Margin | Microsatellites) and value.status in _AFFIRMED
