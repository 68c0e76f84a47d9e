"""Whether a line of a source is on whom the question is about (invariant 6). Pure.

No guard can see this: a line of a murine study is that study's to the letter, and no answer to a
question on patients. Categories and words: `populations` of knowledge/questions/answers.yaml;
stages and markers: `illness`.
"""

import re
from collections.abc import Iterable, Set
from functools import cache, lru_cache
from itertools import chain

from knowledge.guards.guard_terms import population_terms
from knowledge.loader import load
from knowledge.matching.words import Words
from knowledge.subjects.labs import age_group
from workers.generate.illness import Illness

_ORGANISM, _PEOPLE = "organism", frozenset({"people"})
_AGE, _SEX, _BOWEL = "age", "sex", "bowel"
_IN_A_YEAR = {"m": 12.0, "w": 365.25 / 7, "d": 365.25}


class Population:
    """Whom a question is about; in categories that it does not name, anybody."""

    def __init__(self, questions: Iterable[str], *, on_coverage: bool = False) -> None:
        """The parts of one question, and whether it is on what a payer covers."""
        text = "\n".join(questions)
        asked = {category: stated(category, text) for category in _words()}
        asked[_AGE] |= _minors(text)
        self._asked: dict[str, Set[str]] = {one: named for one, named in asked.items() if named}
        if asked[_ORGANISM] - _PEOPLE:
            del self._asked[_ORGANISM]  # one on animals may be answered by whoever studied them
        elif not asked[_ORGANISM] and _asks_of_people(text, named=bool(self._asked)):
            self._asked[_ORGANISM] = _PEOPLE
        self._needed = {
            category: asked[category]
            for category, values in load("questions/answers")["populations"]["needed"].items()
            if asked[category] and asked[category] <= set(values)
        }
        self._sexes = asked[_SEX] if _sex_matters(text) else frozenset[str]()
        self._texts: dict[tuple[str, str], frozenset[str]] = {}
        self._on_others: dict[tuple[str, str], bool] = {}
        self._illness = Illness(text, on_coverage=on_coverage)

    def is_another(self, line: str, title: str, text: str, heading: str = "") -> bool:
        """Whether a line is on others than those asked about, or on nobody in particular where
        the data of all are no answer.

        By what it and its heading, else its title, say together; where it says nothing, by what
        stands before it; where none of them tells the organism, by the text.
        """
        for category, asked in self._asked.items():
            found = self._found(category, line, heading, title, text)
            if not found:
                if self._text_is_on_others(category, text):
                    return True
            elif not _meet_any(category, found, asked):
                return True
        return (
            self._is_special(line, heading, title)
            or self._leaves_out(line, heading, title, text)
            or self._illness.is_another(line, heading, title, text)
        )

    @property
    def asked(self) -> list[str]:
        """Whom the question names, in the words of the categories."""
        named = {
            one
            for category, values in self._asked.items()
            for one in (values if category != _SEX else values & self._sexes)
            if category != _BOWEL
        }
        return sorted(named - _PEOPLE) or sorted(named or self._asked.get(_BOWEL, set()))

    def is_told(self, shown: Iterable[str]) -> bool:
        """Whether some of the lines, headings and titles shown state the sex that is asked about:
        what was found in all together may be shown beside it, not in its place."""
        return not self._sexes or any(stated(_SEX, one) & self._sexes for one in shown)

    def _leaves_out(self, line: str, heading: str, title: str, text: str) -> bool:
        """Whether nothing around a line tells of children, or of pregnancy, where just these are
        asked about."""
        return bool(self._needed) and not any(
            self._tells(category, asked, line, heading, title, text)
            for category, asked in self._needed.items()
        )

    def _tells(
        self, category: str, asked: Set[str], line: str, heading: str, title: str, text: str
    ) -> bool:
        left_out = _pattern("left_out")
        around = (line, heading, title, _before(category, line, text))
        words = [one for one in around if not left_out.search(one)]
        if any(_meet_any(category, stated(category, one), asked) for one in words):
            return True
        if len(text) > load("questions/answers")["whole_chars"] or left_out.search(text):
            return False
        found = self._by_text(category, text)
        return bool(found) and all(_meet_any(category, {one}, asked) for one in found)

    def _found(
        self, category: str, line: str, heading: str, title: str, text: str
    ) -> frozenset[str]:
        policy, own = load("questions/answers")["populations"], stated(category, line)
        around = stated(category, heading) or stated(category, title)
        if own:
            return own | around
        if category in policy["by_paragraph"]:
            around = stated(category, _before(category, line, text)) or around
        return around

    def _text_is_on_others(self, category: str, text: str) -> bool:
        """Whether a whole text names values of a category that it tells by, and none asked about;
        kept for its next line, and for this question."""
        if category not in load("questions/answers")["populations"]["by_text"]:
            return False
        key = (category, text)
        if key not in self._on_others:
            asked, told = self._asked[category], _words()[category].each(text)
            first = next(told, None)
            self._on_others[key] = first is not None and not any(
                _meet_any(category, {one.name}, asked) for one in chain((first,), told)
            )
        return self._on_others[key]

    def _is_special(self, line: str, heading: str, title: str) -> bool:
        """Whether a heading tells that a part is on a few whom nobody asked about."""
        special = load("questions/answers")["populations"]["special"].items()
        return any(
            not stated(category, heading).isdisjoint(few)
            and not stated(category, line)
            and not stated(category, title)
            for category, few in special
            if category not in self._asked
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


def _sex_matters(text: str) -> bool:
    """Whether men or women are asked about as a group, and not by a disease that they alone have,
    nor one patient."""
    return (
        _pattern("of_a_sex").search(text) is not None
        and not _pattern("of_one_sex").search(text)
        and not _pattern("aged").search(text)
    )


def _minors(text: str) -> frozenset[str]:
    """The groups of infants, children and adolescents whose age in figures a question names."""
    groups = load("questions/answers")["populations"]["minors"]
    found = set()
    for match in _pattern("aged").finditer(text):
        years = float(match["age"] or match["years"])
        years /= _IN_A_YEAR.get((match["unit"] or "y")[0].lower(), 1.0)
        found.add(groups.get(age_group(years)))
    return frozenset(found - {None})


def _before(category: str, line: str, text: str) -> str:
    """The last sentence to name any value, before a line in its paragraph; "" if none does."""
    at = max(text.find(line), 0)
    start = max(text.rfind("\n\n", 0, at), text.rfind("\n#", 0, at), 0)
    before = text[start:at]
    found = _words()[category].mentions(before)
    if not found:
        return ""
    end = before.find(". ", found[-1].end)
    return before[before.rfind(". ", 0, found[-1].start) + 1 : end if end > 0 else len(before)]


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(load("questions/answers")["populations"][name], re.IGNORECASE)


@lru_cache(maxsize=4096)  # a title is that of many lines
def stated(category: str, words: str) -> frozenset[str]:
    """The values of a category that a line or a title names."""
    return _named(category, words)


def _named(category: str, text: str) -> frozenset[str]:
    return frozenset(one.name for one in _words()[category].mentions(text))


def _meet_any(category: str, found: Set[str], asked: Set[str]) -> bool:
    return any(_meet(category, one, other) for one in found for other in asked)


def _meet(category: str, one: str, other: str) -> bool:
    wider = load("questions/answers")["populations"]["takes_in"].get(category, {})
    return one == other or one in wider.get(other, ()) or other in wider.get(one, ())


@cache
def _words() -> dict[str, Words]:
    policy, known = load("questions/answers")["populations"], population_terms().categories
    untold = frozenset(policy["not_telling"])
    found = {}
    for category in policy["categories"]:
        more = policy["more"].get(category, {})
        words = known.get(category, {})
        names = {
            value: [*words.get(value, ()), *more.get(value, ())] for value in {**words, **more}
        }
        if category == _ORGANISM:
            names = {
                value: [one for one in some if one not in untold] for value, some in names.items()
            }
        found[category] = Words(names)
    return found
