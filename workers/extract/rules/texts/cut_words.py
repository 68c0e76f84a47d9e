"""Words that the end of a line cut ("adeno-", "carcinoma" below) made whole. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

_CUT = re.compile(r"(?<=[a-z])-[ \t]*+\n[ \t]*+(?=[a-z])")


def whole_words(text: str) -> tuple[str, Callable[[int], int]]:
    """The text with such words whole, and where a place of it stands in the text as written."""
    cuts = list(_CUT.finditer(text))
    gone = list(accumulate(len(one.group()) for one in cuts))
    begins = [one.start() - lost + len(one.group()) for one, lost in zip(cuts, gone, strict=True)]

    def place(at: int) -> int:
        before = bisect_right(begins, at)
        return at + (gone[before - 1] if before else 0)

    return (_CUT.sub("", text) if cuts else text), place
