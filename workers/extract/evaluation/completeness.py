"""Is every field there that the document speaks of? Pure.

A field that the document does not speak of costs nothing (seed marc_v1, section 7.3): "not present"
is believed where none of the field's cues stands in the text, or only as "not assessed".
"""

import re
from collections.abc import Mapping, Sequence

from workers.extract.evaluation.scores import FieldScore
from workers.extract.fields import Attempt, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, field_policies, policy
from workers.extract.rules.placing import set_aside
from workers.extract.rules.texts.negation import negated
from workers.extract.rules.tumors.grades import of_something_else

_NOT_DONE = re.compile(
    r"(?i)^[^\n.;]{0,60}?\b(?:not\s+(?:assess\w*|applicable|performed|reported|provided|stated|given|"
    r"done|available|evaluated|tested|requested|submitted|specified|evaluable|part\s+of|measured|examined)|"
    r"cannot\s+be|could\s+not\s+be|n/a|pending|to\s+follow|will\s+follow|deferred|insufficient|"
    r"awaited|unknown|none)\b"
)


def completeness(
    parts: Parts, rubric: Rubric, attempt: Attempt, status: Mapping[str, bool] | None = None
) -> tuple[float, Sequence[FieldScore]]:
    """The score, and that of each field that counts.

    Args:
        status: whether the document speaks of each field, where that was found before.
    """
    spoken = status if status is not None else {f: spoken_of(f, parts) for f in rubric.fields}
    scores = []
    for field in rubric.fields:
        weight = policy().tiers[rubric.tier(field)]
        result = attempt.fields.get(field)
        if result is None:
            issue = (f'{rubric.tier(field).capitalize()} field "{field}" is missing',)
            scores.append(_scored(field, 0.0, weight, issue))
        elif result.status is Status.FOUND:
            scores.append(_scored(field, 1.0, weight))
        elif result.status is Status.AMBIGUOUS:
            issue = (f'"{field}" is stated in ways that contradict each other',)
            scores.append(_scored(field, policy().ambiguous, weight, issue))
        elif spoken.get(field, False):
            issue = (f'"{field}" is said not to be there, but the document speaks of it',)
            scores.append(_scored(field, 0.0, weight, issue))
    total = sum(one.weight for one in scores)
    gained = sum(one.score * one.weight for one in scores)
    return (gained / total if total else 1.0), scores


def _scored(field: str, score: float, weight: float, issues: tuple[str, ...] = ()) -> FieldScore:
    return FieldScore(
        field=field,
        dimension="completeness",
        present=score > 0,
        score=score,
        weight=weight,
        issues=issues,
    )


def spoken_of(field: str, parts: Parts) -> bool:
    """Whether a cue of the field stands in the text, outside background, and not as "not done"."""
    one = field_policies()[field]
    for pattern in (one.cue, one.shaped):
        if pattern is None:
            continue
        for match in pattern.finditer(parts.text):
            if negated(parts.text, match.start(), match.end()):
                continue
            if _NOT_DONE.match(parts.text[match.end() : match.end() + 90]):
                continue
            if one.kind != "day" and parts.rank(match.start()) == 0:
                continue
            if set_aside(field, parts, match.start(), match.end()):
                continue
            if field == "grade" and of_something_else(parts.text, match.start(), match.end()):
                continue
            return True
    return False
