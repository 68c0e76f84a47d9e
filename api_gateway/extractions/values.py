"""Values that were read from a document, as people write them. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from api_gateway.pages.clocks import published

FORMS: Mapping[str, str] = {
    "words": "{text}",
    "grade": "[{system} ]{level}",
    "tnm": "{prefix}[T{t} ][N{n} ][M{m}]",
    "stage": "{group}",
    "marker": "{marker}[ {result}][ {comparator}][ {percent}%][ to {percent_to}%][, score {score}]",
    "margin": "[{which} ]{status}[, {distance_mm} mm]",
    "measurement": "[{of}: ]{dimensions} {unit}",
    "amount": "[{comparator} ]{number}[ {unit}]",
    "msi": "{status}",
    "mutation": "{gene}[ {protein}][ {coding}][ {event}][, VAF {vaf}%]"
    "[, significance {significance}]",
    "lab": "{name}[ {comparator}][ {number}][ {text}][ {unit}][, {flag}][ ({range})]",
    "nodes": "{positive}[ of {examined}] positive",
    "presence": "{state}",
    "day": "{iso}[ or {other}]",
    "medication": "{name}[ {dose}][ to {dose_to}][ {unit}][ {route}][ {frequency}]",
}
"""By kind of value (`workers.extract.values`): its parts; what stands in brackets is left out where
its part is not known."""
_PART = re.compile(r"\[([^\[\]]*)\]")


def written(value: Any) -> str:
    """A value in words; empty if there is none. A kind that has no form is its parts, in a row."""
    if not isinstance(value, Mapping):
        return _written(value)
    parts = {name: _written(part) for name, part in value.items() if name != "kind"}
    parts |= {name: _day(parts[name]) for name in ("iso", "other") if parts.get(name)}
    if "dimensions" in value:
        parts["dimensions"] = " × ".join(map(_written, value["dimensions"]))
    low, high = parts.get("low"), parts.get("high")
    parts["range"] = f"{low} to {high}" if low and high else f"from {low}" if low else ""
    if high and not low:
        parts["range"] = f"up to {high}"
    form = FORMS.get(value.get("kind", ""))
    if form is None:
        return " · ".join(filter(None, parts.values()))
    known = _PART.sub(lambda part: part[1] if _known(part[1], parts) else "", form)
    return known.format_map({name: parts.get(name, "") for name in _names(form)}).strip()


def _names(form: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", form)


def _known(form: str, parts: Mapping[str, str]) -> bool:
    return all(parts.get(name) for name in _names(form))


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(filter(None, map(written, value)))
    return str(value)


def _day(iso: str) -> str:
    """A day or a month as it is known; what is neither stays as it is."""
    when = published(f"{iso}-01" if len(iso) == 7 else iso, "month" if len(iso) == 7 else "day")
    return when.words if when else iso
