"""Words, numbers and signs of a text, in one pass.

A word goes on over an apostrophe, a number over the points and commas within it; "h/o" and "-ve" are
one word, every other sign stands alone. White space is no token.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"\d+(?:[.,·]\d+)+|(?<!\w)[+-]ve(?!\w)|(?<![\w/])[a-z]/[a-z](?![\w/])|[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_", re.IGNORECASE
)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


class Token(NamedTuple):
    """`word` is `text[start:end]` in lower case, with plain apostrophes."""

    start: int
    end: int
    word: str

    @property
    def is_word(self) -> bool:
        """Whether it is a word or a number and no sign."""
        return self.word[0].isalnum()


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of `text` in order, with offsets into it."""
    folded = text.translate(_APOSTROPHES)
    return tuple(
        Token(match.start(), match.end(), match.group().lower()) for match in TOKEN.finditer(folded)
    )
