"""Whether a line is on a drug, a decision, or a disease without a tag, that is asked about. Pure.

Of what the vocabulary does not hold the names themselves tell: a dose for leukemia is none for
arthritis. A work that names none of them is no answer, nor a line that names others alone; for a
drug of the vocabulary a general name of its decision is as good. Who asks about a decision among
drugs or tests (ctDNA in gastric cancer) is not answered by a work without a word of it.

Diseases: `subjects` of knowledge/answers.yaml; drugs: knowledge/drugs.py.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from knowledge.classification import is_aspect
from knowledge.drugs import asked_about, classes_asked_about, drugs, names_one
from knowledge.loader import load
from knowledge.products import has_products, is_narrow, products, speak_to
from knowledge.tags import Kind, mentions, tags
from knowledge.words import Words

_WORD = re.compile(r"[^\W\d_]+")
_CALLED = re.compile(
    r"(?i)(?:^\W*|\b(?:the|in|of|from|did|does|was|is|has|how|why)\s+)"
    r"(?P<name>[a-z][a-z-]{3,}[a-z])\s+(?:trial|study)\b(?!\s+(?:of|on|in|for|with|design)\b)"
)
_SHORTEST = 5
_INFLECTED = 3
"""Letters of a disease's ending that change: psoriasis, psoriatic."""


class Subjects:
    """The drugs and the untagged diseases that a question names."""

    def __init__(self, questions: Iterable[str], *, compares: bool = False) -> None:
        """The parts of one question, and whether it compares."""
        text = "\n".join(questions)
        self._drugs = asked_about(text, else_taken=True)
        self._products = frozenset(one for one in products(text) if one.lower() in self._drugs)
        self._classes = classes_asked_about(text)
        decisions = _typed("decisions", text)
        general = bool(self._classes) and not all(map(is_narrow, self._classes))
        self._decisions = frozenset(decisions if general else ())
        self._among = frozenset(
            one for one in decisions if has_products(one) and not is_aspect(one)
        )
        self._compares = compares and len(self._drugs) > 1
        forms = sorted(_forms(text))
        self._forms = re.compile("|".join(forms)) if forms else None
        self._tagged = frozenset(_typed("diseases", text))
        self._texts: dict[tuple[str, str], bool] = {}

    def are_missed(self, line: str, title: str, text: str, heading: str = "") -> bool:
        """Whether the work names none of them, or the line, else its heading, others alone."""
        return (
            self._misses_drug(line, title, text, heading)
            or self._misses_disease(line, title, text, heading)
            or self._misses_decision(line, title, text, heading)
        )

    def _misses_decision(self, line: str, title: str, text: str, heading: str) -> bool:
        """Whether neither a line nor its work is on one of the decisions among drugs or tests."""
        return bool(self._among) and not any(map(self._is_decided, (line, heading, title, text)))

    def is_told(self, shown: Iterable[tuple[str, ...]]) -> bool:
        """Whether the line, heading or title of something shown is on one of these decisions: a
        work on many things says little of one that it only mentions."""
        return not self._among or any(any(map(self._is_decided, one)) for one in shown)

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
            not (self._drugs or self._classes)
            or self._is_on_drug(line)
            or self._is_on_drug(heading)
        ):
            return False
        others = _drugs(line) or _drugs(heading)
        if self._is_on_drug(title):
            # On one half of a work on several; else it is beside what is asked, and compared.
            return not _drugs(line) and bool(others) and others <= _drugs(title)
        return bool(others) or not self._text_tells(text, drug=True)

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
        return bool(self._products) and speak_to(words, self._products)

    def _misses_disease(self, line: str, title: str, text: str, heading: str) -> bool:
        if self._forms is None or self._is_on(line) or self._is_on(heading):
            return False
        others = _diseases(line) or _diseases(heading)
        if self._is_on(title):
            return not _diseases(line) and bool(others) and others <= _diseases(title)
        return bool(others) or not self._text_tells(text, drug=False)

    def _text_tells(self, text: str, *, drug: bool) -> bool:
        """Whether a whole text names one; kept for its next line, and for this question."""
        key = ("drug" if drug else "disease", text)
        if key not in self._texts:
            # Many a text mentions antibiotics; it is on one of them that it names.
            on_drug = drug and names_one(text, self._drugs, self._classes, or_class=False)
            self._texts[key] = on_drug if drug else self._is_on(text)
        return self._texts[key]

    def _is_on(self, text: str) -> bool:
        forms = self._forms
        return (
            forms is not None and forms.search(text) is not None
        ) or not self._tagged.isdisjoint(tags("diseases", text))


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
    return bool(named or drugs(word) or _diseases(word))


@cache
def _no_trial_names() -> frozenset[str]:
    policy = load("questions")
    listed = (*load("misspelt")["clinical"], *policy["everyday"], *policy["asking_words"])
    return frozenset((*listed, *load("answers")["no_trial_names"]))


@lru_cache(maxsize=4096)  # a title is that of many lines
def _drugs(words: str) -> frozenset[str]:
    return drugs(words)


def _typed(kind: Kind, question: str) -> tuple[str, ...]:
    """The tags that a question names, its abbreviations in lower case too."""
    return tuple(dict.fromkeys(one.name for one in mentions(kind, question, typed=True)))


def _diseases(words: str) -> frozenset[str]:
    return _forms(words).union(tags("diseases", words))


@lru_cache(maxsize=4096)
def _forms(text: str) -> frozenset[str]:
    """Patterns of the diseases that a text names and no tag holds, in all their forms."""
    policy, rest = load("answers")["subjects"], list(text)
    for one in mentions("diseases", text):
        rest[one.start : one.end] = " " * (one.end - one.start)
    left = "".join(rest)
    found = {_any_of(one.name) for one in _known().mentions(left)}
    found.update(_inflected(match[1].lower()) for match in _eponym().finditer(left))
    endings, untold = tuple(policy["disease_endings"]), frozenset(policy["not_diseases"])
    for match in _WORD.finditer(left):
        word = match.group().lower()
        if word.endswith(endings) and len(word) > _SHORTEST and word not in untold:
            found.add(_inflected(word))
    return frozenset(found)


def _inflected(word: str) -> str:
    """The pattern of a disease's name and its adjective, in British spelling too."""
    kept = re.sub("(?:a|o)e", "e", word)
    kept = kept[: max(_SHORTEST, len(kept) - _INFLECTED)]
    return rf"(?i:\b{kept.replace('e', '[ao]?e')})"


@cache
def _any_of(name: str) -> str:
    """The pattern of a disease by all that tells it, abbreviations as written."""
    row = next(one for one in load("answers")["subjects"]["diseases"] if one["asked"][0] == name)
    words = [*row["asked"], *row.get("told", ())]
    kept = (re.escape(one) if one.isupper() else f"(?i:{re.escape(one)})" for one in words)
    return rf"\b(?:{'|'.join(kept)})s?\b"


@cache
def _eponym() -> re.Pattern[str]:
    return re.compile(load("answers")["subjects"]["eponym"])


@cache
def _known() -> Words:
    rows = load("answers")["subjects"]["diseases"]
    return Words({one["asked"][0]: one["asked"] for one in rows})
