"""How good an attempt is, in four dimensions, how likely it is right, what to mend next. Pure.

Weights, rules and feedback are those of seed marc_v1, section 3.3.1, without the defects that PEERS
section 1 (d) found: the whole document counts, spans are compared, and an evaluator that fails
raises; nothing here makes up a score. The four dimensions steer the loop; what a document is said
to be worth is how likely its fields are right (`evaluation.likelihood`).
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median

from workers.extract.evaluation.accuracy import accuracy
from workers.extract.evaluation.bounds import bound, read_share
from workers.extract.evaluation.completeness import completeness, spoken_of
from workers.extract.evaluation.consistency import consistency
from workers.extract.evaluation.likelihood import evidence, likelihoods
from workers.extract.evaluation.scores import (
    Evaluation,
    EvaluationFailed,
    Feedback,
    FieldScore,
    Issue,
    Score,
)
from workers.extract.evaluation.signs import leftovers
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.evaluation.types import type_in_doubt
from workers.extract.evaluation.validity import validity
from workers.extract.fields import Attempt
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies, policy

Opinion = Callable[[str, Attempt], Mapping[str, float]]
"""Of a document and an attempt: how accurate each field is, 0-1. Raises EvaluationFailed."""


def evaluate(
    parts: Parts, rubric: Rubric, attempt: Attempt, *, opinions: Sequence[Opinion] = ()
) -> Evaluation:
    """Score an attempt and say what is wrong with it.

    Args:
        opinions: further judges of accuracy, such as models; a field counts the median of them
            and of the spans, but one that the spans do not bear is 0 whatever they say.

    Raises:
        EvaluationFailed: there is no text, the attempt is of another type, or an opinion failed.
    """
    if not parts.text.strip():
        raise EvaluationFailed("there is no text to evaluate against")
    if attempt.document_type != rubric.type:
        raise EvaluationFailed("the attempt is of another type than the rubric")
    spoken = {
        field: spoken_of(field, parts) or bool(leftovers(field, parts, attempt))
        for field in rubric.fields
    }
    complete, filled = completeness(parts, rubric, attempt, spoken)
    strayed = type_in_doubt(parts, rubric)
    complete *= signs_policy().type_in_doubt if strayed else 1.0
    _, exact = accuracy(parts, rubric, attempt)
    exact = _with_opinions(parts.text, attempt, exact, opinions)
    precise = _weighted(exact) * read_share(parts, attempt)
    impossible = validity(attempt)
    contrary = consistency(attempt, lambda field: spoken.get(field, False))
    valid = policy().validity.score(len(impossible))
    agreeing = policy().consistency.score(len(contrary))
    doubted = (*filled, *exact)
    critical = [one.field for one in doubted if one.issues and _is_critical(one, rubric)]
    critical += [one.field for one in (*impossible, *contrary) if one.severity == "critical"]
    limit = bound(parts, rubric, attempt, spoken, critical)
    seen = evidence(parts, rubric, attempt, doubted)
    shares = likelihoods(seen, attempt, doubted)
    sure = mean(shares.values()) if shares else 1.0
    if any(one.severity == "critical" for one in (*impossible, *contrary)):
        sure = min(sure, policy().bounds.unfit)
    dimensions = policy().dimensions
    overall = (
        complete * dimensions.completeness
        + precise * dimensions.accuracy
        + agreeing * dimensions.consistency
        + valid * dimensions.clinical_validity
    )
    score = Score(
        overall=round(min(overall, limit.most), 6),
        likelihood=round(min(sure, limit.surest), 6),
        likely={field: round(share, 3) for field, share in shares.items()},
        completeness=complete,
        accuracy=precise,
        consistency=agreeing,
        clinical_validity=valid,
        breakdown=doubted,
    )
    return Evaluation(
        score=score,
        feedback=_feedback(score, rubric, (*impossible, *strayed, *limit.issues), contrary),
    )


def _weighted(scores: Sequence[FieldScore]) -> float:
    total = sum(one.weight for one in scores)
    return sum(one.score * one.weight for one in scores) / total if total else 1.0


def _with_opinions(
    text: str, attempt: Attempt, scores: Sequence[FieldScore], opinions: Sequence[Opinion]
) -> Sequence[FieldScore]:
    if not opinions:
        return scores
    heard = [opinion(text, attempt) for opinion in opinions]
    if any(not 0.0 <= share <= 1.0 for one in heard for share in one.values()):
        raise EvaluationFailed("an opinion is no number from 0 to 1")
    judged = []
    for one in scores:
        said = [opinion[one.field] for opinion in heard if one.field in opinion]
        middle = median([one.score, *said]) if one.score > 0 else 0.0
        issues = one.issues
        if middle < one.score:
            issues = (*issues, f'a second reader does not find the value of "{one.field}" right')
        judged.append(one.model_copy(update={"score": middle, "issues": issues}))
    return judged


def _feedback(
    score: Score, rubric: Rubric, impossible: Sequence[Issue], contrary: Sequence[Issue]
) -> Feedback:
    """Issues, worst first; what is missing; what to look at first; where to look."""
    issues: dict[tuple[str, str], Issue] = {}
    missing: list[str] = []
    for one in score.breakdown:
        if one.score >= 1.0:
            continue
        if one.dimension == "completeness" and one.score == 0:
            missing.append(one.field)
        hint = field_policies()[one.field].hint if one.field in field_policies() else None
        for words in one.issues:
            issue = Issue(
                severity=_severity(one, rubric),
                field=one.field,
                description=words,
                suggested_fix=f"Look for {hint}" if hint else None,
            )
            issues.setdefault((one.field, words), issue)
    for issue in (*impossible, *contrary):
        issues.setdefault((issue.field, issue.description), issue)
    order = {"critical": 0, "major": 1, "minor": 2}
    ranked = sorted(issues.values(), key=lambda issue: order[issue.severity])
    priority = list(dict.fromkeys(one.field for one in ranked if one.severity != "minor"))
    fields = list(dict.fromkeys(one.field for one in ranked))
    return Feedback(
        overall_score=score.overall,
        issues=tuple(ranked),
        missing_fields=tuple(dict.fromkeys(missing)),
        priority_fields=tuple(priority or fields),
        suggestions=tuple(_suggestion(one) for one in fields if one in field_policies()),
        review_fields=_to_review(score, rubric, (*impossible, *contrary)),
    )


_TYPE, _UNKNOWN = "document_type", "unknown"


def _to_review(score: Score, rubric: Rubric, issues: Sequence[Issue]) -> tuple[str, ...]:
    """Fields that a person should look at whatever the score: grave doubts and contradictions,
    what is critical in a field that the type requires or calls important, a type in doubt."""
    found = [
        one.field
        for one in score.breakdown
        if one.issues
        and (one.grave or (rubric.tier(one.field) != "optional" and _is_critical(one, rubric)))
    ]
    found += [one.field for one in issues if one.severity == "critical" or one.field == _TYPE]
    if rubric.type == _UNKNOWN:
        # nothing says which fields it should give, so that none can be missed
        found.append(_TYPE)
    return tuple(dict.fromkeys(found))


def _is_critical(one: FieldScore, rubric: Rubric) -> bool:
    return _severity(one, rubric) == "critical" and one.score < 1.0


def _severity(one: FieldScore, rubric: Rubric) -> str:
    """A required field that is missing, or a value below half, is critical (seed 3.3.1)."""
    if one.grave:
        return "critical"
    tier = rubric.tier(one.field)
    if one.dimension == "completeness":
        return {"required": "critical", "important": "major", "optional": "minor"}[tier]
    return "critical" if one.score < 0.5 else "major"


def _suggestion(field: str) -> str:
    return f"{field}: {field_policies()[field].hint}"
