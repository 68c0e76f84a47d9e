"""Forms with boxes: what is not ticked is not said. Pure.

Of options that stand side by side, of which one is ticked, the others are read as spaces, and so
is a question whose "No" is ticked, unless a known heading asks it ("Allergies: [x] No"). All else
stays where it is, so that places stay. Where none of a line's boxes is ticked, or all are, nothing
says that what they stand at is denied: lists of things to do are written so.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_TICKED = r"\[[ ]?[xX✓✔*][ ]?\]|\([ ]?[xX✓✔][ ]?\)|\{[ ]?[xX✓✔*][ ]?\}|<[xX✓✔]>|[☑☒✅■◉●☑]"
_EMPTY = r"\[[ _.-]{0,3}\]|\([ _]{1,3}\)|\{[ _]{0,3}\}|<[ _]>|[☐□◯○]"
_OPTION = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<ticked>{_TICKED})|(?P<empty>{_EMPTY}))"
    r"(?P<words>[ \t]?(?:(?![\[({<☐□☑☒✅■◉●◯○])[^\s]|\((?![ _xX✓✔]{1,3}\))|"
    r"[ ](?=[^\s\[{<☐□☑☒✅■◉●◯○]))*+)"
)
"""A box with what stands behind it, up to a gap or the next box."""
_NO = re.compile(r"(?i)\s{0,40}+(?:no|n|n/?a|not\s++applicable)\s{0,40}+")
_BEHIND = re.compile(rf"(?:{_TICKED}|{_EMPTY})[ \t]*+$")
"""A line that ends in a box has its boxes behind the options: which is whose is not read."""


class _Group(NamedTuple):
    """Options that stand side by side, and where their question begins."""

    question: int
    options: list[re.Match[str]]


def plain_ticks(text: str, known: Callable[[str], bool]) -> str:
    """The text without what is not ticked; as long as before.

    Args:
        known: whether a question is a heading that is known.
    """
    if _OPTION.search(text) is None:
        return text
    return "\n".join(_plain_line(one, known) for one in text.split("\n"))


def _plain_line(line: str, known: Callable[[str], bool]) -> str:
    if _BEHIND.search(line):
        return line
    blanks: list[tuple[int, int]] = []
    for group in _groups(line):
        ticked = [one for one in group.options if one["ticked"]]
        if not ticked or len(ticked) == len(group.options):
            continue
        first, last = group.options[0].start(), group.options[-1].end()
        asked = line[group.question : first].strip(" \t:?")
        if all(_NO.fullmatch(one["words"]) for one in ticked) and not known(asked):
            blanks.append((group.question, last))
            continue
        for one in group.options:
            blanks.append((one.start(), one.end("ticked") if one["ticked"] else one.end()))
    return _blank(line, blanks)


def _groups(line: str) -> Iterator[_Group]:
    question, options = 0, list[re.Match[str]]()
    for one in _OPTION.finditer(line):
        if options and line[options[-1].end() : one.start()].strip():
            yield _Group(question, options)
            question, options = options[-1].end(), []
        options.append(one)
    if options:
        yield _Group(question, options)


def _blank(line: str, spans: Sequence[tuple[int, int]]) -> str:
    """The line with spaces at some places, which are in order."""
    kept, at = [], 0
    for start, end in spans:
        kept += [line[at:start], " " * (end - start)]
        at = end
    return "".join((*kept, line[at:]))
