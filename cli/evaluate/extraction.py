"""`attest evaluate extraction DIR`: compares extracted fields with a gold standard."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import correlation, mean
from typing import Any

from cli.evaluate.extraction_cases import Case, read_cases
from cli.evaluate.extraction_honesty import Told, honesty
from workers.extract.documents import parts_of
from workers.extract.evaluation.evaluator import evaluate
from workers.extract.fields import Attempt, FieldResult, Item, Status
from workers.extract.gold import right
from workers.extract.intake.readability import Unreadable
from workers.extract.loop.extraction import Extraction, PartResult, extract_text, merged
from workers.extract.loop.loop import Outcome
from workers.extract.rubrics import rubric
from workers.extract.values import Value, Words

UNREADABLE = "unreadable"
LEAST_FOR_CORRELATION = 3


@dataclass
class _Judged:
    """The measurements of one document."""

    case: Case
    shares: dict[str, float | None]
    score: float | None = None
    iterations: int | None = None
    reached: bool = False
    type_right: bool = False
    planted: list[tuple[float, float]] = field(default_factory=list)
    told: Told | None = None

    @property
    def accuracy(self) -> float | None:
        return mean(share or 0.0 for share in self.shares.values()) if self.shares else None


def evaluate_extraction(
    directory: Path, progress: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Extract every document of `directory` by rules, in this process, and compare with its gold.

    The gold is `NAME.json` `{type, fields}` beside `NAME.txt`, or is in the document itself
    (`cli.evaluate.extraction_cases`); `workers.extract.gold` defines the comparison.

    Returns `field_accuracy` (mean over all gold fields), `by_type{type: field accuracy}`,
    `score_vs_accuracy_r` (Pearson, over documents; None below three or where one side does not
    vary), `iterations_mean`, `reached_threshold` (share of documents); and beside the documented
    keys: `documents`, `fields`, `type_accuracy`, `unreadable{right, total}`, `by_field{}`,
    `score_vs_accuracy_r_planted` (over the same attempts with planted faults, which shows what the
    evaluator notices), `unknown_fields` (names that are none of our fields; they count as wrong),
    `wrong{document: [fields]}`, and
    `honesty` (`cli.evaluate.extraction_honesty`).

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
        extraction = extract_text(case.text, profile="batch")
    except Unreadable:
        expected = case.type == UNREADABLE or not case.fields
        return _Judged(case, dict.fromkeys(case.fields, 0.0), type_right=expected)
    found_types = [result.part.document_type for result in extraction.parts]
    shares = _shares(case, extraction.fields, found_types[0])
    return _Judged(
        case,
        shares,
        extraction.score,
        extraction.iterations,
        extraction.met_threshold,
        set(found_types) == set(case.types) or (case.type == "composite" and len(found_types) > 1),
        _planted(case, extraction),
        Told(
            extraction.score,
            {name: share or 0.0 for name, share in shares.items()},
            case.fields,
            extraction.fields,
            found_types[0],
            extraction.needs_review,
        )
        if shares
        else None,
    )


def _shares(
    case: Case, fields: Mapping[str, FieldResult], document_type: str
) -> dict[str, float | None]:
    return {name: right(name, gold, fields, document_type) for name, gold in case.fields.items()}


def _planted(case: Case, found: Extraction) -> list[tuple[float, float]]:
    """Return score and accuracy of the result with one, two and three thirds of fields spoiled."""
    pairs = []
    for thirds in (1, 2, 3):
        results = []
        for result in found.parts:
            attempt = _spoiled(result.outcome.best.attempt, thirds)
            wanted = rubric(result.part.document_type)
            evaluation = evaluate(parts_of(case.text, result.part), wanted, attempt)
            best = result.outcome.best.model_copy(
                update={"attempt": attempt, "evaluation": evaluation}
            )
            outcome = Outcome(best, [best], result.outcome.stopped, result.outcome.profile, 0.0)
            results.append(PartResult(result.part, outcome))
        shares = _shares(case, merged(results), found.parts[0].part.document_type)
        if shares:
            score = mean(result.outcome.best.score for result in results)
            pairs.append((score, mean(share or 0.0 for share in shares.values())))
    return pairs


def _spoiled(attempt: Attempt, thirds: int) -> Attempt:
    """Spoil every third field, two of three, or all: in turn omitted or given another value."""
    fields = {}
    for index, (name, result) in enumerate(sorted(attempt.fields.items())):
        if index % 3 >= thirds or result.status is Status.NOT_PRESENT or name == "raw_text":
            fields[name] = result
        elif index % 2:
            fields[name] = FieldResult(status=Status.NOT_PRESENT, many=result.many)
        else:
            items = tuple(
                Item(value=_another(item.value), start=item.start, end=item.end)
                for item in result.items
            )
            fields[name] = result.model_copy(update={"items": items})
    return attempt.model_copy(update={"fields": fields})


def _another(value: Value) -> Value:
    """Return another value of the same kind."""
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
            changed[name] = tuple(number + 3 for number in held)
        elif isinstance(held, str):
            changed[name] = swaps.get(held, f"{held}x" if name not in ("iso", "other") else None)
    if changed.get("iso", "") is None:
        changed |= {"iso": "1999-01-01", "other": None}
    return value.model_copy(update=changed)


def _report(judged: Sequence[_Judged]) -> dict[str, object]:
    by_type: dict[str, list[float]] = defaultdict(list)
    by_field: dict[str, list[float]] = defaultdict(list)
    for doc in judged:
        for name, share in doc.shares.items():
            by_type[doc.case.type].append(share or 0.0)
            by_field[name].append(share or 0.0)
    every = [share for shares in by_type.values() for share in shares]
    extracted = [doc for doc in judged if doc.score is not None]
    pairs = [(doc.score, doc.accuracy) for doc in extracted if doc.accuracy is not None]
    refused = [doc for doc in judged if doc.score is None or doc.case.type == UNREADABLE]
    return {
        "field_accuracy": _rounded(mean(every) if every else None),
        "by_type": {name: _rounded(mean(shares)) for name, shares in sorted(by_type.items())},
        "score_vs_accuracy_r": _pearson(pairs),
        "iterations_mean": _rounded(_mean([float(doc.iterations or 0) for doc in extracted])),
        "reached_threshold": _rounded(_mean([float(doc.reached) for doc in extracted])),
        "documents": len(judged),
        "fields": len(every),
        "type_accuracy": _rounded(_mean([float(doc.type_right) for doc in judged])),
        "unreadable": {
            "right": sum(doc.type_right and doc.score is None for doc in refused),
            "total": len(refused),
        },
        "score_vs_accuracy_r_planted": _pearson(
            [*pairs, *(pair for doc in extracted for pair in doc.planted)]
        ),
        "honesty": honesty([doc.told for doc in judged if doc.told is not None]),
        "by_field": {name: _rounded(mean(shares)) for name, shares in sorted(by_field.items())},
        "unknown_fields": sorted(
            {name for doc in judged for name, share in doc.shares.items() if share is None}
        ),
        "wrong": {
            doc.case.name: names
            for doc in judged
            if (names := [name for name, share in doc.shares.items() if (share or 0.0) < 1.0])
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
