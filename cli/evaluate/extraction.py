"""`attest evaluate extraction DIR`: fields of documents against what a person wrote down."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import correlation, mean
from typing import Any

from cli.evaluate.extraction_cases import Case, read_cases
from workers.extract.documents import parts_of
from workers.extract.evaluator import evaluate
from workers.extract.extraction import Extraction, PartResult, extract_text, merged
from workers.extract.fields import Attempt, FieldResult, Item, Status
from workers.extract.gold import right
from workers.extract.loop import Outcome
from workers.extract.readability import Unreadable
from workers.extract.rubrics import rubric
from workers.extract.values import Value, Words

UNREADABLE = "unreadable"
LEAST_FOR_CORRELATION = 3


@dataclass
class _Judged:
    """What was measured of one document."""

    case: Case
    shares: dict[str, float | None]
    score: float | None = None
    iterations: int | None = None
    reached: bool = False
    type_right: bool = False
    planted: list[tuple[float, float]] = field(default_factory=list)

    @property
    def accuracy(self) -> float | None:
        return mean(one or 0.0 for one in self.shares.values()) if self.shares else None


def evaluate_extraction(
    directory: Path, progress: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Extract every document of `directory` by rules, in this process, and compare with its gold.

    The gold is `NAME.json` `{type, fields}` beside `NAME.txt`, or stands in the document itself
    (`cli.evaluate.extraction_cases`); what is compared how, `workers.extract.gold` says.

    Returns `field_accuracy` (mean over all gold fields), `by_type{type: field accuracy}`,
    `score_vs_accuracy_r` (Pearson, over documents; None below three or where one side does not
    vary), `iterations_mean`, `reached_threshold` (share of documents); and beside the documented
    keys: `documents`, `fields`, `type_accuracy`, `unreadable{right, total}`, `by_field{}`,
    `score_vs_accuracy_r_planted` (over the same attempts with faults planted, which tells what the
    evaluator notices), `unknown_fields` (names that no field of ours has; they count as wrong),
    `wrong{document: [fields]}`.

    Raises ValueError, in one line, for a missing folder or an unreadable file.
    """
    cases = read_cases(directory)
    judged = []
    for done, case in enumerate(cases, start=1):
        judged.append(_judge(case))
        if progress is not None:
            progress(done, len(cases))
    return _report(judged)


def _judge(case: Case) -> _Judged:
    try:
        found = extract_text(case.text, profile="batch")
    except Unreadable:
        expected = case.type == UNREADABLE or not case.fields
        return _Judged(case, dict.fromkeys(case.fields, 0.0), type_right=expected)
    ours = [one.part.document_type for one in found.parts]
    return _Judged(
        case,
        _shares(case, found.fields, ours[0]),
        found.score,
        found.iterations,
        found.met_threshold,
        set(ours) == set(case.types) or (case.type == "composite" and len(ours) > 1),
        _planted(case, found),
    )


def _shares(
    case: Case, fields: Mapping[str, FieldResult], document_type: str
) -> dict[str, float | None]:
    return {name: right(name, gold, fields, document_type) for name, gold in case.fields.items()}


def _planted(case: Case, found: Extraction) -> list[tuple[float, float]]:
    """Score and accuracy of the result with one, two and three thirds of its fields spoiled."""
    pairs = []
    for thirds in (1, 2, 3):
        results = []
        for one in found.parts:
            attempt = _spoiled(one.outcome.best.attempt, thirds)
            wanted = rubric(one.part.document_type)
            evaluation = evaluate(parts_of(case.text, one.part), wanted, attempt)
            best = one.outcome.best.model_copy(
                update={"attempt": attempt, "evaluation": evaluation}
            )
            outcome = Outcome(best, [best], one.outcome.stopped, one.outcome.profile, 0.0)
            results.append(PartResult(one.part, outcome))
        shares = _shares(case, merged(results), found.parts[0].part.document_type)
        if shares:
            score = mean(one.outcome.best.score for one in results)
            pairs.append((score, mean(one or 0.0 for one in shares.values())))
    return pairs


def _spoiled(attempt: Attempt, thirds: int) -> Attempt:
    """Every third field, two of three or all: turn by turn left out or given another value."""
    fields = {}
    for index, (name, result) in enumerate(sorted(attempt.fields.items())):
        if index % 3 >= thirds or result.status is Status.NOT_PRESENT or name == "raw_text":
            fields[name] = result
        elif index % 2:
            fields[name] = FieldResult(status=Status.NOT_PRESENT, many=result.many)
        else:
            items = tuple(
                Item(value=_another(one.value), start=one.start, end=one.end)
                for one in result.items
            )
            fields[name] = result.model_copy(update={"items": items})
    return attempt.model_copy(update={"fields": fields})


def _another(value: Value) -> Value:
    """A value of the same kind that is not this one."""
    if isinstance(value, Words):
        return Words(text="something else altogether")
    swaps = {"positive": "negative", "negative": "positive", "present": "absent",
             "absent": "present", "MSS": "MSI-H", "MSI-H": "MSS", "1": "3", "2": "1", "3": "2",
             "I": "III", "II": "IV"}  # fmt: skip
    changed: dict[str, Any] = {}
    for name, held in value.model_dump().items():
        if isinstance(held, bool) or name in ("kind", "unit", "low", "high", "marker", "system"):
            continue
        if isinstance(held, float | int):
            changed[name] = type(held)(held + 3)
        elif isinstance(held, tuple):
            changed[name] = tuple(one + 3 for one in held)
        elif isinstance(held, str):
            changed[name] = swaps.get(held, f"{held}x" if name not in ("iso", "other") else None)
    if changed.get("iso", "") is None:
        changed |= {"iso": "1999-01-01", "other": None}
    return value.model_copy(update=changed)


def _report(judged: Sequence[_Judged]) -> dict[str, object]:
    by_type: dict[str, list[float]] = defaultdict(list)
    by_field: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        for name, share in one.shares.items():
            by_type[one.case.type].append(share or 0.0)
            by_field[name].append(share or 0.0)
    every = [share for shares in by_type.values() for share in shares]
    extracted = [one for one in judged if one.score is not None]
    pairs = [(one.score, one.accuracy) for one in extracted if one.accuracy is not None]
    refused = [one for one in judged if one.score is None or one.case.type == UNREADABLE]
    return {
        "field_accuracy": _rounded(mean(every) if every else None),
        "by_type": {name: _rounded(mean(one)) for name, one in sorted(by_type.items())},
        "score_vs_accuracy_r": _pearson(pairs),
        "iterations_mean": _rounded(_mean([float(one.iterations or 0) for one in extracted])),
        "reached_threshold": _rounded(_mean([float(one.reached) for one in extracted])),
        "documents": len(judged),
        "fields": len(every),
        "type_accuracy": _rounded(_mean([float(one.type_right) for one in judged])),
        "unreadable": {
            "right": sum(one.type_right and one.score is None for one in refused),
            "total": len(refused),
        },
        "score_vs_accuracy_r_planted": _pearson(
            [*pairs, *(pair for one in extracted for pair in one.planted)]
        ),
        "by_field": {name: _rounded(mean(one)) for name, one in sorted(by_field.items())},
        "unknown_fields": sorted(
            {name for one in judged for name, share in one.shares.items() if share is None}
        ),
        "wrong": {
            one.case.name: names
            for one in judged
            if (names := [name for name, share in one.shares.items() if (share or 0.0) < 1.0])
        },
    }


def _mean(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _pearson(pairs: Sequence[tuple[float | None, float | None]]) -> float | None:
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < LEAST_FOR_CORRELATION:
        return None
    scores, shares = [a for a, _ in known], [b for _, b in known]
    if len(set(scores)) < 2 or len(set(shares)) < 2:
        return None
    return round(correlation(scores, shares), 4)
