"""Is a drug that is named here taken? What is stopped, forbidden or not borne is none. Pure."""

import re
from bisect import bisect_right
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workers.extract.parts import Parts, Section, clause
from workers.extract.patients import patients
from workers.extract.places import first_within
from workers.extract.rubrics import alternatives, field_policies
from workers.extract.rules.texts.others import inside
from workers.extract.rules.texts.words import openers

_DIGIT = re.compile(r"\d")
_WITH_A_DOSE = re.compile(
    r"(?i)\d\s?(?:mg|mcg|µg|g|units?|iu|ml|%)(?![a-z])[^\n]*(?<!,)(?<!\band)[ \t]*+$"
)
_WHO = r"(?:(?:the\s++)?(?:patient|pt|she|he|they)\s++)?"
_COURSE = r"(?:(?:[\w-]++\s++){0,3}?course\s++of\s++)?"
_INSTEAD = (
    r"[^.;,:\n\d]{0,30}?[\s,:–—>→=-]++(?:switched|changed|converted|transitioned|replaced)\s++"
    r"(?:to|by|with)\s++(?!\d|(?:an?|the|one|once|twice|three|every|each|daily|weekly|nightly|bid|tid|"
    r"qid|prn|oral|iv|po|im|generic|evening|morning|bedtime)\b)"
)
"""Behind a drug: another one came in its place."""
_CYCLES = (
    r"(?:\s*+(?:,|\+|/|&|and)\s*+[A-Za-z-]{4,30}){0,4}\s*+x\s*+\d{1,2}"
    r"(?:\s++(?:cycles?|courses?|doses?))?[\s,-]*+"
)
"""Behind a drug: further ones of the same course, and how often it was given."""
_OF_ADMISSION = re.compile(
    r"^(?:pre-?admission|admission|arrival|admit(?:ting)?)\b.*\b(?:med|drug|treat)|"
    r"\b(?:med|drug|treat)\w*\s++(?:on|at|upon|before|prior\s++to)\s++(?:admission|arrival)\b"
)
_OF_DISCHARGE = re.compile(
    r"^(?:discharge|departure)\b.*\b(?:med|drug|prescri)|"
    r"\b(?:med|drug|prescri)\w*\s++(?:on|at|upon|for)\s++(?:discharge|departure|leaving)\b"
)
_AS_BEFORE = re.compile(
    r"(?i)\b(?:unchanged|same|no\s++changes?|as\s++(?:on|at|before|above)|(?:home|all)\s++med\w*)\b"
)
_A_DOSE = re.compile(r"(?i)\d\s?(?:mg|mcg|µg|g|units?|iu)\b")
_AUXILIARY = r"(?:(?:is|was|were|are|be|been|being|has|have|had|to|now|currently|later|since)\s++)"


_NO_MORE = (
    r"(?=\s*+(?:$|[.,;:()\[\]|\n\d]|(?:on|in|for|since|due|because|by|after|before|at|today|yesterday|as|per|"
    r"last|this|when|following|pending|until|till|while|during|and|if|unless|tonight|tomorrow)\b))"
)
"""What stands behind a word of ending that is of the drug before it, and not of the next."""


@cache
def _turns() -> re.Pattern[str]:
    """Words that say of what follows that it is taken, or not; the longest first."""
    words = patients().medicines
    verbs = r"(?:\s++(?:taking|using|giving|(?:the\s++)?use\s++of))?"
    return re.compile(
        rf"(?i)(?<![\w'/-])(?:(?P<taken>{_quoted(_long(words.taken))})|"
        rf"(?P<refused>{_quoted(words.refused)}){verbs}"
        rf"(?!\s++(?:{alternatives(words.not_a_drug)})\b)|"
        rf"(?P<also>{alternatives(words.taken)}))(?![\w'-])"
    )


def _quoted(words: tuple[str, ...]) -> str:
    """The words as an alternation, with either apostrophe."""
    return alternatives(words).replace("'", "['’]")


def _long(taken: tuple[str, ...]) -> tuple[str, ...]:
    """Those of several words, which hold a word of refusal ("do not stop")."""
    return tuple(one for one in taken if " " in one)


@cache
def _next() -> re.Pattern[str]:
    words = patients().medicines
    return re.compile(
        rf"(?i)(?<![\w'/-])(?:(?P<refused>{alternatives(words.refused_next)})\s++"
        rf"(?:[\w-]++\s++)?{_COURSE}|"
        rf"(?P<taken>{alternatives(words.taken_next)})\s++)$"
    )


@cache
def _ended() -> re.Pattern[str]:
    """Behind a drug: "was stopped", "- STOPPED", "(discontinued)", "caused rash"."""
    words = patients().medicines
    ended, harmed = alternatives(words.ended), alternatives(words.harmed)
    return re.compile(
        rf"(?i)^(?![^.;\n]{{0,40}}?\b(?:to|will)\s++be\s++(?:completed|finished)\b)"
        rf"(?:[^.;,:\n(]{{0,40}}?\b{_AUXILIARY}{{1,4}}(?:{ended})\b|"
        rf"[^.;,:\n(]{{0,40}}?\b(?:should|must|can)(?:\s++not|not)\s++be\s++(?:taken|used|given)\b|"
        rf"[^.;,:\n(]{{0,40}}?\s*+[-–—:(\[,|→>=]++\s*+{_WHO}{_AUXILIARY}{{0,3}}(?:{ended})\b{_NO_MORE}|"
        rf"\s*+(?:(?:tab(?:let)?|cap(?:sule)?)s?\.?\s++)?(?:{ended})\b{_NO_MORE}|{_CYCLES}(?:{ended})\b|{_INSTEAD}|[^.;\n]{{0,30}}?\b(?:{harmed})\b|"
        rf"\s*+[:(–—-]\s*+(?:{alternatives(words.reactions)})\b)"
    )


@cache
def _ended_next() -> re.Pattern[str]:
    """The same as a sentence of its own."""
    ended = alternatives(patients().medicines.ended)
    return re.compile(rf"(?i)^\.\s++(?:{ended})\b{_NO_MORE}")


_ONCE = re.compile(
    r"(?i)[^.;\n]{0,30}?\b(?:until|till|up\s++to|through)\s++(?:\w{3,9}\s++)?(?:19|20)\d\d\b|"
    r"[^.;\n]{0,20}?\(?\b(?:19|20)\d\d\s?[-–]\s?(?:(?:19|20)\d\d|\d\d)\b"
)
"""Behind a drug: a year in which it ended."""
_NOT_DONE = re.compile(
    r"(?i)[^.;\n]{0,40}?\b(?:not|never)\s(?:(?:to\s)?be(?:en|ing)?\s|yet\s|being\s)?"
    r"(?!chang|alter|exceed|stopp|discontinu|increas|decreas|reduc|crush|chew|affect|known|list|record|seen|shown)"
    r"[a-z]{2,12}(?:ed|en)\b"
)
"""Behind a drug: what was not done with it, in whatever verb ("not wanted", "not to be taken")."""
_IF = re.compile(r"(?i)\b(?:if|should|in\s++case|unless|whenever)\b")


def _supposed(parts: Parts, begin: int, start: int, end: int) -> bool:
    """Whether a dose is changed or begun only if something happens: "if …, increase X"."""
    supposed = first_within(_IF, parts, begin, start)
    if supposed is None:
        return False
    change = _change().search(parts.text, supposed[1], end)
    return change is not None and not _BRACKET_ENDS.search(parts.text, supposed[1], start)


@cache
def _change() -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{alternatives(patients().medicines.changes)})\b")


_MAY = re.compile(r"(?i)\b(?:would|might|may|could)(?:\s[a-z]+){0,2}\s$")
"""Before a verb of taking: it is thought of, and not done."""
_BRACKET_ENDS = re.compile(r"[)\]]")
_JUST_BEFORE = 160
"""Characters before a drug in which words refuse or name it (ours)."""
_NEXT_SENTENCE = 40
"""Characters behind a drug's sentence in which the next begins (ours)."""


@cache
def _condition() -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{alternatives(patients().medicines.conditions)})\b")


class _Turn(NamedTuple):
    start: int
    end: int
    refused: str | None
    """The word of refusal; None: what follows is taken."""


_turned: "WeakKeyDictionary[Parts, list[_Turn]]" = WeakKeyDictionary()
_stretches: "WeakKeyDictionary[Parts, list[tuple[int, int]]]" = WeakKeyDictionary()


def refused(parts: Parts, start: int, end: int) -> bool:
    """Whether the drug named in `[start, end)` is stopped, forbidden or not borne."""
    text = parts.text
    begin, stop = clause(text, start, end)
    begin, stop = _own_lines(text, begin, start, end, stop)
    behind = text[end:stop]
    if _NOT_DONE.match(behind):
        return True
    if _ended_cell(text, start, end) or _ONCE.match(behind) or _supposed(parts, begin, start, end):
        return True
    if _ended().match(behind) or _ended_next().match(text[stop : stop + _NEXT_SENTENCE]):
        return True
    said = _before(parts, begin, start, end, behind)
    if said is not None:
        return said
    if parts not in _stretches:
        _stretches[parts] = parts.stretches(
            lambda one: _heads_refusals(one, parts) or _of_another_time(one, parts),
            _ends_refusals,
            to_blank=False,
        )
    return inside(_stretches[parts], start)


def _ended_cell(text: str, start: int, end: int) -> bool:
    """Whether a cell of the drug's record or row says nothing but that it ended."""
    begin = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    stop = text.find("\n", end, end + _LONGEST_ROW)
    line = text[begin : stop if stop >= 0 else end + _LONGEST_ROW]
    cells = [words for one in _CELLS.finditer(line) if (words := one.group().strip())]
    return len(cells) >= _LEAST_CELLS and any(map(_ends_all().fullmatch, cells))


_CELLS = re.compile(r"(?:[^|;\t: ]|[ ](?![ ]))++(?![ ]*+:)|(?i:\bactive|\btaking)[ ]*+:[ ]*+\w++")
"""What stands between the marks and gaps of a row, labels left out; and a flag with its label."""
_LEAST_CELLS, _LONGEST_ROW = 2, 400
"""Cells of a row, and characters of it that are read (ours)."""


@cache
def _ends_all() -> re.Pattern[str]:
    words = patients().medicines
    ended = alternatives((*words.ended, *words.ended_cells)).replace(r"\s+", " ")
    return re.compile(
        rf"(?i)(?:{ended})|(?:not|never|no longer)\b\D{{0,40}}|"
        rf"(?<!\w)\w++[ ]*+:[ ]*+(?:no?|false|0)"
    )


def _own_lines(text: str, begin: int, start: int, end: int, stop: int) -> tuple[int, int]:
    """The clause without lines that name a drug of their own: entries of a list without marks."""
    lines = text[begin:start].split("\n")
    for index in range(len(lines) - 2, -1, -1):
        if _WITH_A_DOSE.search(lines[index]):
            begin += sum(len(one) + 1 for one in lines[: index + 1])
            break
    line = _LINE_THAT_ENDS.search(text, end, stop)
    return begin, line.start() if line else stop


_LINE_THAT_ENDS = re.compile(r"\n(?![ \t]*+[a-z][a-z'-]*+(?:[ .,;\n]|$))|\n(?=[^\n]*?(?:\d|:))")
"""A line that no sentence goes on behind: the next begins with no small word, or has a dose or a
label of its own."""


def _before(parts: Parts, begin: int, start: int, end: int, behind: str) -> bool | None:
    """What the clause says before the drug: refused, taken, or nothing."""
    text = parts.text
    first = max(begin, start - _JUST_BEFORE)
    at_once = _next().search(text[first:start])
    longer = _last_turn(parts, begin, start)
    if at_once is not None and (longer is None or longer.end <= first + at_once.start()):
        return at_once["refused"] is not None
    # a verb may stand inside what was taken for the drug's name
    dose = _DIGIT.search(text, start, end)
    last = _last_turn(parts, begin, dose.start() if dose else start)
    if last is None:
        return None
    word = last.refused
    if word is None:
        return _MAY.search(text, max(begin, last.start - _JUST_BEFORE), last.start) is not None
    conditional = word.lower() in patients().medicines.conditional
    return not (conditional and _condition().search(behind))


def _last_turn(parts: Parts, begin: int, stop: int, *, brackets: bool = False) -> _Turn | None:
    """The last such word in `[begin, stop)`; one in brackets before the drug is of another."""
    if parts not in _turned:
        every = _turns().finditer(parts.text)
        _turned[parts] = [_Turn(*one.span(), one["refused"]) for one in every]
    turns = _turned[parts]
    at = bisect_right(turns, stop, key=lambda one: one.end) - 1
    while at >= 0 and turns[at].start >= begin:
        if brackets or not _shut_in(parts.text, turns[at].end, stop):
            return turns[at]
        at -= 1
    return None


def _shut_in(text: str, end: int, stop: int) -> bool:
    """Whether a word stands in brackets that close before a place."""
    between = text[end:stop]
    closes = between.find(")")
    return closes >= 0 and "(" not in between[:closes]


def _heads_refusals(section: Section, parts: Parts) -> bool:
    """Whether what stands under a heading is not taken: by the list, else by its last such word."""
    if section.title in patients().medicines.refused_headings:
        return True
    if section.title in field_policies()["medications"].labels:
        # "meds on d/c" is of the discharge
        return False
    last = _last_turn(parts, section.heading_start, section.start, brackets=True)
    if last is not None and last.refused is not None:
        return True
    # whether a list of the admission is of now, the list of the discharge says
    return not _OF_ADMISSION.search(section.title) and parts.told_of(section, "stopped")


def _of_another_time(section: Section, parts: Parts) -> bool:
    """Whether it is the list of admission, and there is one of discharge that says what it has."""
    if not _OF_ADMISSION.search(section.title):
        return False
    later = [one for one in parts.sections if _OF_DISCHARGE.search(one.title)]
    said = [parts.text[one.start : one.end] for one in later]
    return any(_A_DOSE.search(one) or not _AS_BEFORE.search(one) for one in said)


def _ends_refusals(section: Section) -> bool:
    known = section.title in openers() or section.title in patients().medicines.taken_headings
    return section.alone or known
