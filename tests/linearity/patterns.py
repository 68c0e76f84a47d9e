"""Every pattern that the product compiles, tried on runs that its own parts are made of.

    python -m tests.linearity.patterns [MODULE_PREFIX ...]

lists the patterns that take more than linear time, by the place that compiles them. It must run in
a process of its own: patterns are seen as they are compiled, when their modules are imported.
"""

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cache
from inspect import signature
from operator import itemgetter
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from tests.linearity.growth import Growth, growth, seconds
from tests.linearity.texts import Family, families

ROOT = Path(__file__).parents[2]
PINNED = "knowledge/names/compile/"
"""What reads files whose hashes it checks, and no foreign text."""
PACKAGES = (
    "messages",
    "contracts",
    "knowledge",
    "store",
    "clinical_text",
    "workers",
    "scheduler",
    "api_gateway",
    "cli",
)
LADDER = ((12, 0.01), (18, 0.01), (24, 0.02), (75, 0.1), (300, 0.4))
"""Lengths at which all is read first, and CPU seconds for it that show more than a square: the
slowest pattern of the product takes a hundredth."""
SHORT, START, MOST = LADDER[-1][0], 500, 4_000
OWN_SUSPECTS, SUSPECTS = 12, 4
"""What is quadratic is among the slowest at 300 characters already, and few families are slow."""
Short = tuple[str, Family, tuple[str, ...]]
"""A family with its name and its texts of the ladder."""
_OF_RE = ("re", "functools")
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
LEAST_SECONDS = 0.002
"""A linear pattern reads 4,000 characters in a tenth of that; a quadratic one needs more."""


@dataclass(frozen=True)
class Compiled:
    """A pattern, and where the product compiled it first (`module.py:line`)."""

    pattern: re.Pattern[str]
    place: str


def collect(use: Callable[[], object] | None = None) -> list[Compiled]:
    """All patterns that the product compiles when its modules are imported, its policy is read and
    `use` is called."""
    seen: dict[tuple[str, int], Compiled] = {}
    compile_it = _compiler.compile

    def record(pattern: Any, flags: int = 0) -> Any:
        compiled = compile_it(pattern, flags)
        place = _place()
        if place and isinstance(compiled.pattern, str):
            seen.setdefault((compiled.pattern, compiled.flags), Compiled(compiled, place))
        return compiled

    _compiler.compile = record
    try:
        for package in PACKAGES:
            _import_all(package)
        _call_cached()
        if use is not None:
            use()
    finally:
        _compiler.compile = compile_it
    return sorted(
        (one for one in seen.values() if not one.place.startswith(PINNED)),
        key=lambda found: (found.place, found.pattern.pattern),
    )


def _place() -> str:
    """Where the product asked for the pattern that is being compiled; empty: somebody else did.

    What a library compiles while the product imports or calls it is the library's.
    """
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OF_RE:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return ""
    path = Path(frame.f_code.co_filename)
    if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES:
        return f"{path.relative_to(ROOT)}:{frame.f_lineno}"
    return ""


def _import_all(package: str) -> None:
    module = importlib.import_module(package)
    for found in pkgutil.walk_packages(module.__path__, f"{package}."):
        if "migrations" not in found.name and not found.name.endswith("__main__"):
            importlib.import_module(found.name)


def _call_cached() -> None:
    """Patterns whose words are policy are compiled by functions that remember what they made."""
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] in PACKAGES:
            for function in list(vars(module).values()):
                if isinstance(function, _lru_cache_wrapper) and not signature(function).parameters:
                    with suppress(FileNotFoundError):  # weights that nobody has trained yet
                        function()


# --- texts that a pattern's own parts are made of --------------------------------------------


def own_families(pattern: re.Pattern[str]) -> Iterator[tuple[str, Family]]:
    """For each repetition of the pattern: what stands before it, then its body again and again."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    for index, (before, body) in enumerate(_repeated(tree, "")):
        if body:
            yield f"its repetition {index}", _pump(before, body)
            yield f"its repetition {index} from the start", _pump("", body)
            yield f"its repetition {index} before a sign", _pump(before, body, "\x00!")
    whole = _sample(tree)
    if whole:
        yield "all of it again and again", _pump("", whole)
        yield "all of it, cut, again and again", _pump("", whole[:-1] or whole)


def _pump(before: str, body: str, after: str = "") -> Family:
    return lambda length: before + body * max(1, length // len(body)) + after


def _repeated(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    for operation, argument in tree:
        if operation in _REPEATS:
            _, most, body = argument
            if most > 8:
                yield before, _sample(body)
            yield from _repeated(body, before)
        elif operation is _constants.SUBPATTERN:
            yield from _repeated(argument[-1], before)
        elif operation is _constants.BRANCH:
            for branch in argument[1]:
                yield from _repeated(branch, before)
        elif operation in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _repeated(argument[1], before)
        elif operation is _constants.ATOMIC_GROUP:
            yield from _repeated(argument, before)
        before += _sample([(operation, argument)])


def _sample(tree: Any) -> str:
    """Some text that the pattern (nearly) fits: assertions are passed over."""
    said = ""
    for operation, argument in tree:
        if operation is _constants.LITERAL:
            said += chr(argument)
        elif operation is _constants.ANY:
            said += "a"
        elif operation is _constants.NOT_LITERAL:
            said += "b" if argument == ord("a") else "a"
        elif operation is _constants.IN:
            said += _member(argument)
        elif operation is _constants.BRANCH:
            said += _sample(argument[1][0])
        elif operation is _constants.SUBPATTERN:
            said += _sample(argument[-1])
        elif operation is _constants.ATOMIC_GROUP:
            said += _sample(argument)
        elif operation in _REPEATS:
            said += _sample(argument[2]) * min(max(argument[0], 1), 4)
    return said


_CLASSES = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_NOT_WORD: " ",
}


def _member(items: Any) -> str:
    """One character of a class."""
    negated = bool(items) and items[0][0] is _constants.NEGATE
    if negated:
        fits = re.compile("[" + "".join(_escaped(item) for item in items[1:]) + "]")
        return next((one for one in "a 1.,:;-(\n" if not fits.match(one)), "z")
    operation, argument = items[0]
    if operation is _constants.LITERAL:
        return chr(argument)
    if operation is _constants.RANGE:
        return chr(argument[0])
    return _CLASSES.get(argument, "a")


def _escaped(item: Any) -> str:
    operation, argument = item
    if operation is _constants.LITERAL:
        return re.escape(chr(argument))
    if operation is _constants.RANGE:
        return re.escape(chr(argument[0])) + "-" + re.escape(chr(argument[1]))
    known = {
        _constants.CATEGORY_DIGIT: r"\d",
        _constants.CATEGORY_SPACE: r"\s",
        _constants.CATEGORY_WORD: r"\w",
        _constants.CATEGORY_NOT_DIGIT: r"\D",
        _constants.CATEGORY_NOT_SPACE: r"\S",
        _constants.CATEGORY_NOT_WORD: r"\W",
    }
    return known[argument]


# --- the trial ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steep:
    """A pattern that takes more than linear time, and on what."""

    place: str
    pattern: str
    family: str
    growth: Growth

    def told(self) -> str:
        """In one line."""
        return (
            f"{self.place}: x{self.growth.ratio:.1f} at {self.growth.length} on {self.family}: "
            f"{self.pattern[:160]!r}"
        )


def unbounded(pattern: re.Pattern[str]) -> bool:
    """Whether any part of it may repeat without a bound: what cannot takes at each place of a text
    a number of steps that its text says, and is linear by construction."""
    return _repeats_freely(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))


def _repeats_freely(tree: Any) -> bool:
    return any(
        (operation in _REPEATS and argument[1] == _constants.MAXREPEAT)
        or any(map(_repeats_freely, _parts(operation, argument)))
        for operation, argument in tree
    )


def nested(pattern: re.Pattern[str]) -> bool:
    """Whether something is repeated that holds a choice, or what is repeated itself: only that can
    be read in numbers of ways that are a power of the text's length, bounded or not."""
    return _chooses(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG), inside=False)


def _chooses(tree: Any, *, inside: bool) -> bool:
    return any(
        (inside and (operation in _REPEATS or operation is _constants.BRANCH))
        or any(
            _chooses(part, inside=inside or (operation in _REPEATS and argument[1] > 1))
            for part in _parts(operation, argument)
        )
        for operation, argument in tree
    )


def _parts(operation: Any, argument: Any) -> list[Any]:
    """The expressions that an operation of an expression is made of."""
    if operation in _REPEATS:
        return [argument[2]]
    if operation is _constants.BRANCH:
        return list(argument[1])
    if operation is _constants.SUBPATTERN:
        return [argument[-1]]
    if operation in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [argument[1]]
    if operation is _constants.ATOMIC_GROUP:
        return [argument]
    if operation is _constants.GROUPREF_EXISTS:
        return [one for one in argument[1:] if one is not None]
    return []


def steep(compiled: Compiled) -> Steep | None:
    """The first family on which the pattern, looked for everywhere in a text, is too slow."""
    free, many_ways = unbounded(compiled.pattern), nested(compiled.pattern)

    def read(text: str) -> None:
        for _ in compiled.pattern.finditer(text):
            pass

    found = None
    if free or many_ways:
        own = {short[-1]: short for short in _shortened(own_families(compiled.pattern))}
        found = _steepest(read, own.values(), 0, OWN_SUSPECTS if free else 0)
    if free and found is None:
        found = _steepest(read, _short(), 0 if many_ways else len(LADDER) - 1, SUSPECTS)
    return None if found is None else Steep(compiled.place, compiled.pattern.pattern, *found)


def _steepest(
    read: Callable[[str], object], short: Iterable[Short], first: int, suspects: int
) -> tuple[str, Growth] | None:
    """The first of these families that takes too long, and how its time grows.

    Each is read at the lengths of the ladder, from the `first` on. How the time grows is measured
    on the slowest, but for those that would take less than can be measured at any length even if
    their time grew with the square of it.
    """
    timed: list[tuple[float, str, Family]] = []
    for name, family, texts in short:
        for (length, most), text in zip(LADDER[first:], texts[first:], strict=True):
            once = seconds(read, text)
            if once > most and (once := seconds(read, text)) > most:
                return name, Growth(length, once, float("inf"))
        timed.append((once, name, family))
    for once, name, family in sorted(timed, key=itemgetter(0), reverse=True)[:suspects]:
        if once * (MOST / SHORT) ** 2 < LEAST_SECONDS:
            break
        if once > LEAST_SECONDS / 2 or seconds(read, family(MOST)) >= LEAST_SECONDS:
            found = growth(read, family, start=START, most=MOST, least_seconds=LEAST_SECONDS)
            if found is not None and not found.linear:
                return name, found
    return None


def _shortened(named: Iterable[tuple[str, Family]]) -> Iterator[Short]:
    for name, family in named:
        yield name, family, tuple(family(length) for length, _ in LADDER)


@cache
def _short() -> tuple[Short, ...]:
    """The families that are tried with every pattern."""
    return tuple(_shortened(families()))


def _use_all() -> None:
    """Every reader reads something; they import the product, and so only now."""
    from tests.linearity.readers import use_all

    use_all()


def main(prefixes: list[str]) -> int:
    """Print what is too slow, one line each, and as JSON on the last line how many were tried."""
    patterns = [
        one for one in collect(_use_all) if not prefixes or one.place.startswith(tuple(prefixes))
    ]
    found = 0
    for one in patterns:
        if (told := steep(one)) is not None:
            found += 1
            sys.stdout.write(f"{told.told()}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{json.dumps({'patterns': len(patterns), 'steep': found})}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
