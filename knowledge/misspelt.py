"""Words of a question that are nearly the name of one drug, test or trial, or one word of medicine
(`misspelt.yaml`). Pure.

A name is offered, never read as that one: a drug that was not asked for harms. A word of medicine
is read as what is meant, as a reader would. Found by what is left of both when a letter is taken
out, so that a question costs a few look-ups and not a comparison with every name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from knowledge.drugs import drugs_at, names
from knowledge.loader import load
from knowledge.scenarios import scenarios
from knowledge.tags import known_words

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_TRIAL = re.compile(
    r"(?<![\w-])(?P<base>[^\W\d_]+)(?P<rest>(?:\d+|-[IVX\d]+)?)(?![\w-])"
    r"(?P<called>\s+(?i:trial|study)\b)?"
)
_CAPITALS = 2
"""A word with so many is written as trials are; in lower case "dynamics" is a word."""


@dataclass(frozen=True)
class Meant:
    """A name that a word of a question is nearly written as."""

    word: str
    """As it stands in the question."""
    name: str
    """As it is written."""
    of: str | None = None
    """The drug whose other name it is."""


def meant(question: str) -> tuple[Meant, ...]:
    """The words of `question` that are no known name and close to those of exactly one drug, test
    or trial, in order."""
    found = (*_drugs(question), *_trials(question))
    return tuple({one.word: one for one in found}.values())


def words_meant(question: str) -> tuple[Meant, ...]:
    """Those that are no known word and one letter away from exactly one word of medicine, in
    order; of a word itself one inflection is as good as another, and none is a misspelling."""
    words = dict.fromkeys(one.group() for one in _WORD.finditer(question))
    near = {one: _word_near(one.lower()) for one in words if one.lower() not in _known_words()}
    return tuple(
        Meant(word, _places().get(name, name))
        for word, name in near.items()
        if name is not None and not drugs_at(word) and not meant(word)
    )


def respelled(question: str) -> str:
    """The question with its misspelt words of medicine as they are spelled."""
    for one in words_meant(question):
        question = re.sub(rf"(?<![\w-]){re.escape(one.word)}(?![\w-])", one.name, question)
    return question


def _word_near(word: str) -> str | None:
    if _base(word) in _bases_of_words():
        return None
    near = _near(word, _medical_words(), sure=True)
    if len(set(map(_base, near))) != 1:
        return None
    ends = _like_a_drug().search(word)  # pancreatin is not the pancreatic
    return min(near) if ends is None or min(near).endswith(ends.group()) else None


@cache
def _like_a_drug() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(load('misspelt')['drug_endings'])})$")


def _drugs(question: str) -> Iterator[Meant]:
    known = _known_words()
    for match in _WORD.finditer(question):
        word = match.group().lower()
        if word in known or word.removesuffix("s") in known:
            continue
        # What has the stem of a drug may be one that is not listed, unless it is very near.
        near = _near(word, _drug_names(), sure=bool(drugs_at(word)))
        generic = {_generic()[one] for one in near}
        if len(generic) == 1:
            name, of = min(near), generic.pop()
            yield Meant(match.group(), *_written(name, of))


def _trials(question: str) -> Iterator[Meant]:
    """Of a trial what is numbered must be the same: DYNAMIC-II is not DYNAMIC-III."""
    bases = _trial_bases()
    for match in _TRIAL.finditer(question):
        base, rest = match["base"], match["rest"]
        is_written_so = sum(map(str.isupper, base)) >= _CAPITALS or match["called"]
        is_word = base.lower() in _known_words() or base.lower().removesuffix("s") in bases
        if is_word or not is_written_so:
            continue
        near = [one for one in _near(base.lower(), _bases()) if rest.upper() in bases[one]]
        if len(near) == 1:
            yield Meant(base + rest, bases[near[0]][rest.upper()])


def _near(word: str, known: "_Index", *, sure: bool = False) -> list[str]:
    """The names that are as near as the nearest of them; `sure`: no more than one letter away."""
    policy = load("misspelt")
    found = {one: distance(word, one) for one in known.alike(word)}
    two = len(word) >= policy["two_from"] and not sure
    kept = {
        one: far
        for one, far in found.items()
        if far == 1 or (far == 2 and two and _begin_alike(word, one, policy["first_letters"]))
    }
    return [one for one, far in kept.items() if far == min(kept.values())]


def _begin_alike(word: str, name: str, letters: int) -> bool:
    return word[:letters] == name[:letters]


_MOST_APART = 2
"""Letters between a word and the names that it may mean."""


class _Index:
    """Names by what is left of them when up to two letters are taken out."""

    def __init__(self, words: Iterable[str]) -> None:
        policy = load("misspelt")
        self._two_from = int(policy["two_from"])
        self._shortest = int(policy["shortest"])
        self._longest = 0
        self._by_rest: dict[str, set[str]] = {}
        for word in words:
            self._longest = max(self._longest, len(word))
            for rest in self._rests(word):
                self._by_rest.setdefault(rest, set()).add(word)

    def alike(self, word: str) -> set[str]:
        """The names that may be near. What is longer than all of them by more than two is near
        none; what is left of it would take the cube of its length."""
        if not self._shortest - 1 <= len(word) <= self._longest + _MOST_APART:
            return set()
        return set().union(*(self._by_rest.get(rest, ()) for rest in self._rests(word)))

    def _rests(self, word: str) -> set[str]:
        one = {word, *_without_one(word)}
        if len(word) < self._two_from - 2:
            return one
        return one.union(*map(_without_one, one))


def _without_one(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}


def distance(one: str, other: str) -> int:
    """How many letters are more, less, another, or have changed places with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
    return row[-1]


@cache
def _generic() -> dict[str, str]:
    """The drug of each of its names of one word, all in lower case."""
    found: dict[str, str] = {}
    for drug, forms in names().items():
        for form in (drug, *forms):
            if form.isalpha():
                found.setdefault(form.lower(), drug)
    return found | {first: name.lower() for first, name in _products().items()}


@cache
def _drug_names() -> _Index:
    return _Index(one for one in _generic() if len(one) >= load("misspelt")["shortest"])


@cache
def _medical_words() -> "_Index":
    return _Index(_medical())


@cache
def _bases_of_words() -> frozenset[str]:
    return frozenset(map(_base, _medical()))


def _base(word: str) -> str:
    """A word without its inflection: therapies as therapy."""
    return _ending().sub("", word.removesuffix("s"))


@cache
def _ending() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(load('misspelt')['endings'])})$")


@cache
def _medical() -> frozenset[str]:
    """The words of the vocabulary's tags and of clinical questions, and `medical` of the policy;
    long ones, for among short ones every other one is near."""
    policy = load("misspelt")
    phrases = (*known_words(), *load("questions")["clinical"]["words"], *policy["medical"])
    words = {word for one in (*phrases, *_places()) for word in one.lower().split()}
    return frozenset(one for one in words if one.isalpha() and len(one) >= policy["shortest_word"])


@cache
def _places() -> dict[str, str]:
    """The states in which payers decide, as they are written."""
    regions = load("answers")["populations"]["payers"]["regions"]
    return {one.lower(): one for one in regions}


@cache
def _known_words() -> frozenset[str]:
    policy = load("questions")
    words = (*known_words(), *policy["everyday"], *policy["clinical"]["words"])
    return frozenset((*words, *_generic(), *load("misspelt")["words"]))


def _written(name: str, drug: str) -> tuple[str, str | None]:
    """A name as the vocabulary or a label writes it, and the drug that it is another name of."""
    if name in _products():
        return _products()[name], None
    return (name, None) if name == drug else (name.capitalize(), drug)


@cache
def _products() -> dict[str, str]:
    """The tests and drugs of the vocabulary by name; of one of several words by the first."""
    listed = load("vocabulary")["products"].values()
    return {one.split()[0].lower(): one for some in listed for one in some}


@cache
def _trial_bases() -> dict[str, dict[str, str]]:
    """The trials of the packs by their names without what is numbered, in lower case, and that."""
    found: dict[str, dict[str, str]] = {}
    for name in sorted({one.trial for pack in scenarios() for one in pack.entries if one.trial}):
        match = _TRIAL.fullmatch(name)
        if match is not None and len(match["base"]) >= load("misspelt")["shortest"]:
            found.setdefault(match["base"].lower(), {})[match["rest"].upper()] = name
    return found


@cache
def _bases() -> _Index:
    return _Index(_trial_bases())
