"""A sentence of a pasted text without the marks it is written in. Pure."""

import re

from workers.verify.pasted.taking_out import without

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = r"[⁰¹²³⁴-⁹]{1,3}(?:[,–-][⁰¹²³⁴-⁹]{1,3})*"
_RAISED_MARKER = re.compile(rf"(?:(?<=[.,;:)\]”\"])|(?<=[a-z]{{4}}))({_RAISED})(?=[\s.,;:)]|$)")
"""Behind a mark or a longer word: mm³ and 10⁶ are none."""
_MARKER = re.compile(
    r"\[\^?(\d{1,3}(?:\s{0,9}[,;–-]\s{0,9}\d{1,3})*)\](?!\s?%)"
    r"(?:\(\s{0,40}<?https?:[^\s()]*+>?\s{0,40}\))?"
)
"""A citation such as [3], [1, 2], [4-6], [^1] or [1](https://...)."""
_NOTE = re.compile(r"【\d{1,3}(?::\d{1,3})?(?:†(?:source|L\d+(?:-L?\d+)?))?】")
"""As some assistants print a citation: 【4†source】."""
_INTERVAL = re.compile(
    r"(?<![\w.,-])(?!(?:19|20)\d\d\s*\[)\d[\d.,]{0,12}\s{0,9}"
    r"(\[\d{1,3}\s{0,9}[,;–-]\s{0,9}\d{1,3}\])(?=\s{0,9}[a-z%])"
)
"""The spread behind a number and before its unit: "9 [3-12] months"."""
_QUOTE = r">(?:(?![ \t]*\d)|(?=[ \t]*\d{1,3}[.)][ \t]))"
"""The mark of quoting; before a number it says "more than"."""
LIST_MARK = re.compile(
    rf"[ \t]*(?:{_QUOTE}[ \t]?)*[ \t]*(?:(?:[-*+•‣◦▪●·–—]"
    r"|\(?(?P<plain>\d{1,3})[.)]|\[\^?(?P<square>\d{1,3})\]:?"
    r"|\[\^[\w-]{1,30}\]:|(?P<raised>[⁰¹²³⁴-⁹]{1,3}))[ \t\u00a0]+(?=\S)(?:\[[ xX]\][ \t]+)?)?"
)
"""What may stand before the words of a line: marks of quoting, of a list, of a note. Any line has
one, which may be empty."""
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\(\s{0,9}<?[^\s()<>]{0,300}"
    r"(?:\([^\s()<>]{0,99}\)[^\s()<>]{0,99}){0,4}>?\s{0,9}\)"
)
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)[^\s<>()\[\]]*[^\s<>()\[\].,;:!?'\"”’]>?")
_EMPHASIS = re.compile(r"\*\*|__|`+|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_ONLY_MARKS = re.compile(r"(?<!\s)\s*+>[>\s]*+(?:\(?\d{1,3}[.)])?")
_QUOTING = re.compile(rf"\n[ \t]*{_QUOTE}[ \t]?")
_HEADING = re.compile(r"#{1,6}[ \t]+|[ \t]#+\s*$")


def bare(sentence: str, *, begins_line: bool) -> str:
    """The words of a sentence: without marks of lists, quoting, headings and emphasis, without the
    addresses of links and without citation markers.

    Args:
        begins_line: whether it is the first of its line, so that a number may be that of a list.
    """
    words = _QUOTING.sub(" ", sentence)
    if _ONLY_MARKS.fullmatch(words):
        return ""
    if begins_line:
        mark = LIST_MARK.match(words)
        words = words[mark.end() :] if mark else words
        words = _HEADING.sub("", words)
    words = without(_MARKER, _RAISED_MARKER.sub("", _opened(without(_NOTE, words))))
    words = _EMPHASIS.sub("", _ADDRESS.sub("", _LINK.sub(r"\1", words)))
    return " ".join(words.split())


def markers(sentence: str) -> list[str]:
    """What stands inside the citation markers of a sentence: `3`, `1, 2`, `4-6`."""
    raised = [one.translate(_SUPERSCRIPTS) for one in _RAISED_MARKER.findall(sentence)]
    return [*_MARKER.findall(_opened(sentence)), *raised]


def _opened(sentence: str) -> str:
    """A sentence with round brackets around what is no citation."""
    return _INTERVAL.sub(lambda found: found[0].replace("[", "(").replace("]", ")"), sentence)


def number_of(mark: re.Match[str]) -> str:
    """The number that the mark of a line bears; "" if it bears none."""
    written = mark["plain"] or mark["square"] or mark["raised"] or ""
    return written.translate(_SUPERSCRIPTS)
