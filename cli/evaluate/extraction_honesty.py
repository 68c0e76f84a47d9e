"""What a figure of accuracy hides: what was stated and missed, what was invented, and whether the
score tells a wrong document from a right one. Pure.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

from workers.extract.fields import FieldResult, Status
from workers.extract.gold import entries, found_is_wanted, matched
from workers.extract.rubrics import field_named, field_policies

BINS = 10
"""Of the scores, for the calibration error (as in Guo et al., arXiv:1706.04599)."""
REVIEWED_BELOW = 0.9
"""Accuracy below which a document is to have a review (issue 36)."""


class Told(NamedTuple):
    """Of one document: its score, its share of right fields, whether a review is opened, and by
    field of the gold how right it is."""

    score: float
    shares: Mapping[str, float]
    gold: Mapping[str, Any]
    fields: Mapping[str, FieldResult]
    document_type: str
    reviewed: bool

    @property
    def accuracy(self) -> float:
        """The share of the gold's fields that are right."""
        return mean(self.shares.values())


def honesty(documents: Sequence[Told]) -> dict[str, object]:
    """The figures.

    - `stated{right, total}`: fields of one value that the gold states, right in full.
    - `list_items{right, total, extra}`: entries of fields of many values that the gold states.
    - `invented{wrong, total}`: fields that the gold says are not stated, and that got a value.
    - `auc`: the chance that of a document with a wrong field and one without, the score of the
      second is higher; None where there are not both.
    - `calibration_error`: mean distance between score and accuracy, over ten bins of the score.
    - `unreviewed`: documents below 0.9 of accuracy that no review shows.
    """
    stated: list[bool] = []
    invented: list[str] = []
    items = [0, 0, 0]
    absent = 0
    for number, one in enumerate(documents):
        for name, gold in one.gold.items():
            field = field_named(name, one.document_type)
            many = field is not None and field_policies()[field].many
            if not found_is_wanted(gold):
                absent += 1
                if one.shares[name] < 1.0:
                    invented.append(f"{number}:{name}")
            elif many and field is not None:
                for at, count in enumerate(_items(field, gold, one.fields.get(field))):
                    items[at] += count
            else:
                stated.append(one.shares[name] >= 1.0)
    pairs = [(one.score, one.accuracy) for one in documents]
    return {
        "stated": {"right": sum(stated), "total": len(stated)},
        "list_items": dict(zip(("right", "total", "extra"), items, strict=True)),
        "invented": {"wrong": len(invented), "total": absent},
        "auc": _area([a for a, b in pairs if b >= 1.0], [a for a, b in pairs if b < 1.0]),
        "calibration_error": _calibration_error(pairs),
        "unreviewed": sum(one.accuracy < REVIEWED_BELOW and not one.reviewed for one in documents),
    }


def _items(field: str, gold: Any, result: FieldResult | None) -> tuple[int, int, int]:
    """Entries of the gold that were found, all of them, and what else was found."""
    some = isinstance(gold, Mapping) and set(gold) == {"includes"}
    wanted = entries(field, gold["includes"] if some else gold)
    found = () if result is None or result.status is Status.NOT_PRESENT else result.items
    ours = [one.value for one in found]
    right = matched(ours, wanted)
    return right, len(wanted), 0 if some else len(ours) - right


def _area(right: Sequence[float], wrong: Sequence[float]) -> float | None:
    """The area under the curve, ties half (Mann and Whitney)."""
    if not right or not wrong:
        return None
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in right for b in wrong]
    return round(mean(wins), 4)


def _calibration_error(pairs: Sequence[tuple[float, float]]) -> float | None:
    bins: dict[int, list[tuple[float, float]]] = {}
    for score, accuracy in pairs:
        bins.setdefault(min(int(score * BINS), BINS - 1), []).append((score, accuracy))
    apart = [
        len(held) * abs(mean(a for a, _ in held) - mean(b for _, b in held))
        for held in bins.values()
    ]
    return round(sum(apart) / len(pairs), 4) if pairs else None
