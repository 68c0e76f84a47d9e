"""What a score may not pass, whatever its dimensions say. Pure.

A field that was not found is not absent: that needs a reason. The reason is that the document says
so, that its words leave no room for it (no tumor to grade, no excision with margins, no word of a
technical term), or that another field says the same. What looks unread counts too: the share of a
document's numbers and words that no value covers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workers.extract.evaluation.scores import Issue
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, any_of, field_policies, policy
from workers.extract.rules.neoplasms import tumor_words
from workers.extract.rules.tumor_words import tumor_words as tumor_policy
from workers.extract.values import Words

_TERMS = frozenset(["msi", "amount", "marker", "nodes", "presence", "tnm", "stage", "measurement"])
"""Kinds that are stated by technical terms and units only: a text without one states none."""
_SAME = {"diagnosis": ("impression", "histology", "postoperative_diagnosis"),
         "impression": ("diagnosis",), "plan": ("follow_up",)}  # fmt: skip
"""Fields that say the same in documents of another habit."""
_EXCISED = re.compile(r"(?i)\b(?:margins?|excis\w+|resect\w+|\w{3,20}ectomy)\b")
_NUMBER = re.compile(r"\d[\d.,/:-]*")
_WORD = re.compile(r"[A-Za-z]{3,}")


class Bound(NamedTuple):
    """The most that a score may be, and the issues that say why."""

    most: float
    issues: Sequence[Issue] = ()


def bound(
    parts: Parts,
    rubric: Rubric,
    attempt: Attempt,
    spoken: Mapping[str, bool],
    critical: Sequence[str],
) -> Bound:
    """The most that the score may be.

    Args:
        spoken: whether the document speaks of each field.
        critical: the fields of which something critical is said.
    """
    limits = policy().bounds
    most, issues = 1.0, []
    if rubric.type == "unknown":
        most = limits.unfit
    for field in (*rubric.required, *rubric.important):
        result = attempt.fields.get(field)
        if result is None or result.status is not Status.NOT_PRESENT:
            continue
        needed = field in rubric.required
        if not needed and _has_reason(field, parts, attempt, spoken):
            continue
        if needed and _cannot_be(field, parts, attempt):
            continue
        most = min(most, limits.unfit if needed else limits.not_found)
        words = f'"{field}" was not found, and nothing says that it is not there'
        severity = "critical" if needed else "major"
        issues.append(Issue(severity=severity, field=field, description=words))
    serious = len(set(critical))
    if serious:
        most = min(most, max(limits.floor, limits.critical - serious * limits.each_critical))
    return Bound(most, issues)


def _cannot_be(field: str, parts: Parts, attempt: Attempt) -> bool:
    """Whether the document leaves no room for the field, or says what it would say elsewhere."""
    if any(_found(attempt, one) for one in _SAME.get(field, ())):
        return True
    if field == "grade":
        return _found(attempt, "gleason") is not None or _ungraded(_found(attempt, "histology"))
    if field == "margins":
        excised = _EXCISED.search(parts.text) is not None
        return not excised or not tumor_words(parts.text)
    return False


def _ungraded(histology: FieldResult | None) -> bool:
    """Whether a diagnosis is of no tumor, or of one that no grade is given of."""
    if histology is None:
        return False
    words = " ".join(
        one.value.text for one in histology.items if isinstance(one.value, Words)
    ).lower()
    ungraded = any_of(tumor_policy().ungraded).search(words) is not None
    return ungraded or not tumor_words(words)


def _found(attempt: Attempt, field: str) -> FieldResult | None:
    result = attempt.fields.get(field)
    return result if result is not None and result.status is not Status.NOT_PRESENT else None


def _has_reason(
    field: str, parts: Parts, attempt: Attempt, spoken: Mapping[str, bool]
) -> bool:
    """Whether an important field may be absent."""
    one = field_policies()[field]
    if (one.kind in _TERMS or one.many) and not spoken.get(field, False):
        return True
    return _cannot_be(field, parts, attempt)


def read_share(parts: Parts, attempt: Attempt) -> float:
    """What a document's unread numbers and words leave of its completeness, 0-1."""
    limits = signs_policy()
    covered = bytearray(len(parts.text))
    for name, result in attempt.fields.items():
        if name != "raw_text":
            for one in result.items:
                covered[one.start : one.end] = b"\1" * (one.end - one.start)
    left = 1.0
    for pattern, free, cost in (
        (_NUMBER, limits.unread_numbers_free, limits.unread_numbers),
        (_WORD, limits.unread_words_free, limits.unread_words),
    ):
        places = [one.start() for one in pattern.finditer(parts.text)]
        unread = sum(not covered[at] for at in places if at < len(covered))
        share = unread / len(places) if places else 0.0
        left -= cost * max(0.0, share - free)
    return max(0.0, left)
