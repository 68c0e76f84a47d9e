"""Changes to documents that leave what they state: words and layout are not learned by heart."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from benchmarks.span_reader.marking import Marked

_LABEL = re.compile(
    r"(?m)^[ \t]*(?P<label>[A-Za-z][A-Za-z /()&.'-]{1,34}?)"
    r"(?P<join>[ \t]*(?:[:=|\t]|\.{2,}|-{1,2} )[ \t]*)(?=\S)"
)
_JOINS = (": ", " - ", " = ", "\t", " | ", "  ", "... ", ":\n")
_LINE_JOINS = (" ", "  ", " | ", "; ")
_SCANNED = {"l": "1", "1": "l", "0": "O", "O": "0", "o": "0", "i": "1", "S": "5", "5": "S",
            "m": "rn", "e": "c", "B": "8", "a": "o", " ": "  "}  # fmt: skip
_SHORT = 80
"""Characters of a value that may take another's place."""
_EXCHANGED = frozenset(["diagnosis", "histology", "specimen", "procedure", "chief_complaint",
    "primary_site", "preoperative_diagnosis", "postoperative_diagnosis", "allergies", "modality",
    "anesthesia", "complications", "blood_loss"])  # fmt: skip
Edit = tuple[int, int, str]


class Changer:
    """Changes documents by what others call and state; the same seed, the same changes."""

    def __init__(self, documents: Sequence[Marked], seed: int = 0) -> None:
        """Reads the values and labels of all documents."""
        self._chance = random.Random(seed)
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        self._labels: defaultdict[str, list[str]] = defaultdict(list)
        for one in documents:
            at = {span.start: span.field for span in one.spans}
            for span in one.spans:
                if span.sure and span.end - span.start < _SHORT:
                    self._values[span.field].append(one.text[span.start : span.end])
            for label in _LABEL.finditer(one.text):
                if label.end() in at:
                    self._labels[at[label.end()]].append(label["label"])

    def changed(self, one: Marked) -> Marked:
        """The document with other values, labels, capitals, lines, faults of a scan, or an end.

        The shares are ours: most documents are changed in one or two ways, some in none.
        """
        if self._chance.random() < 0.5:
            one = edited(one, self._other_values(one))
        if self._chance.random() < 0.5:
            one = edited(one, self._other_labels(one))
        case = self._chance.random()
        if case < 0.22:
            text = one.text.upper() if case < 0.15 else one.text.lower()
            one = replace(one, text=text) if len(text) == len(one.text) else one
        if self._chance.random() < 0.2:
            join = self._chance.choice(_LINE_JOINS)
            one = edited(
                one, ((m.start(), m.end(), join) for m in re.finditer(r"\s*\n\s*", one.text))
            )
        if self._chance.random() < 0.2:
            one = edited(one, self._scanned(one.text))
        return self._cut(one) if self._chance.random() < 0.25 else one

    def _other_values(self, one: Marked) -> Iterable[Edit]:
        for span in one.spans:
            value = one.text[span.start : span.end]
            others = self._values[span.field]
            if not others or len(value) >= _SHORT:
                continue
            if span.field == "institution" and self._chance.random() < 0.7:
                other = self._chance.choice(others)
                for place in re.finditer(re.escape(value), one.text):
                    yield *place.span(), other
            elif span.field in _EXCHANGED and self._chance.random() < 0.25:
                inside = (o for o in one.spans if o != span)
                if not any(o.start < span.end and span.start < o.end for o in inside):
                    yield span.start, span.end, self._chance.choice(others)

    def _other_labels(self, one: Marked) -> Iterable[Edit]:
        at = {span.start: span.field for span in one.spans}
        for label in _LABEL.finditer(one.text):
            field, chance = at.get(label.end()), self._chance.random()
            if field and chance < 0.2 and self._labels[field]:
                other = self._chance.choice(self._labels[field])
                yield *label.span("label"), other.upper() if label["label"].isupper() else other
            elif field and chance < 0.32:
                yield label.start("label"), label.end("join"), ""
            elif chance < 0.4:
                yield *label.span("join"), self._chance.choice(_JOINS)

    def _scanned(self, text: str) -> Iterable[Edit]:
        share = self._chance.choice((0.01, 0.02, 0.04))
        for at, sign in enumerate(text):
            if sign in _SCANNED and self._chance.random() < share:
                yield at, at + 1, _SCANNED[sign]

    def _cut(self, one: Marked) -> Marked:
        """The document without its end or its head: what only that stated is not stated."""
        lost = self._chance.randint(0, len(one.text) // 2)
        start, end = (
            (lost, len(one.text)) if self._chance.random() < 0.5 else (0, len(one.text) - lost)
        )
        inside = (
            span._replace(start=max(span.start, start) - start, end=min(span.end, end) - start)
            for span in one.spans
        )
        spans = [span for span in inside if span.start < span.end]
        return replace(one, text=one.text[start:end], spans=spans)


def edited(one: Marked, edits: Iterable[Edit]) -> Marked:
    """The document with words at `[start, end)` replaced, of those that overlap the first, and the
    spans where they then are."""
    text, at = "", 0
    moved: list[tuple[int, int, int, int]] = []
    for start, end, words in sorted(edits):
        if start < at:
            continue
        text += one.text[at:start]
        moved.append((start, end, len(text), len(text) + len(words)))
        text, at = text + words, end
    spans = [
        span._replace(start=_moved(moved, span.start), end=_moved(moved, span.end, is_end=True))
        for span in one.spans
    ]
    return replace(one, text=text + one.text[at:], spans=[o for o in spans if o.start < o.end])


def _moved(moved: Sequence[tuple[int, int, int, int]], place: int, *, is_end: bool = False) -> int:
    """Where a place is after the edits; one inside of what was replaced is its begin or end."""
    by = 0
    for start, end, new_start, new_end in moved:
        if place < start or (place == start and not is_end):
            break
        if place < end:
            return new_end if is_end else new_start
        by = new_end - end
    return place + by
