"""Misspelt words of a question: close to the name of one drug, test or trial, or to one medical
word (`misspelt.yaml`). Pure.

A name is suggested, never substituted: a drug that was not asked for does harm. A misspelt medical
word is substituted, as a reader would. What the tables of names have is no misspelling, however
near to another name: arteritis is no arthritis. Words are compared by deleting letters from both,
so that a question costs a few look-ups and not a comparison with every name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from knowledge.loader import load
from knowledge.names.spelling import fold
from knowledge.names.tables import SPACED, tables
from knowledge.scenarios import scenarios
from knowledge.subjects.drugs import drugs_at, names
from knowledge.subjects.products import chosen_among
from knowledge.subjects.tags import known_words

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_TRIAL = re.compile(
    r"(?<![\w-])(?P<base>[^\W\d_]+)(?P<rest>(?:\d+|-[IVX\d]+)?)(?![\w-])"
    r"(?P<called>\s+(?i:trial|study)\b)?"
)
_CAPITALS = 2
"""A word with so many capitals is written as trials are; in lower case "dynamics" is a word."""


@dataclass(frozen=True)
class Meant:
    """A misspelt word of a question and the name that it probably means."""

    word: str
    """The word as it is in the question."""
    name: str
    """The correct spelling."""
    of: str | None = None
    """The drug of which `name` is another name."""


def meant(question: str) -> tuple[Meant, ...]:
    """The words of `question` that are not a known name but close to the names of exactly one drug,
    test or trial, in order."""
    suggestions = (*_drugs(question), *_trials(question))
    return tuple({suggestion.word: suggestion for suggestion in suggestions}.values())


def words_meant(question: str) -> tuple[Meant, ...]:
    """The words of `question` that are not known and one letter away from exactly one medical word,
    in order. Inflections of a medical word are not misspellings."""
    words = dict.fromkeys(word.group() for word in _WORD.finditer(question))
    near = {word: _word_near(word.lower()) for word in words if not _is_known(word.lower())}
    return tuple(
        Meant(word, _places().get(name, name))
        for word, name in near.items()
        if name is not None and not drugs_at(word) and not meant(word)
    )


def respelled(question: str, misspelt: Iterable[Meant]) -> str:
    """The question with these of its words corrected."""
    for suggestion in misspelt:
        question = re.sub(
            rf"(?<![\w-]){re.escape(suggestion.word)}(?![\w-])", suggestion.name, question
        )
    return question


def _word_near(word: str) -> str | None:
    if _base(word) in _bases_of_words():
        return None
    near = _near(word, _medical_words(), sure=True)
    if len(set(map(_base, near))) != 1:
        return None
    ends = _like_a_drug().search(word)  # pancreatin does not mean pancreatic
    return min(near) if ends is None or min(near).endswith(ends.group()) else None


@cache
def _like_a_drug() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(load('subjects/misspelt')['drug_endings'])})$")


def _drugs(question: str) -> Iterator[Meant]:
    for match in _WORD.finditer(question):
        word = match.group().lower()
        named = match.group()[0].isupper() and match.start() > 0
        if _is_listed(word) if named and _is_only_word(word) else _is_known(word):
            continue
        # A word with the stem of a drug may be an unlisted drug, unless it is very near to a name.
        near = _near(word, _drug_names(), sure=bool(drugs_at(word)))
        generic = {_generic()[near_name] for near_name in near}
        if len(generic) == 1:
            name, of = min(near), generic.pop()
            yield Meant(match.group(), *_written(name, of))


def _is_known(word: str) -> bool:
    """Whether it is a word, or a name, of the vocabulary or of the tables of names."""
    return _is_listed(word) or _is_word(word) or _is_name(word)


def _is_listed(word: str) -> bool:
    return not _known_words().isdisjoint((word, word.removesuffix("s")))


def _is_word(word: str) -> bool:
    return tables().is_word(fold(word))


def _is_name(word: str) -> bool:
    """Whether it is a name of one word."""
    return any(not sense.flags & SPACED for sense in tables().senses(fold(word)))


def _is_only_word(word: str) -> bool:
    """Whether it is a word and no name: written with a capital ("Gardant") it may be meant as one,
    for a suggestion."""
    return _is_word(word) and not _is_name(word)


def _trials(question: str) -> Iterator[Meant]:
    """The misspelt trials; the number of a trial must agree: DYNAMIC-II is not DYNAMIC-III."""
    bases = _trial_bases()
    for match in _TRIAL.finditer(question):
        base, rest = match["base"], match["rest"]
        is_written_so = sum(map(str.isupper, base)) >= _CAPITALS or match["called"]
        is_word = base.lower() in _known_words() or base.lower().removesuffix("s") in bases
        if is_word or not is_written_so:
            continue
        near = [
            candidate
            for candidate in _near(base.lower(), _bases())
            if rest.upper() in bases[candidate]
        ]
        if len(near) == 1:
            yield Meant(base + rest, bases[near[0]][rest.upper()])


def _near(word: str, known: "_Index", *, sure: bool = False) -> list[str]:
    """The nearest names, all at the same distance; `sure`: no more than one letter away."""
    policy = load("subjects/misspelt")
    distances = {name: distance(word, name) for name in known.alike(word)}
    two = len(word) >= policy["two_from"] and not sure
    nearest = {
        name: letters
        for name, letters in distances.items()
        if letters == 1
        or (letters == 2 and two and _begin_alike(word, name, policy["first_letters"]))
    }
    return [name for name, letters in nearest.items() if letters == min(nearest.values())]


def _begin_alike(word: str, name: str, letters: int) -> bool:
    return word[:letters] == name[:letters]


_MOST_APART = 2
"""The largest distance, in letters, between a word and a name that it may mean."""


class _Index:
    """Names, indexed by their remainders after deleting up to two letters."""

    def __init__(self, words: Iterable[str]) -> None:
        policy = load("subjects/misspelt")
        self._two_from = int(policy["two_from"])
        self._shortest = int(policy["shortest"])
        self._longest = 0
        self._by_rest: dict[str, set[str]] = {}
        self.names = frozenset(words)
        for word in self.names:
            self._longest = max(self._longest, len(word))
            for rest in self._rests(word):
                self._by_rest.setdefault(rest, set()).add(word)

    def alike(self, word: str) -> set[str]:
        """The names that may be near. A word longer than all of them by more than two letters is
        near none, and its remainders would take the cube of its length."""
        if not self._shortest - 1 <= len(word) <= self._longest + _MOST_APART:
            return set()
        return set().union(*(self._by_rest.get(rest, ()) for rest in self._rests(word)))

    def _rests(self, word: str) -> set[str]:
        rests = {word, *_without_one(word)}
        if len(word) < self._two_from - 2:
            return rests
        return rests.union(*map(_without_one, rests))


def _without_one(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}


def distance(one: str, other: str) -> int:
    """The edit distance: letters inserted, deleted, replaced, or swapped with the next one."""
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
    """Maps each one-word name of a drug to the drug, all in lower case."""
    generic: dict[str, str] = {}
    for drug, forms in names().items():
        for form in (drug, *forms):
            if form.isalpha():
                generic.setdefault(form.lower(), drug)
    return generic | {first: name.lower() for first, name in _products().items()}


@cache
def _drug_names() -> _Index:
    return _Index(name for name in _generic() if len(name) >= load("subjects/misspelt")["shortest"])


@cache
def _medical_words() -> "_Index":
    return _Index(_medical())


@cache
def _bases_of_words() -> frozenset[str]:
    return frozenset(map(_base, _medical()))


def _base(word: str) -> str:
    """A word without its inflection, so that therapies equals therapy."""
    return _ending().sub("", word.removesuffix("s"))


@cache
def _ending() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(load('subjects/misspelt')['endings'])})$")


@cache
def _medical() -> frozenset[str]:
    """The words of the vocabulary's tags, of clinical questions and of the policy's `medical`; only
    long ones, since short words are near to many others."""
    policy = load("subjects/misspelt")
    phrases = (*known_words(), *policy["clinical"], *policy["medical"])
    words = {word for phrase in (*phrases, *_places()) for word in phrase.lower().split()}
    return frozenset(
        word for word in words if word.isalpha() and len(word) >= policy["shortest_word"]
    )


@cache
def _places() -> dict[str, str]:
    """Maps the regions in which payers decide from lower case to their spelling."""
    regions = load("questions/answers")["populations"]["payers"]["regions"]
    return {region.lower(): region for region in regions}


@cache
def _known_words() -> frozenset[str]:
    policy = load("subjects/misspelt")
    words = (*known_words(), *load("questions/questions")["everyday"], *policy["clinical"])
    return frozenset((*words, *_generic()))


def _written(name: str, drug: str) -> tuple[str, str | None]:
    """A name as the vocabulary or a label spells it, and the drug of which it is another name."""
    if name in _products():
        return _products()[name], None
    return (name, None) if name == drug else (name.capitalize(), drug)


@cache
def _products() -> dict[str, str]:
    """The tests and drugs of the vocabulary, by the first word of their names."""
    return {name.split()[0].lower(): name for some in chosen_among().values() for name in some}


@cache
def _trial_bases() -> dict[str, dict[str, str]]:
    """The trials of the packs, by the base of their names in lower case and by their number."""
    bases: dict[str, dict[str, str]] = {}
    for name in sorted(
        {entry.trial for pack in scenarios() for entry in pack.entries if entry.trial}
    ):
        match = _TRIAL.fullmatch(name)
        if match is not None and len(match["base"]) >= load("subjects/misspelt")["shortest"]:
            bases.setdefault(match["base"].lower(), {})[match["rest"].upper()] = name
    return bases


@cache
def _bases() -> _Index:
    return _Index(_trial_bases())
