"""Patterns that are tried only if a text has a word that they need to match. Pure.

Most sentences have none of the words: looking for them costs a fraction of trying the patterns.
"""

import re
from collections.abc import Iterable

from knowledge.matching.words import tree

_FEW = 32
"""Up to so many words are looked for one by one; more of them, with one pattern; our limit."""


class Needy:
    """Regular expressions, each with words; every match contains one of them."""

    def __init__(self, patterns: Iterable[tuple[Iterable[str], str]], flags: int = 0) -> None:
        """
        Args:
            patterns: the needed words and the expression of each pattern.
        """
        self._by_word: dict[str, list[re.Pattern[str]]] = {}
        for needs, written in patterns:
            pattern = re.compile(written, flags)
            for word in needs:
                self._by_word.setdefault(word, []).append(pattern)
        # The longest word at each position, and with it all words that are its prefixes.
        self._longest = re.compile(f"(?=({tree(self._by_word)}))")
        self._with = {
            word: [prefix for prefix in self._by_word if word.startswith(prefix)]
            for word in self._by_word
        }

    def match(self, text: str, folded: str) -> bool:
        """True if one of the patterns matches somewhere in `text`.

        Args:
            folded: `text` in the form of the words, such as lower case.
        """
        if len(self._by_word) <= _FEW:
            held = {word for word in self._by_word if word in folded}
        else:
            held = {
                word
                for longest in set(self._longest.findall(folded))
                for word in self._with[longest]
            }
        tried = dict.fromkeys(pattern for word in held for pattern in self._by_word[word])
        return any(pattern.search(text) for pattern in tried)
