"""What a reader's probabilities are worth on the evaluation cases. numpy only."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# How the scores of several parts of one text become one. Chosen on fold 0 of SciFact alone.
WAYS = {
    "whole": ("whole", "nearest"),
    "windows": ("window", "all"),
    "any": ("whole", "window", "nearest", "all"),
    "nearest": ("nearest", "all"),
}


class Case(NamedTuple):
    """One pair to be read: `set` it belongs to, `form` of its passage, its case, kind, whether the
    passage bears the claim out, and the fold of SciFact that it is in (else -1)."""

    set: str
    form: str
    case: str
    kind: str
    supported: bool
    fold: int = -1


def area(good: Iterable[float], bad: Iterable[float]) -> float:
    """The share of (good, bad) pairs in the right order, ties by half."""
    high, low = np.asarray(list(good)), np.sort(list(bad))
    if not len(high) or not len(low):
        return math.nan
    below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    return float(below.mean() / 2 / len(low))


def coverage(good: Iterable[float], bad: Iterable[float], most: float) -> tuple[float, float]:
    """The largest share of `good` above a threshold that at most `most` of `bad` pass, and it."""
    high, low = np.asarray(list(good)), np.sort(list(bad))[::-1]
    threshold = float(low[math.floor(most * len(low))])
    return float((high > threshold).mean()), threshold


def _round(value: float) -> float:
    return round(value, 4)


def _share(found: Iterable[bool]) -> float:
    return _round(float(np.mean(list(found))))


def _ranked(good: Sequence[float], bad: Sequence[float]) -> dict[str, float]:
    two, five = coverage(good, bad, 0.02)[0], coverage(good, bad, 0.05)[0]
    return {
        "area": _round(area(good, bad)), "at_2": _round(two), "at_5": _round(five),
        "supported": len(good), "others": len(bad),
    }  # fmt: skip


def written(cases: Sequence[Case], p: Array) -> dict[str, Any]:
    """The figures on `eval/written`; `p` are the probabilities of "supported"."""
    scores: defaultdict[str, dict[str, float]] = defaultdict(dict)
    kinds: dict[str, str] = {}
    twins: list[tuple[str, str, float]] = []
    for one, value in zip(cases, p, strict=True):
        if one.set != "written":
            continue
        if one.form.startswith("twin-"):
            twins.append((one.form[5:], one.case, float(value)))
        else:
            scores[one.form][one.case] = float(value)
            kinds[one.case] = one.kind
    own, other, quote, counter, empty = (
        scores[form] for form in ("own", "other", "quote", "counter", "empty")
    )
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for kind, case, value in twins:
        right[kind].append(own[case] > value)
        right["all"].append(own[case] > value)
    flipped = {case: counter[case] > quote[case] for case in counter}
    balanced = [*own.values(), *counter.values()], [*other.values(), *quote.values()]
    _, threshold = coverage(*balanced, 0.05)
    by_kind = {}
    for kind in sorted({kinds[case] for case in quote}):
        those = [case for case in quote if kinds[case] == kind]
        by_kind[kind] = {
            "n": len(those),
            "area": _round(area(own.values(), [quote[case] for case in those])),
            "counter": _share(flipped[case] for case in those if case in flipped),
            "accepted_at_5": _share(quote[case] > threshold for case in those),
        }
    no_passage = area(
        (empty[case] for case in own), (empty[case] for case in quote if case in empty)
    )
    return {
        "balanced": _ranked(*balanced),
        "as_they_are": _ranked(list(own.values()), list(quote.values())),
        "empty_auc": _round(no_passage),
        "other_quote": _share(own[case] > other[case] for case in other),
        "counter": _share(flipped.values()),
        "twins": {kind: [_share(found), len(found)] for kind, found in sorted(right.items())},
        "by_kind": by_kind,
    }


def combined(
    cases: Sequence[Case], p: Array, name: str, way: str
) -> tuple[dict[str, float], dict[str, bool], dict[str, int]]:
    """Of each case of a set the highest score over its parts, whether it is supported, its fold."""
    best: dict[str, float] = {}
    truth: dict[str, bool] = {}
    fold: dict[str, int] = {}
    for one, value in zip(cases, p, strict=True):
        if one.set == name and one.form in WAYS[way]:
            # "whole" stands alone where the text fits; what is nearest speaks for the others
            if way == "whole" and one.form == "nearest" and one.kind == "fits":
                continue
            best[one.case] = max(best.get(one.case, 0.0), float(value))
            truth[one.case], fold[one.case] = one.supported, one.fold
    return best, truth, fold


def _apart(
    scores: Mapping[str, float], truth: Mapping[str, bool]
) -> tuple[list[float], list[float]]:
    """The scores of cases that are supported, and of the others."""
    good = [value for case, value in scores.items() if truth[case]]
    return good, [value for case, value in scores.items() if not truth[case]]


def claims(cases: Sequence[Case], p: Array, name: str) -> dict[str, Any]:
    """The figures on one of the files of claims, by way of combining parts."""
    found = {}
    for way in WAYS:
        best, truth, fold = combined(cases, p, name, way)
        if not best:
            return {}
        found[way] = _ranked(*_apart(best, truth))
        if name == "scifact":
            only = {case: value for case, value in best.items() if fold[case] == 0}
            found[way]["fold_0_area"] = _round(area(*_apart(only, truth)))
    return found


def figures(cases: Sequence[Case], p: Array) -> dict[str, Any]:
    """All figures; `p` are the probabilities of "supported", one a case."""
    return {
        "written": written(cases, p),
        **{name: claims(cases, p, name) for name in ("scifact", "healthver", "nli4ct")},
    }
