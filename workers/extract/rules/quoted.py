"""What words are worth that somebody says are the value of a field. Pure.

A finder looks for a field in running text and must leave what could be something else. Words that
a reader, a model or a person gives for a field need not name it any more: "about 150" of a loss of
blood are milliliters, "five, none involved" of lymph nodes is 0 of 5. What says two things, or
none, is no value.
"""

import re
from collections.abc import Callable, Mapping

from clinical_text.numbers.notation import PAD, in_digits
from workers.extract.heads import title_of
from workers.extract.rubrics import field_policies
from workers.extract.rules.texts import numbers
from workers.extract.rules.texts.written_days import written_day
from workers.extract.values import (
    Amount,
    Grade,
    Measurement,
    Microsatellites,
    Nodes,
    Presence,
    Stage,
    Tnm,
    Value,
)

_POINT = re.compile(r"(?i)(\d) point (\d)")


def quoted_value(field: str, kind: str, words: str) -> Value | None:
    """The value that `words` state of a field that they are said to state; its label is none."""
    if title_of(words) in field_policies()[field].labels:
        return None
    reader = _BY_FIELD.get(field) or _BY_KIND.get(kind)
    return reader(words) if reader is not None else None


def _in_figures(words: str) -> str:
    return _POINT.sub(r"\1.\2", in_digits(words).replace(PAD, ""))


_NUMBER = re.compile(rf"(?<!\w){numbers.NUMBER}")
_DENIED = re.compile(r"(?i)\b(?:no|not|never|without|nor)\b")
_LESS = re.compile(
    r"(?i)(?:<|≤|(?:no|not)\s{1,9}more\s{1,9}than|less\s{1,9}than|under|below|up\s{1,9}to)\s{0,9}$"
)
_MORE = re.compile(r"(?i)(?:>|≥|more\s{1,9}than|over|above|at\s{1,9}least)\s{0,9}$")
_OTHER_UNIT = re.compile(r"(?i)\s{0,9}(?:/|[a-z%])")


def _number(words: str) -> Value | None:
    """The only number, in the unit of the field."""
    words = _in_figures(words)
    found = list(_NUMBER.finditer(words))
    return _amount(found[0], words) if len(found) == 1 else None


def _amount(
    match: re.Match[str], words: str, factor: float = 1.0, unit: str | None = None
) -> Amount | None:
    before = words[: match.start()]
    sign = "<" if _LESS.search(before) else ">" if _MORE.search(before) else None
    number = numbers.sure_number(match[0])
    if number is None:
        return None
    return Amount(number=round(number * factor, 3), unit=unit, comparator=sign)


_MILLILITERS = re.compile(r"(?i)\s{0,9}(?:m[li]l?s?|cc|ccs|millilit(?:er|re)s?)\b(?!\s{0,9}/)")
_LITERS = re.compile(r"(?i)\s{0,9}(?:l|lt|ltrs?|lit(?:er|re)s?)\b")
_NOTHING = re.compile(r"(?i)\W{0,20}(?:nil|none|no|zero|nought)\b[^\d]{0,40}")


def _lost_blood(words: str) -> Value | None:
    """A loss of blood in milliliters."""
    plain = _in_figures(words)
    for match in _NUMBER.finditer(plain):
        behind = plain[match.end() :]
        if _LITERS.match(behind):
            return _amount(match, plain, 1000.0, "mL")
        if _MILLILITERS.match(behind) or not _OTHER_UNIT.match(behind):
            return _amount(match, plain, 1.0, "mL")
    return Amount(number=0.0, unit="mL") if _NOTHING.fullmatch(plain) else None


_STATION = re.compile(
    r"(?i)\b(?:stations?|levels?|st\.|groups?)\s{0,9}\w{1,3}(?:\s{0,9}(?:,|and|&|/)\s{0,9}\d{1,2}[RL]?\b)*|\b\d{1,2}[RLab]\b"
)
_OF = re.compile(
    r"(?i)(?<!\d)(?P<p>\d{1,3})\b[^\d.;]{0,40}?(?:\bof\b|\bout\s{1,9}of\b|/|\bamong\b)[^\d.;]{0,25}?(?P<e>\d{1,3})(?!\d)"
)
_FREE = re.compile(
    r"(?i)\b(?:none|no|nil|negative|clear|clean|free|reactive|benign|uninvolved|without)\b|\(-\)"
)
_HIT = re.compile(
    r"(?i)\b(?:positive|involved|metasta\w+|tumou?r|disease|carcinoma|replaced|deposits?)\b|\(\+\)"
)
_EVERY = re.compile(r"(?i)\b(?:all|both|each|every)\b")
_TWICE = re.compile(
    r"(?i)\b(?:not?|never|without)\b[^.;]{0,20}"
    r"\b(?:none|negative|clear|clean|free|spared|absent|intact|uninvolved|uninvaded)\b"
)
"""A denial of a denial: what it says is not told by its words alone."""
_SINGLE = re.compile(r"(?i)\b(?:a|an|the|single|solitary|this)\b[^.;\d]{0,40}\bnode\b")


def _nodes(words: str) -> Value | None:
    """Lymph nodes with tumor, of those examined."""
    plain = _STATION.sub(" ", _in_figures(words))
    pairs = {(int(one["p"]), int(one["e"])) for one in _OF.finditer(plain)}
    if len(pairs) == 1:
        positive, examined = pairs.pop()
        return Nodes(positive=positive, examined=examined) if positive <= examined else None
    counts = [int(one) for one in re.findall(r"(?<![\d.])\d{1,3}(?![\d.]|\s?(?:mm|cm|%))", plain)]
    if pairs or len(counts) > 1:
        return None
    single = not counts and _SINGLE.search(plain) is not None
    if single:
        counts = [1]
    if not counts or _TWICE.search(plain):
        return None
    if _FREE.search(plain):
        return Nodes(positive=0, examined=counts[0])
    hit = _HIT.search(plain) and (single or _EVERY.search(plain))
    return Nodes(positive=counts[0], examined=counts[0]) if hit else None


_UNKNOWN = re.compile(
    r"(?i)\b(?:cannot|not\s{1,9}(?:assess\w*|appli\w*|evalua\w*|report\w*|stated)|n/?a|indetermina\w*|"
    r"suspicious|equivocal|possibl\w*|query|may)\b|\?"
)
_NOT_THERE = re.compile(
    r"(?i)\b(?:no|not|none|nil|nothing|never|without|absent|clear|clean|free|spared|negative|neg|intact|uninvolved|"
    r"uninvaded|unremarkable|n)\b|(?<![A-Za-z])(?:L|V|Pn|LV|Ly)0\b|-\s{0,9}$"
)
_THERE = re.compile(
    r"(?i)\b(?:yes|present|pos|positive|seen|identified|found|focus|foci|focal|extensive|invas\w*|invad\w*|involv\w*|"
    r"infiltrat\w*|permeat\w*|embol\w*|wrapped|around|y)\b|(?<![A-Za-z])(?:L|V|Pn|LV|Ly)[12]\b|\+\s{0,9}$"
)


def _presence(words: str) -> Value | None:
    """Whether what was looked for is there."""
    words = words.strip(" .;,")
    if _UNKNOWN.search(words) or _TWICE.search(words):
        return None
    if _NOT_THERE.search(words):
        both = re.search(r"(?<![A-Za-z])(?:L|V|Pn|LV|Ly)[12]\b", words)
        return Presence(state="present" if both else "absent")
    return Presence(state="present") if _THERE.search(words) else None


_STABLE = re.compile(r"(?i)\b(?:stable|proficient|intact|retained|preserved|negative|pMMR|MSS)\b")
_UNSTABLE = re.compile(
    r"(?i)\b(?:unstable|instab\w*|deficien\w*|lost|loss|dMMR|high|positive)\b|MSI-?H"
)
_NOT_UNSTABLE = re.compile(
    r"(?i)\b(?:no|not|without)\b[^.;]{0,30}\b(?:unstable|instab\w*|deficien\w*|lost|loss)\b|"
    r"\bnot\s{1,9}(?:detected|found|seen|identified)\b"
)


def _msi(words: str) -> Value | None:
    """Microsatellites by what is said of them or of the repair; of stable and unstable both, none,
    but for a share that is told behind the word."""
    if _UNKNOWN.search(words):
        return None
    if _DENIED.search(words):
        return Microsatellites(status="MSS") if _NOT_UNSTABLE.search(words) else None
    stable, unstable = _STABLE.search(words), _UNSTABLE.search(words)
    if stable and (unstable is None or stable.start() == 0):
        return Microsatellites(status="MSS")
    return Microsatellites(status="MSI-H") if unstable and not stable else None


_GROUP = re.compile(
    r"(?<![A-Za-z\d])(?P<g>IV|III|II|I|[0-4])(?:\s?(?P<sub>[A-Ea-e](?:[1-3]|i{1,3})?))?(?![A-Za-z\d])"
)
_OWN_SYSTEM = re.compile(
    r"(?i)\b(?:dukes?|BCLC|rai|binet|ISS|limited|extensive|masaoka|enneking|durie)\b"
)


def _stage(words: str) -> Value | None:
    """A stage group; that of a system with groups of its own as it is told."""
    if _DENIED.search(words):
        return None
    words = words.strip(" .;,")
    if _OWN_SYSTEM.search(words):
        return Stage(group=" ".join(words.split()))
    found = {(one["g"], (one["sub"] or "")) for one in _GROUP.finditer(words)}
    if len(found) != 1:
        return None
    group, sub = found.pop()
    group = {"1": "I", "2": "II", "3": "III", "4": "IV"}.get(group, group)
    return Stage(group=group + sub[:1].upper() + sub[1:])


_TWO_LEVELS = re.compile(r"(?i)\b(?P<l>high|low|intermediate)(?:[\s-]+(?:grade|risk))")
_LEVEL = re.compile(
    r"(?i)\b(?:isup|grade\s{0,9}group|group|gg|who|nottingham|fuhrman)\W{0,3}(?P<n>[1-5]|iii|ii|iv|i)\b"
)


def _grade(words: str) -> Value | None:
    """A grade by its number in a system, or of two levels."""
    if _DENIED.search(words):
        return None
    level = _LEVEL.search(words)
    if level is not None:
        number = level["n"].lower()
        return Grade(level={"i": "1", "ii": "2", "iii": "3", "iv": "4"}.get(number, number))
    two = _TWO_LEVELS.search(words)
    return Grade(level=two["l"].lower(), system="two levels") if two is not None else None


_PREFIX = r"(?:[ymra]{0,2}[cpu])?"
_PARTS = re.compile(
    rf"(?<![A-Za-z\d])(?P<prefix>{_PREFIX})\s?(?P<k>[TNM])\s?(?P<v>is|[0-4Xx](?:mi|[a-d][1-3]?)?)(?![A-Za-z\d])"
)


def _tnm(words: str) -> Value | None:
    """The parts of a formula, wherever in the words they stand, each once."""
    if _DENIED.search(words):
        return None
    found: dict[str, str] = {}
    prefix = ""
    for one in _PARTS.finditer(_in_figures(words)):
        if one["k"] in found and found[one["k"]] != one["v"]:
            return None
        found[one["k"]] = one["v"].replace("x", "X")
        prefix = prefix or one["prefix"]
    if not found:
        return None
    return Tnm(prefix=prefix, t=found.get("T"), n=found.get("N"), m=found.get("M"))


def _measurement(words: str) -> Value | None:
    """A size whose numbers are spelled."""
    found = next(iter(numbers.sizes(_in_figures(words))), None)
    return found.value if found is not None and isinstance(found.value, Measurement) else None


_BY_KIND: Mapping[str, Callable[[str], Value | None]] = {
    "day": written_day,
    "nodes": _nodes,
    "presence": _presence,
    "msi": _msi,
    "stage": _stage,
    "grade": _grade,
    "tnm": _tnm,
    "measurement": _measurement,
}
_BY_FIELD: Mapping[str, Callable[[str], Value | None]] = {
    "blood_loss": _lost_blood,
    "assessment_category": _number,
    "tmb": _number,
}
