"""Letters and digits that a scan took for each other, in their places: "D1agnosis", "9O%". Pure.

A word is read as another only where it is none itself and the other is one, by the terminologies
and the packaged encoder's words; so a code ("H0445"), a gene ("ROS1") and a stain ("CD10") stay.
Every sign keeps its place: spans of what is read hold in the text as it was printed.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from knowledge.names.tables import tables
from workers.extract.field_reader import word_vectors

_TOKEN = re.compile(
    r"(?<![\w./])(?=[^\W\d_]{0,29}?(?:[015|]|l[A-Z]|(?<=[A-Z])l)|l[a-z])[\w|]{4,30}+(?![./]\w)"
)
"""A word with a digit inside, or with a small l where an I may have stood."""
_NUMBER = re.compile(
    r"(?<![\w./-])(?:[\dOoIl]{1,2}[./-][\dOoIl]{1,2}[./-](?:[12l][\dOoIl]{3}|[\dOoIl]{2})|"
    r"[\dOoIl]{1,2}[ ]/[ ][\dOoIl]{1,2}[ ]/[ ][12l][\dOoIl]{3}|"
    r"[12][\dOoIl]{3}-[\dOoIl]{2}-[\dOoIl]{2}|[Oo]\.\d{1,3}|"
    r"(?:\d{1,4}[OoIl]{1,3}\d?|[1-9lI][OolI]{1,3})(?=\s?(?:mg|mcg|microg|ml|mL|mm|cm|%)(?![a-z])))"
    r"(?![\w-])"
)
"""A day, or a number with its unit, in which digits may have been read as letters."""
_DIGITS = str.maketrans("OoIl", "0011")
_READINGS = {"0": "o", "1": "il", "5": "s", "|": "il", "l": "li"}
_LEAST_LETTERS = 3
_LONG = 6
"""Letters from which a digit at the end of a word is none that numbers it (ours)."""
_MOST = 4
"""Signs of a word that may have been others (ours)."""


def unscanned(text: str) -> str:
    """The text with the words and numbers that were meant; as long as before."""
    return _TOKEN.sub(_as_word, _NUMBER.sub(_as_digits, text))


def _as_digits(one: re.Match[str]) -> str:
    words = one.group()
    if any(mark in words for mark in "./-") and not any(sign.isdigit() for sign in words):
        return words
    return words.translate(_DIGITS)


def _as_word(one: re.Match[str]) -> str:
    return _meant(one.group()) or one.group()


@cache
def _meant(token: str) -> str | None:
    """The word that a token was, None where it is one, or no word comes of it."""
    letters = sum(sign.isalpha() for sign in token)
    if letters < _LEAST_LETTERS or _known(token.lower()):
        return None
    if token[-1].isdigit() and not any(sign in "015|" for sign in token[:-1]) and letters < _LONG:
        return None
    return next((one for one in _others(token) if _known(one.lower())), None)


def _others(token: str) -> Iterator[str]:
    """What a token may have been: each sign that scans mistake as one of its letters."""
    places = [at for at, sign in enumerate(token) if _is_doubtful(token, at, sign)]
    if len(places) > _MOST:
        return
    large = sum(sign.isupper() for sign in token) * 2 > sum(sign.isalpha() for sign in token)
    for read in product(*(_READINGS[token[at]] for at in places)):
        signs = list(token)
        for at, sign in zip(places, read, strict=True):
            small = not large and (at > 0 or not token[1:2].islower())
            signs[at] = sign if small else sign.upper()
        yield "".join(signs)


def _is_doubtful(token: str, at: int, sign: str) -> bool:
    if sign == "l":
        return at == 0 or token[at - 1].isupper() or token[at + 1 : at + 2].isupper()
    return sign in _READINGS


def _known(word: str) -> bool:
    if len(word) < _LEAST_LETTERS or not word.isalpha():
        return False
    words, _ = word_vectors()
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return any(
        one in words or tables().is_word(one) or any(True for _ in tables().senses(one))
        for one in forms
    )


def readings(words: str) -> Iterator[str]:
    """What a few words of a scan may have been: in each of them that holds such a sign, letters
    that were digits, or digits that were letters; the likelier first."""
    tokens = re.split(r"(\s+)", words)
    doubtful = [n for n, one in enumerate(tokens) if any(sign in "OoIl0152|" for sign in one)]
    if not 0 < len(doubtful) <= _MOST_WORDS:
        return
    for ways in product((_DIGITS, _LETTERS, {}), repeat=len(doubtful)):
        for n, way in zip(doubtful, ways, strict=True):
            tokens[n] = re.split(r"(\s+)", words)[n].translate(way)
        yield "".join(tokens)


_LETTERS = str.maketrans("015|l", "OISII")
_MOST_WORDS = 4
"""Words of a value with signs that may have been others (ours)."""
