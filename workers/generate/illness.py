"""Whether a line is on the stage of a disease and the status of a marker asked about. Pure.

Words: `populations` of knowledge/questions/answers.yaml; statuses:
clinical_text/marker_statuses.py.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from clinical_text.marker_statuses import marker_statuses
from clinical_text.normalize import normalize
from knowledge.guards.guard_terms import population_terms
from knowledge.loader import load

_NUMBERS = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "0": 0, "1": 1, "2": 2, "3": 3, "4": 4}
_LAST = 4
_NUMERAL = r"(?:III|II|IV|I|[0-4])(?:[ABC]\d?(?![A-Za-z]))?(?!\w|%|\.\d)"
_BETWEEN = r"\s*(?:,\s*(?:and|or)|,|-|–|/|to|and|or|through)\s*"
_STAGED = re.compile(
    rf"(?i)(?<![\w-])stages?[\s-]+(?P<list>{_NUMERAL}(?:{_BETWEEN}(?:stages?\s+)?{_NUMERAL})*)"
    r"(?P<up>\s*(?:or|and)\s+(?:higher|above|greater|later|more advanced)\b)?"
)
_JOINED = re.compile(
    rf"(?i)(?P<joint>-|–|to|through)?\s{{0,40}}(?:stages?\s{{1,40}})?(?P<numeral>{_NUMERAL})"
)


class Illness:
    """The stages and marker statuses that a question names."""

    def __init__(self, text: str, *, on_coverage: bool = False) -> None:
        """The whole question; one on coverage is answered by the stages that are covered."""
        self._on_coverage = on_coverage
        self._stages = stages(text) or _stages_in_words(text)
        self._markers: dict[str, set[str]] = {}
        for marker, status in marker_statuses(normalize(text).text):
            self._markers.setdefault(marker, set()).add(status)

    def is_another(self, line: str, heading: str, title: str, text: str) -> bool:
        """Whether a line is on other stages, or on patients of another status, only."""
        if self._stages and not (self._on_coverage and stages(line)):
            short = text if len(text) <= load("questions/answers")["whole_chars"] else ""
            told = (some for one in (line, heading, title, short) if (some := stages(one)))
            if not self._stages & next(told, self._stages):
                return True
        around = f"{heading}\n{title}"
        return any(_is_of_another(one, asked, line, around) for one, asked in self._markers.items())


def _is_of_another(marker: str, asked: set[str], line: str, around: str) -> bool:
    """Whether every clause is on another status: its own, else that of the clause before it, of
    the first one that of heading and title."""
    told = statuses(marker, around)
    for clause in _clause().split(line):
        told = statuses(marker, clause) or told
        if not told or not told.isdisjoint(asked):
            return False
    return True


@lru_cache(maxsize=4096)  # a title is that of many lines
def stages(text: str) -> frozenset[int]:
    """The numbered stages that a text names, 0 to 4, with those between them: II to IV."""
    found: set[int] = set()
    for match in _STAGED.finditer(text):
        found.update(_listed(match["list"]))
        if match["up"]:
            found.update(range(max(found), _LAST + 1))
    return frozenset(found)


def _listed(words: str) -> Iterator[int]:
    last = None
    for one in _JOINED.finditer(words):
        number = _NUMBERS[re.sub(r"(?i)(?<=.)[abc]\d?$", "", one["numeral"]).lower()]
        yield from range(last + 1, number) if one["joint"] and last is not None else ()
        yield number
        last = number


def _stages_in_words(text: str) -> frozenset[int]:
    """What an "early stage" or a metastatic tumor is for certain."""
    rows = load("questions/answers")["populations"]["stages"]
    return frozenset(
        stage for row in rows if re.search(row["asked"], text, re.I) for stage in row["are"]
    )


@lru_cache(maxsize=4096)
def statuses(marker: str, text: str) -> frozenset[str]:
    """Of a marker, the statuses that a text names; one that is expressed so much is positive."""
    plain = _twice_named().sub("", normalize(text).text)
    found = {status for one, status in marker_statuses(plain) if one == marker}
    if _expressed(marker).search(plain):
        found.add("positive")
    return frozenset(found)


@cache
def _twice_named() -> re.Pattern[str]:
    """The first of two names for one marker: ctDNA-MRD."""
    pairs = (
        rf"{re.escape(one)}-(?={re.escape(other)}\b)"
        for same in population_terms().same_markers
        for one in same
        for other in same
        if one != other
    )
    return re.compile(rf"(?i)\b(?:{'|'.join(pairs)})")


@cache
def _expressed(marker: str) -> re.Pattern[str]:
    behind = load("questions/answers")["populations"]["expressed"]
    return re.compile(rf"(?<!\w){re.escape(marker)}(?!\w){behind}", re.IGNORECASE)


@cache
def _clause() -> re.Pattern[str]:
    return re.compile(load("questions/answers")["populations"]["clause"], re.IGNORECASE)
