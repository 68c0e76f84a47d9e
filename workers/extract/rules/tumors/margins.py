"""What the words of a clause say of a margin: each sign affirmed, denied or left open. Pure.

A sign ("present at", "clear") counts as its own stretch of the clause tells it. What says both, or
leaves it open, is both: whoever chooses calls it ambiguous.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from clinical_text.assertion.lexicon import Side, lexicon
from clinical_text.assertion.marks import Assertion
from workers.extract.rubrics import alternatives, any_of
from workers.extract.rules.tumors.markers import marker_pattern
from workers.extract.rules.tumors.tumor_words import tumor_words

_NEGATIVE = re.compile(
    r"(?i)\b(?:negative|clear(?!\s++cell)|free(?!\s++(?:fluid|air|text|flap))|uninvolved|"
    r"unremarkable|tumou?r[- ]free|not\s++involved|R0|"
    r"no\s++(?:evidence\s++of\s++)?(?:residual\s++)?(?:tumou?r|carcinoma|malignancy|invasive|"
    r"involvement)|"
    r"not\s++(?:seen|present|identified)\s++at|without\s++(?:tumou?r|involvement)|"
    r"does\s++not\s++(?:reach|extend|involve)|uninvolved\s++by|"
    r"(?<!in)completely\s++(?:excised|resected|removed)|(?<!in)complete\s++(?:excision|resection))\b"
)
_POSITIVE = re.compile(
    r"(?i)\b(?<!non-)(?:positive|involved|R1|R2|"
    r"tumou?r\s++(?:is\s++)?(?:present\s++)?(?:at|on)\s++"
    r"(?:the\s++)?(?:ink|inked|margin|\w+\s++margin)|present\s++at|extends?\s++to|reach(?:es|ing)?|"
    r"incompletely\s++(?:excised|resected|removed)|incomplete\s++(?:excision|resection)|"
    r"at\s++(?:the\s++)?(?:\w+\s++){0,2}margins?|(?:at|on)\s++(?:the\s++)?ink)\b"
)
WHICH = re.compile(
    r"(?i)\b(superior|inferior|medial|lateral|anterior|posterior|deep|superficial|proximal|distal|"
    r"radial|circumferential|bronchial|vascular|ureteral|urethral|apical|bladder neck|peripheral|"
    r"mucosal|pancreatic neck|retroperitoneal|uncinate|mesenteric|"
    r"[a-z]{4,20}(?:al|ic|ar|ine)(?=[ ]margin)"
    r"(?<!surgical)(?<!final)(?<!marginal)(?<!additional))\b"
)
_ENDS = re.compile(r"(?i);|\b(?:but|however|although|though|whereas|while|except|apart from|"
                   r"other than)\b")  # fmt: skip
_ENUMERATES = re.compile(r"(?i),?\s{0,40}+\b(?:or|nor)\b")
_JOINS = re.compile(r"(?i),?\s{0,40}+\b(?:or|nor|and|with)\b|,(?!\s*+which\b)|:|\(")
_SUBJECT = re.compile(r"(?i)\b(?:margins?|edges?|planes?)\b")
_ANSWER = re.compile(r"[:=|(?–—-]\s*+|\s{2,}")
_CALLED = ("positive", "involved", "r1", "r2", "incomplete")
"""What a margin is called, other than where tumor is said to be."""
_ANY: tuple[Side, ...] = ("before", "after", "either")
_WORD = re.compile(r"\w+")
_REACH = 7
"""Words from what denies to what it denies (ours; NegEx has five to six)."""
_MOST_SIGNS = 12
"""Signs of one kind in a clause (ours): what has more is a table run together, and is not read."""
_LONGEST = 600
"""Characters on either side of a sign (ours): what goes on longer is no clause, and is not read."""


class Sign(NamedTuple):
    """A sign, where it stands, which margins its stretch names, and whether it is so."""

    start: int
    end: int
    which: tuple[str, ...]
    so: bool | None


def _words(*means: Assertion, sides: Sequence[Side] = ("before", "either")) -> tuple[str, ...]:
    """The words of the one lexicon of assertions that say so of what stands on a side of theirs."""
    groups = (one for one in lexicon().triggers if one.means in means and one.side in sides)
    words = [word for one in groups for word in one.words]
    return (*words, *(one.replace("can not", "cannot") for one in words if "can not" in one))


def _is_result(word: str) -> bool:
    """Whether a word tells of a margin what it denies of tumor: negative, free of, clear of."""
    return word.split()[0] in tumor_words().margins.results


@cache
def _denies() -> re.Pattern[str]:
    words = [one for one in _words(Assertion.NEGATED) if not _is_result(one)]
    return re.compile(rf"(?i)\b(?:{alternatives((*words, 'cannot'))}|\w{{2,6}}n['’]t)\b")


@cache
def _results() -> re.Pattern[str]:
    words = alternatives(tumor_words().margins.results)
    return re.compile(rf"(?i)\b(?:{words})\b(?!\s++cell)")


@cache
def _supposed() -> re.Pattern[str]:
    return any_of(_words(Assertion.CONDITIONAL, Assertion.HYPOTHETICAL))


@cache
def _unsure() -> re.Pattern[str]:
    return any_of((*_words(Assertion.POSSIBLE, sides=_ANY), *lexicon().answers["unknown"]))


@cache
def _of_others() -> re.Pattern[str]:
    return any_of(tumor_words().margins.of_others)


@cache
def _orients() -> re.Pattern[str]:
    return any_of(tumor_words().margins.orients)


@cache
def _the_rest() -> re.Pattern[str]:
    return any_of(tumor_words().margins.the_rest)


@cache
def _answers_no() -> re.Pattern[str]:
    words = alternatives(lexicon().answers["no"])
    return re.compile(rf"(?i)(?:{words})\W*+$")


@cache
def _denied_behind() -> re.Pattern[str]:
    behind = _words(Assertion.NEGATED, sides=("after", "either"))
    behind = tuple(one for one in behind if not _is_result(one))
    seen = alternatives(tumor_words().margins.not_this)
    return re.compile(rf"(?i)\b(?:(?:not|never|n['’]t)\s++(?:{seen})|{alternatives(behind)})\b")


def positive_signs(words: str) -> Sequence[Sign]:
    """What says that tumor is at a margin."""
    return _signs(_POSITIVE, words, positive=True)


def negative_signs(words: str) -> Sequence[Sign]:
    """What says that none is."""
    return _signs(_NEGATIVE, words, positive=False)


def _signs(pattern: re.Pattern[str], words: str, *, positive: bool) -> Sequence[Sign]:
    found, matches = [], list(pattern.finditer(words))
    if len(matches) > _MOST_SIGNS:
        return [Sign(*matches[0].span(), (), None)]
    for match in matches:
        begin, stop = _stretch(words, *match.span())
        if max(match.start() - begin, stop - match.end()) > _LONGEST:
            found.append(Sign(*match.span(), (), None))
            continue
        before, behind = words[begin : match.start()], words[match.end() : stop]
        own = _own(before) + match.group() + _JOINS.split(behind)[0]
        if _of_something_else(match.group(), own) or _supposed().search(before):
            continue
        # "free of tumor at the ink"; but "negative" beside "positive" denies nothing
        results = positive and not match.group().lower().startswith(_CALLED)
        so = _told(before, positive=positive, results=results)
        so = _answered(behind, positive=positive) if so else so
        found.append(Sign(*match.span(), _named(own), so))
    return found


def _stretch(words: str, start: int, end: int) -> tuple[int, int]:
    """From the last word that opens another statement to the next, as far as it is looked for."""
    first, last = max(0, start - _LONGEST - 1), min(len(words), end + _LONGEST + 1)
    begin = max((one.end() for one in _ENDS.finditer(words, first, start)), default=first)
    after = _ENDS.search(words, end, last)
    return begin, after.start() if after else last


def _own(before: str) -> str:
    """The words since the last joint."""
    joints = list(_JOINS.finditer(before))
    return before[joints[-1].end() :] if joints else before


def _of_something_else(sign: str, own: str) -> bool:
    """Whether a node or a stain is what is positive or negative, or a suture at the margin."""
    if _orients().search(own):
        return True
    if sign.lower() not in ("positive", "negative") or _SUBJECT.search(own):
        return False
    return _of_others().search(own) is not None or marker_pattern().search(own) is not None


def _named(own: str) -> tuple[str, ...]:
    rest = ("the rest",) if _the_rest().search(own) else ()
    return (*dict.fromkeys(one.lower() for one in WHICH.findall(own)), *rest)


def _told(before: str, *, positive: bool, results: bool) -> bool | None:
    """Whether what stands before a sign affirms it; None where that cannot be told."""
    before = before[_fresh(before) :]
    if _unsure().search(before):
        return None
    cues = [*_denies().finditer(before), *(_results().finditer(before) if results else ())]
    if not cues:
        return True
    last = max(cues, key=lambda one: one.start())
    between = before[last.end() :]
    joints = list(_JOINS.finditer(between))
    if joints and not positive and not between.startswith(","):
        return None if _ENUMERATES.match(joints[-1].group()) else True
    several = {one.group().lower() for one in cues} - {"neither"}
    near = len(_WORD.findall(between)) <= _REACH * (1 + len(joints))
    clean = not joints or _ENUMERATES.match(joints[-1].group()) is not None
    return False if near and clean and len(several) == 1 and len(cues) <= 2 else None


def _fresh(before: str) -> int:
    """Where, behind a joint, a margin is named as the subject of another statement."""
    joints = list(_JOINS.finditer(before))
    for index in range(len(joints) - 1, -1, -1):
        joint = joints[index]
        since = before[joint.end() : joints[index + 1].start() if joints[index + 1 :] else None]
        if _ENUMERATES.match(joint.group()) or joint.group() == "(":
            continue
        if not _SUBJECT.search(since) and not WHICH.search(since):
            continue
        cues = list(_denies().finditer(before, 0, joint.start()))
        listed = before[cues[-1].end() : joint.start()] if cues else ""
        if not _SUBJECT.search(listed) and not WHICH.search(listed):
            return joint.end()
    return 0


def _answered(behind: str, *, positive: bool) -> bool | None:
    """Whether what stands behind a sign leaves it as it is, denies it or leaves it open."""
    answer = _ANSWER.search(behind)
    told = answer is not None and not _JOINS.search(behind[: answer.start()].replace(":", ""))
    if answer is not None and told and _answers_no().match(behind, answer.end()):
        return False if positive else None
    near = _JOINS.split(behind)[0]
    if _unsure().search(near) or _denies().match(near.lstrip()):
        denied = _denied_behind().match(near.lstrip()) and not _unsure().search(near)
        return False if denied and positive else None
    if _denied_behind().search(near):
        return False if positive else None
    return True


def differ(positive: Sequence[Sign], negative: Sequence[Sign], words: str) -> bool:
    """Whether what is positive and what is negative are margins of different names."""
    for one in positive:
        for other in negative:
            apart = _ENDS.search(words, *sorted((one.start, other.start)))
            if not one.which and not other.which:
                return False
            if set(one.which) & set(other.which):
                return False
            if not (one.which and other.which) and not apart:
                return False
    return True
