"""Whether a line is on a drug, a disease, or a decision among drugs or tests, that is asked about.
Pure.

Which works may answer at all says `fitting`; of these a line that names other drugs or diseases
alone is no answer: a dose for leukemia is none for arthritis. For a drug of the vocabulary a
general name of its decision is as good. Who asks about a decision among drugs or tests (ctDNA in
gastric cancer) is not answered by a work without a word of it. Drugs: knowledge/subjects/drugs.py.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache

from clinical_text.names import Name, forms, names
from knowledge.loader import load
from knowledge.questions.classification import is_aspect
from knowledge.subjects.drugs import asked_about, classes_asked_about, drugs, names_one
from knowledge.subjects.products import has_products, is_narrow, named, products, speak_to
from knowledge.subjects.tags import Kind, mentions, tags

_CALLED = re.compile(
    r"(?i)(?:^\W*|\b(?:the|in|of|from|did|does|was|is|has|how|why)\s+)"
    r"(?P<name>[a-z][a-z-]{3,}[a-z])\s+(?:trial|study)\b(?!\s+(?:of|on|in|for|with|design)\b)"
)


_BEFORE = 70
_WHOSE = re.compile(r"(?i)\b(?:in|with|for|of|having)\s(?:[\w-]{1,20}\s){0,3}$")


class Subjects:
    """The drugs, and the decisions among drugs or tests, that a question names."""

    def __init__(
        self, questions: Iterable[str], asked: Collection[str] = (), *, compares: bool = False
    ) -> None:
        """The parts of one question, the products that it asks about, and whether it compares."""
        text = "\n".join(questions)
        self._drugs = asked_about(text, else_taken=True)
        self._others_asked = frozenset(asked) - self._drugs
        self._classes = classes_asked_about(text)
        decisions = _typed("decisions", text)
        general = bool(self._classes) and not all(map(is_narrow, self._classes))
        self._decisions = frozenset(decisions if general else ())
        self._among = frozenset(
            one for one in decisions if has_products(one) and not is_aspect(one)
        )
        conditions = _conditions(text)
        self._conditions = [forms(one) for one in sorted(conditions)]
        self._tagged = frozenset(_typed("diseases", text))
        self._compares = compares and len(self._drugs) > 1
        self._texts: dict[tuple[str, str], bool] = {}

    def are_missed(
        self, line: str, title: str, text: str, heading: str = "", *, on_many: bool = True
    ) -> bool:
        """Whether the work names none of them, or the line, else its heading, others alone.

        Args:
            on_many: the work is on a drug for several diseases, as a label is.
        """
        return (
            self._misses_drug(line, title, text, heading)
            or self._misses_decision(line, title, text, heading)
            or (on_many and self._is_on_another_disease(line, title, heading))
        )

    def _misses_decision(self, line: str, title: str, text: str, heading: str) -> bool:
        """Whether neither a line nor its work is on one of the decisions among drugs or tests."""
        told = (line, heading, title, text)
        named = any(names_one(one, self._drugs, or_class=False) for one in told)
        return bool(self._among) and not named and not any(map(self._is_decided, told))

    def is_told(self, shown: Iterable[tuple[str, ...]]) -> bool:
        """Whether the line, heading or title of something shown is on one of these decisions: a
        work on many things says little of one that it only mentions."""
        return not self._among or any(
            names_one(words, self._drugs, or_class=False) or self._is_decided(words)
            for one in shown
            for words in one
        )

    def _is_decided(self, words: str) -> bool:
        key = ("decision", words)
        if key not in self._texts:
            self._texts[key] = not self._among.isdisjoint(tags("decisions", words))
        return self._texts[key]

    def _misses_drug(self, line: str, title: str, text: str, heading: str) -> bool:
        if self._compares_with_another(line) or (
            self._compares_with_another(title) and not self._drugs <= _drugs(line)
        ):
            return True
        if (
            not (self._drugs or self._classes or self._others_asked)
            or self._is_on_drug(line)
            or self._is_on_drug(heading)
        ):
            return False
        others = _drugs(line) or _drugs(heading)
        if self._is_on_drug(title):
            # On one half of a work on several; else it is beside what is asked, and compared.
            return not _drugs(line) and bool(others) and others <= _drugs(title)
        return bool(others) or not self._text_tells(text)

    def _compares_with_another(self, line: str) -> bool:
        """Whether a line sets one of the drugs that are to be compared against one that is not."""
        if not self._compares:
            return False
        named = _drugs(line)
        return bool(named - self._drugs) and 0 < len(named & self._drugs) < 2

    def _is_on_drug(self, words: str) -> bool:
        """Whether words name a drug or class asked about, a class of one, or in general, and no
        drug beside, what it is given for."""
        if names_one(words, self._drugs, self._classes):
            return True
        if self._classes and not _drugs(words):
            return not self._decisions.isdisjoint(tags("decisions", words))
        asked = self._drugs | self._others_asked
        return bool(asked) and speak_to(words, asked)

    def _is_on_another_disease(self, line: str, title: str, heading: str) -> bool:
        """Whether a line, else its heading, names other diseases alone, and its title does not name
        the one asked about, or them beside it."""
        if not self._conditions or self._is_on(line) or self._is_on(heading):
            return False
        if self._is_on(title):
            others = _conditions(line) | _conditions(heading)
            return not others.isdisjoint(_conditions(title))
        return bool(_conditions(heading)) or any(
            _of_whom(line, one.start, one.end) for one in _named_conditions(line)
        )

    def _is_on(self, words: str) -> bool:
        return any(one.stand_in(words) for one in self._conditions) or not self._tagged.isdisjoint(
            tags("diseases", words)
        )

    def _text_tells(self, text: str) -> bool:
        """Whether a whole text names a drug; kept for its next line, and for this question."""
        key = ("drug", text)
        if key not in self._texts:
            # Many a text mentions antibiotics; it is on one of them that it names.
            self._texts[key] = names_one(text, self._drugs, self._classes, or_class=False) or named(
                text, self._others_asked
            )
        return self._texts[key]


def trials_called(question: str) -> frozenset[str]:
    """The words, in lower case, that a question puts before "trial" or "study" as its name: not
    "a multinational trial", nor what tells of it (`no_trial_names`) or is of medicine."""
    return frozenset(
        name
        for match in _CALLED.finditer(question)
        if (name := match["name"].lower()) not in _no_trial_names()
        and not _is_of_medicine(match["name"])
    )


def _is_of_medicine(word: str) -> bool:
    named = tags("diseases", word) or tags("decisions", word) or products(word)
    return bool(named or any(one.known for one in names(word)))


@cache
def _no_trial_names() -> frozenset[str]:
    policy = load("questions/questions")
    listed = (*load("subjects/misspelt")["clinical"], *policy["everyday"], *policy["asking_words"])
    return frozenset((*listed, *load("questions/answers")["no_trial_names"]))


@lru_cache(maxsize=4096)  # a title is that of many lines
def _drugs(words: str) -> frozenset[str]:
    return drugs(words)


@lru_cache(maxsize=4096)  # a title is that of many lines
def _conditions(words: str) -> frozenset[str]:
    return frozenset(one.preferred for one in _named_conditions(words))


def _named_conditions(words: str) -> Iterator[Name]:
    for one in names(words, typed=True):
        if one.known and not one.kinds.isdisjoint({"disease", "tumor"}):
            yield one


def _of_whom(line: str, start: int, end: int) -> bool:
    """Whether a condition is that of those whom a line is on, and no outcome: "in leukemia"."""
    return (
        line[end : end + 1] == ":"
        or _WHOSE.search(line[max(0, start - _BEFORE) : start]) is not None
    )


def _typed(kind: Kind, question: str) -> tuple[str, ...]:
    """The tags that a question names, its abbreviations in lower case too."""
    return tuple(dict.fromkeys(one.name for one in mentions(kind, question, typed=True)))
