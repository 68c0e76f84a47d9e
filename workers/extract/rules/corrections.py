"""What a report says that it should have said: "… and should read 55 %". Pure."""

import re
from collections.abc import Iterator, Sequence

from workers.extract.fields import Found
from workers.extract.rules.markers import marker_named, marker_pattern, read_result
from workers.extract.values import Marker

_SHOULD = re.compile(
    r"(?i)\bshould\s++(?:now\s++|instead\s++|in\s++fact\s++)?"
    r"(?:read|have\s++(?:read|been|stated)|be\s++(?:read\s++as|amended\s++to|changed\s++to))\b"
)
_STOP = re.compile(r"[.;](?=\s|$)|\n[ \t]*+\n")
_REACH = 160
"""Characters of a sentence before and behind these words (ours)."""


def corrected(text: str) -> Iterator[Found]:
    """The markers whose result is put right, with the result that holds."""
    for match in _SHOULD.finditer(text):
        begin = max(0, match.start() - _REACH)
        for stop in _STOP.finditer(text, begin, match.start()):
            begin = stop.end()
        named = [*marker_pattern().finditer(text, begin, match.start())]
        name = marker_named(named[-1].group()) if named else None
        if name is None:
            continue
        last = _STOP.search(text, match.end(), match.end() + _REACH)
        limit = last.start() if last else min(len(text), match.end() + _REACH)
        value, end = read_result(text, name, match.end(), limit)
        if value is not None:
            yield Found(value, named[-1].start(), end)


def put_right(text: str, found: Sequence[Found]) -> Sequence[Found]:
    """What was found of markers, without what a correction takes back."""
    right = {one.value.marker: one for one in corrected(text) if isinstance(one.value, Marker)}
    if not right:
        return found
    kept = [one for one in found if getattr(one.value, "marker", None) not in right]
    return sorted([*kept, *right.values()], key=lambda one: one.start)
