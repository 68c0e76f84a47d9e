"""Patterns that are tried only where a text holds a word without which they cannot match. Pure.

Most sentences hold none of the words: looking for them costs a fraction of trying the patterns.
"""

import re
from collections.abc import Iterable

from knowledge.words import tree

_FEW = 32
"""So many words are looked for one by one; more of them, letter by letter of the text; ours."""


class Needy:
    """Regular expressions, each with words of which one stands in whatever it matches."""

    def __init__(self, patterns: Iterable[tuple[Iterable[str], str]], flags: int = 0) -> None:
        """
        Args:
            patterns: the words that one needs, and the expression.
        """
        self._by_word: dict[str, list[re.Pattern[str]]] = {}
        for needs, written in patterns:
            pattern = re.compile(written, flags)
            for word in needs:
                self._by_word.setdefault(word, []).append(pattern)
        # At each place the longest word, and with it the others that begin so.
        self._longest = re.compile(f"(?=({tree(self._by_word)}))")
        self._with = {
            word: [one for one in self._by_word if word.startswith(one)] for word in self._by_word
        }

    def match(self, text: str, folded: str) -> bool:
        """Whether one of them matches somewhere in `text`.

        Args:
            folded: `text` in the form in which the words are written.
        """
        if len(self._by_word) <= _FEW:
            held = {word for word in self._by_word if word in folded}
        else:
            held = {word for one in set(self._longest.findall(folded)) for word in self._with[one]}
        tried = dict.fromkeys(one for word in held for one in self._by_word[word])
        return any(pattern.search(text) for pattern in tried)
