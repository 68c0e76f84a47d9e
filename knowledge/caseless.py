"""Patterns that ignore case, matched in the text in lower case: several times faster. Pure.

To ignore case, `re` looks at all forms of each letter at each place, and can skip no place. Most
sentences hold none of the strings that every match needs (`needs`): these are not searched.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from knowledge.literals import needs

_MOST_NEEDS = 16
"""To look for more strings than that takes as long as the pattern itself."""
_KEPT_AS_WRITTEN = re.compile(r"(\\.|\(\?P)", re.DOTALL)
_ESCAPED_LETTER = re.compile(r"\\[xuUN]")
_IN_ITS_CASE = "(?-i:"
# What `re` takes for another letter when it ignores case, and lower case does not make that letter.
_ALIKE = {ord("ı"): "i", ord("ſ"): "s", ord("µ"): "μ", ord("ς"): "σ"}
_HAVE_ALIKE = tuple(map(chr, _ALIKE))


_Find = Callable[[str], re.Match[str] | None]


class Caseless:
    """A regular expression that ignores case, as `re.IGNORECASE` does.

    What a match holds is in lower case; its places are those of the text. Parts in `(?-i:...)` are
    in their case, and make it as slow as it would be; what it needs is looked for all the same.
    """

    def __init__(self, written: str) -> None:
        """
        Raises:
            ValueError: a letter is written by its number, which would hide its case.
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
        """Whether it may match in `text` or in a part of it; sooner told of a whole text than of
        each of its sentences."""
        lower = folded(text)
        return any(one in lower for one in self._needed)


def _finder(find: _Find, needed: Sequence[str], *, as_written: bool) -> _Find:
    """`find` where one of the needed strings stands. A function of its own: to look up on each call
    what never changes takes longer than to find nothing."""
    if "" in needed:
        return find if as_written else lambda text: find(folded(text))

    def look(text: str) -> re.Match[str] | None:
        lower = folded(text)
        for one in needed:
            if one in lower:
                return find(text if as_written else lower)
        return None

    return look


@lru_cache(maxsize=1024)  # one rule after the other asks it of a sentence
def folded(text: str) -> str:
    """`text` in lower case, character for character."""
    if text.isascii():
        return text.lower()
    lower = text.replace("İ", "i").lower()  # the one capital of which two characters would become
    for one in _HAVE_ALIKE:  # each is looked for faster than all of them together
        if one in lower:
            return lower.translate(_ALIKE)
    return lower


def _in_lower_case(written: str) -> str:
    """A pattern with its letters in lower case, but not those that are its syntax."""
    parts = _KEPT_AS_WRITTEN.split(written)
    return "".join(one if place % 2 else folded(one) for place, one in enumerate(parts))
