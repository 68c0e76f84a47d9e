"""Patterns that ignore case, matched in lower-case text, which is several times faster. Pure.

To ignore case, `re` compares all forms of each letter at each position and cannot skip any. Most
sentences have none of the strings that every match needs (`needs`): these are not searched.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from knowledge.matching.literals import needs

_MOST_NEEDS = 16
"""Looking for more strings takes as long as the pattern itself."""
_KEPT_AS_WRITTEN = re.compile(r"(\\.|\(\?P)", re.DOTALL)
_ESCAPED_LETTER = re.compile(r"\\[xuUN]")
_IN_ITS_CASE = "(?-i:"
# Letters that `re` equates with another one when it ignores case, but `lower` does not convert.
_ALIKE = {ord("ı"): "i", ord("ſ"): "s", ord("µ"): "μ", ord("ς"): "σ"}
_HAVE_ALIKE = tuple(map(chr, _ALIKE))


_Find = Callable[[str], re.Match[str] | None]


class Caseless:
    """A regular expression that ignores case, as `re.IGNORECASE` does.

    The text of a match is in lower case; its positions are those of the text. Parts in `(?-i:...)`
    keep their case and make the pattern as slow as with `re`; needed strings are still looked for.
    """

    def __init__(self, written: str) -> None:
        """
        Raises:
            ValueError: a letter is written as a number, which would hide its case.
        """
        if _ESCAPED_LETTER.search(written):
            raise ValueError(f"a pattern must show its letters: {written}")
        plain = _in_lower_case(written.replace(_IN_ITS_CASE, "(?:"))
        needed = needs(re.compile(plain)).exact
        as_written = _IN_ITS_CASE in written
        pattern = re.compile(written if as_written else plain, re.IGNORECASE * as_written)
        few = needed if len(needed) <= _MOST_NEEDS else ("",)
        self._needed = needed
        self.search = _finder(pattern.search, few, as_written=as_written)
        """As `re.Pattern.search`, for a whole text."""
        self.match = _finder(pattern.match, few, as_written=as_written)
        """As `re.Pattern.match`, for a whole text."""

    def may_be_in(self, text: str) -> bool:
        """True if the pattern may match in `text` or a part of it; one check of a whole text is
        faster than a check of each sentence."""
        lower = folded(text)
        return any(needed in lower for needed in self._needed)


def _finder(find: _Find, needed: Sequence[str], *, as_written: bool) -> _Find:
    """A function that calls `find` only if the text has a needed string. It is a closure because
    looking up attributes on each call takes longer than the check itself."""
    if "" in needed:
        return find if as_written else lambda text: find(folded(text))

    def look(text: str) -> re.Match[str] | None:
        lower = folded(text)
        for string in needed:
            if string in lower:
                return find(text if as_written else lower)
        return None

    return look


@lru_cache(maxsize=1024)  # many rules need it for the same sentence
def folded(text: str) -> str:
    """`text` in lower case, character for character."""
    if text.isascii():
        return text.lower()
    lower = text.replace("İ", "i").lower()  # the only capital whose lower case has two characters
    for letter in _HAVE_ALIKE:  # faster one by one than all in one pattern
        if letter in lower:
            return lower.translate(_ALIKE)
    return lower


def _in_lower_case(written: str) -> str:
    """A pattern with its letters in lower case, except those of its syntax."""
    parts = _KEPT_AS_WRITTEN.split(written)
    return "".join(part if place % 2 else folded(part) for place, part in enumerate(parts))
