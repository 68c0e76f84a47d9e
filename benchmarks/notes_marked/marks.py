"""Reads marked notes: `«codes|words»` is a statement, `@@ a; b` names the note's problems. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LISTS = {
    "s": "patient_snapshot", "k": "key_problems", "h": "pertinent_history",
    "m": "medicines_allergies", "o": "objective_findings", "l": "labs_imaging", "a": "assessment",
}  # fmt: skip
_MARK = re.compile(r"«(?P<codes>[^|»]+)\|(?P<words>[^»]*)»")
_HEAD = re.compile(r"(?m)^=== (\w+)\n")


@dataclass(frozen=True)
class Statement:
    """A place of a note, the lists that it may stand in, and whether it is an order.

    `urgency`: 1 now or a warning, 2 soon, 3 routine; 0: no order; None: a reader may take it for
    one or not.
    """

    start: int
    end: int
    lists: frozenset[str]
    urgency: int | None


@dataclass(frozen=True)
class Marked:
    """A note without its marks, what was marked, and the problems it names."""

    name: str
    text: str
    statements: tuple[Statement, ...]
    problems: tuple[str, ...]


def marked(path: Path) -> Iterator[Marked]:
    """The notes of a file of marks."""
    parts = _HEAD.split(path.read_text("utf-8"))
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        written, _, problems = body.rpartition("@@")
        text, at, found = "", 0, list[Statement]()
        for one in _MARK.finditer(written):
            text += written[at : one.start()]
            found.append(_statement(len(text), one["words"], one["codes"].split("/")))
            text, at = text + one["words"], one.end()
        text += written[at:]
        named = tuple(one.strip() for one in problems.split(";"))
        yield Marked(name, text.rstrip() + "\n", tuple(found), named)


def _statement(start: int, words: str, codes: list[str]) -> Statement:
    lists = {LISTS[one] for one in codes if one in LISTS}
    urgency: int | None = 0
    for one in codes:
        if one[0] == "p":
            urgency, lists = int(one[1]), lists | {"assessment", "medicines_allergies"}
        elif one == "q":
            urgency, lists = None, lists | {"assessment"}
    return Statement(start, start + len(words), frozenset(lists), urgency)
