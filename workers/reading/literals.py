"""Which strings a regular expression cannot match without, read from the expression itself.

To look whether one of them stands in a text costs a twentieth of a search, and most sentences hold
none. They are derived, not listed beside the patterns, so that a changed pattern cannot be hidden
by a list that nobody changed with it.
"""

import re
from dataclasses import dataclass
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class _AnyCase(str):
    """A string that stands in any case."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What every match of a pattern holds one of: `exact` as it is written, `any_case` in lower
    case."""

    exact: tuple[str, ...]
    any_case: tuple[str, ...]

    def met(self, text: str, lower: str) -> bool:
        """Whether the pattern may match in `text`; `lower` is what `ignoring_case` makes of it."""
        for one in self.any_case:
            if one in lower:
                return True
        for one in self.exact:  # noqa: SIM110  a generator takes three times as long
            if one in text:
                return True
        return False


def needs(pattern: re.Pattern[str]) -> Needs:
    """What is needed for `pattern` to match; an empty string among it where none can be told."""
    # The parser of the standard library has no public name. What it gives that is not known here
    # ends a string and adds nothing, so that a newer one makes the strings shorter, never wrong.
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    found = _best(parsed, bool(pattern.flags & re.IGNORECASE))
    any_case = {one.lower() for one in found if isinstance(one, _AnyCase)}
    exact = {one for one in found if not isinstance(one, _AnyCase)}
    if not all(map(str.isascii, any_case)):  # a letter may have two small ones beside it
        any_case = {""}
    return Needs(_shortest_ones(exact), _shortest_ones(any_case))


_ALIKE = {"i": "İı", "s": "ſ", "k": "\N{KELVIN SIGN}"}
"""What a pattern that ignores case takes for an ASCII letter beside its two forms."""


def in_any_case(letter: str) -> str:
    """The characters that a pattern that ignores case takes for this ASCII character."""
    lower = letter.lower()
    return "".join(dict.fromkeys((lower, lower.upper(), *_ALIKE.get(lower, ""))))


def ignoring_case(text: str) -> str:
    """`text` in lower case, with ASCII letters for those few others that a pattern takes for them
    where it ignores case (ı, İ, ſ and the Kelvin sign)."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return text.replace("İ", "i").lower().replace("ı", "i").replace("ſ", "s")


def _best(parsed: Any, any_case: bool) -> set[str]:
    """Of the items of a sequence, all of which must match, the one that needs the most."""
    written = _AnyCase if any_case else str
    best, run = {""}, ""
    for operation, argument in parsed:
        run = run + chr(argument) if str(operation) == "LITERAL" else ""
        found = {written(run)} if run else _of(str(operation), argument, any_case)
        best = max(best, found, key=_shortest)
    return best


def _of(operation: str, argument: Any, any_case: bool) -> set[str]:
    if operation == "BRANCH":
        return set().union(*(_best(one, any_case) for one in argument[1]))
    if operation == "SUBPATTERN":
        _, added, dropped, inner = argument
        kept = any_case and not dropped & re.IGNORECASE
        return _best(inner, kept or bool(added & re.IGNORECASE))
    if operation in _REPEATS and argument[0]:
        return _best(argument[2], any_case)
    return {""}


def _shortest(strings: set[str]) -> int:
    return min(map(len, strings))


def _shortest_ones(found: set[str]) -> tuple[str, ...]:
    """Without those that hold another one, and so are in a text only with it."""
    return tuple(sorted(str(one) for one in found if not any(one != o and o in one for o in found)))
