"""Whom a claim is about is whom its passage is about (DESIGN section 2, invariant 6). Pure.

What the passage leaves out may come from the title or the text, unless the passage or they name
another population.
"""

import re
from collections.abc import Iterator, Set
from functools import cache, lru_cache

from clinical_text.marker_statuses import marker_statuses
from knowledge.guards.guard_terms import population_terms
from knowledge.loader import load
from knowledge.subjects.breadth import is_broader
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import Lexicon, fold, tokens
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import read

_ROMAN = {"0": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
_NUMERAL = r"(?:III|II|IV|I|[0-5])(?:[ABCabc](?![A-Za-z]))?(?![\w%]|\.\d)"
_LABELS = ("stage", "phase", "grade", "class")
_LABELLED = re.compile(
    rf"(?i)(?<![\w-])(?P<label>{'|'.join(_LABELS)})s?[\s-]+"
    rf"(?P<list>{_NUMERAL}(?:\s*(?:,|-|/|to|and|or|through|,\s*and|,\s*or)\s*{_NUMERAL})*)"
)
_JOINED = re.compile(rf"(?i)(?P<joint>-|to|through)?\s{{0,9}}(?P<numeral>{_NUMERAL})")
_STATUS = "status of "
_EITHER = re.compile(
    r"(?i)\b(?:whether or not|(?:regardless|irrespective) of|no matter)\b[^.,;:]{1,80}"
)
"""Of whom a claim says that it is of them and of the others."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Populations of `claim` that its source does not state, or contradicts."""
    claim, passage = fold(claim), fold(grounds.passage)
    findings = _strange(claim, passage, grounds)
    return findings + _strange_diseases(claim, passage, grounds)


def is_limited(claim: str, asked: str) -> bool:
    """Whether a claim is of patients, or animals, of which a question does not ask."""
    mine, theirs = _values(fold(claim)), _values(fold(asked))
    assumed = population_terms().assumed
    return any(
        values - theirs.get(category, set()) - {assumed.get(category)}
        for category, values in mine.items()
    )


def _strange(claim: str, passage: str, grounds: Grounds) -> list[Finding]:
    said, stated = _values(claim), _values(passage)
    denies = bool(negations(read(claim)).denying)
    either = _values("; ".join(_EITHER.findall(claim)))
    findings = []
    values: Set[str]
    for category, values in said.items():
        here: Set[str] = stated.get(category, set())
        strange: Set[str] = values - here
        if strange and category.startswith(_STATUS):
            strange -= _of_the_only_marker(category, strange, grounds, passage)
        if strange and not here:
            strange = _not_around(category, strange, grounds)
        findings += [
            Finding(
                "population",
                f"{category} “{value}” is not that of the passage",
                unsaid=_may_be(category, value, here, denies)
                or value in either.get(category, ())
                or value in _bare_statuses(passage),
            )
            for value in sorted(strange)
        ]
    return findings


def _may_be(category: str, value: str, here: Set[str], denies: bool) -> bool:
    """Whether a value is not certainly another one than those of the passage: it has none, the
    claim denies something ("never turned positive"), or a stage of both is the same."""
    if category.startswith(_STATUS):
        return denies or not here
    shared = {part for one in here for part in one.split()} if category in _LABELS else here
    return not here or not shared.isdisjoint(value.split())


def _of_the_only_marker(
    category: str, values: Set[str], grounds: Grounds, passage: str
) -> Set[str]:
    """Those that the passage states of nothing in particular ("in negative patients"), where the
    source knows the status of no other marker."""
    around = _values_of_source(f"{grounds.title}\n\n{grounds.text}")
    known = {one for one in around if one.startswith(_STATUS)}
    if known != {category}:
        return set()
    return values & _bare_statuses(passage)


def _bare_statuses(passage: str) -> Set[str]:
    """The statuses that the passage states, whatever of ("in negative patients")."""
    words = {one.lower for one in tokens(passage)}
    status = population_terms().status.items()
    return {name for name, forms in status if not words.isdisjoint(forms)}


def _not_around(category: str, values: Set[str], grounds: Grounds) -> Set[str]:
    """Those that neither the title and the neighbours of the passage nor the text state alone."""
    for text in (f"{grounds.title}\n\n{grounds.neighbours}", grounds.text):
        around: Set[str] = _values_of_source(text).get(category, set())
        if around:
            return values if around - values else values - around
    return values - {population_terms().assumed.get(category)}


def _strange_diseases(claim: str, passage: str, grounds: Grounds) -> list[Finding]:
    said = _diseases(claim)
    stated = _diseases(passage) if said else set()
    strange = {one for one in said - stated if not is_broader({one}, stated)}
    if strange and stated <= said:
        around = _diseases(fold(f"{grounds.title}\n\n{grounds.neighbours}"))
        strange = {one for one in strange - around if not is_broader({one}, around)}
        strange -= _diseases_of_source(grounds.text)
    unsaid = stated <= said
    return [
        Finding("population", f"“{one}” is not in the passage", unsaid) for one in sorted(strange)
    ]


def _values(text: str) -> dict[str, set[str]]:
    """The values of each category that a folded text states."""
    found: dict[str, set[str]] = {}
    for category, lexicon in _categories().items():
        for mention in lexicon.find(text):
            found.setdefault(category, set()).add(mention.name)
    for label, numerals in _labels(text):
        found.setdefault(label, set()).add(numerals)
    for marker, status in marker_statuses(text):
        found.setdefault(f"{_STATUS}{marker}", set()).add(status)
    return found


@lru_cache(maxsize=64)
def _values_of_source(text: str) -> dict[str, set[str]]:
    return _values(fold(text))


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """ "stages I to III" as ("stage", "1 2 3")."""
    for match in _LABELLED.finditer(text):
        numbers: list[str] = []
        for one in _JOINED.finditer(match["list"]):
            digits = one["numeral"].rstrip("ABCabc").lower()
            part = one["numeral"][len(digits) :].lower()
            value = _ROMAN[digits]
            if one["joint"] and numbers and numbers[-1].isdecimal():
                numbers += [str(number) for number in range(int(numbers[-1]) + 1, value)]
            numbers.append(f"{value}{part}")
        yield match["label"].lower(), " ".join(numbers)


def _diseases(text: str) -> set[str]:
    return {name for mention in _disease_words().find(text) for name in mention.name.split()} - {""}


@lru_cache(maxsize=64)
def _diseases_of_source(text: str) -> frozenset[str]:
    return frozenset(_diseases(fold(text)))


@cache
def _categories() -> dict[str, Lexicon]:
    return {name: Lexicon(values) for name, values in population_terms().categories.items()}


@cache
def _disease_words() -> Lexicon:
    """The words of vocabulary.yaml; one that stands for several diseases names them all, parted by
    spaces, and a phrase that names none has none."""
    vocabulary = load("subjects/vocabulary")
    tags: dict[str, list[str]] = {phrase: [] for phrase in vocabulary["no_tags"]["diseases"]}
    for tag, entry in vocabulary["diseases"].items():
        for word in entry["words"]:
            tags.setdefault(word, []).append(tag)
    names: dict[str, list[str]] = {}
    for word, some in tags.items():
        names.setdefault(" ".join(some), []).append(word)
    return Lexicon(names)
