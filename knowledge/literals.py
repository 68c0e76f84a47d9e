"""Which strings a regular expression cannot match without, read from the expression itself.

To look whether one of them stands in a text costs a twentieth of a search, and most sentences hold
none. They are derived, not listed beside the patterns, so that a changed pattern cannot be hidden
by a list that nobody changed with it.
"""

import re
from dataclasses import dataclass
from typing import Any

_FEW = 16
"""Spellings of which all are looked for; ours."""
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


def needs_digit(pattern: re.Pattern[str]) -> bool:
    """Whether every match of `pattern` has a digit (`\\d`) in it, as far as can be told."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    return _holds_digit(parsed)


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
    best, runs = {""}, {""}
    for operation, argument in parsed:
        ends = _words(str(operation), argument)
        runs = {run + end for run in runs for end in ends} if ends else {""}
        found = set(map(written, runs)) if ends else _of(str(operation), argument, any_case)
        best = max(best, found, key=_rarity)
    return best


def _words(operation: str, argument: Any) -> set[str]:
    """The strings that an item is one of, as it is written; none where it is not a few of them."""
    if operation == "LITERAL":
        return {chr(argument)}
    if operation == "BRANCH" and len(argument[1]) <= _FEW:
        spelled = list(map(_spelled, argument[1]))
        return set().union(*spelled) if all(spelled) else set()
    if operation == "SUBPATTERN" and not argument[1] and not argument[2]:
        return _spelled(argument[3])
    return set()


def _spelled(parsed: Any) -> set[str]:
    found = {""}
    for operation, argument in parsed:
        found = {one + end for one in found for end in _words(str(operation), argument)}
    return found if len(found) <= _FEW else set()


def _of(operation: str, argument: Any, any_case: bool) -> set[str]:
    if operation == "IN" and all(str(one) == "LITERAL" for one, _ in argument):
        written = _AnyCase if any_case else str
        return {written(chr(character)) for _, character in argument}
    if operation == "BRANCH":
        return set().union(*(_best(one, any_case) for one in argument[1]))
    if operation == "SUBPATTERN":
        _, added, dropped, inner = argument
        kept = any_case and not dropped & re.IGNORECASE
        return _best(inner, kept or bool(added & re.IGNORECASE))
    if operation in _REPEATS and argument[0]:
        return _best(argument[2], any_case)
    return {""}


def _holds_digit(parsed: Any) -> bool:
    return any(_is_digit(str(operation), argument) for operation, argument in parsed)


def _is_digit(operation: str, argument: Any) -> bool:
    if operation == "LITERAL":
        return chr(argument).isdecimal()
    if operation == "IN":
        return [str(one) for _, one in argument] == ["CATEGORY_DIGIT"]
    if operation == "BRANCH":
        return all(map(_holds_digit, argument[1]))
    if operation == "SUBPATTERN":
        return _holds_digit(argument[3])
    return operation in _REPEATS and argument[0] > 0 and _holds_digit(argument[2])


def _rarity(strings: set[str]) -> tuple[int, bool]:
    """Longer ones are rarer; of single characters, signs are rarer than letters and stops."""
    common = any(one.isalnum() or one in "., " for one in strings)
    return min(map(len, strings)), not common


def _shortest_ones(found: set[str]) -> tuple[str, ...]:
    """Without those that hold another one, and so are in a text only with it."""
    return tuple(sorted(str(one) for one in found if not any(one != o and o in one for o in found)))
