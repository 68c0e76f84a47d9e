"""The status of a marker that words state: "ctDNA-positive", "HER2 wild-type", "EGFR+". Pure.

Word lists: knowledge/guards/population.yaml.
"""

import re
from collections.abc import Iterator
from functools import cache

from knowledge.guards.guard_terms import population_terms
from knowledge.names.tables import tables

# Names of markers have up to 20 characters; several may be joined by strokes.
_MARKER = r"(?P<marker>[A-Za-z][\w/]{0,60}(?:-\d{1,10})?)"
_SIGNED = re.compile(
    r"(?<![\w-])(?P<marker>[A-Za-z]{0,20}[A-Z][\w/]{0,40})(?P<sign>[+−-])(?=[\s,.;:)/]|$)"
)


def marker_statuses(text: str) -> Iterator[tuple[str, str]]:
    """Each marker of a folded text, in one writing, with "positive" or "negative"."""
    terms = population_terms()
    for pattern in _patterns():
        for match in pattern.finditer(text):
            marker = match["marker"].lower()
            if marker in terms.not_markers or marker.isdecimal() or _is_apart(match):
                continue
            yield _marker(marker), _status_of()[_plain(match["status"])]
    for match in _SIGNED.finditer(text):
        status = "positive" if match["sign"] == "+" else "negative"
        yield _marker(match["marker"].lower()), status


def _is_apart(match: re.Match[str]) -> bool:
    """Whether the status stands beside a plain word, not joined to it: "was completed detected" and
    "become undetectable" say it of something else."""
    marker = match["marker"]
    between = match.string[min(match.end("marker"), match.end("status")) :]
    return marker.islower() and between[:1] != "-" and tables().is_word(marker)


def _plain(words: str) -> str:
    return re.sub(r"[\s-]+", " ", words.lower())


@cache
def _marker(name: str) -> str:
    return next((same[0] for same in population_terms().same_markers if name in same), name)


@cache
def _status_of() -> dict[str, str]:
    return {
        _plain(word): status
        for status, words in population_terms().status.items()
        for word in words
    }


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = sorted(filter(str.isalpha, _status_of()), key=len, reverse=True)
    status = rf"(?P<status>{'|'.join([*words, 'wild[ -]type'])})"
    return (
        re.compile(rf"(?i)(?<![\w-]){_MARKER}\)?[\s-]{{1,40}}{status}(?!\w)"),
        re.compile(
            rf"(?i)(?<![\w-])(?P<status>positive|negative|detectable|undetectable)\s{{1,40}}{_MARKER}"
        ),
    )
