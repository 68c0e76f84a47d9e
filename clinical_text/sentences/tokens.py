"""Words, numbers and signs of a text, in one pass.

A word goes on over an apostrophe, a number over the points and commas within it; "h/o" and "-ve"
are one word, every other sign stands alone. White space is no token.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"\d+(?:[.,·]\d+)+|(?<!\w)[+-]ve(?!\w)|(?<![\w/])[a-z]/[a-z](?![\w/])|[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_",
    re.IGNORECASE,
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


def tokens(text: str, start: int, end: int) -> Iterator[Token]:
    """The tokens of `text[start:end]` in order, with offsets into `text`."""
    folded = text[start:end].translate(_APOSTROPHES)
    for match in TOKEN.finditer(folded):
        yield Token(match.start() + start, match.end() + start, match.group().lower())


def words_alone(text: str) -> list[str]:
    """What the tokens of `text` say, without their places."""
    return [one.lower() for one in TOKEN.findall(text.translate(_APOSTROPHES))]
