"""What a reader's probabilities are worth on the evaluation cases. numpy only."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    x, y = np.asarray(list(good)), np.sort(list(bad))
    if not len(x) or not len(y):
        return math.nan
    below = np.searchsorted(y, x, "left") + np.searchsorted(y, x, "right")
    return float(below.mean() / 2 / len(y))


def coverage(good: Iterable[float], bad: Iterable[float], most: float) -> tuple[float, float]:
    """The largest share of `good` above a threshold that at most `most` of `bad` pass, and it."""
    x, y = np.asarray(list(good)), np.sort(list(bad))[::-1]
    threshold = float(y[math.floor(most * len(y))])
    return float((x > threshold).mean()), threshold


def _round(value: float) -> float:
    return round(value, 4)


def _ranked(good: Sequence[float], bad: Sequence[float]) -> dict[str, float]:
    two, five = coverage(good, bad, 0.02)[0], coverage(good, bad, 0.05)[0]
    return {
        "area": _round(area(good, bad)), "at_2": _round(two), "at_5": _round(five),
        "supported": len(good), "others": len(bad),
    }  # fmt: skip


def written(cases: Sequence[Case], p: Array) -> dict[str, Any]:
    """The figures on `eval/written`; `p` are the probabilities of "supported"."""
    score: dict[tuple[str, str], float] = {}
    kinds: dict[str, str] = {}
    twins: list[tuple[str, str, float]] = []
    for one, value in zip(cases, p, strict=True):
        if one.set != "written":
            continue
        if one.form.startswith("twin-"):
            twins.append((one.form[5:], one.case, float(value)))
        else:
            score[one.form, one.case] = float(value)
            kinds[one.case] = one.kind

    def all_of(form: str) -> dict[str, float]:
        return {case: value for (f, case), value in score.items() if f == form}

    own, other, quote, counter = map(all_of, ("own", "other", "quote", "counter"))
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for kind, case, value in twins:
        right[kind].append(own[case] > value)
        right["all"].append(own[case] > value)
    flipped = {k: counter[k] > quote[k] for k in counter}
    empty = all_of("empty")
    balanced = [*own.values(), *counter.values()], [*other.values(), *quote.values()]
    by_kind = {}
    _, threshold = coverage(*balanced, 0.05)
    for kind in sorted({kinds[k] for k in quote}):
        those = [k for k in quote if kinds[k] == kind]
        by_kind[kind] = {
            "n": len(those),
            "area": _round(area(own.values(), [quote[k] for k in those])),
            "counter": _round(float(np.mean([flipped[k] for k in those if k in flipped]))),
            "accepted_at_5": _round(float(np.mean([quote[k] > threshold for k in those]))),
        }
    return {
        "balanced": _ranked(*balanced),
        "as_they_are": _ranked(list(own.values()), list(quote.values())),
        "empty_auc": _round(area((empty[k] for k in own), (empty[k] for k in quote if k in empty))),
        "other_quote": _round(float(np.mean([own[k] > other[k] for k in other]))),
        "counter": _round(float(np.mean(list(flipped.values())))),
        "twins": {k: [_round(float(np.mean(v))), len(v)] for k, v in sorted(right.items())},
        "by_kind": by_kind,
    }


def combined(
    cases: Sequence[Case], p: Array, name: str, way: str
) -> tuple[dict[str, float], dict[str, bool], dict[str, int]]:
    """The highest score over the parts of each case of a set, whether each is supported, and folds."""
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


def claims(cases: Sequence[Case], p: Array, name: str) -> dict[str, Any]:
    """The figures on one of the files of claims, by way of combining parts."""
    found = {}
    for way in WAYS:
        best, truth, fold = combined(cases, p, name, way)
        if not best:
            return {}
        found[way] = _ranked(
            [v for k, v in best.items() if truth[k]], [v for k, v in best.items() if not truth[k]]
        )
        if name == "scifact":
            only = {k: v for k, v in best.items() if fold[k] == 0}
            found[way]["fold_0_area"] = _round(
                area(
                    (v for k, v in only.items() if truth[k]),
                    (v for k, v in only.items() if not truth[k]),
                )
            )
    return found


def figures(cases: Sequence[Case], p: Array) -> dict[str, Any]:
    """All figures; `p` are the probabilities of "supported", one a case."""
    return {
        "written": written(cases, p),
        **{name: claims(cases, p, name) for name in ("scifact", "healthver", "nli4ct")},
    }
