"""Grades of tumors: in numbers, words of differentiation, two levels, Gleason scores. Pure."""

import re
from collections.abc import Iterator

from workers.extract.fields import Found
from workers.extract.rubrics import any_of, vocabulary
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.tumors.neoplasms import tumor_words
from workers.extract.values import Grade

_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_LEVEL = r"(?:iv|iii|ii|i|[1-4]|x)"
_DIFFERENTIATION = {"well": "1", "moderately": "2", "moderate": "2", "poorly": "3", "poor": "3",
                    "undifferentiated": "4", "anaplastic": "4"}  # fmt: skip
_NONE = "4"
"""The grade of what is not differentiated at all."""
_SYSTEMS = r"nottingham|bloom[- ]?richardson|sbr|fuhrman|who/?\s?isup|isup|who|fnclcc|figo|" \
           r"elston[- ]ellis|modified|scarff|nuclear|histolog(?:ic|ical)|tumou?r|overall|final|" \
           r"combined|ajcc|furhman|cns"  # fmt: skip
_GRADED = re.compile(
    rf"(?i)(?<![a-z0-9-])(?:(?P<system>{_SYSTEMS})[\s,)]++){{0,4}}(?:(?:histolog(?:ic|ical)\s++)?"
    rf"(?:grade|grading|gr\.?(?=\s?[1-4I])))(?:\s++group)?(?:\s*+\((?:[^()\n]{{0,40}})\))?\s*+(?:is|of|was|:|=|-|,|"
    rf"\|)?\s*+"
    rf"(?:grade\s*+|G\s?)?(?P<level>{_LEVEL})(?![a-z0-9%]|\.\d|\s*+[+x×]\s*+\d)(?:\s*+(?:/|of|"
    rf"out of)\s*+[34](?!\d))?"
)
_G = re.compile(r"(?<![A-Za-z0-9.])G\s?([1-4X])(?![A-Za-z0-9]|\.\d|\s*+[x×+]\s*+\d)")
_TUMOR = r"(?:[a-z]{0,20}(?:carcinoma|sarcoma)s?|(?:malignant\s++)?(?:tumou?rs?|neoplasms?))"
_DIFFERENTIATED = re.compile(
    r"(?i)\b(?P<from>well|moderately|poorly)(?:\s*+(?:to|-|/|and)\s*+(?P<to>moderately|poorly))?"
    r"[\s-]+differentiated\b|"
    r"\b(?P<un>undifferentiated)\b"
)
_UNDIFFERENTIATED = re.compile(
    rf"(?i)\b(?:poorly(?:\s++differentiated)?\s++to\s++)?(?P<un>undifferentiated|anaplastic)"
    rf"\b(?=\)?(?:[\s/(]++[a-z-]++){{0,2}}[\s/)]++{_TUMOR}(?![a-z]))|"
    rf"(?<![a-z]){_TUMOR}(?:\s++[a-z-]++){{0,3}}[\s,(-]++(?P<behind>undifferentiated|anaplastic)"
    r"\b(?!\s++(?:component|area|foc|lymphoma|large))"
)
"""A tumor that is called so is of grade 4 (AJCC Cancer Staging Manual: G4, undifferentiated)."""
_DIFFERENTIATION_LABEL = re.compile(
    r"(?i)\bdifferentiation\s*+(?:grade)?\s*+[:|-]\s*+(?P<d>well|moderate(?:ly)?|poor(?:ly)?)\b"
    r"|\b(?P<d2>good|moderate|poor)\s++differentiation\b|"
    r"grade\s*+(?:is|of|:|-)?\s*+(?P<d3>well|moderate(?:ly)?|poor(?:ly)?)\b"
)
_TWO_LEVEL = re.compile(r"(?i)\b(?P<l>high|low|intermediate)[\s-]+grade\b|"
                        r"\bgrade\s*+[:|=-]?\s*+(?P<l2>high|low|intermediate)\b")  # fmt: skip
_OWN_REACH = 80
"""Characters to each side in which a grade's line says of what it is (ours)."""
_SYSTEM = re.compile(rf"(?i)\b(?:{_SYSTEMS})\b")
_NAMED = re.compile(r"[ ](?!(?:and|with|on|at|of|by|in|is|was|for|or|to|the|see)\b)[a-z]{4,}")
"""Behind a grade: what it is of ("grade 3 pressure ulcer")."""
_OTHER_WORDS = re.compile(
    r"\b[A-Z]{3,}[ ]$|(?i:\b(?:with|of|has|had|developed)[ ][a-z]{5,}[ ,(]+$)"
)
"""Before it: what it is of ("AKI grade 2", "fatigue of grade 2")."""
_NEAR = 50
"""Characters in which the tumor stands that a grade of two levels is of (ours)."""
_GLEASON = re.compile(
    r"(?i)\bgleason(?:['’]?s)?\b[^.\n\d]{0,40}?(?P<a>[1-5])\s*+(?:\+|plus)\s*+(?P<b>[1-5])"
    r"(?:\s*+\)?\s*+(?:=|equals|totals?|is)\s*+\(?\s*+(?P<s>\d{1,2}))?|"
    r"\bgleason(?:['’]?s)?\b\s*+(?:score|sum|grade)?\s*+(?:is|of|:|=)?\s*+(?P<sum>[6-9]|10)\b(?!\s++plus)"
    r"(?:\s*+\(\s*+(?P<a2>[1-5])\s*+\+\s*+(?P<b2>[1-5])\s*+\))?"
)


def grades(text: str) -> Iterator[Found]:
    """Grades in numbers, in words of differentiation, in two levels."""
    for match in _GRADED.finditer(text):
        if not of_something_else(text, match.start(), match.end()):
            level = match["level"].lower()
            system = match["system"]
            value = Grade(level=_ROMAN.get(level, level.upper()), system=system and system.lower())
            yield Found(value, *match.span())
    for match in _G.finditer(text):
        yield Found(Grade(level=match[1]), *match.span())
    yield from _differentiations(text)
    for match in _DIFFERENTIATION_LABEL.finditer(text):
        word = (match["d"] or match["d2"] or match["d3"]).lower()
        level = _DIFFERENTIATION["well" if word == "good" else word]
        yield Found(Grade(level=level, system="differentiation"), *match.span())
    for match in _TWO_LEVEL.finditer(text):
        if not of_something_else(text, match.start(), match.end()):
            level = (match["l"] or match["l2"]).lower()
            near = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
            usual = any_of(vocabulary().two_level_grades).search(near) is not None
            if not usual and near.strip() != match.group() and not tumor_words(near):
                continue
            yield Found(Grade(level=level, system="two levels"), *match.span(), wide=not usual)


def _differentiations(text: str) -> Iterator[Found]:
    """How far a tumor is differentiated, unless that is denied."""
    none = [one for one in _UNDIFFERENTIATED.finditer(text) if not negated(text, *one.span())]
    for match in none:
        yield Found(Grade(level=_NONE, system="differentiation"), *match.span())
    for match in _DIFFERENTIATED.finditer(text):
        if negated(text, *match.span()) or any(
            one.start() <= match.start() < one.end() for one in none
        ):
            continue
        worst = (match["to"] or match["from"] or match["un"]).lower()
        value = Grade(level=_DIFFERENTIATION[worst], system="differentiation")
        yield Found(value, *match.span(), wide=match["un"] is not None)


def of_something_else(text: str, start: int, end: int) -> bool:
    """Whether the grade is of a side effect, a joint, a dysplasia."""
    about = any_of(vocabulary().not_tumor_grade)
    after = text[end : end + _OWN_REACH].split("\n")[0].split(".")[0]
    before = text[max(0, start - _OWN_REACH) : start].split("\n")[-1].split(". ")[-1]
    if about.search(after[:30]) is not None or about.search(before[-25:]) is not None:
        return True
    if _SYSTEM.search(text, start, end) or tumor_words(before) or tumor_words(after):
        return False
    # words of its own clause that name no tumor say of what it is
    return _NAMED.match(after) is not None or _OTHER_WORDS.search(before) is not None


def gleasons(text: str) -> Iterator[Found]:
    """Gleason scores; the level is the sum with its patterns where they are named."""
    for match in _GLEASON.finditer(text):
        a, b = match["a"] or match["a2"], match["b"] or match["b2"]
        level = f"{a}+{b}={int(a) + int(b)}" if a and b else match["sum"]
        yield Found(Grade(level=level, system="gleason"), *match.span())


def bare_grades(text: str) -> Iterator[Found]:
    """A grade alone, for quoted words and stated values."""
    match = re.fullmatch(
        rf"(?i)\W{{0,200}}+(?P<l>{_LEVEL}|high|low|intermediate|well|moderate(?:ly)?|poor(?:ly)?)"
        r"(?:\s*+(?:/|of|out of)\s*+[34])?\W{0,200}+",
        text,
    )
    if match:
        word = match["l"].lower()
        level = _DIFFERENTIATION.get(word) or _ROMAN.get(word) or word
        yield Found(Grade(level=level.upper() if level == "x" else level), *match.span("l"))
    sums = re.fullmatch(r"\W{0,200}+([1-5])\s*+\+\s*+([1-5])(?:\s*+=\s*+\d+)?\W{0,200}+", text)
    if sums:
        total = int(sums[1]) + int(sums[2])
        value = Grade(level=f"{sums[1]}+{sums[2]}={total}", system="gleason")
        yield Found(value, 0, len(text))
