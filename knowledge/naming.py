"""Whether words name a trial, a body or a work as it is called. Pure."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from knowledge.loader import load
from knowledge.scenarios import scenarios

_FIRST = re.compile(r"(?P<base>[A-Za-z]*[A-Z][A-Za-z]*[A-Z][A-Za-z]*)-(?:1|I)(?<=[A-Za-z]{4}-.)")
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
