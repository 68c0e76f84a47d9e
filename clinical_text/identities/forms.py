"""What identifiers are made of: words of names, dates, alternatives. Pure."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

Kind = Literal["NAME", "DOB", "NUMBER", "PHONE", "EMAIL", "ADDRESS"]


class Identifier(NamedTuple):
    """What identifies somebody; the span counts code points."""

    start: int
    end: int
    kind: Kind


UPPER = "".join(letter for letter in map(chr, range(0x41, 0x530)) if letter.isupper())
LETTER = r"[^\W\d_]"
PART = rf"[{UPPER}](?:{LETTER}|['’](?![sS]\b)(?={LETTER})|[-‐‑](?={LETTER})){{0,30}}+"
"""A word of a name: Smith, O'Brien, Walker-Reid."""
WORD = rf"(?:(?:[{UPPER}]\.){{1,4}}|(?:[{UPPER}]h|Chr|Wm|St)\.|{PART})"
"""The same or initials."""
DATE = (
    r"(?:\d{1,4}[ ]?[./-][ ]?\d{1,2}[ ]?[./-][ ]?\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?[ .-]{{1,2}}{LETTER}{{3,10}}\.?,?[ -]\d{{2,4}}"
    rf"|{LETTER}{{3,10}}\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?,?[ ]\d{{4}}|\d{{8}})(?!\d)"
)
SPACES = r"[ \t*]{0,30}+"
"""Between a label and what it labels, emphasis marks included (the bound is ours)."""
TOKEN = re.compile(rf"{LETTER}+(?:['’](?![sS]\b){LETTER}+)*")
WINDOW = 40
"""Characters beside a word that are looked at (ours)."""


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    ordered = sorted(set(words), key=len, reverse=True)
    return "|".join(re.escape(one).replace(r"\ ", r"[ ]") for one in ordered)
