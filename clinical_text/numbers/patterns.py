"""How numbers, and the words around them, are written in clinical texts.

All patterns expect dashes folded by `normalize.fold_dashes`: a sign is U+2212, a dash is `-`.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from clinical_text.normalize import MINUS
from clinical_text.vocabulary import vocabulary
from knowledge.matching.literals import ignoring_case, needs

_WORDS = vocabulary()

# All repetitions are bounded, so that reading takes time in proportion to the text: gaps in the
# columns of a laid out table have some 30 spaces, numbers some 12 digits.
_SPACE, _SPACES = r"\s{1,40}", r"\s{0,40}"


def _any_of(phrases: Iterable[str]) -> str:
    """One alternative for each phrase, longer ones first, any white space between its words."""
    ordered = sorted(phrases, key=len, reverse=True)
    return "|".join(_SPACE.join(map(re.escape, phrase.split())) for phrase in ordered)


# Groups of three may be parted by a comma or by the narrow spaces that print it; decimals by a
# point or, as in The Lancet, a middle dot. A decimal comma is not read: "1,5" is two numbers.
_WHOLE = r"\d{1,3}(?:,\d{3}){1,9}(?!\d)|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3}){1,9}(?!\d)|\d{1,40}"
# The same behind its first character: a search for a class of them skips fast what is none.
_WHOLE_BEHIND = r"\d{0,2}(?:,\d{3})+(?!\d)|\d{0,2}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)|\d*"
NUMBER = re.compile(rf"[\d.·](?<!\w[\d.·])(?:(?<=\d)(?:{_WHOLE_BEHIND})(?:[.·]\d+)?|(?<!\d)\d+)")
_PLAIN_NUMBER = rf"[{MINUS}+]?\s?(?:(?:{_WHOLE})(?:[.·]\d{{1,40}})?|[.·]\d{{1,40}})"
NUMBER_WORD = re.compile(rf"(?i)(?<![\w-])(?P<word>{_any_of(_WORDS.number_words)})(?!\w)")
NUMBER_WORD_NEEDS = needs(NUMBER_WORD)

# "3.2 × 10⁶", "10^6", "10⁻³": what follows the first number.
POWER = re.compile(
    rf"(?:\s?[×x]\s?10)(?P<exponent>\^\s?[-{MINUS}]?\d{{1,3}}|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})"
)

# A minus may be followed by a space ("CI − 0.2 to 0.1") unless a number stands before it.
SIGN_BEFORE = re.compile(
    rf"(?:(?:^|[^\w%)\].])(?P<tight>[{MINUS}+][$€£]?)|(?P<currency>[$€£])"
    rf"|(?:^|[^\d%\s]){_SPACES}(?P<loose>{MINUS}\s))$"
)

_SIGNS = frozenset(f"{MINUS}+$€£")


def sign_before(before: str) -> re.Match[str] | None:
    """`SIGN_BEFORE` at the end of `before`; most numbers have no sign, which the end tells."""
    return SIGN_BEFORE.search(before) if not _SIGNS.isdisjoint(before[-3:]) else None


_SPELLINGS = [s for group in _WORDS.units.values() for unit in group.values() for s in unit]
_UNIT = f"(?:{_any_of(_SPELLINGS)})"
UNIT_JOINT = re.compile(rf"\s?/\s?|{_SPACE}per{_SPACE}")


def _unit_after(first: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?i)[\s-]?(?P<unit>(?:{first})(?:(?:\s?/\s?|{_SPACE}per{_SPACE}){_UNIT}(?!\w)){{0,6}})(?![^\W_])"
    )


UNIT_AFTER = _unit_after(_UNIT)


@lru_cache(maxsize=256)
def _unit_that_begins(first: str) -> re.Pattern[str] | None:
    """`UNIT_AFTER` of only those units that begin with this letter, None if there is none."""
    alike = re.compile(rf"(?i){re.escape(first)}")
    found = [spelling for spelling in _SPELLINGS if alike.match(spelling)]
    return _unit_after(_any_of(found)) if found else None


def unit_after(text: str, end: int) -> re.Match[str] | None:
    """`UNIT_AFTER` at `end` of `text`, looked for among the units that begin as the words there."""
    first = text[end : end + 1]
    if first.isspace() or first == "-":
        first = text[end + 1 : end + 2]
    pattern = _unit_that_begins(first) if first else None
    return pattern.match(text, end) if pattern else None


_PHRASES = _any_of(phrase for phrase in _WORDS.comparator_of if phrase[0].isalpha())
COMPARATOR_BEFORE = re.compile(
    rf"(?i)(?P<comparator>[<>]=|[<>≤≥≦≧±]|(?<!\w)(?:{_PHRASES})){_SPACES}$"
)
_IN_WORDS = tuple(
    {" ".join(phrase.lower().split()) for phrase in _WORDS.comparator_of if phrase[0].isalpha()}
)
_LAST_WORDS = tuple({phrase.split()[-1] for phrase in _IN_WORDS})
_MOST_WORDS = max(len(phrase.split()) for phrase in _IN_WORDS)


def comparator_before(before: str, since: int = 0) -> tuple[int, str] | None:
    """Where the comparator at the end of `before` begins and how it is written: what
    `COMPARATOR_BEFORE` finds from `since` on, looked for where the end can be one."""
    bare = before.rstrip()
    last = bare[-1:]
    if last in "<>≤≥≦≧±":
        return (len(bare) - 1, last) if last else None
    if last == "=":
        return (len(bare) - 2, bare[-2:]) if bare[-2:-1] in ("<", ">") else None
    if not bare.lower().endswith(_LAST_WORDS):
        return None
    words = " ".join(bare.split()[-_MOST_WORDS:])
    if words.isascii() and not words.lower().endswith(_IN_WORDS):
        return None
    match = COMPARATOR_BEFORE.search(before, since)
    return (match.start(), match["comparator"]) if match else None


OR_MORE_AFTER = re.compile(
    rf"(?i){_SPACES}(?:of{_SPACE}age{_SPACE})?(?P<comparator>{_any_of(_WORDS.comparator_after_of)})(?!\w)"
)
# The same behind up to three words that no list knows as a unit ("350 cells/mm3 or lower", "3 prior
# lines or fewer"); a verb or a conjunction among them begins something else.
_NOT_COUNTED = (
    r"(?:and|or|to|but|with|in|for|at|by|than|vs|versus|was|were|is|are|had|has|have|did|died|who"
    r"|that|which|when|reported|showed)"
)
OR_MORE_BEHIND = re.compile(
    rf"(?i)(?:{_SPACE}(?!{_NOT_COUNTED}\s)(?!\d)[^\s,;:()]{{0,60}}[^\s,;:().]){{1,3}}"
    rf"{_SPACE}(?P<comparator>{_any_of(_WORDS.comparator_after_of)})(?!\w)"
)
_OR_MORE = re.compile(rf"(?i){_any_of(_WORDS.comparator_after_of)}")
_OR_MORE_NEEDS = needs(_OR_MORE)


def has_or_more(text: str, lower: str) -> bool:
    """Whether the words that both patterns end with stand anywhere in `text`."""
    return _OR_MORE_NEEDS.met(text, lower) and _OR_MORE.search(text) is not None


# Possessive, so that a run of spaces is divided in one way only.
_EQUALS = rf"(?:{_SPACES}+(?:was|were|is|of|=|:|,|\()){{0,30}}+{_SPACES}+"
_FOR = rf"(?:{_SPACE}+for{_SPACE}+[^.;:\d]{{1,60}}?)?"
P_BEFORE = re.compile(
    rf"[pP](?<![\w-][pP])(?:[\s-]?values?)?{_FOR}{_EQUALS}[<>≤≥≦≧=]{{0,4}}{_SPACES}$"
)
_ABBREVIATIONS = [n for names in _WORDS.measures.values() for n in names if " " not in n]
_FULL_NAMES = [n for names in _WORDS.measures.values() for n in names if " " in n]
MEASURE_BEFORE = re.compile(
    rf"(?<![\w-])(?P<measure>{_any_of(_ABBREVIATIONS)}|(?i:{_any_of(_FULL_NAMES)}))"
    rf"(?:{_SPACES}[\[(](?:{_any_of(_ABBREVIATIONS)})[\])])?{_FOR}{_EQUALS}[<>≤≥≦≧]?{_SPACES}$"
)
_MEASURE_NAMES = tuple(
    {" ".join(name.split()[:1]).lower() for names in _WORDS.measures.values() for name in names}
)
_SHORTEST_NAME = min(map(len, _ABBREVIATIONS))
_MEASURE_NEEDS = needs(MEASURE_BEFORE)


def measure_before(before: str, since: int = 0) -> re.Match[str] | None:
    """`MEASURE_BEFORE` at the end of `before`, looked for from `since` on where a name begins."""
    near = before[since:]
    if len(near) < _SHORTEST_NAME:
        return None
    if near.isascii():
        can_be = _MEASURE_NEEDS.met(near, near.lower())
    else:
        folded = before.casefold()
        can_be = any(name in folded for name in _MEASURE_NAMES)
    return MEASURE_BEFORE.search(before, since) if can_be else None


INTERVAL = re.compile(
    rf"(?:(?<!\w)Cr?I|(?i:confidence|credible){_SPACE}intervals?)(?:{_SPACES}[\[(]Cr?I[\])])?"
    rf"[\s,:;=\[(]{{0,40}}(?:(?:of|from|was){_SPACE})?(?P<low>{_PLAIN_NUMBER})%?"
    rf"{_SPACES}(?:-|{MINUS}|,|;|to|and){_SPACES}(?P<high>{_PLAIN_NUMBER})"
)
INTERVAL_NEEDS = needs(INTERVAL)
COUNT_BEFORE = re.compile(rf"(?<!\w)[nN]{_SPACES}={_SPACES}$")
COUNTED_AFTER = re.compile(
    rf"(?i){_SPACE}(?:[^\W\d]{{1,60}}{_SPACE})?(?:{_any_of(_WORDS.counted)})(?!\w)"
)
_NEXT_WORDS = re.compile(rf"{_SPACE}(\w{{1,60}}+)(?:{_SPACE}(\w{{1,60}}+))?")
_NO_DIGITS = re.compile(r"[^\W\d]{1,60}")


def counted_after(text: str, end: int) -> bool:
    """Whether `COUNTED_AFTER` matches at `end`: the next word is counted, or the one behind it."""
    words = _NEXT_WORDS.match(text, end)
    if words is None:
        return False
    first, second = words.groups()
    if ignoring_case(first) in _WORDS.counted:
        return True
    if second is None or ignoring_case(second) not in _WORDS.counted:
        return False
    return _NO_DIGITS.fullmatch(first) is not None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "|".join(_MONTHS)
MONTH_BEFORE = re.compile(rf"(?i)(?<!\w)(?:{_MONTH})[a-z]{{0,20}}\.?{_SPACE}$")


def is_counted(before: str) -> bool:
    """Whether "n =" stands at the end of `before`."""
    return before.rstrip().endswith("=") and COUNT_BEFORE.search(before) is not None


def month_before(before: str) -> bool:
    """Whether a month stands at the end of `before`, and white space behind it."""
    last = "".join(before.rsplit(None, 1)[-1:]).lower() if before[-1:].isspace() else ""
    can_be = any(month in last for month in _MONTHS)
    return can_be and MONTH_BEFORE.search(before) is not None


MONTH_AFTER = re.compile(rf"(?i){_SPACE}(?:{_MONTH})[a-z]{{0,20}}(?!\w)")


def month_after(text: str, end: int) -> bool:
    """Whether a month stands at `end` of `text`, behind white space."""
    return text[end : end + 1].isspace() and MONTH_AFTER.match(text, end) is not None


# What may stand between two numbers that share the unit after the second.
LIST_JOINT = re.compile(
    rf"{_SPACES}(?:(?:-|{MINUS}|±|/|,|;|to|and|or|versus|vs\.?){_SPACES})?(?:(?:and|or|to){_SPACES})?",
    re.IGNORECASE,
)


def measure_named(name: str) -> str:
    """The abbreviation of a measure found by `MEASURE_BEFORE`."""
    plain = " ".join(name.split()).lower()
    return next(m for m, names in _WORDS.measures.items() if plain in map(str.lower, names))
