"""Abbreviations that a text defines: "chronic kidney disease (CKD)". Pure.

Source: Schwartz and Hearst, A simple algorithm for identifying abbreviation definitions in
biomedical text, Pac Symp Biocomput 2003:451-462, with its limits: a short form of 2 to 10
characters, a long form of at most min(n + 5, 2 n) words for n characters of the short one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]\n]{2,120})[)\]]")
_LONGEST_SHORT = 10
_FAR = 200
"""Characters before a bracket in which a long form stands, at most (ours)."""
_SENTENCE = re.compile(r"[.;:!?(\[]\s")


@dataclass(frozen=True, slots=True)
class Definition:
    """A short form and the long form that the text gives for it, by their spans."""

    short: tuple[int, int]
    long: tuple[int, int]


def definitions(text: str) -> Iterator[Definition]:
    """The abbreviations that `text` defines, in order."""
    for match in _IN_BRACKETS.finditer(text):
        inner_start, inner_end = match.span(1)
        cut = next((at for at in map(match.group(1).find, ";,") if at > 0), None)
        short_end = inner_end if cut is None else inner_start + cut
        before = text[max(0, match.start() - _FAR) : match.start()].rstrip()
        offset = max(0, match.start() - _FAR)
        if _is_short(text[inner_start:short_end]):
            short = text[inner_start:short_end]
            clause = max((m.end() for m in _SENTENCE.finditer(before)), default=0)
            start = long_start(short, before[clause:])
            if start is not None:
                begin = offset + clause + start
                yield Definition((inner_start, short_end), (begin, offset + len(before)))
        else:
            word = before.split()[-1] if before else ""
            if word and _is_short(word) and long_start(word, match.group(1)) == 0:
                end = offset + len(before)
                yield Definition((end - len(word), end), (inner_start, inner_end))


def _is_short(words: str) -> bool:
    return (
        2 <= len(words) <= _LONGEST_SHORT
        and len(words.split()) <= 2
        and words[0].isalnum()
        and any(letter.isupper() for letter in words)
        and not words.isdecimal()
    )


def long_start(short: str, before: str) -> int | None:
    """Where in `before` the long form of `short` begins, which ends where `before` ends.

    The characters of the short form are found from the right, the first at the start of a word.
    """
    at = len(before)
    marks = [letter.lower() for letter in short.removesuffix("s") if letter.isalnum()]
    for place, mark in reversed(list(enumerate(marks))):
        at -= 1
        while at >= 0 and (
            before[at].lower() != mark or (place == 0 and at > 0 and before[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    long = before[at:]
    most = min(len(marks) + 5, 2 * len(marks))
    if len(long.split()) > most or len(long) <= len(short) or short in long.split():
        return None
    return at
