"""Histology, margins and invasion of tumors. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from workers.extract.fields import Found
from workers.extract.parts import clause
from workers.extract.rubrics import alternatives, vocabulary
from workers.extract.rules.texts.cut_words import whole_words
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.texts.numbers import NUMBER, sure_number
from workers.extract.rules.tumors.margins import WHICH, differ, negative_signs, positive_signs
from workers.extract.values import Margin, Presence, Words

_MARGIN = re.compile(r"(?i)\b(?:margins?|resection\s++(?:planes?|edges?)|section\s++margins?|"
                     r"surgical\s++edges?|R[012]\b|(?:in)?completely\s++(?:excised|resected|removed)|"
                     r"(?:in)?complete\s++(?:excision|resection))")  # fmt: skip
_MARGIN_CLOSE = re.compile(r"(?i)\b(?:close|closely)\b")
_MARGIN_UNKNOWN = re.compile(
    r"(?i)cannot\s++be|not\s++(?:assess|applicable|evaluat|report|state)|n/a|indeterminate|"
    r"for\s++(?:margin|orientation)|inked|marginal\s++zone|well-defined|irregular\s++margins?|"
    r"spiculated|smooth|ill-defined|circumscribed|frozen\s++section\s++pending|to\s++obtain|"
    r"to\s++achieve|costal|liver\s++margin|lobulated"
)
_CLOSEST = re.compile(
    r"(?i);\s*+(?:the\s++)?(?:closest|nearest|(?:[a-z]{3,20}\s++)?(?:clearance|distance))\b"
    r"[^.;\n]*(?:\.\d[^.;\n]*)?"
)
_ANSWER = re.compile(r"\?[ \t]++[^.;\n]{1,60}|(?<=:)[ \t]*+\n[ \t]*+[^.;:\n]{1,60}")
"""What answers a question, or a label that ends its line."""
_AWAY = re.compile(r"(?i)\b(?:within|from|away|distance)\b|\d\s*+[mc]m\s++(?:of|clear)")
_DISTANCE = re.compile(
    rf"(?i)(?:(?P<least>{NUMBER})\s*+(?:-|–|—|to)\s*+)?(?P<n>{NUMBER})\s*+(?P<u>mm|cm)\b"
)
_PART_ENDS = re.compile(r"\n|[,;(){}]\s|[()]|\band\b")
_PART_REACH = 120
"""Characters to each side of a length in which it is said of what it is (ours)."""
_MULTIPLIED = re.compile(r"(?i)\d\s*+(?:x|×)\s*+$|\s{0,40}+(?:x|×)\s*+\d")
_SIZED = re.compile(
    r"(?i)\b(?:size|sized|diameter|dimension|measur\w+|tumou?r|carcinoma|lesion|mass|nodule|melanoma|"
    r"thickness|thick|breslow|depth|deposit|metastas[ie]s)\b"
)
_NEAR_MARGIN = re.compile(
    r"(?i)\b(?:margins?|edges?|planes?|from|within|away|distance|clear(?:ance)?|clos\w+|near\w*|free|"
    r"uninvolved|ink\w*|superior|inferior|medial|lateral|anterior|posterior|deep|radial|proximal|distal)\b"
)
_MOST_AWAY = {"mm": 1000.0, "cm": 100.0}
"""Farther from a margin no tumor is (ours)."""
_MOST_MODIFIERS = 9
"""Modifiers before the head of a histologic type (ours)."""
_WIDEST_GAP = 24
_JOINS = re.compile(r"(?i)[\s,/()-]{1,3}(?:(?:and|type)\s{1,3})?")
_JOINS_BY_A_WORD = re.compile(r"[\s,]{1,3}\(?\w{1,16}\)?\s{1,3}")
_ABSENT = re.compile(
    r"(?i)\b(?:absent|not\s++(?:\w{2,12}ly\s++)?(?!(?:assess|evaluat|report|stat|giv|sampl|includ|"
    r"perform|test|examin|determin|exclud|rul|submitt|specif|provid|comment|shown\s++here)\w*+)"
    r"(?:present|\w{2,14}(?:ed|en|nd|wn))\b|no(?:ne)?\b|nil\b|negative|without|free)"
)
"""Nothing is there; "not" with a word of examining says that nobody looked."""
_OF_VESSELS = (
    r"(?:lympho?-?\s?vascular|angio-?\s?lymphatic|lymphatic|(?:micro)?vascular|vessels?|"
    r"blood\s++vessels?)"
)
_INVADED = r"(?:invasion|infiltration|involvement|permeation|spread|growth|emboli)"
_WHOSE = r"(?:the\s++)?(?:adjacent\s++|small\s++|large\s++)?"
INVASIONS = {
    "lymphovascular_invasion": (
        rf"(?<!extramural[ ]){_OF_VESSELS}"
        rf"(?:(?:\s*+/\s*+|\s++(?:or|and|and/or)\s++){_OF_VESSELS})?\s++"
        rf"(?:(?:space|channel)s?\s++)?(?:{_INVADED}|spaces|channels)|"
        rf"{_INVADED}\s++(?:of|into|within)\s++{_WHOSE}(?:blood\s++|lymph(?:atic)?\s++)?"
        r"(?:vessels|vascular\s++spaces|lymphatics|lymphatic\s++spaces)"
    ),
    "perineural_invasion": (
        rf"(?:(?:peri|intra|endo)?neur(?:al|onal)|nerves?(?:\s++sheath)?)\s++{_INVADED}|"
        rf"{_INVADED}\s++(?:of|into|along|around)\s++{_WHOSE}(?:nerves?|nerve\s++fib(?:er|re)s?)"
    ),
}
"""How invasions are named: what is invaded, and the process, in either order."""
_PRESENT = re.compile(r"(?i)\b(?:present|identified|seen|positive|yes|extensive|focal(?:ly)?|found|"
                      r"detected|noted|observed|widespread|prominent|conspicuous|multifocal|abundant|"
                      r"confirmed|evident|marked)\b|\+")  # fmt: skip
_DENIED = re.compile(
    r"(?i)\b(?:no|without|negative\s++for|absence\s++of|free\s++of|neither)\s++(?:[\w-]+\s++){0,5}$"
)
_SHOWN = re.compile(r"(?i)\b(?:with|shows?|showing|there\s++is|present:)\s++(?:[\w-]+\s++){0,2}$")
_UNSURE = re.compile(r"(?i)\b(?:indeterminate|cannot\s++be|suspicious|equivocal|suspected)\b")


_ONLY_A_HEADING = re.compile(r"(?i)(?:^|\n)(?:(?:invasive|infiltrating|in[ -]situ)\s)?carcinoma$")
"""What stands before a colon and names no type: the parts of a form are headed so."""


@cache
def _heads() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?<![a-z])(?:{alternatives(vocabulary().histology_heads)})s?(?![a-z-])"
    )


@cache
def _modifiers() -> re.Pattern[str]:
    words = alternatives(vocabulary().histology_modifiers)
    return re.compile(rf"(?i)(?<![a-z])(?:{words})(?![a-z])")


@cache
def _tails() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:[\s,]{{1,40}}+(?:{'|'.join(vocabulary().histology_tails)})){{0,3}}")


def _phrases(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a head with the modifiers before it and the tails behind it.

    One pass over the heads and one over the modifiers: a pattern for both would try every way of
    sharing the modifiers out, at every word.
    """
    before = [one.span() for one in _modifiers().finditer(text)]
    ends = [end for _, end in before]
    last = 0
    for head in _heads().finditer(text):
        if head.start() < last:
            continue
        start = _first_modifier(text, before, bisect_right(ends, head.start()), head.start(), last)
        if start == head.start() and text[start - 1 : start] == "-":
            continue
        tail = _tails().match(text, head.end())
        last = tail.end() if tail else head.end()
        yield start, last


def _first_modifier(
    text: str, before: list[tuple[int, int]], index: int, start: int, last: int
) -> int:
    """Where the run of modifiers that ends at `start` begins; `before` up to `index` end there."""
    for steps, (begin, end) in enumerate(reversed(before[max(0, index - _MOST_MODIFIERS) : index])):
        gap = text[end:start] if start - end <= _WIDEST_GAP else ""
        joined = _JOINS.fullmatch(gap) or (steps and _JOINS_BY_A_WORD.fullmatch(gap))
        other_line = "\n" in gap and text[begin].islower() and text[start].isupper()
        if begin < last or not joined or other_line or text[begin - 1 : begin] == "-":
            break
        start = begin
    return start


def histologies(text: str) -> Iterator[Found]:
    """Types of tumor as phrases; those only suspected, denied or told of are wide."""
    joined, places = whole_words(text)
    for begin, stop in _phrases(joined):
        start, end = places(begin), places(stop - 1) + 1
        if negated(text, start, end):
            continue
        words = text[start:end]
        general = words.lower().removesuffix("s") in vocabulary().histology_general
        heading = joined[stop : stop + 1] == ":" and bool(_ONLY_A_HEADING.search(words))
        yield Found(Words(text=words), start, end, wide=general or heading)


def margins(text: str) -> Iterator[Found]:
    """What sentences say of margins: one value for each sentence that says something."""
    seen: set[tuple[int, int]] = set()
    for match in _MARGIN.finditer(text):
        begin, stop = clause(text, match.start(), match.end())
        line = text.rfind("\n", begin, match.start()) + 1
        begin = max(begin, line)
        # "all margins negative; closest (anterior) 4 mm"
        further = _CLOSEST.match(text, stop)
        stop = further.end() if further else stop
        answer = _ANSWER.match(text, stop)
        stop = answer.end() if answer else stop
        if (begin, stop) in seen:
            continue
        seen.add((begin, stop))
        words = text[begin:stop]
        lead = len(words) - len(words.lstrip(" -•*\t"))
        for value in _margins_of(words):
            yield Found(value, begin + lead, begin + len(words.rstrip()))


def margin_of(words: str) -> Margin | None:
    """What one sentence says of a margin; None where it says both or leaves it open."""
    values = _margins_of(words)
    return values[0] if len(values) == 1 else None


def _margins_of(words: str) -> list[Margin]:
    """One value; two, the worse first, where the words say both or leave it open."""
    positive, negative = positive_signs(words), negative_signs(words)
    distance = _distance(words, signs=bool(positive))
    if distance and "positive" not in words.lower():
        # "extends to within 2 mm of the margin"
        negative = [*negative, *positive]
        positive = []
    so = [one for one in positive if one.so]
    unsure = any(one.so is None for one in (*positive, *negative))
    unsure = unsure or any(one.so is False for one in negative)
    clear = [one for one in negative if one.so] + [one for one in positive if one.so is False]
    if so and not unsure and differ(so, clear, words):
        which = [name for one in so for name in one.which] if clear else _names(words)
        return [_margin("positive", distance, which)]
    if so or unsure:
        return [_margin(one, distance, _names(words)) for one in ("positive", "negative")]
    if _MARGIN_CLOSE.search(words):
        return [_margin("close", distance, _names(words))]
    if clear or (distance is not None and not _MARGIN_UNKNOWN.search(words)):
        return [_margin("negative", distance, _names(words))]
    return []


def _distance(words: str, *, signs: bool) -> float | None:
    if signs and not _AWAY.search(words):
        return None
    distances = []
    for one in _DISTANCE.finditer(words):
        if _is_a_size(words, *one.span()):
            continue
        unit = one["u"].lower()
        distance = sure_number(one["least"] or one["n"], _MOST_AWAY[unit])
        if distance is None or distance > _MOST_AWAY[unit]:
            return None
        distances.append(distance * (10.0 if unit == "cm" else 1.0))
    return round(min(distances), 2) if distances else None


def _is_a_size(words: str, start: int, end: int) -> bool:
    """Whether a length is the size of a tumor that stands in the same sentence."""
    before = _PART_ENDS.split(words[max(0, start - _PART_REACH) : start])[-1]
    after = _PART_ENDS.split(words[end : end + _PART_REACH])[0]
    if _MULTIPLIED.search(before) or _MULTIPLIED.match(after):
        return True
    own = before + after
    if _NEAR_MARGIN.search(own):
        return False
    return _SIZED.search(own) is not None


def _names(words: str) -> list[str]:
    return [one.lower() for one in WHICH.findall(words)]


def _margin(status: str, distance: float | None, which: list[str]) -> Margin:
    names = ", ".join(dict.fromkeys(which))
    return Margin(status=status, distance_mm=distance, which=names or None)


_EITHER = re.compile(
    r"(?i)\b(?:present|positive|yes|identified)\s?(?:or|/)\s?(?:absent|negative|no|not\s)|"
    r"\b(?:absent|negative)\s(?:or)\s(?:present|positive)\b"
)


def presences(label: str, text: str) -> Iterator[Found]:
    """Whether what `label` (a pattern) names is present, absent or indeterminate."""
    for match in re.finditer(rf"(?i)(?<![a-z])(?:{label})(?![a-z])", text):
        begin, stop = clause(text, match.start(), match.end())
        line_end = text.find("\n", match.end(), stop)
        stop = line_end if line_end >= 0 else stop
        after = text[match.end() : stop]
        before = text[max(begin, match.start() - 40) : match.start()].split("\n")[-1]
        denied = _DENIED.search(before)
        if _EITHER.search(after):
            continue  # what may be said of it, and not what is
        state = "absent" if denied else presence_of(after)
        start, end = match.start(), stop
        if denied:
            start, end = match.start() - len(denied.group()), match.end()
        elif state is None and (shown := _SHOWN.search(before)):
            state = "present"
            start, end = match.start() - len(shown.group()), match.end()
        if state is not None:
            yield Found(Presence(state=state), start, start + len(text[start:end].rstrip()))


def presence_of(words: str) -> str | None:
    """present, absent or indeterminate, as the words say."""
    if _UNSURE.search(words):
        return "indeterminate"
    if _ABSENT.search(words):
        return "absent"
    return "present" if _PRESENT.search(words) else None
