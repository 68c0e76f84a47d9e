"""Where patterns match in a document, looked for once: many values ask for the same words. Pure."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from workers.extract.parts import Parts

_held: "WeakKeyDictionary[Parts, dict[re.Pattern[str], tuple[list[int], list[int]]]]" = (
    WeakKeyDictionary()
)


def first_within(
    pattern: re.Pattern[str], parts: Parts, begin: int, stop: int
) -> tuple[int, int] | None:
    """The first match of the document's that lies in `[begin, stop)`."""
    starts, ends = _places(pattern, parts)
    at = bisect_left(starts, begin)
    return (starts[at], ends[at]) if at < len(starts) and ends[at] <= stop else None


def last_within(
    pattern: re.Pattern[str], parts: Parts, begin: int, stop: int
) -> tuple[int, int] | None:
    """The last of them."""
    starts, ends = _places(pattern, parts)
    at = bisect_left(ends, stop + 1) - 1
    return (starts[at], ends[at]) if at >= 0 and starts[at] >= begin else None


def _places(pattern: re.Pattern[str], parts: Parts) -> tuple[Sequence[int], Sequence[int]]:
    held = _held.setdefault(parts, {})
    if pattern not in held:
        spans = [one.span() for one in pattern.finditer(parts.text)]
        held[pattern] = ([start for start, _ in spans], [end for _, end in spans])
    return held[pattern]
