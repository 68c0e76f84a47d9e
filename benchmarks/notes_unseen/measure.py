"""What a summary tells of what it must, and of what it must not, line by line. Pure.

A truth names words of the note in lower case and where they count: `in` is a list of the summary,
`plan`, or one of the groups below. What must not be told carries the words (`unless`) that make a
line true all the same: "mother", "stopped", "if".
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knowledge.documents.notes import LISTS

ALL = (*LISTS, "plan")
GROUPS: Mapping[str, Sequence[str]] = {
    "problems": ("key_problems", "assessment", "patient_snapshot"),
    "history": ("pertinent_history", "key_problems", "patient_snapshot"),
    "medicines": ("medicines_allergies",),
    "anymed": ("medicines_allergies", "assessment", "plan"),
    "allergies": ("medicines_allergies",),
    "results": ("labs_imaging", "objective_findings"),
    "anyresult": ("labs_imaging", "objective_findings", "assessment", "pertinent_history",
                  "key_problems"),
    "any": ALL,
    "all": ALL,
    "present": ALL,
}  # fmt: skip
_ANYWHERE = ("medicines", "anymed", "allergies")
"""What must not be told among the patient's medicines must stand in no other list either."""
_SHORT = 3
"""A word of so many letters counts only whole: "if", "no", "tb"."""
_FRAGMENT = re.compile(
    r"(?i)\A(?:[,.;:)]|(?:and|or|but|which|because|then)\b)"
    r"|(?:\b(?:and|or|the|a|of|with|for|to|in|but|is|was|by|because|if)|[,(\[-])\Z"
)


@dataclass(frozen=True)
class Shown:
    """A line of a summary: its list, its words, and what stands over it: the name of its section
    and the lines above it in the note that are shown with it."""

    list: str
    text: str
    above: Sequence[str] = ()
    place: tuple[int, int] = (0, 0)
    over_others: bool = False
    sure: bool = True
    """Whether it is no recommendation with a doubt."""


@dataclass
class Figures:
    """Counts, and a line for each thing that is not as it should be."""

    counts: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)

    def add(self, name: str, note: str = "", *said: object) -> None:
        self.counts[name] += 1
        if note:
            self.details.append(" | ".join([note, name, *map(str, said)]))


def judge(
    name: str, note: str, gold: Mapping[str, Any], lines: Sequence[Shown], to: Figures
) -> None:
    """Counts for one note, added to `to`."""
    to.add("notes")
    for line in lines:
        to.add("lines")
        start, end = line.place
        if folded(note[start:end]) != folded(line.text):
            to.add("not_in_span", name, line.list, line.text)
        if is_fragment(line):
            to.add("unreadable_alone", name, line.list, line.text)
    for one in gold["required"]:
        to.add("required")
        lists = {line.list for line in lines if all(has(line.text, word) for word in one["say"])}
        if lists & set(GROUPS.get(one["in"], (one["in"],))):
            to.add("found")
        elif lists:
            to.add("elsewhere", name, one["in"], one["say"], sorted(lists))
        else:
            to.add("missed", name, one["in"], one["say"])
    for one in gold["forbidden"]:
        to.add("forbidden")
        where = ALL if one["in"] in _ANYWHERE else GROUPS.get(one["in"], (one["in"],))
        told = list(telling(lines, where, one["say"], one["unless"]))
        if any(not marked for _, marked in told):
            to.add("told", name, one["in"], one["say"], told[0][0].text)
        elif told:
            to.add("told_under_its_heading", name, one["in"], one["say"])


def telling(
    lines: Sequence[Shown], where: Sequence[str], say: Sequence[str], unless: Sequence[str]
) -> Iterator[tuple[Shown, bool]]:
    """The lines that tell words without one of `unless`; whether what is above a line has one."""
    for line in lines:
        if line.list not in where or not all(has(line.text, word) for word in say):
            continue
        if any(has(line.text, word) for word in unless):
            continue
        marked = any(has(above, word) for above in line.above for word in unless)
        yield line, marked or EARLIER in line.above


EARLIER = "an earlier day"
"""Stands above a line of an entry of a record before the one whose plan is in force."""


def is_fragment(line: Shown) -> bool:
    """Whether a line cannot be understood by itself: no word, an open end, half a bracket."""
    if line.over_others:
        return False
    words = re.findall(r"[^\W\d_]{2,}", line.text)
    half = line.text.count("(") != line.text.count(")")
    return not words or half or _FRAGMENT.search(line.text.strip()) is not None


def folded(words: str) -> str:
    """Lower case, one space between words, plain apostrophes."""
    return " ".join(words.casefold().replace("’", "'").split())


def has(words: str, word: str) -> bool:
    """Whether a word stands in words; of one longer than three letters the beginning is enough."""
    begin = r"(?<!\w)" if word[0].isalnum() else ""
    end = r"(?!\w)" if len(word) <= _SHORT else ""
    return re.search(begin + re.escape(folded(word)) + end, folded(words)) is not None
