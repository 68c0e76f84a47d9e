"""Patterns that are tried only where a text holds a word without which they cannot match. Pure.

Most sentences hold none of the words: looking for them costs a fraction of trying the patterns.
"""

import re
from collections.abc import Iterable


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

    def match(self, text: str, folded: str) -> bool:
        """Whether one of them matches somewhere in `text`.

        Args:
            folded: `text` in the form in which the words are written.
        """
        held = [word for word in self._by_word if word in folded]
        tried = dict.fromkeys(one for word in held for one in self._by_word[word])
        return any(pattern.search(text) for pattern in tried)
