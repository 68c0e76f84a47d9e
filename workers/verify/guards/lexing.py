"""Words and sentences as the guards compare them. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from clinical_text.doc import doc
from clinical_text.normalize import normalize
from clinical_text.numbers.notation import in_plain_digits
from clinical_text.quantities import Quantity, quantities
from knowledge.matching.words import Mention

_TOKEN = re.compile(r"[^\W_]+(?:['.·][^\W_]+)*|(?<=[^\W_])\+(?![\d.])")
# A short word loses no ending: "as", "gas", "does" are no plurals.
_SHORTEST_PLURAL = 4


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text at `[start, end)`; `lower` has no possessive and `stem` no plural ending."""

    start: int
    end: int
    text: str
    lower: str
    stem: str


# A claim, its passage and what is around it are read by several guards, one after another.
@lru_cache(maxsize=64)
def fold(text: str) -> str:
    """`text` in the typographic folding in which quotations are compared too."""
    return normalize(text).text


def stem(word: str) -> str:
    """`word` in lower case without a plural ending; nothing else is taken off."""
    word = word.lower().removesuffix("'s")
    if len(word) < _SHORTEST_PLURAL or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL:
        return word[:-3] + "y"
    return word.removesuffix("s")


@lru_cache(maxsize=256)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a folded text in order; compounds are parted at their hyphens."""
    return tuple(
        Token(*match.span(), word, word.lower().removesuffix("'s"), stem(word))
        for match in _TOKEN.finditer(text)
        for word in (match.group(),)
    )


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(one.lower for one in tokens(text))


# Several guards ask for the values of one sentence.
@lru_cache(maxsize=256)
def quantities_of(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text in order, read once."""
    return tuple(quantities(in_plain_digits(text)))


def sentences(text: str) -> list[str]:
    """The sentences of a folded text."""
    return [span.of(text) for span in doc(text).sentences]


_ABBREVIATION = re.compile(r"[A-Z]{2,5}")
_GAP = re.compile(r"[\s-]+|/")


class Lexicon:
    """Phrases and the names they stand for, found as whole words, the longest first.

    Spaces and hyphens stand for each other. A phrase of two to five capitals is found in capitals
    only, with `cased` every phrase only as written. The cost of a search grows with the text, not
    with the list.
    """

    def __init__(self, names: Mapping[str, Iterable[str]], *, cased: bool = False) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        for name, phrases in names.items():
            for phrase in phrases:
                exact = cased or bool(_ABBREVIATION.fullmatch(phrase))
                words = tuple(one.text if exact else one.lower for one in tokens(phrase))
                self._by_first.setdefault(words[0].lower(), []).append((words, name, exact))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, text: str) -> list[Mention]:
        """The mentions in a folded text in order, disjoint."""
        if self._by_first.keys().isdisjoint(_words(text)):
            return []
        words = tokens(text)
        found: list[Mention] = []
        end = 0
        for at, word in enumerate(words):
            entries = self._by_first.get(word.lower)
            if entries is None or at < end:
                continue
            for phrase, name, exact in entries:
                if _stands(text, words[at : at + len(phrase)], phrase, exact):
                    end = at + len(phrase)
                    found.append(Mention(name, word.start, words[end - 1].end))
                    break
        return found


def _stands(text: str, run: Sequence[Token], phrase: tuple[str, ...], exact: bool) -> bool:
    """Whether the tokens of `run` are the words of `phrase`, with nothing else between them."""
    written = tuple(one.text if exact else one.lower for one in run)
    return written == phrase and all(
        _GAP.fullmatch(text[one.end : two.start]) for one, two in pairwise(run)
    )
