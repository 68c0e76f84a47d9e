"""Is what stands here told of the patient? Diseases of relatives are none of the patient's. Pure.

A place is a relative's under a heading of family history, and in a clause whose subject is a
relative ("her mother had …", "… in his brother") until the patient is spoken of again. Where that
cannot be told, it is the relative's: a value that is missed is better than another person's.
"""

import re
from bisect import bisect_left, bisect_right
from functools import cache
from weakref import WeakKeyDictionary

from workers.extract.parts import Parts, Section, clause
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, any_of

_CONTINUES = re.compile(r"\s{0,40}+(?:It|That|Hers|His|Theirs)\s++(?:was|is|were|had|has)\b")
_CHILDREN = re.compile(r"(?i)\s{1,40}+of\s++(?:\d|one|two|three|four|five|six|seven|eight|a|an)\b")
_AGED = re.compile(r"(?i)(?:year[\s-]?old|\by/?o|\byrs?)\s++(?:\w++\s++){0,2}$")
_IS_ONE = re.compile(r"(?i)\b(?:is|was|as|am)\s++(?:an?|the)\s++(?:[\w-]++\s++){0,3}$")
_TOGETHER = re.compile(r"(?i)\b(?:patient|pt|she|he)\s++and\s++$")
_HAS = re.compile(
    r"(?i)(?:['’]s\b)?[\s,]{0,40}+(?:who(?:se)?\s++|is\s++|was\s++|also\s++){0,9}+"
    r"(?:had|has|have|having|diagnosed|died|carr(?:y|ies|ied))\b"
)
_WITH = re.compile(r"(?i)\s{1,40}+with\b")
_WAS = re.compile(r"(?i)\s{1,40}+(?:is|was|were|are)\s")
"""Behind "of his brother": what is said is the brother's."""
_THE_FAMILY = re.compile(
    r"(?i)\bfamily\s++(?:\w++\s++)?(?:history|hx)\s++(?:(?:is|was)\s++)?(?:\w++\s++){0,2}?"
    r"(?:of|for|includes?|including)\b"
)
_AFTER_THE_FAMILY = re.compile(
    r"(?i)\b(?:presents?|presented|diagnosed|underwent|found|she|he|who|is|was|has|now)\b"
)
_PRONOUN = re.compile(r"(?i)\b(?:and|but|while|whereas|so|although)\s++(?P<who>she|he)\b")
_OTHERWISE = re.compile(r"(?i)\b(?:and|with|history|also|but|presents?|patient|she|he|who)\b")
_BEHIND = 60
"""Characters behind a value in which "in her mother" stands (ours)."""
_BY = r"(?P<by>(?:by|with|from|of|to|per|via|for)\s++)?"


@cache
def _relative() -> re.Pattern[str]:
    policy = patients()
    return re.compile(
        rf"(?i)(?<![\w-]){_BY}(?P<lead>(?:(?:{alternatives(policy.possessives + policy.which)})"
        rf"[\s-]++|(?:patient|proband|pt)['’]s\s++){{0,5}})"
        rf"(?P<word>{alternatives(policy.relatives.every)})(?P<own>['’]s)?(?![\w-])(?!\s++mary\b)"
    )


@cache
def _behind() -> re.Pattern[str]:
    """A relative behind a value: "in her mother", "(mother)", ", father at 50"."""
    policy = patients()
    lead = rf"(?:(?:{alternatives(policy.possessives + policy.which)})[\s-]++){{0,4}}"
    words = alternatives(policy.relatives.every)
    return re.compile(
        rf"(?i)\b(?:in|of|affecting)\s++{lead}(?:{words})(?![\w-])(?!\s++mary\b)|"
        rf"\(\s*+{lead}(?:{words})(?![\w-])|"
        rf"[-–:,]\s*+{lead}(?:{words})(?=\s*+(?:[,.;)\n(]|$|at\b|aged?\b|diagnosed\b|\d))"
    )


@cache
def _back() -> re.Pattern[str]:
    words = alternatives(patients().back_to_the_patient)
    return re.compile(rf"(?i)(?<![\w'’-])(?:{words})(?![\w'’-])")


@cache
def _companions() -> re.Pattern[str]:
    words = alternatives(patients().companions)
    return re.compile(rf"(?i)\s{{0,40}}+(?:,\s{{0,40}}+)?(?:also\s++|who\s++)?(?:{words})\b")


_named: "WeakKeyDictionary[Parts, list[int]]" = WeakKeyDictionary()
_families: "WeakKeyDictionary[Parts, list[tuple[int, int]]]" = WeakKeyDictionary()


def of_a_relative(parts: Parts, start: int, end: int) -> bool:
    """Whether `[start, end)` is told of a relative of the patient."""
    told = None
    if _near(parts, start, end):
        told = _told_of(parts.text, start, end)
    return told if told is not None else _in_family_history(parts, start)


def _near(parts: Parts, start: int, end: int) -> bool:
    """Whether a relative or the family is named so near that it can be of this clause."""
    if parts not in _named:
        words = any_of((*patients().relatives.every, "family"))
        _named[parts] = [one.start() for one in words.finditer(parts.text)]
    places = _named[parts]
    at = bisect_left(places, start - 850)
    return at < len(places) and places[at] < end + _BEHIND + 40


def _in_family_history(parts: Parts, place: int) -> bool:
    if parts not in _families:
        headings = patients().family_headings
        found = parts.stretches(
            lambda one: one.title in headings, lambda one: not _names_one(one), to_blank=True
        )
        _families[parts] = found
    return inside(_families[parts], place)


def inside(stretches: list[tuple[int, int]], place: int) -> bool:
    """Whether a place lies in one of some stretches, which are in order."""
    at = bisect_right(stretches, place, key=lambda one: one[0]) - 1
    return at >= 0 and place < stretches[at][1]


def _names_one(section: Section) -> bool:
    return any_of(patients().relatives.every).search(section.title) is not None


def _told_of(text: str, start: int, end: int) -> bool | None:
    """True: of a relative; False: of the patient, though a relative is named; None: of nobody."""
    begin, stop = clause(text, start, end)
    if _CONTINUES.match(text, begin) and begin > 1:
        begin = clause(text, begin - 2, begin - 1)[0]
    told = _subject(text[begin:start])
    if told is None and _speaks_of_the_patient(text[begin:start]):
        told = False
    if told is not True:
        behind = text[end : min(stop, end + _BEHIND)]
        other = _OTHERWISE.search(behind)
        if _behind().search(behind[: other.start()] if other else behind):
            return True
    return told


def _speaks_of_the_patient(before: str) -> bool:
    return any(not _companions().match(before, one.end()) for one in _back().finditer(before))


def _subject(before: str) -> bool | None:
    """Whose the words at the end of `before` are: the last that was named decides."""
    marks = [*_THE_FAMILY.finditer(before), *_relative().finditer(before)]
    for match in sorted(marks, key=lambda one: one.end(), reverse=True):
        rest = before[match.end() :]
        if match.re is _THE_FAMILY:
            if not _AFTER_THE_FAMILY.search(rest) and not _back().search(rest):
                return True
            continue
        if not _is_subject(before, match):
            continue
        whose = match["lead"].lower().startswith("whose")
        ended = whose and "," in rest
        return not (ended or _back().search(rest) or _other_sex(match["word"], rest))
    return None


def _is_subject(before: str, match: re.Match[str]) -> bool:
    """Whether a relative is one of whom something is told, not one who tells or comes along."""
    rest, ahead = before[match.end() :], before[: match.start()]
    if _CHILDREN.match(rest) or _companions().match(rest):
        return False
    if _TOGETHER.search(ahead):
        return False
    lead = match["lead"].lower()
    theirs = any(one in lead.split() for one in patients().possessives) or "'s" in lead
    if not theirs and (_AGED.search(ahead) or _IS_ONE.search(ahead + lead)):
        return False
    by = (match["by"] or "").strip().lower()
    if by and by != "of":
        return _HAS.match(rest) is not None
    if by == "of":
        forms = (_HAS, _WITH, _WAS) if theirs else (_HAS, _WITH)
        return any(form.match(rest) for form in forms)
    return True


def _other_sex(word: str, rest: str) -> bool:
    """Whether "and he" stands behind "mother"."""
    relatives = patients().relatives
    word = word.lower()
    other = "he" if word in relatives.female else "she" if word in relatives.male else None
    return any(one["who"].lower() == other for one in _PRONOUN.finditer(rest))
