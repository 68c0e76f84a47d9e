"""From words to lexical terms: lower-cased, Snowball-stemmed, hashed to 31 bits.

Hashing makes a dictionary table unnecessary (LEXICAL.md); with 430,000 distinct stems about 43
pairs share a number, which ranking does not notice.
"""

import re
import threading
import zlib
from collections import Counter
from functools import lru_cache
from importlib.resources import files

import Stemmer

TERM_MASK = 0x7FFFFFFF
_WORD = re.compile(r"[^\W_]+")

# Words that never carry a clinical question. Negations are none of them: "not recommended" must
# find "not".
_STOP = frozenset(files(__package__).joinpath("stopwords.txt").read_text("utf-8").split())

_local = threading.local()


def _stemmer() -> Stemmer.Stemmer:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return stemmer


@lru_cache(maxsize=200_000)
def _term(word: str) -> int:
    """The term of one lower-case word; -1 for a stop word."""
    if word in _STOP:
        return -1
    return zlib.crc32(_stemmer().stemWord(word).encode()) & TERM_MASK


def stems(text: str) -> list[str]:
    """The stems of `text` in order, without stop words."""
    words = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
    return [_stemmer().stemWord(word) for word in words]


def terms(text: str) -> Counter[int]:
    """How often each term occurs in `text`."""
    counts = Counter(map(_term, _WORD.findall(text.lower())))
    counts.pop(-1, None)
    return counts
