"""Whether a line is on a drug or a disease that is asked about, where no tag tells. Pure.

The vocabulary holds the diseases and products of its decisions; of others the names themselves
tell: a dose for leukemia is none for arthritis. A work that names none of them is no answer, nor a
line that names others alone. Word lists: `subjects` of knowledge/answers.yaml, guards/drugs.yaml.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from knowledge.guard_terms import drug_terms
from knowledge.loader import load
from knowledge.products import products
from knowledge.tags import mentions, tags
from knowledge.words import Words

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 5
_INFLECTED = 3
"""Letters of a disease's ending that change: psoriasis, psoriatic."""


class Subjects:
    """The drugs and the untagged diseases that a question names."""

    def __init__(self, questions: Iterable[str]) -> None:
        """The parts of one question."""
        text = "\n".join(questions)
        named = _asked_drugs(text)
        # What is on products of the vocabulary alone has been found and scored by them; not so if
        # another product is only taken.
        scored = {name.lower() for name in products(text)}
        self._drugs = named if named != scored else frozenset[str]()
        forms = sorted(_forms(text))
        self._forms = re.compile("|".join(forms)) if forms else None
        self._tagged = frozenset(tags("diseases", text))
        self._texts: dict[tuple[bool, str], bool] = {}

    def are_missed(self, line: str, title: str, text: str, heading: str = "") -> bool:
        """Whether the work names none of them, or the line, else its heading, others alone."""
        return self._misses_drug(line, title, text, heading) or self._misses_disease(
            line, title, text, heading
        )

    def _misses_drug(self, line: str, title: str, text: str, heading: str) -> bool:
        asked = self._drugs
        if not asked or stands_for(line, asked) or stands_for(heading, asked):
            return False
        others = drugs(line) or drugs(heading)
        if stands_for(title, asked):
            # On one half of a work on several; else it is beside what is asked, and compared.
            return not drugs(line) and bool(others) and others <= drugs(title)
        return bool(others) or not self._text_tells(text, drug=True)

    def _misses_disease(self, line: str, title: str, text: str, heading: str) -> bool:
        if self._forms is None or self._is_on(line) or self._is_on(heading):
            return False
        others = _diseases(line) or _diseases(heading)
        if self._is_on(title):
            return not _diseases(line) and bool(others) and others <= _diseases(title)
        return bool(others) or not self._text_tells(text, drug=False)

    def _text_tells(self, text: str, *, drug: bool) -> bool:
        """Whether a whole text names one; kept for its next line, and for this question."""
        key = (drug, text)
        if key not in self._texts:
            self._texts[key] = _names_one(text, self._drugs) if drug else self._is_on(text)
        return self._texts[key]

    def _is_on(self, text: str) -> bool:
        forms = self._forms
        return (
            forms is not None and forms.search(text) is not None
        ) or not self._tagged.isdisjoint(tags("diseases", text))


@lru_cache(maxsize=4096)  # a title is that of many lines
def drugs(words: str) -> frozenset[str]:
    """The generic names of the drugs that a line or a title names."""
    return frozenset(name for name, _ in _drugs_at(words))


def _asked_drugs(text: str) -> frozenset[str]:
    """The drugs that a question is on: not those that somebody takes already, if others are."""
    found = _drugs_at(text)
    asked = {name for name, start in found if not _is_taken(text[:start])}
    return frozenset(asked if asked or _said("another").search(text) else (one for one, _ in found))


def _is_taken(before: str) -> bool:
    taken, to_be_taken = _said("taken"), _said("to_be_taken")
    return taken.search(before) is not None and not to_be_taken.search(before)


@cache
def _said(name: str) -> re.Pattern[str]:
    return re.compile(load("answers")["subjects"][name], re.IGNORECASE)


def _drugs_at(text: str) -> list[tuple[str, int]]:
    found = [(one.name, one.start) for one in _names().mentions(text)]
    known = {start for _, start in found}
    terms, policy = drug_terms(), load("answers")["subjects"]
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if (
            len(word) >= terms.shortest
            and match.start() not in known
            and word.endswith(terms.stems)
            and word not in terms.not_drugs
            and word not in policy["not_drugs"]
            and not word.endswith(tuple(policy["not_drug_endings"]))
        ):
            found.append((word, match.start()))
    return found


@lru_cache(maxsize=4096)
def stands_for(words: str, asked: frozenset[str]) -> bool:
    """Whether a line or a title names one of the drugs or a class of theirs."""
    return _names_one(words, asked)


def _names_one(text: str, asked: frozenset[str]) -> bool:
    return any(name in asked for name, _ in _drugs_at(text)) or any(
        any(member in name for member in drug_terms().classes[one.name].members for name in asked)
        for one in _classes().mentions(text)
    )


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


@cache
def _products() -> frozenset[str]:
    listed = load("vocabulary")["products"].values()
    return frozenset(product.lower() for some in listed for product in some)


@cache
def _names() -> Words:
    names = {name: [name] for name in _products()}
    return Words(names | {name: [name, *more] for name, more in drug_terms().names.items()})


@cache
def _classes() -> Words:
    return Words({name: terms.words for name, terms in drug_terms().classes.items()})
