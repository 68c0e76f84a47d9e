"""Which strings a regular expression cannot match without, read from the expression itself.

To look whether one of them stands in a text costs a twentieth of a search, and most sentences hold
none. They are derived, not listed beside the patterns, so that a changed pattern cannot be hidden
by a list that nobody changed with it.
"""

import re
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def literals(pattern: str) -> tuple[str, ...]:
    """Strings of which every match of the case-sensitive `pattern` holds one.

    ("",) where none can be told, which is in every text.
    """
    # The parser of the standard library has no public name. What it gives that is not known here
    # ends a string and adds nothing, so that a newer one makes the strings shorter, never wrong.
    parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]
    if parsed.state.flags & re.IGNORECASE:
        return ("",)
    found = _best(parsed)
    return tuple(sorted(one for one in found if not any(one != o and o in one for o in found)))


def _best(parsed: Any) -> set[str]:
    """Of the items of a sequence, all of which must match, the one that needs the most."""
    best, run = {""}, ""
    for operation, argument in parsed:
        run = run + chr(argument) if str(operation) == "LITERAL" else ""
        best = max(best, {run} if run else _of(str(operation), argument), key=_shortest)
    return best


def _of(operation: str, argument: Any) -> set[str]:
    if operation == "BRANCH":
        return set().union(*map(_best, argument[1]))
    if operation == "SUBPATTERN" and not argument[1]:  # it switches no flag on
        return _best(argument[3])
    if operation in _REPEATS and argument[0]:
        return _best(argument[2])
    return {""}


def _shortest(strings: set[str]) -> int:
    return min(map(len, strings))
