"""Numbers in one notation: "12 000", "12'000" and "twelve thousand" are 12000. Pure.

Digits are grouped and parted in many ways, and a number may be spelled. What a number is worth, its
unit and its place are read by `quantities` from a text whose numbers were written in one way here.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from clinical_text.normalize import MINUS, fold_dashes
from clinical_text.numbers.patterns import NUMBER
from clinical_text.quantities import unit_at
from clinical_text.vocabulary import vocabulary
from knowledge.loader import load

PAD = "\u2003"
"""What fills the place of characters that a number needs no more."""

_GROUPED = re.compile(
    r"(?:(?<![\w.,·)])(?P<sign>[-\u2212]))?(?<![\w.,·])\d{1,3}"
    r"(?:(?P<gap>['’ \u00a0\u2009\u202f])\d{3})(?:(?P=gap)\d{3}){0,3}(?![\d'’])"
)
_COMMA = re.compile(r"(?<![\w.,·])(?:\d{1,3},(?:\d{1,2}|\d{4,9})|0,\d{3})(?![\w,]|[.·]\d)")
_SPELLED_SIGN = re.compile(r"(?i)(?:(?<![\w-])minus|(?<=\b(?:by|of)\s)negative)\s{1,20}(?=\.?\d)")
"""A sign in words. What is "negative 7 days after" is a test: only a change by it is a number."""
_SCALE_WORDS = {"thousand": 3, "million": 6, "billion": 9}
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_SCALED = re.compile(
    rf"(?i)(?P<number>\d[\d.,·]{{0,15}})[\s-](?P<scale>{'|'.join(_SCALE_WORDS)})\b"
)


def in_plain_digits(text: str) -> str:
    """`text`, as long as it was, with its digits in one notation: no spaces or apostrophes between
    groups, no decimal comma, a sign where "minus" stood. What gets shorter is padded before."""
    text = _GROUPED.sub(_without_groups, text)
    text = _COMMA.sub(lambda found: found[0].replace(",", "."), text)
    text = _minus_words().sub(lambda found: _padded(found, MINUS + _of_words(found[1])), text)
    return _SPELLED_SIGN.sub(lambda found: _padded(found, MINUS), text)


def in_digits(text: str) -> str:
    """`text`, as long as it was, with all numbers and their signs in plain digits, spelled ones
    too; ordinals ("thirty-seventh") stay."""
    text = in_plain_digits(text)
    text = _words().sub(lambda found: _padded(found, _of_words(found[0])), text)
    text = _SPELLED_SIGN.sub(lambda found: _padded(found, MINUS), text)
    return _SCALED.sub(
        lambda found: _padded(
            found, f"{found['number']}×10^{_SCALE_WORDS[found['scale'].lower()]}"
        ),
        text,
    )


def in_one_notation(text: str, around: str = "") -> str:
    """`text` with each number, its sign and its unit in one notation, to be compared with another:
    texts that state other values, units or comparators stay different.

    Args:
        around: the text that it is taken from: where that has decimal commas, no comma is taken
            for one between groups.
    """
    groups = f"[{PAD}]" if _has_decimal_commas(around) else f"[{PAD},\\s]"
    text = fold_dashes(in_digits(text))
    parts, at = list[str](), 0
    for number in NUMBER.finditer(text):
        if number.start() < at:
            continue
        unit, end = unit_at(text, number.end())
        digits = re.sub(groups, "", number[0]).replace("·", ".")
        parts += [text[at : number.start()], f"0{digits}" if digits[0] == "." else digits]
        if unit is not None:
            parts.append(f" {unit}")
        at = end
    return " ".join("".join([*parts, text[at:]]).replace(PAD, "").split())


@lru_cache(maxsize=64)  # asked of each sentence of a text
def _has_decimal_commas(text: str) -> bool:
    return _COMMA.search(text) is not None


def _without_groups(found: re.Match[str]) -> str:
    """A number in one piece, its sign beside it."""
    return _padded(found, (found["sign"] or "") + re.sub(r"\D", "", found[0]))


def _padded(found: re.Match[str], digits: str) -> str:
    return digits.rjust(len(found[0]), PAD) if len(digits) <= len(found[0]) else found[0]


@cache
def _values() -> Mapping[str, int]:
    """Number words below a hundred that are one word, and their values."""
    more = load("guards/number_words")
    values = {word: number for number, word in enumerate(vocabulary().number_words)}
    values |= {word: number for number, word in enumerate(more["teens"], start=13)}
    return values | {word: 10 * number for number, word in enumerate(more["tens"], start=2)}


@cache
def _words() -> re.Pattern[str]:
    """Numbers in words, each whole, but for words of a scale behind them."""
    return re.compile(rf"(?i)(?<![\w-]){_in_words()}")


@cache
def _minus_words() -> re.Pattern[str]:
    """The same behind "minus"."""
    return re.compile(rf"(?i)(?<![\w-])minus\s{{1,20}}({_in_words()})")


def _in_words() -> str:
    by_length = sorted(_values(), key=len, reverse=True)
    ones = "|".join(word for word in by_length if 0 < _values()[word] < 10)
    tens = "|".join(word for word in by_length if _values()[word] >= 20)
    small = rf"(?:(?:{tens})[\s-](?:{ones})|{'|'.join(by_length)})"
    hundreds = rf"(?:(?:{small}|an?)[\s-]hundred(?:(?:[\s-]and)?[\s-]{small})?|{small})"
    thousands = rf"(?:{hundreds}|an?)[\s-]thousand(?:,?(?: and)? {hundreds})?"
    ordinal = "|".join(_ORDINALS)
    return rf"(?:{thousands}|{hundreds})(?!\w|[\s-](?:{ordinal})\b)"


def _of_words(words: str) -> str:
    """The digits of a number in words."""
    whole = part = 0
    for word in re.findall("[a-z]+", words.lower()):
        if word == "thousand":
            whole, part = whole + 1000 * max(part, 1), 0
        elif word == "hundred":
            part = 100 * max(part, 1)
        else:
            part += _values().get(word, 0)
    return str(whole + part)
