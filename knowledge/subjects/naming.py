"""Finds names of trials, bodies and works in texts. Pure."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from knowledge.feeds.sources import source_policies
from knowledge.loader import load
from knowledge.scenarios import scenarios
from knowledge.works.conflicts import conflict_policy

_FIRST = re.compile(r"(?P<base>(?=[a-z]{0,40}[A-Z][a-z]{0,40}[A-Z])[A-Za-z]{4,40}+)-(?:1|I)")
"""The first trial of a series; names of three letters (IL-1, PD-1) are not trials."""


def mentions(words: str, name: str) -> bool:
    """True if `words` contain `name` as written, with spaces equal to hyphens: DYNAMIC is neither
    "dynamic" nor DYNAMIC-III.

    The first trial of a series (ACTT-1) also matches without its number, as it has none before
    there is a second one; unless the base names the whole series (MERMAID-1).
    """
    if _as_written(name).search(words) is not None:
        return True
    first = _FIRST.fullmatch(name)
    if first is None or first["base"] in _series():
        return False
    return _as_written(first["base"]).search(words) is not None


@cache
def known_trials() -> Mapping[str, str]:
    """The names of the packs' trials and of `trials` in knowledge/questions/questions.yaml, by
    their lower case: only names of one word, with a part after a hyphen or a numeral."""
    packed = {entry.trial for pack in scenarios() for entry in pack.entries if entry.trial}
    form = re.compile(load("questions/questions")["names"])
    listed = {name for some in load("questions/questions")["trials"].values() for name in some}
    names = {name.replace(" ", "-") for name in packed | listed}
    return {name.lower(): name for name in sorted(names) if form.fullmatch(name)}


def is_regulator(name: str) -> bool:
    """True if a name is that of a body that decides where a product may be sold."""
    return any(pattern.fullmatch(name) for pattern in conflict_policy().regulators.values())


def trials(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not those of a body that recommends or decides."""
    bodies = source_policies()
    return tuple(name for name in names if name.lower() not in bodies and not is_regulator(name))


def tests_named(words: str) -> tuple[str, ...]:
    """The laboratory tests that words name, in any case, in their correct spelling."""
    matched = {match.group().lower(): None for match in _tests().finditer(words)}
    listed = {name.lower(): name for name in load("questions/questions")["tests"]}
    return tuple(listed[name] for name in matched)


@cache
def _tests() -> re.Pattern[str]:
    listed = "|".join(map(re.escape, load("questions/questions")["tests"]))
    return re.compile(rf"(?i)(?<![\w-])(?:{listed})(?![\w-])")


@lru_cache(maxsize=256)
def _as_written(name: str) -> re.Pattern[str]:
    written = re.escape(name).replace(r"\-", r"[-\s]")
    another = r"(?![-\s](?:II|III|IV|[2-9])(?![\w.-]))"
    return re.compile(rf"(?<!\w){written}(?!\w){'' if name in _series() else another}")


@cache
def _series() -> frozenset[str]:
    """The base names of those series in the packs whose first trial is numbered."""
    named = {entry.trial for pack in scenarios() for entry in pack.entries if entry.trial}
    numbered = {name.removesuffix("-1") for name in named if name.endswith("-1")}
    return frozenset(numbered - named)
