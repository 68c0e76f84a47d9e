"""Whether a line of a source is on whom the question is about (invariant 6). Pure.

No guard can see this: a line of a murine study is that study's to the letter, and no answer to a
question on patients. Categories and words: `populations` of knowledge/answers.yaml.
"""

import re
from collections.abc import Iterable, Set
from functools import cache, lru_cache

from knowledge.guard_terms import population_terms
from knowledge.loader import load
from knowledge.words import Words
from workers.reading.marker_statuses import marker_statuses
from workers.reading.normalize import normalize

_ORGANISM, _PEOPLE = "organism", frozenset({"people"})


class Population:
    """Whom a question is about; in categories that it does not name, anybody."""

    def __init__(self, questions: Iterable[str]) -> None:
        """The parts of one question."""
        text = "\n".join(questions)
        asked = {category: stated(category, text) for category in _words()}
        self._asked: dict[str, Set[str]] = {one: named for one, named in asked.items() if named}
        if asked[_ORGANISM] - _PEOPLE:
            del self._asked[_ORGANISM]  # one on animals may be answered by whoever studied them
        elif not asked[_ORGANISM] and _asks_of_people(text, named=bool(self._asked)):
            self._asked[_ORGANISM] = _PEOPLE
        self._texts: dict[tuple[str, str], frozenset[str]] = {}
        self._markers: dict[str, set[str]] = {}
        for marker, status in marker_statuses(normalize(text).text):
            self._markers.setdefault(marker, set()).add(status)

    def is_another(self, line: str, title: str, text: str) -> bool:
        """Whether a line is on others than those asked about.

        By what it and its title say together; where neither tells the organism, by the text.
        """
        for category, asked in self._asked.items():
            found = stated(category, line) | stated(category, title)
            if not found and category in load("answers")["populations"]["by_text"]:
                found = self._by_text(category, text)
            if found and not any(_meet(category, one, other) for one in found for other in asked):
                return True
        return any(
            found.isdisjoint(asked)
            for marker, asked in self._markers.items()
            if (found := _statuses(marker, f"{line}\n{title}"))
        )

    def _by_text(self, category: str, text: str) -> frozenset[str]:
        """The values that a whole text names; kept for its next line, and for this question."""
        key = (category, text)
        if key not in self._texts:
            self._texts[key] = _named(category, text)
        return self._texts[key]


def _asks_of_people(text: str, *, named: bool) -> bool:
    """Whether a question that names no organism, but some of whom (`named`) or what is done for
    patients, asks of these, and not of the biology."""
    asks = named or _pattern("of_people").search(text) is not None
    return asks and not _pattern("of_biology").search(text)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(load("answers")["populations"][name], re.IGNORECASE)


@lru_cache(maxsize=4096)  # a title is that of many lines
def stated(category: str, words: str) -> frozenset[str]:
    """The values of a category that a line or a title names."""
    return _named(category, words)


def _named(category: str, text: str) -> frozenset[str]:
    return frozenset(one.name for one in _words()[category].mentions(text))


def _meet(category: str, one: str, other: str) -> bool:
    wider = load("answers")["populations"]["takes_in"].get(category, {})
    return one == other or one in wider.get(other, ()) or other in wider.get(one, ())


@cache
def _words() -> dict[str, Words]:
    policy, known = load("answers")["populations"], population_terms().categories
    untold = frozenset(policy["not_telling"])
    found = {}
    for category in policy["categories"]:
        more = policy["more"].get(category, {})
        names = {
            value: [*known[category].get(value, ()), *more.get(value, ())]
            for value in {**known[category], **more}
        }
        if category == _ORGANISM:
            names = {
                value: [one for one in some if one not in untold] for value, some in names.items()
            }
        found[category] = Words(names)
    return found


@lru_cache(maxsize=4096)
def _statuses(marker: str, text: str) -> frozenset[str]:
    """Of a marker, the statuses that a text names; one that is expressed so much is positive."""
    plain = normalize(text).text
    found = {status for one, status in marker_statuses(plain) if one == marker}
    if _expressed(marker).search(plain):
        found.add("positive")
    return frozenset(found)


@cache
def _expressed(marker: str) -> re.Pattern[str]:
    behind = load("answers")["populations"]["expressed"]
    return re.compile(rf"(?<!\w){re.escape(marker)}(?!\w){behind}", re.IGNORECASE)
