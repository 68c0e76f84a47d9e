"""Labels like those of the fields, though in other words or damaged: the second reading's. Pure.

A label is the beginning of a line up to a colon, a bar or a gap, or a short line of its own. It is
like a field's where the beginnings of its words are those of one of the field's labels, in any
order: "Diagnoses at discharge", "DISCHARGE DIAGNOSIS", "Dischorge diagnosis".
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workers.extract.evaluation.damage import meant
from workers.extract.parts import Parts
from workers.extract.rubrics import field_policies

_LABEL = re.compile(r"(?m)^[ \t]*+[-•*#|>\d.)]{0,4}+[ \t]*+"
                    r"(?P<label>[A-Za-z][A-Za-z /&'()-]{2,47}?)"
                    r"(?P<mark>[*_]{0,2}[ \t]*[:;|]|[ \t]{3,}|[ \t]*$)")  # fmt: skip
_BLANK = re.compile(r"\n[ \t]*+\n")
_ENDING = re.compile(r"(?<=\w{4})(?:ies|es|is|ed|s|y)$")
"""What is left out where words of labels are compared: "allergy", "allergies"."""
_LIGHT = frozenset(["of", "the", "at", "and", "or", "for", "in", "on", "to", "by", "a", "an"])
_EMPTY = " \t|*:_-#"


class LabelLine(NamedTuple):
    """A label's word stems, and what it labels: behind it, or in the next line."""

    stems: frozenset[str]
    label: int
    start: int
    end: int
    words: str


_read: "WeakKeyDictionary[Parts, Sequence[LabelLine]]" = WeakKeyDictionary()


def label_lines(parts: Parts) -> Sequence[LabelLine]:
    """Every labelled line that holds something, in order."""
    if parts not in _read:
        found = (_labelled(parts.text, match) for match in _LABEL.finditer(parts.text))
        _read[parts] = [one for one in found if one is not None]
    return _read[parts]


def _labelled(text: str, match: re.Match[str]) -> LabelLine | None:
    stop = text.find("\n", match.end())
    stop = len(text) if stop < 0 else stop
    start = match.end()
    if not match["mark"].strip() and not text[start:stop].strip():
        following = text.find("\n", stop + 1)
        start, stop = stop + 1, len(text) if following < 0 else following
    words = text[start:stop]
    kept = words.strip(_EMPTY)
    stems = _stems(match["label"]) if len(kept) > 1 else frozenset()
    if not stems:
        return None
    start += words.index(kept)
    return LabelLine(stems, match.start("label"), start, start + len(kept), kept)


def _stems(label: str) -> frozenset[str]:
    words = [meant(one) or one.lower() for one in re.findall(r"[A-Za-z]+", label)]
    return frozenset(_ENDING.sub("", one) for one in words if one not in _LIGHT and len(one) > 1)


@cache
def _own(field: str) -> Sequence[frozenset[str]]:
    every = (_stems(label) for label in field_policies()[field].labels if len(label) > 3)
    return [one for one in every if one]


@cache
def like(field: str, stems: frozenset[str]) -> bool:
    """Whether a label says what one of the field's labels says, in other words or one more."""
    return any(
        own == stems or (own < stems and len(stems) == len(own) + 1 and len(own) > 1)
        for own in _own(field)
    )


def paragraph(parts: Parts, line: LabelLine) -> int:
    """Where the text that begins in a labelled line ends: at the next label or a blank line."""
    text, every = parts.text, label_lines(parts)
    at = bisect_right(every, line.start, key=lambda one: one.label)
    end = every[at].label if at < len(every) else len(text)
    blank = _BLANK.search(text, line.start, end)
    end = blank.start() if blank else end
    return line.start + len(text[line.start : end].rstrip())
