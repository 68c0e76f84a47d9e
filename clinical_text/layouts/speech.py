"""Dictations as a machine wrote them down: marks and line ends that were spoken. Pure.

A text is one where spoken marks stand close together and written full stops hardly at all. "The
period", "over a period of" and a colon that is cancerous stay words.
"""

import re

from clinical_text.layouts.sheet import FILL

_SPOKEN = re.compile(
    r"(?i)[ ](?:(?P<line>(?:new|next) (?:line|paragraph)|"
    r"number (?:one|two|three|four|five|six|seven|eight|nine))|"
    r"(?P<stop>full stop|period)|"
    r"(?P<comma>comma)|(?P<semicolon>semi[- ]?colon)|(?P<colon>colon)|"
    r"(?P<open>open (?:paren(?:thesis|s)?|brackets?))|"
    r"(?P<close>close (?:paren(?:thesis|s)?|brackets?)))(?:(?=[ \n]|$)|[.,](?=\s|$))"
)
_BARE_LINE = re.compile(r"(?im)^(?:new|next) (?:line|paragraph)(?=[ \n]|$)")
_END = re.compile(r"(?i)[ ]end (?:of )?(?:dictation|report|letter|note)\b[ .]*$")
_TAIL = re.compile(rf"(?m)(?<![ {FILL}])[ {FILL}]++$")
_NOT_A_STOP = re.compile(r"(?i)\b(?:a|an|the|this|that|each|every|same|any)$")
_MARKS = {"stop": ".", "comma": ",", "semicolon": ";", "open": "(", "close": ")", "line": "\n"}
_LEAST, _EACH_WORDS = 4, 40
"""Spoken marks from which a text is dictated, and the words among which there is one (ours)."""
_MOST_WRITTEN = 0.5
"""Written full stops for each spoken mark (ours)."""
_HEADING = re.compile(r"(?:^|\n)[ \t]*(?:[A-Za-z/-]+[ ]){0,3}[A-Za-z/-]+$")
_WRITTEN = re.compile(r"[a-z]\.(?:\s|$)")
_LONGEST = 60


def plain_speech(text: str) -> str:
    """The text with marks and line ends where they were spoken; as long as before."""
    if not is_dictated(text):
        return text
    kept: list[str] = []
    at = 0
    headed = _has_spoken_heads(text)
    for one in _SPOKEN.finditer(text):
        kind = str(one.lastgroup)
        mark = _mark(text, one, kind, headed=headed)
        if mark is None:
            continue
        written = mark == "\n" and text[one.end() : one.end() + 1] == "\n"
        if kind == "colon" and kept and kept[-1].endswith(FILL):
            # a heading in the middle of a line begins one
            kept[-1] = f"{kept[-1][:-1]}\n"
        mark = " " if written else mark
        filled = mark.ljust(len(one.group()), " " if kind == "line" else FILL)
        kept += [text[at : one.start()], filled]
        at = one.end()
    plain = "".join((*kept, text[at:]))
    plain = _BARE_LINE.sub(lambda one: " " * len(one.group()), plain)
    plain = _END.sub(lambda one: re.sub(r"[^\n]", " ", one.group()), plain)
    return _TAIL.sub(lambda one: " " * len(one.group()), plain)


def is_dictated(text: str) -> bool:
    """Whether marks are spoken in a text rather than written."""
    spoken = [one for one in _SPOKEN.finditer(text) if one.lastgroup != "colon"]
    few = len(spoken) < _LEAST or len(spoken) * _EACH_WORDS < len(text.split())
    return not few and len(_WRITTEN.findall(text)) <= _MOST_WRITTEN * len(spoken)


def _mark(text: str, one: re.Match[str], kind: str, *, headed: bool) -> str | None:
    before = text[max(0, one.start() - _LONGEST) : one.start()]
    if kind == "colon":
        return ":" if headed and _heads(before, behind="stop") else None
    if kind == "stop" and (_NOT_A_STOP.search(before) or text.startswith(" of ", one.end())):
        return None
    if kind == "stop" and one.start() > len(before) and _heads(before):
        return ":"
    return _MARKS[kind]


def _heads(before: str, behind: str = "line") -> bool:
    """Whether the words before a mark are the first of their line, or behind a spoken line end, or
    another spoken mark."""
    begin = [one.end() for one in _SPOKEN.finditer(before) if one["line"] or one[behind]]
    words = before[begin[-1] if begin else 0 :]
    if not begin and len(before) == _LONGEST and "\n" not in before:
        return False
    line = words.rsplit("\n", 1)[-1].split()
    return 0 < len(line) <= _MOST_HEADING and all(word.replace("-", "").isalpha() for word in line)


_MOST_HEADING = 4
"""Words of a spoken heading (ours)."""


def _has_spoken_heads(text: str) -> bool:
    """Whether headings end in a spoken colon: several do, of different words."""
    found = {
        text[max(0, one.start() - _LONGEST) : one.start()].rsplit("\n", 1)[-1].split()[-1:][0]
        for one in _SPOKEN.finditer(text)
        if one["colon"] and _heads(text[max(0, one.start() - _LONGEST) : one.start()], "stop")
    }
    return len(found) > 1
