"""The differences of two versions by sentence and, within changed sentences, by word. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from store.core.spans import Structure

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
MANY = 2000
"""In texts of more sentences, very frequent ones do not start a match (`autojunk`)."""
MOST_WORDS = 3000
"""The most words of a changed passage that is compared word by word."""
MOST_PAIRS, MOST_PAIRS_OF_WORDS = 100_000, 300_000
"""The most pairs of equal sentences, and of equal words in all changed passages of a page, that are
compared (at worst some 3 s of work). In texts with more repetition, everything between the common
beginning and end counts as changed."""
CONTEXT = 2
"""The sentences shown around a change."""


@dataclass(frozen=True)
class Word:
    """A run of words; `changed` if the other version does not have it here."""

    text: str
    changed: bool


@dataclass(frozen=True)
class Row:
    """A passage in the old and the new version. `skipped` counts the sentences left out."""

    kind: Literal["same", "changed", "removed", "added", "skipped"]
    old: Sequence[Word] = ()
    new: Sequence[Word] = ()
    skipped: int = 0


def sentences(text: str, structure: Structure | None) -> list[str]:
    """The sentences of a text, or its lines if its structure is not known."""
    if structure is None or not structure.sentences:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return [span.of(text) for span in structure.sentences]


def rows(old: Sequence[str], new: Sequence[str]) -> list[Row]:
    """The differences in the order of the text, with `CONTEXT` sentences around each."""
    frequent = max(len(old), len(new)) > MANY
    if _pairs(old, new) > MOST_PAIRS:
        steps = _steps_of_ends(old, new)
    else:
        steps = list(SequenceMatcher(None, old, new, autojunk=frequent).get_opcodes())
    result: list[Row] = []
    left = MOST_PAIRS_OF_WORDS
    for place, (step, a, b, c, d) in enumerate(steps):
        if step == "equal":
            result += _same(old[a:b], is_first=place == 0, is_last=place == len(steps) - 1)
        elif step == "replace":
            row, compared = _changed(" ".join(old[a:b]), " ".join(new[c:d]), left)
            result.append(row)
            left -= compared
        else:
            kind: Literal["removed", "added"] = "removed" if step == "delete" else "added"
            result.append(
                Row(
                    kind,
                    [Word(sentence, True) for sentence in old[a:b]],
                    [Word(sentence, True) for sentence in new[c:d]],
                )
            )
    return result


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of equal pairs. The work of a comparison is a small multiple of it."""
    counted = Counter(new)
    return sum(counted[item] for item in old)


_Step = tuple[str, int, int, int, int]


def _steps_of_ends(old: Sequence[str], new: Sequence[str]) -> list[_Step]:
    """The steps for a common beginning, a replaced middle and a common end."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    rest = most - head
    tail = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    a, b = len(old) - tail, len(new) - tail
    steps: list[_Step] = [("equal", 0, head, 0, head)] if head else []
    if head < a and head < b:
        steps.append(("replace", head, a, head, b))
    elif head < a or head < b:
        steps.append(("delete" if head < a else "insert", head, a, head, b))
    return [*steps, ("equal", a, len(old), b, len(new))] if tail else steps


def _same(run: Sequence[str], *, is_first: bool, is_last: bool) -> list[Row]:
    head = 0 if is_first else CONTEXT
    tail = 0 if is_last else CONTEXT
    if len(run) <= head + tail + 1:
        return [_row(sentence) for sentence in run]
    hidden = len(run) - head - tail
    return [
        *(_row(sentence) for sentence in run[:head]),
        Row("skipped", skipped=hidden),
        *(_row(sentence) for sentence in run[len(run) - tail :]),
    ]


def _row(sentence: str) -> Row:
    return Row("same", [Word(sentence, False)], [Word(sentence, False)])


def _changed(old: str, new: str, most_pairs: int) -> tuple[Row, int]:
    """The row of a changed passage, and the number of word pairs that were compared."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        return Row("changed", [Word(old, True)], [Word(new, True)]), 0
    pairs = _pairs(before, after)
    if pairs > most_pairs:
        return Row("changed", [Word(old, True)], [Word(new, True)]), 0
    left: list[Word] = []
    right: list[Word] = []
    for step, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = step == "equal"
        if a < b:
            left.append(Word("".join(before[a:b]), not same))
        if c < d:
            right.append(Word("".join(after[c:d]), not same))
    return Row("changed", left, right), pairs
