"""Counts the values in JSON while it arrives, before it is parsed.

JSON of many small values takes a hundred times as long to parse, and as much memory, as one long
string of the same size. Commas and brackets within strings are not counted; one pass separates
strings from the rest. Pure.
"""

import re
from dataclasses import dataclass

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)', re.DOTALL)
"""A string, or its beginning if the data ends within it. It matches at every quotation mark, so
that none is read twice."""
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEP = 256 * 1024
"""Bytes per step: the interpreter is held for about a millisecond."""


@dataclass(frozen=True)
class Most:
    """Limits: names and strings, commas and opening brackets, levels of nesting."""

    strings: int
    marks: int
    depth: int


OF_A_FILE = Most(strings=500_000, marks=1_000_000, depth=64)
"""Our limits for a file of records, one value or one a line. 20,000 records of an index in 32 MB
have as many; parsing them takes 120 MB at the worst."""


class TooFull(ValueError):
    """There are more strings, commas or brackets than allowed."""


class TooDeep(ValueError):
    """Brackets are nested more deeply than allowed."""


class Pieces:
    """Counts the pieces of JSON, part by part. Does not check that it is valid JSON."""

    def __init__(self, most: Most) -> None:
        self._most = most
        self._strings = self._marks = self._depth = 0
        self._in_string = self._escaped = self._unopened = False

    @property
    def whole(self) -> bool:
        """True if every string and bracket that was opened has been closed, and no other."""
        return not (self._in_string or self._depth or self._unopened)

    def add(self, part: bytes) -> None:
        """Count the next part.

        Raises:
            TooFull: there are too many pieces so far.
            TooDeep: it is nested too deeply.
        """
        for start in range(0, len(part), _STEP):
            self._add(part[start : start + _STEP])

    def _add(self, part: bytes) -> None:
        begun = self._in_string
        if begun:
            part = (b'"\\' if self._escaped else b'"') + part
        outside, strings = _STRING.subn(rb"\1", part)
        closed = outside.count(b'"')
        self._in_string = closed < strings
        backslashes = len(part) - len(part.rstrip(b"\\"))
        self._escaped = self._in_string and backslashes % 2 == 1
        self._strings += strings - begun
        self._marks += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        if self._strings > self._most.strings or self._marks > self._most.marks:
            raise TooFull
        if not self._unopened:
            self._nest(outside.translate(None, _NO_BRACKETS))

    def _nest(self, brackets: bytes) -> None:
        depth, most = self._depth, self._most.depth
        for bracket in brackets:
            depth += 1 if bracket in b"[{" else -1
            if depth > most:
                raise TooDeep
            if depth < 0:  # every parser stops here
                self._unopened = True
                return
        self._depth = depth


def measure(content: bytes, most: Most) -> bool:
    """True if every string and bracket in `content` is closed.

    Raises:
        TooFull: there are too many pieces.
        TooDeep: it is nested too deeply.
    """
    pieces = Pieces(most)
    pieces.add(content)
    return pieces.whole
