"""One spelling of a name: case, plural, hyphens, Greek letters, British and American. Pure.

A key is the folded words of a name written together: "Non-Small-Cell Lung Cancers", "nonsmall cell
lung cancer" and "non‐small cell lung cancer" have one, and so have PD-L1 and PDL1, IL-1β and
IL-1beta, tumour and tumor, cephalexin and cefalexin, Crohn's and Crohn disease. The tables are
compiled with it and texts are read with it, so that it has to be the same, not beautiful.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉ªº", "01234567890123456789  ")
_WORD = re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*|\d+")
_POSSESSIVE = re.compile(r"['’ʼ]s(?![^\W_])", re.IGNORECASE)
GREEK = {
    letter: unicodedata.name(letter).rsplit(" ", 1)[-1].lower()
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
} | {"µ": "mu", "ς": "sigma", "ϕ": "phi", "λ": "lambda", "ß": "ss", "ø": "o", "ł": "l", "đ": "d"}
SPELLINGS = (
    ("ae", "e"),
    ("our", "or"),
    ("ph", "f"),
    ("z", "s"),
    ("aluminium", "aluminum"),
)
"""British to American, and the Latin spellings of former national names (cephalexin)."""
_OE = re.compile(r"oe(?=\w)")
"""Oedema is edema, but aloe is no ale."""
_SHORT = 5
"""A word of so many capitals is an abbreviation: its last S is no plural (AIDS)."""


class Word(NamedTuple):
    """A word of a text, or the letters or digits of one, with its folded form."""

    start: int
    end: int
    folded: str


def words(text: str) -> list[Word]:
    """The words of `text` in order; letters and digits are separate, so that IL6 is IL-6.

    A possessive 's belongs to no word. Offsets count code points of `text`.
    """
    plain = text.translate(_RAISED)
    found = [Word(m.start(), m.end(), fold(m.group())) for m in _WORD.finditer(plain)]
    if "'" not in plain and "’" not in plain and "ʼ" not in plain:
        return found
    owned = {m.start() + 1 for m in _POSSESSIVE.finditer(plain)}
    return [word for word in found if word.start not in owned]


def key(name: str) -> str:
    """The key of a whole name, whatever stands between its words."""
    return "".join(word.folded for word in words(name))


@lru_cache(maxsize=65_536)  # texts share most of their words
def fold(word: str) -> str:
    """The folded form of one word of letters, or of digits, which stay as they are."""
    if word.isdecimal():
        return word
    is_short = len(word) <= _SHORT and word.isupper()
    letters = unicodedata.normalize("NFKD", word.lower())
    plain = "".join(
        GREEK.get(letter, letter) for letter in letters if not unicodedata.combining(letter)
    )
    plain = plain if is_short else _singular(plain)
    for british, american in SPELLINGS:
        plain = plain.replace(british, american)
    plain = _OE.sub("e", plain)
    if plain.endswith(("tre", "bre")):
        plain = plain[:-2] + "er"
    return plain


def _singular(word: str) -> str:
    """Without the ending of a plural; -sis and -ses, -us and -uses become one."""
    if len(word) < 4:
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "uses")):
        word = word[:-2]
    elif word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("ae"):
        word = word[:-1]
    elif word.endswith("sis"):
        word = word[:-2] + "e"
    elif word.endswith("use") or (word.endswith("s") and not word.endswith(("ss", "us", "is"))):
        word = word[:-1]
    return word
