"""Claims and passages cut into words that can be compared across two texts. Pure.

The guards of meaning (direction, negation, modality) ask of a word of the claim: which word of the
passage is it? The one whose company is most alike: the words around it, nearer ones counting more.
A text compared with itself finds every word in its own place, so it is never at odds with itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Generic, TypeVar

from clinical_text.doc import Doc, doc
from knowledge.guards.meaning import content_policy
from store.index.terms import stems

Name = TypeVar("Name")

SAME_WORD = 0.2
"""Share of its company by which a word of the claim is taken for one of the passage (ours)."""

DRAWN = 0.6
"""Share of a claim's words by which it is drawn from one sentence of the passage (ours)."""
REACH = 14.0
"""How far apart two words may stand and still keep each other company, in words of content."""
FADE = 0.85
"""What a word's company counts less with each word of content between (ours)."""
BEFORE = 0.95
"""What stands before a word counts a little less: "was linked to A but was not linked to B" shares
its subject, and what comes after tells the two apart (ours)."""
BREAK = 2.0
"""A comma, a bracket or a conjunction parts two words like so many words of content."""
STOP = 5.0
"""The end of a sentence, likewise."""
FRAME_WEIGHT = 0.3
"""A word of reporting ("patients", "study") tells little about which statement it is."""

_NUMBER = re.compile(r"\d[\d.,·]*")
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{3})our(?=$|s$|ed$|ing$|able$|ably$|al$|ally$)"), "or"),
    (re.compile(r"(?<=[a-z]{2})is(?=(?:e|es|ed|ing|ation|ations)$)"), "iz"),
    (re.compile(r"aem(?=i|o|a)"), "em"),
    (re.compile(r"^haem|^hæm"), "hem"),
    (re.compile(r"^oe(?=[sd])|^foe(?=t)"), lambda found: found[0].replace("oe", "e")),
    (re.compile(r"rrhoe"), "rrhe"),
    (re.compile(r"paed"), "ped"),
    (re.compile(r"lys(?=e[ds]?$|ing$)"), "lyz"),
    (re.compile(r"(?<=t)re$"), "er"),
    (re.compile(r"(?<=[a-z]l)l(?=ed$|ing$)"), ""),
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text.

    `word` is in lower case, `stem` the same for all forms and synonyms of a word. `place` grows by
    one with each word of content and more at a break, so differences of places are distances.
    `sentence` and `clause` count from 0; `content` is false for words of grammar, `frame` true for
    words of reporting, `depth` counts the brackets around a word. Words in brackets are a clause of
    their own; behind them the clause and the places go on as if they were not there.
    """

    word: str
    stem: str
    start: int
    end: int
    sentence: int
    clause: int
    place: float
    content: bool
    frame: bool
    depth: int


class Statement:
    """A text as tokens; the company of each is worked out when asked for."""

    def __init__(self, doc: Doc, tokens: tuple[Token, ...]) -> None:
        self.doc = doc
        self.tokens = tokens
        self._company: dict[int, dict[str, float]] = {}
        places: dict[str, list[int]] = {}
        for i, token in enumerate(tokens):
            places.setdefault(token.stem, []).append(i)
        self.by_stem: Mapping[str, Sequence[int]] = places
        self.words: tuple[str, ...] = tuple(token.word for token in tokens)
        self.stems: tuple[str, ...] = tuple(token.stem for token in tokens)
        sentences: dict[int, list[int]] = {}
        for i, token in enumerate(tokens):
            sentences.setdefault(token.sentence, []).append(i)
        self.sentences: tuple[Sequence[int], ...] = tuple(sentences.values())
        """The places of each sentence's tokens; `Token.sentence` is the index here."""
        self.questions = frozenset(
            number
            for number, places in enumerate(self.sentences)
            if self._asks(tokens[places[0]].start)
        )
        """Sentences that end with a question mark."""

    def _asks(self, at: int) -> bool:
        span = self.doc.sentences[self.doc.sentence_at(at)]
        return "?" in self.doc.text[max(span.start, span.end - 3) : span.end]

    def company(self, i: int) -> dict[str, float]:
        """The stems around token `i` with the weight of the nearest of each, 0..1."""
        found = self._company.get(i)
        if found is None:
            found = self._company[i] = self._around(i)
        return found

    def _around(self, i: int) -> dict[str, float]:
        here, company = self.tokens[i].place, dict[str, float]()
        for step in (-1, 1):
            j = i + step
            while 0 <= j < len(self.tokens):
                other = self.tokens[j]
                away = abs(other.place - here)
                if away > REACH:
                    break
                if other.content:
                    weight = FADE**away * (FRAME_WEIGHT if other.frame else 1.0)
                    weight *= BEFORE if step < 0 else 1.0
                    if weight > company.get(other.stem, 0.0):
                        company[other.stem] = weight
                j += step
        return company


def closeness(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """How much company two words share. A word is nowhere closer than to its own place."""
    if len(other) < len(one):
        one, other = other, one
    return sum(min(weight, other[stem]) for stem, weight in one.items() if stem in other)


def nearest(claim: Statement, i: int, passage: Statement, places: Iterable[int]) -> float:
    """The share of the company of token `i` of the claim that one of `places` of the passage has
    too, 0..1, the most of all; below 0 when there is none of them, 1 for a word all alone."""
    company = claim.company(i)
    total = sum(company.values())
    shared = max((closeness(company, passage.company(j)) for j in places), default=-1.0)
    if shared < 0 or not total:
        return shared if shared < 0 else 1.0
    return shared / total


def drawn_from(claim: Statement, places: Iterable[int], passage: Statement) -> tuple[int, ...]:
    """The sentences of the passage that hold most of the words at `places` of the claim; none when
    all hold few."""
    stems = {claim.stems[i] for i in places}
    held: dict[int, set[str]] = {}
    for stem in stems:
        for j in passage.by_stem.get(stem, ()):
            held.setdefault(passage.tokens[j].sentence, set()).add(stem)
    most = max((len(found) for found in held.values()), default=0)
    if not most or most < DRAWN * len(stems):
        return ()
    return tuple(sorted(number for number, found in held.items() if len(found) == most))


@lru_cache(maxsize=64)
def read(text: str) -> Statement:
    """The words of `text` as they are compared, with offsets into it."""
    reading = doc(text)
    tokens: list[Token] = []
    glue, frame = _glue(), _frame()
    outside: list[float] = []
    place, sentence = 0.0, 0
    for one in reading.words:
        token = one.token
        if one.sentence != sentence:
            sentence, place = one.sentence, tokens[-1].place + STOP
            outside.clear()
        while len(outside) > one.depth:
            place = outside.pop()
        outside += [place] * (one.depth - len(outside))
        stem, stop = stem_of(token.word)
        content = not stop and token.word not in glue and not token.word.endswith("n't")
        place += content
        at = place + BREAK * one.breaks
        where = (token.start, token.end, one.sentence, one.clause, at)
        tokens.append(Token(token.word, stem, *where, content, stem in frame, one.depth))
    return Statement(reading, tuple(tokens))


@lru_cache(maxsize=100_000)
def _plain_stem(word: str) -> tuple[str, bool]:
    if _NUMBER.fullmatch(word):
        return word, False
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    found = stems(word.partition("'")[0] if word.endswith("'s") else word)
    return (found[0], False) if found else (word, True)


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> tuple[str, bool]:
    """The stem that stands for all forms and synonyms of a word in lower case, and whether it is a
    stop word of the index."""
    stem, stop = _plain_stem(word)
    return _same().get(stem, stem), stop


@cache
def _same() -> Mapping[str, str]:
    """Stem to the stem of the first of its synonyms. Phrases of several words are left alone."""
    chosen: dict[str, str] = {}
    for group in content_policy().same:
        singles = [_plain_stem(word)[0] for word in group if " " not in word]
        for stem in singles:
            chosen.setdefault(stem, singles[0])
    return chosen


@cache
def _glue() -> frozenset[str]:
    return frozenset(content_policy().glue)


@cache
def _frame() -> frozenset[str]:
    return frozenset(stem_of(word)[0] for word in content_policy().frame)


class Phrasebook(Generic[Name]):
    """Finds phrases in a sequence of words or stems, longest first, none over another."""

    def __init__(self, names: Iterable[tuple[str, Name]], form: Callable[[str], str] = str) -> None:
        """
        Args:
            names: each phrase with what it means; the first meaning of a phrase counts.
            form: from a word of a phrase to what the sequences hold, such as its stem.
        """
        self._by_first: dict[str, list[tuple[tuple[str, ...], Name]]] = {}
        for phrase, name in names:
            keys = tuple(form(word) for word in re.split(r"[\s-]+", phrase))
            entries = self._by_first.setdefault(keys[0], [])
            if all(keys != known for known, _ in entries):
                entries.append((keys, name))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, keys: Sequence[str]) -> list[tuple[int, int, Name]]:
        """Each phrase found: its first place, how many words it has, what it means."""
        found: list[tuple[int, int, Name]] = []
        i = 0
        while i < len(keys):
            step = 1
            for phrase, name in self._by_first.get(keys[i], ()):
                if tuple(keys[i : i + len(phrase)]) == phrase:
                    found.append((i, len(phrase), name))
                    step = len(phrase)
                    break
            i += step
        return found
