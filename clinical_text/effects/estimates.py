"""The effects that a text states in numbers: ratios, differences, percentages of two arms. Pure.

An estimate is read only where its name or a comparison is written beside its number; nothing is
computed and nothing carried over from another sentence. What cannot be read stays None.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

from clinical_text.effects import words
from clinical_text.effects.arms import may_compare, percentages
from clinical_text.effects.named import RATIOS, Found, PValue, named
from clinical_text.effects.patterns import GAP, MEASURE, MEASURE_NEEDS
from clinical_text.normalize import fold_dashes
from clinical_text.quantities import Numbers
from knowledge.matching.literals import ignoring_case
from store.core.spans import Span

Direction = Literal["lower", "higher", "none"]

LONGEST = 4000
"""Code points of a sentence that is read; longer ones are tables run together."""
MOST = 40
"""Effects of one sentence that are read; no sentence of 1,479 real texts has more than four, and a
table run together that has more would cost most of the reading of its document."""
_LAID_OUT = re.compile(rf"\s{{{GAP}}}")
"""Columns set with spaces are no sentence; and patterns need not cope with longer gaps."""
_WORTH = re.compile(r"(?i:ratio|risk|difference)|[HORMIS][RD]")
"""Without a percentage an effect has one of these in its sentence."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of a text at `[start, end)`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """One effect at `[start, end)` of a text, which reads `written`.

    `measure` is HR, OR, RR (rate ratios too), MD, SMD, RD or percent; `unit` that of the value.
    `other` is the second arm's percentage. `level` is the interval's (95), None if not told.
    `direction` is what the first-named arm has of the outcome, beside the other: "none" where the
    interval or p value shows no difference. A hazard ratio of a survival below one is more
    survival. `sentence` is the sentence around it.
    """

    start: int
    end: int
    written: str
    measure: str
    value: Decimal
    sentence: Span
    unit: str | None = None
    other: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    level: Decimal | None = None
    p: PValue | None = None
    direction: Direction | None = None
    outcome: Phrase | None = None
    population: Phrase | None = None
    intervention: Phrase | None = None
    comparator: Phrase | None = None

    @property
    def phrases(self) -> Mapping[str, Phrase]:
        """The words that tell what it is an effect of, by name; those that were found."""
        named = ("outcome", "population", "intervention", "comparator")
        return {name: found for name in named if (found := getattr(self, name)) is not None}


def estimates(text: str, sentences: Sequence[Span]) -> list[Estimate]:
    """The effect estimates of `text`, in order, up to `MOST` of a sentence; `sentences` are its
    sentence spans.

    All places are code points of `text`, and `text[e.start:e.end] == e.written`.
    """
    found: list[Estimate] = []
    for start, end in sentences:
        if end - start > LONGEST:
            continue
        sentence = text[start:end]
        percents = sentence.count("%")
        measures = MEASURE_NEEDS.met(sentence, ignoring_case(sentence))
        if (percents < 2 and not measures) or _LAID_OUT.search(sentence):
            continue
        folded = fold_dashes(sentence)
        names = [*MEASURE.finditer(folded)] if measures else []
        if percents < 2 and not (names and (percents or _WORTH.search(sentence))):
            continue
        pairs = may_compare(folded)
        if not names and not pairs:
            continue
        numbers = Numbers(sentence, folded)
        stated = [*islice(named(folded, names, numbers), MOST)]
        if pairs:
            stated += islice(percentages(folded, numbers), MOST - len(stated))
        if not stated:
            continue
        stated.sort(key=lambda one: (one.start, one.end))
        people = words.population(folded)
        found += [_placed(text, Span(start, end), folded, people, one) for one in stated]
    return found


def _direction(one: Found, outcome: str | None) -> Direction | None:
    """What the first arm has of the outcome; see `Estimate`."""
    middle = Decimal(1) if one.measure in RATIOS else Decimal(0)
    value, base = one.value, middle if one.other is None else one.other
    if one.low is not None and one.high is not None and one.low <= middle <= one.high:
        return "none"
    if one.low is None and one.p is not None and one.p.significant is False:
        return "none"
    if value == base:
        return "none"
    lower = value < base
    if one.measure == "HR" and outcome is not None and words.is_survival(outcome):
        lower = not lower
    said = words.said_direction(one.said) if one.measure in ("MD", "RD") and value > 0 else None
    if said is not None:  # "a reduction of 5 mmHg": the sign is in the word
        return "lower" if said == "lower" else "higher"
    return "lower" if lower else "higher"


def _placed(text: str, sentence: Span, folded: str, people: Span | None, one: Found) -> Estimate:
    """The estimate with its places in the whole text, and the words that tell what it is of."""
    begin = sentence.start

    def phrase(span: Span | None) -> Phrase | None:
        if span is None or span.end <= span.start:
            return None
        start, end = begin + span.start, begin + span.end
        return Phrase(start, end, text[start:end])

    of = None
    if one.shares_words:
        of = phrase(words.outcome(folded, one.start, one.about, one.end))
    arms = one.arms
    if arms.first is None and arms.second is None:
        arms = words.arms(folded, one.start, one.end)
    start, end = begin + one.start, begin + _closed(folded, one.start, one.end)
    return Estimate(
        start,
        end,
        text[start:end],
        one.measure,
        one.value,
        sentence,
        one.unit,
        one.other,
        one.low,
        one.high,
        one.level,
        one.p,
        _direction(one, of.text if of else None),
        of,
        phrase(people),
        phrase(arms.first),
        phrase(arms.second),
    )


def _closed(sentence: str, start: int, end: int) -> int:
    """`end` behind the brackets that were opened since `start` and close right there."""
    written = sentence[start:end]
    opened = sum(map(written.count, "([")) - sum(map(written.count, ")]"))
    while opened > 0 and sentence[end : end + 1] in (")", "]"):
        end, opened = end + 1, opened - 1
    return end


def as_row(one: Estimate) -> dict[str, Any]:
    """The columns of `effect_estimate` without the version; `body` is read by `from_row`."""
    body: dict[str, Any] = {
        name: [found.start, found.end, found.text] for name, found in one.phrases.items()
    }
    body["sentence"] = list(one.sentence)
    if one.unit is not None:
        body["unit"] = one.unit
    for name, number in (("other", one.other), ("level", one.level)):
        if number is not None:
            body[name] = str(number)
    if one.p is not None:
        body["p"] = [one.p.comparator, str(one.p.value)]
    return {
        "start": one.start,
        "end": one.end,
        "measure": one.measure,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "direction": one.direction,
        "body": body,
    }


def from_row(row: Mapping[str, Any], text: str) -> Estimate:
    """The estimate that `as_row` wrote, for the `text` that it was found in."""
    body = row["body"]
    named = {
        name: Phrase(*body[name])
        for name in ("outcome", "population", "intervention", "comparator")
        if name in body
    }
    return Estimate(
        start=row["start"],
        end=row["end"],
        written=text[row["start"] : row["end"]],
        measure=row["measure"],
        value=row["value"],
        sentence=Span(*body["sentence"]),
        unit=body.get("unit"),
        other=Decimal(body["other"]) if "other" in body else None,
        low=row["low"],
        high=row["high"],
        level=Decimal(body["level"]) if "level" in body else None,
        p=PValue(Decimal(body["p"][1]), body["p"][0]) if "p" in body else None,
        direction=row["direction"],
        **named,
    )
