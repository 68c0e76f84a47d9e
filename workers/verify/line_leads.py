"""What a line stands under: its label, the words that lead on to it, the head of its table. Pure.

"Severe bleeding occurred." under "Not seen:" says the opposite of what it says alone, and "none"
behind "Metastases:" says nothing without it. What leads is told by its form, one pass over the
lines: words before a colon at the beginning of a line, a line that ends in one, a line without a
stop or a heading over a list, the first row of a table. A heading over prose does not, and names
of the parts of an abstract lead nothing.
"""

import re
from bisect import bisect_right
from functools import lru_cache

from clinical_text.headings import is_part_of_abstract

_KEPT_TEXTS = 64
_MARK = r"(?:>|[-*+•‣◦▪●·–—]|\(?\d{1,3}[.)]|\[\d{1,3}\]|\(?[a-z]\)|\(?[ivx]{1,5}\))[ \t\u00a0]{1,8}"
_ITEM = re.compile(rf"(?:{_MARK}){{1,3}}(?=\S)")
_LABEL = re.compile(r"(?P<name>[^\s:][^:]{0,99}):(?=[\s*_]|$)")
"""A longer stretch before a colon is a sentence with a colon in it (ours)."""
_STOP_WITHIN = re.compile(r"[.!?;]\s")
_ROW = re.compile(r"^\|| \| |\S\t")
_EMPHASIS = "*_`"
_STOPS = ".!?;,"
_LONGEST_HEAD = 160
"""Characters of a line without a stop that may stand over a list (ours)."""

Leads = tuple[str, ...]


def leads(text: str, at: int) -> Leads:
    """What the words at `at` of a text stand under, the outermost first; () where nothing leads.

    Linear in the text, once a text.
    """
    lines = _read(text)
    place = bisect_right(lines.places, at) - 1
    return lines.led[place] if place >= 0 else ()


@lru_cache(maxsize=_KEPT_TEXTS)  # asked of each statement, and of each passage that comes near it
def _read(text: str) -> "_Lines":
    lines, at = _Lines(), 0
    for line in text.splitlines(keepends=True):
        if line.isspace():
            lines.gap = True
        else:
            lines.take(at, line)
        at += len(line)
    return lines


class _Lines:
    """What leads from which place on: `led[n]` from `places[n]`."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.led: list[Leads] = []
        self.gap = True
        """Whether a blank line stands before the line that is taken in."""
        self._over: list[tuple[int, str]] = []
        """What leads on to the lines to come, and how far it is indented; -1: it is no item."""
        self._label = ""
        self._head = ""
        self._last = ""
        """The line before, where it may stand over a list."""
        self._opened = False
        """Whether the line before leads on to this one."""
        self._listed = False
        """Whether it was an item of a list, or a row."""

    def take(self, at: int, line: str) -> None:
        """Take in a line that shows something; it begins at `at`."""
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        at += indent
        mark = _ITEM.match(words)
        if words.startswith("#"):
            self._close()
            self._note(at)
            self._last = _name(words.strip("# "))
        elif _ROW.search(words):
            self._row(at, words)
        elif mark:
            self._item(at, words, mark.end(), indent)
        else:
            inside = self._opened or (self._listed and indent)
            if self.gap and not inside:
                self._close()
            self._tell(at, words, 0, -1, begins=self.gap)
        self.gap = False

    def _close(self) -> None:
        self._over, self._label, self._head, self._last = [], "", "", ""
        self._opened = self._listed = False

    def _note(self, at: int, *more: str) -> None:
        self.places.append(at)
        self.led.append((*(words for _, words in self._over), *filter(None, more)))

    def _row(self, at: int, words: str) -> None:
        self._note(at, self._head)
        self._head = self._head or words
        self._label, self._last, self._opened, self._listed = "", "", False, True

    def _item(self, at: int, words: str, behind: int, indent: int) -> None:
        if self._last and not self._listed:
            self._over.append((-1, self._last))
        while self._over and self._over[-1][0] >= indent:
            self._over.pop()
        self._label, self._listed = "", True
        self._tell(at, words, behind, indent, begins=True)

    def _tell(self, at: int, line: str, behind: int, indent: int, *, begins: bool) -> None:
        """The words of a line `behind` its mark; `begins`: they go on from no line before."""
        words = line[behind:]
        found = _LABEL.match(words)
        is_label = found is not None and not _STOP_WITHIN.search(found["name"])
        is_label = is_label and (begins or bool(self._label) or not words[0].islower())
        self._label = "" if is_label else self._label
        self._note(at, self._label)
        bare = words.rstrip(_EMPHASIS)
        self._head, self._last, self._opened = "", "", bare.endswith(":")
        if self._opened:
            while self._over and self._over[-1][0] >= indent:
                self._over.pop()
            name = _name(_STOP_WITHIN.split(bare)[-1])
            self._over += [(indent, name)] if name else []
            self._label = ""
        elif found and is_label:
            self._label = _name(found["name"])
            self._note(at + behind + found.end(), self._label)
        elif bare[-1:] not in _STOPS and len(bare) <= _LONGEST_HEAD:
            self._last = _name(bare)


def _name(words: str) -> str:
    """What leads, without its marks; "" where it is the name of a part of an abstract."""
    name = words.strip(f"{_EMPHASIS} \t").rstrip(":").strip(f"{_EMPHASIS} \t")
    return "" if is_part_of_abstract(name) else name
