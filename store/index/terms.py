"""From words to lexical terms: folded, cut where letters meet digits, Snowball-stemmed, hashed.

Names of genes, proteins and codes are written in many ways: IL-6, IL6; TNF-α, TNFalpha; CD4+, CD 4.
So a word that mixes letters and digits counts as itself and as its parts, Greek letters are spelled
out, and accents are left out (Jiang and Zhai, An empirical study of tokenization strategies for
biomedical information retrieval, Information Retrieval 10, 2007; ADR 0012).

Hashing makes a dictionary table unnecessary (LEXICAL.md); with 430,000 distinct stems about 43
pairs share a number, which ranking does not notice.
"""

import re
import threading
import unicodedata
import zlib
from collections import Counter
from functools import lru_cache
from importlib.resources import files
from itertools import chain

import Stemmer

TERM_RULE = "snowball-parts-2"
"""Names these rules, and changes with what they give: an index built by others does not hold the
terms that are asked for, and is written anew (`lexical.renew`)."""

TERM_MASK = 0x7FFFFFFF
_WORD = re.compile(r"[^\W_]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# To part ASCII at what is no letter and no digit is four times as fast as to search for words.
_PARTED = bytes(code if code < 128 and chr(code).isalnum() else 0x20 for code in range(256))
_PART = re.compile(r"\d+|[^\W\d_]+")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_GREEK_NAMES = {
    letter: unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")
    for letter in map(chr, range(ord("α"), ord("ω") + 1))
}
# One alone: a word in Greek stays. The letter comes first, so that other text is passed over fast.
_GREEK_LETTER = re.compile("[α-ω](?<![α-ω][α-ω])(?![α-ω])")

# Words that never carry a clinical question. Negations are none of them: "not recommended" must
# find "not".
_STOP = frozenset(files(__package__).joinpath("stopwords.txt").read_text("utf-8").split())

_local = threading.local()


def _stemmer() -> Stemmer.Stemmer:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return stemmer


def _words(text: str) -> list[str]:
    """The words of `text` in order: lower case, without accents, Greek letters spelled out."""
    text = text.lower()
    if text.isascii() or all(map(_parts_words, set(_NOT_ASCII.findall(text)))):
        return text.encode("ascii", "replace").translate(_PARTED).decode().split()
    text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    text = _GREEK_LETTER.sub(lambda letter: f" {_GREEK_NAMES[letter[0]]} ", text)
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def _parts_words(character: str) -> bool:
    """Whether a character stands for nothing of a word: ≥ and – do, ½, ™ and accents do not."""
    folded = _ACCENT.sub("", unicodedata.normalize("NFKD", character))
    return folded != "" and _WORD.search(folded) is None


@lru_cache(maxsize=200_000)
def _stems(word: str) -> tuple[str, ...]:
    """The stem of one word, then those of its parts if it mixes letters and digits."""
    parts = _PART.findall(word)
    forms = [word, *parts] if len(parts) > 1 else [word]
    return tuple(_stemmer().stemWord(form) for form in forms if form not in _STOP)


@lru_cache(maxsize=200_000)
def _terms(word: str) -> tuple[int, ...]:
    return tuple(zlib.crc32(stem.encode()) & TERM_MASK for stem in _stems(word))


def stems(text: str) -> list[str]:
    """The stems of `text` in order, without stop words."""
    return list(chain.from_iterable(map(_stems, _words(text))))


def heading(title: str, section: str) -> str:
    """What stands before a chunk for the index, so that a passage is found by its document."""
    return f"{title}\n{section}\n" if section else f"{title}\n"


@lru_cache(maxsize=2048)  # a sentence of a source is compared again and again
def term_set(text: str) -> frozenset[int]:
    """The terms of `text`, a sentence or a passage."""
    return frozenset(chain.from_iterable(map(_terms, _words(text))))


def terms(text: str) -> Counter[int]:
    """How often each term occurs in `text`."""
    return Counter(chain.from_iterable(map(_terms, _words(text))))
