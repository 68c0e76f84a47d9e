"""The strings without which a regular expression cannot match, derived from the expression.

Testing whether a text has one of them costs a twentieth of a search, and most sentences have none.
They are derived, not listed beside the patterns, so that a changed pattern cannot be disabled by a
list that nobody updated.
"""

import re
from dataclasses import dataclass
from typing import Any

_FEW = 16
"""Our limit for the number of spellings that are looked for."""
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class _AnyCase(str):
    """A string that matches in any case."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Every match of a pattern contains one of these: `exact` as written, or `any_case` in lower
    case."""

    exact: tuple[str, ...]
    any_case: tuple[str, ...]

    def met(self, text: str, lower: str) -> bool:
        """True if the pattern may match in `text`; `lower` is `ignoring_case(text)`."""
        for string in self.any_case:
            if string in lower:
                return True
        for string in self.exact:  # noqa: SIM110  a generator takes three times as long
            if string in text:
                return True
        return False


def needs(pattern: re.Pattern[str]) -> Needs:
    """The strings that `pattern` needs to match; includes "" if none can be derived."""
    # The parser of the standard library has no public name. Items that are unknown here end a
    # string and add nothing, so that a newer parser makes the strings shorter, never wrong.
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    strings = _best(parsed, bool(pattern.flags & re.IGNORECASE))
    any_case = {string.lower() for string in strings if isinstance(string, _AnyCase)}
    exact = {string for string in strings if not isinstance(string, _AnyCase)}
    if not all(map(str.isascii, any_case)):  # a letter may have two lower-case forms
        any_case = {""}
    return Needs(_shortest_ones(exact), _shortest_ones(any_case))


def needs_digit(pattern: re.Pattern[str]) -> bool:
    """True if every match of `pattern` is known to have a digit (`\\d`) in it."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    return _holds_digit(parsed)


_ALIKE = {"i": "İı", "s": "ſ", "k": "\N{KELVIN SIGN}"}
"""Other characters that a pattern that ignores case equates with an ASCII letter."""


def in_any_case(letter: str) -> str:
    """The characters that a pattern that ignores case equates with this ASCII character."""
    lower = letter.lower()
    return "".join(dict.fromkeys((lower, lower.upper(), *_ALIKE.get(lower, ""))))


def ignoring_case(text: str) -> str:
    """`text` in lower case, with ASCII letters in place of the few characters that a pattern that
    ignores case equates with them (ı, İ, ſ and the Kelvin sign)."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return text.replace("İ", "i").lower().replace("ı", "i").replace("ſ", "s")


def _best(parsed: Any, any_case: bool) -> set[str]:
    """The rarest set of needed strings among the items of a sequence, all of which must match."""
    written = _AnyCase if any_case else str
    best, runs = {""}, {""}
    for operation, argument in parsed:
        ends = _words(str(operation), argument)
        runs = {run + end for run in runs for end in ends} if ends else {""}
        strings = set(map(written, runs)) if ends else _of(str(operation), argument, any_case)
        best = max(best, strings, key=_rarity)
    return best


def _words(operation: str, argument: Any) -> set[str]:
    """The strings that an item can match, as written; none if there are more than a few."""
    if operation == "LITERAL":
        return {chr(argument)}
    if operation == "BRANCH" and len(argument[1]) <= _FEW:
        spelled = list(map(_spelled, argument[1]))
        return set().union(*spelled) if all(spelled) else set()
    if operation == "SUBPATTERN" and not argument[1] and not argument[2]:
        return _spelled(argument[3])
    return set()


def _spelled(parsed: Any) -> set[str]:
    spellings = {""}
    for operation, argument in parsed:
        spellings = {
            spelling + end for spelling in spellings for end in _words(str(operation), argument)
        }
    return spellings if len(spellings) <= _FEW else set()


def _of(operation: str, argument: Any, any_case: bool) -> set[str]:
    if operation == "IN" and all(str(name) == "LITERAL" for name, _ in argument):
        written = _AnyCase if any_case else str
        return {written(chr(character)) for _, character in argument}
    if operation == "BRANCH":
        return set().union(*(_best(branch, any_case) for branch in argument[1]))
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
        return [str(part) for _, part in argument] == ["CATEGORY_DIGIT"]
    if operation == "BRANCH":
        return all(map(_holds_digit, argument[1]))
    if operation == "SUBPATTERN":
        return _holds_digit(argument[3])
    return operation in _REPEATS and argument[0] > 0 and _holds_digit(argument[2])


def _rarity(strings: set[str]) -> tuple[int, bool]:
    """A sort key: longer strings are rarer; of single characters, signs are rarer than letters and
    full stops."""
    common = any(string.isalnum() or string in "., " for string in strings)
    return min(map(len, strings)), not common


def _shortest_ones(found: set[str]) -> tuple[str, ...]:
    """The strings, without those that contain another one and so occur only with it."""
    return tuple(
        sorted(
            str(string)
            for string in found
            if not any(string != other and other in string for other in found)
        )
    )
