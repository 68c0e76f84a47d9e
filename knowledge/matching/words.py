"""Finds the words of a list in a text: whole words, longest first. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Many rules of a question read the same sentences and passages.
_REMEMBERED = 1024
_REMEMBERED_CHARS = 4000
_ABBREVIATION = re.compile(r"[A-Z]{2,4}")
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Mention:
    """Words of a text that name something; the span counts code points of the text."""

    name: str
    start: int
    end: int


class Words:
    """Names and the words that stand for them.

    Spaces and hyphens are equal. An abbreviation of two to four capitals is found only in capitals,
    as "all" does not mean leukemia (ALL); a plural s may follow it (DOACs). In typed questions,
    which often lack capitals, abbreviations are found in any case unless they are ordinary words.
    """

    def __init__(
        self,
        names: Mapping[str, Iterable[str]],
        nothing: Iterable[str] = (),
        *,
        ordinary: Collection[str] | None = None,
    ) -> None:
        """
        Args:
            names: the words of each name; a word may stand for several.
            nothing: phrases that contain such a word but name nothing.
            ordinary: in lower case, words that are abbreviations only in capitals; None: all are.
        """
        self.by_word: dict[str, tuple[str, ...]] = {_plain(word): () for word in nothing}
        written = set(nothing)
        for name, words in names.items():
            for word in words:
                for form in map(_plain, _forms(word)):
                    self.by_word[form] = (*self.by_word.get(form, ()), name)
                written.add(word)
        self._as_written = _as_written(written, ordinary)
        # Matched in lower-case text, as patterns that ignore case are three times slower.
        self._pattern = re.compile(rf"(?<!\w){tree(self.by_word, gap=_GAP.pattern)}(?!\w)")
        self._remembered = lru_cache(_REMEMBERED)(lambda text: tuple(self._found(text)))

    def mentions(self, text: str) -> Sequence[Mention]:
        """The mentions in `text`, in order; a word that stands for several names gives one each."""
        return self._remembered(text) if len(text) <= _REMEMBERED_CHARS else [*self._found(text)]

    def each(self, text: str) -> Iterator[Mention]:
        """As `mentions`, but lazily, for callers that may stop early."""
        return self._found(text)

    def telling(self, names: Collection[str]) -> tuple[str, ...]:
        """Strings of which every text that names one of `names` contains one, `lowered`; looking
        for them is faster than finding all mentions."""
        words = (word for word, named in self.by_word.items() if not set(named).isdisjoint(names))
        longest = {max(word.split(" "), key=len) for word in words}
        return tuple(
            sorted(
                string
                for string in longest
                if not any(other != string and other in string for other in longest)
            )
        )

    def _found(self, text: str) -> Iterator[Mention]:
        lower = lowered(text)
        for match in self._pattern.finditer(lower):
            start, end = match.span()
            word = _GAP.sub(" ", match.group())
            only = self._as_written.get(word)
            if only is None or text[start:end] in only:
                for name in self.by_word[word]:
                    yield Mention(name, start, end)


def lowered(text: str) -> str:
    """`text` in lower case, with every character at its position."""
    # the only capital whose lower case has two characters, which would shift the positions
    return text.replace("İ", "i").lower()


def _plain(word: str) -> str:
    return _GAP.sub(" ", word).lower()


def _forms(word: str) -> tuple[str, ...]:
    return (word, f"{word}s") if _ABBREVIATION.fullmatch(word) else (word,)


def _as_written(words: Iterable[str], ordinary: Collection[str] | None) -> dict[str, set[str]]:
    """The words that are found only as written, by their lower case."""
    only: dict[str, set[str]] = {}
    any_case = set()
    for word in words:
        for form in _forms(word):
            lower = _plain(form)
            if _ABBREVIATION.fullmatch(word) and (ordinary is None or lower in ordinary):
                only.setdefault(lower, set()).add(form)
            else:
                any_case.add(lower)
    return {lower: forms for lower, forms in only.items() if lower not in any_case}


def tree(words: Iterable[str], gap: str = " ") -> str:
    """A pattern of plain words as a prefix tree, the longest first.

    So matching stops at the first letter that no word has at that position.

    Args:
        gap: the pattern of a space between words.
    """
    behind: dict[str, list[str]] = {}
    for word in words:
        behind.setdefault(word[:1], []).append(word[1:])
    ends = behind.pop("", None) is not None
    written = [
        (gap if letter == " " else re.escape(letter)) + tree(rest, gap)
        for letter, rest in behind.items()
    ]
    if len(written) == 1 and not ends:
        return written[0]
    return f"(?:{'|'.join(written)})" + "?" * ends if written else ""
