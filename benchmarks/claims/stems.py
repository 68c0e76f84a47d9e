"""Words as stems, as the making of training pairs compares them. Pure."""

import re
from functools import lru_cache

import Stemmer

_PART = re.compile(r"[^\W_]+")
_LONGEST_WORD = 60  # letters; longer runs are no words and cost the stemmer time
_stemmer = Stemmer.Stemmer("english")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Snowball stem of one lower-case word."""
    return str(_stemmer.stemWord(word[:_LONGEST_WORD]))


def stems(text: str) -> list[str]:
    """The stems of the words of `text` in order; compounds are taken apart."""
    return [stem(part) for part in _PART.findall(text.lower())]
