"""`attest evaluate claims FILE`: measures whether claims are judged rightly by their evidence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from cli.evaluate.lines import read_lines
from knowledge.answering.judging import judging_policy
from workers.verify.entailment import reader
from workers.verify.entailment.passages import parts
from workers.verify.entailment.reader import Reading
from workers.verify.passages.comparable import is_quoted_whole

Label = Literal["supported", "contradicted", "not_enough"]
LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough")
# The thresholds of the trade-off curve. The figures of the report use the policy's own threshold
# (knowledge/answering/judging.yaml).
STEPS = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)


class Case(BaseModel):
    """One line of the file. Other fields are ignored."""

    id: str
    claim: str
    evidence: str
    label: Literal["supported", "contradicted", "not_enough"]


@dataclass(frozen=True)
class Point:
    """The figures for one threshold on the probability of "supported", applied to all passages."""

    threshold: float
    coverage: float
    unsafe_acceptance: float


def evaluate_claims(
    path: Path, progress: Callable[[int, int], None] | None = None
) -> tuple[dict[str, Any], list[Point]]:
    """Judge every claim of `path` with the committed weights and policy.

    `progress` is called with the number of finished claims and their total. Returns the report
    (DESIGN section 5) and the trade-off curve.

    Raises ValueError, in one line, for a missing file, an unreadable line or a repeated id.
    """
    cases = read_cases(path)
    readings: list[Reading] = []
    for case in cases:
        readings.append(read(case.claim, case.evidence))
        if progress is not None:
            progress(len(readings), len(cases))
    true = [case.label for case in cases]
    return report(true, list(map(label, readings))), curve(true, readings)


def read(claim: str, evidence: str) -> Reading:
    """What the verifier makes of a claim and a text of any length: of its passages the most that
    one says for the claim, and the most that one says against it. Whole sentences of the text need
    no verifier, here as in the gate."""
    if is_quoted_whole(claim, evidence):
        return Reading(1.0, 0.0, 0.0)
    found = reader.judge_all((claim, passage) for _, passage in parts(claim, evidence))
    supported = max(one.supported for one in found)
    contradicted = max(one.contradicted for one in found)
    return Reading(supported, contradicted, min(one.not_enough for one in found))


def label(reading: Reading) -> Label:
    """The verdict by policy."""
    sure = judging_policy().sure
    if reading.supported >= sure.supported:
        return "supported"
    return "contradicted" if reading.contradicted >= sure.likely else "not_enough"


def report(true: Sequence[Label], given: Sequence[Label]) -> dict[str, Any]:
    """Return the figures of DESIGN section 5.

    `macro_f1` is the mean over the labels that occur in the file; a share of nothing is 0.
    `confusion` is {true: {given: count}}.
    """
    confusion = {true_label: dict.fromkeys(LABELS, 0) for true_label in LABELS}
    for true_label, given_label in zip(true, given, strict=True):
        confusion[true_label][given_label] += 1
    per_label = {label: _scores(confusion, label) for label in LABELS}
    occurring = [label for label in LABELS if per_label[label]["total"]]
    unsafe = [confusion[label]["supported"] for label in LABELS if label != "supported"]
    others = len(true) - sum(confusion["supported"].values())
    return {
        "macro_f1": _share(sum(per_label[x]["f1"] for x in occurring), len(occurring)),
        "per_label": per_label,
        "unsafe_acceptance": _share(sum(unsafe), others),
        "coverage": per_label["supported"]["recall"],
        "confusion": confusion,
        "claims": len(true),
    }


def _scores(confusion: dict[Label, dict[Label, int]], label: Label) -> dict[str, float]:
    right = confusion[label][label]
    total = sum(confusion[label].values())
    predicted = sum(row[label] for row in confusion.values())
    return {
        "precision": _share(right, predicted),
        "recall": _share(right, total),
        "f1": _share(2 * right, total + predicted),
        "total": total,
    }


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def curve(true: Sequence[Label], readings: Sequence[Reading]) -> list[Point]:
    """Return the figures for thresholds on the probability of "supported"."""
    return [_point(step, true, readings) for step in STEPS]


def _point(threshold: float, true: Sequence[Label], readings: Iterable[Reading]) -> Point:
    accepted = [reading.supported >= threshold for reading in readings]
    supported = [a for a, label in zip(accepted, true, strict=True) if label == "supported"]
    others = [a for a, label in zip(accepted, true, strict=True) if label != "supported"]
    return Point(
        threshold, _share(sum(supported), len(supported)), _share(sum(others), len(others))
    )


def read_cases(path: Path) -> list[Case]:
    """Return the cases in `path`. Raises ValueError as `evaluate_claims` does."""
    cases: dict[str, Case] = {}
    for number, case in read_lines(path, Case):
        if case.id in cases:
            raise ValueError(f"{path}, line {number}: the id {case.id} occurs twice")
        cases[case.id] = case
    if not cases:
        raise ValueError(f"{path} holds no claim")
    return list(cases.values())


def shown(points: Sequence[Point]) -> Iterable[str]:
    """Return the trade-off curve as a table for people."""
    rows = [
        f"{point.threshold:9.2f}  {point.coverage:8.3f}  {point.unsafe_acceptance:17.3f}"
        for point in points
    ]
    return chain(["threshold  coverage  unsafe_acceptance"], rows)
