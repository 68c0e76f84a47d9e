"""Turns words into lexical terms: folded, split between letters and digits, stemmed, hashed.

Names of genes, proteins and codes are written in many ways: IL-6, IL6; TNF-α, TNFalpha; CD4+, CD 4.
So a word that mixes letters and digits counts as itself and as its parts, Greek letters are spelled
out, and accents are removed (Jiang and Zhai, An empirical study of tokenization strategies for
biomedical information retrieval, Information Retrieval 10, 2007; ADR 0012). Stems are Snowball's.

Hashing makes a dictionary table unnecessary (LEXICAL.md); with 430,000 distinct stems about 43
pairs share a number, which does not affect ranking.
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

TERM_RULE = "snowball-parts-3"
"""The name of these rules, which changes with their output: an index built by other rules does not
contain the terms of queries, and is rebuilt (`merging.renew`)."""

TERM_MASK = 0x7FFFFFFF
_WORD = re.compile(r"[^\W_]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# Splitting ASCII at characters other than letters and digits is four times faster than a regex.
_PARTED = bytes(code if code < 128 and chr(code).isalnum() else 0x20 for code in range(256))
_PART = re.compile(r"\d+|[^\W\d_]+")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_GREEK_NAMES = {
    letter: unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")
    for letter in map(chr, range(ord("α"), ord("ω") + 1))
}
# A single letter: Greek words are kept. The letter comes first, so that other text is skipped fast.
_GREEK_LETTER = re.compile("[α-ω](?<![α-ω][α-ω])(?![α-ω])")

# Words without meaning for a clinical question. Negations are not among them: "not recommended"
# must match "not".
_STOP = frozenset(files(__package__).joinpath("stopwords.txt").read_text("utf-8").split())

_local = threading.local()


def _stemmer() -> Stemmer.Stemmer:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return stemmer


def _words(text: str) -> list[str]:
    """The words of `text` in order, in lower case, without accents, Greek letters spelled out."""
    text = text.lower()
    if text.isascii() or all(map(_parts_words, set(_NOT_ASCII.findall(text)))):
        return text.encode("ascii", "replace").translate(_PARTED).decode().split()
    text = _NOT_ASCII.sub(lambda sign: " " if _parts_words(sign[0]) else sign[0], text)
    text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    text = _GREEK_LETTER.sub(lambda letter: f" {_GREEK_NAMES[letter[0]]} ", text)
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def _parts_words(character: str) -> bool:
    """True if a character only separates words: ≥, – and ™ do, but ½, ² and accents do not.

    A raised symbol (category So) is a mark on a word, though it stands for letters: "Eliquis™".
    """
    is_symbol = unicodedata.category(character) == "So"
    if is_symbol and unicodedata.decomposition(character).startswith("<super>"):
        return True
    folded = _ACCENT.sub("", unicodedata.normalize("NFKD", character))
    return folded != "" and _WORD.search(folded) is None


@lru_cache(maxsize=200_000)
def _stems(word: str) -> tuple[str, ...]:
    """The stem of a word, then those of its parts if it mixes letters and digits."""
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
    """The text indexed before a chunk, so that a passage is found by its document's title."""
    return f"{title}\n{section}\n" if section else f"{title}\n"


@lru_cache(maxsize=2048)  # the sentences of a source are compared repeatedly
def term_set(text: str) -> frozenset[int]:
    """The set of terms of `text`, a sentence or a passage."""
    return frozenset(chain.from_iterable(map(_terms, _words(text))))


def terms(text: str) -> Counter[int]:
    """The number of occurrences of each term in `text`."""
    return Counter(chain.from_iterable(map(_terms, _words(text))))
