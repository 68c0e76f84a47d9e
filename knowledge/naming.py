"""Whether words name a trial, a body or a work as it is called. Pure."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from knowledge.conflicts import conflict_policy
from knowledge.loader import load
from knowledge.scenarios import scenarios
from knowledge.sources import source_policies

_FIRST = re.compile(r"(?P<base>(?=[a-z]{0,40}[A-Z][a-z]{0,40}[A-Z])[A-Za-z]{4,40}+)-(?:1|I)")
"""The first trial of a series; names of three letters (IL-1, PD-1) are no trials."""


def mentions(words: str, name: str) -> bool:
    """Whether `name` stands in `words` as written, a space as good as a hyphen in it: DYNAMIC is
    neither "dynamic" nor DYNAMIC-III. A series that begins with its first (MERMAID-1) is called by
    what its trials share; and a first one (ACTT-1) has no number before there is a second."""
    if _as_written(name).search(words) is not None:
        return True
    first = _FIRST.fullmatch(name)
    if first is None or first["base"] in _series():
        return False
    return _as_written(first["base"]).search(words) is not None


@cache
def known_trials() -> Mapping[str, str]:
    """The names of the trials of the packs, and of `trials` of knowledge/questions.yaml, by how
    they read in lower case: of one word, with what a hyphen or a numeral adds."""
    packed = {entry.trial for pack in scenarios() for entry in pack.entries if entry.trial}
    form = re.compile(load("questions")["names"])
    listed = {name for some in load("questions")["trials"].values() for name in some}
    names = {name.replace(" ", "-") for name in packed | listed}
    return {name.lower(): name for name in sorted(names) if form.fullmatch(name)}


def is_regulator(name: str) -> bool:
    """Whether a name is that of a body which decides where something may be sold."""
    return any(one.fullmatch(name) for one in conflict_policy().regulators.values())


def trials(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are of no body which recommends or decides."""
    bodies = source_policies()
    return tuple(one for one in names if one.lower() not in bodies and not is_regulator(one))


def tests_named(words: str) -> tuple[str, ...]:
    """The laboratory tests that words name in any letters, as they are written."""
    found = {match.group().lower(): None for match in _tests().finditer(words)}
    listed = {name.lower(): name for name in load("questions")["tests"]}
    return tuple(listed[one] for one in found)


@cache
def _tests() -> re.Pattern[str]:
    listed = "|".join(map(re.escape, load("questions")["tests"]))
    return re.compile(rf"(?i)(?<![\w-])(?:{listed})(?![\w-])")


@lru_cache(maxsize=256)
def _as_written(name: str) -> re.Pattern[str]:
    written = re.escape(name).replace(r"\-", r"[-\s]")
    another = r"(?![-\s](?:II|III|IV|[2-9])(?![\w.-]))"
    return re.compile(rf"(?<!\w){written}(?!\w){'' if name in _series() else another}")


@cache
def _series() -> frozenset[str]:
    """What the trials of the packs share of their names that are numbered from the first on."""
    named = {entry.trial for pack in scenarios() for entry in pack.entries if entry.trial}
    begun = {one.removesuffix("-1") for one in named if one.endswith("-1")}
    return frozenset(begun - named)
