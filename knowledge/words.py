"""Finds the words of a list in a text: whole words, longest first. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

# The rules of a question read its sentences and passages again and again, each for its own reason.
_REMEMBERED = 1024
_REMEMBERED_CHARS = 4000
_ABBREVIATION = re.compile(r"[A-Z]{2,4}")
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Mention:
    """Words of a text that name something; the span is in code points of the text."""

    name: str
    start: int
    end: int


class Words:
    """Names and the words that stand for them.

    Spaces and hyphens stand for each other. An abbreviation of two to four capitals is found only
    in capitals, for "all" is no leukemia (ALL); a plural s may follow it (DOACs). Who types a
    question leaves the capitals out: there all are found in any case but for ordinary words.
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
            nothing: phrases that hold such a word and name nothing.
            ordinary: in lower case, what only capitals make an abbreviation; None: all of them.
        """
        self.by_word: dict[str, tuple[str, ...]] = {_plain(word): () for word in nothing}
        written = list(nothing)
        for name, words in names.items():
            for word in words:
                forms = (word, f"{word}s") if _ABBREVIATION.fullmatch(word) else (word,)
                for form in map(_plain, forms):
                    self.by_word[form] = (*self.by_word.get(form, ()), name)
                written.append(word)
        longest_first = sorted(set(written), key=lambda word: (-len(word), word))
        by_letter: dict[str, list[str]] = {}
        for word in longest_first:
            by_letter.setdefault(word[0].lower(), []).append(_written(word, ordinary))
        # At a place only the words of its letter are tried, a seventh of the time: no word of
        # another letter can be there.
        first = "".join(map(re.escape, by_letter))
        alternatives = "|".join(
            f"(?={re.escape(letter)})(?:{'|'.join(words)})" for letter, words in by_letter.items()
        )
        self._pattern = re.compile(rf"(?<!\w)(?=[{first}])(?:{alternatives})(?!\w)", re.IGNORECASE)
        self._remembered = lru_cache(_REMEMBERED)(lambda text: tuple(self._found(text)))

    def mentions(self, text: str) -> Sequence[Mention]:
        """Where `text` has such words, in order; a word that stands for several gives one each."""
        return self._remembered(text) if len(text) <= _REMEMBERED_CHARS else [*self._found(text)]

    def _found(self, text: str) -> Iterator[Mention]:
        for match in self._pattern.finditer(text):
            for name in self.by_word[_plain(match.group())]:
                yield Mention(name, match.start(), match.end())


def _plain(word: str) -> str:
    return _GAP.sub(" ", word).lower()


def _written(word: str, ordinary: Collection[str] | None) -> str:
    if _ABBREVIATION.fullmatch(word):
        forms = (word, f"{word}s")
        typed = [form for form in forms if ordinary is not None and form.lower() not in ordinary]
        return "|".join([f"(?-i:{word}s?)", *typed])
    return r"[\s-]+".join(map(re.escape, _GAP.split(word)))
