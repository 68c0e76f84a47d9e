"""What a score may not pass, whatever its dimensions say. Pure.

A field that was not found is not absent: that needs a reason. The reason is that the document says
so, that its words leave no room for it (no tumor to grade, no excision with margins, no word of a
technical term), or that another field says the same. What looks unread counts too: the share of a
document's numbers and words that no value covers.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from workers.extract.evaluation.scores import Issue
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.fields import Attempt, FieldResult, Status
from workers.extract.parts import Parts
from workers.extract.patients import patients
from workers.extract.rubrics import Rubric, field_policies, policy, vocabulary
from workers.extract.rules.tumors.neoplasms import tumor_words
from workers.extract.values import Words

_TERMS = frozenset(["msi", "amount", "marker", "nodes", "presence", "tnm", "stage"])
"""Kinds that are stated by technical terms and units only: a text without one states none."""
_SAME = {"diagnosis": ("impression", "histology", "postoperative_diagnosis"),
         "impression": ("diagnosis",), "plan": ("follow_up",)}  # fmt: skip
"""Fields that say the same in documents of another habit."""
_NUMBER = re.compile(r"\d[\d.,/:-]*")
_FEW_NUMBERS, _FEW_WORDS = 3, 15
"""Unread numbers and words that tell nothing (ours): a short text has a name, too."""
_WORD = re.compile(r"[A-Za-z]{3,}")


class Bound(NamedTuple):
    """The most that a score may be, and the issues that say why."""

    most: float
    surest: float = 1.0
    """The most that the likelihood may be; it knows itself what single fields and doubts cost."""
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
    surest = 1.0
    if rubric.type == "unknown":
        most = surest = limits.unfit
    for field in (*rubric.required, *rubric.important):
        result = attempt.fields.get(field)
        if result is None or result.status is not Status.NOT_PRESENT:
            continue
        needed = field in rubric.required
        if not needed and _has_reason(field, parts, attempt, spoken):
            continue
        if needed and _cannot_be(field, parts, attempt, spoken):
            continue
        most = min(most, limits.unfit if needed else limits.not_found)
        surest = min(surest, limits.unfit if needed else 1.0)
        words = f'"{field}" was not found, and nothing says that it is not there'
        severity = "critical" if needed else "major"
        issues.append(Issue(severity=severity, field=field, description=words))
    serious = len(set(critical))
    if serious:
        most = min(most, max(limits.floor, limits.critical - serious * limits.each_critical))
    return Bound(most, surest, issues)


def _cannot_be(field: str, parts: Parts, attempt: Attempt, spoken: Mapping[str, bool]) -> bool:
    """Whether the document leaves no room for the field, or says what it would say elsewhere."""
    if any(_found(attempt, one) for one in _SAME.get(field, ())):
        return True
    if field == "grade":
        return _found(attempt, "gleason") is not None or _no_tumor(_found(attempt, "histology"))
    if field == "margins":
        return not spoken.get(field, False) or not tumor_words(parts.text)
    return False


def _no_tumor(histology: FieldResult | None) -> bool:
    """Whether a diagnosis is of no tumor."""
    if histology is None:
        return False
    words = (one.value.text for one in histology.items if isinstance(one.value, Words))
    return not tumor_words(" ".join(words))


def _found(attempt: Attempt, field: str) -> FieldResult | None:
    result = attempt.fields.get(field)
    return result if result is not None and result.status is not Status.NOT_PRESENT else None


def _has_reason(field: str, parts: Parts, attempt: Attempt, spoken: Mapping[str, bool]) -> bool:
    """Whether an important field may be absent."""
    one = field_policies()[field]
    if (one.kind in _TERMS or one.many) and not spoken.get(field, False):
        return True
    return _cannot_be(field, parts, attempt, spoken)


@cache
def _aside() -> frozenset[str]:
    words = patients()
    return vocabulary().background | words.family_headings | words.medicines.refused_headings


def read_share(parts: Parts, attempt: Attempt) -> float:
    """What a document's unread numbers and words leave of its accuracy, 0-1."""
    limits = signs_policy()
    covered = bytearray(len(parts.text))
    for name, result in attempt.fields.items():
        if name != "raw_text":
            for item in result.items:
                covered[item.start : item.end] = b"\1" * (item.end - item.start)
    for section in parts.sections:
        # what is told of others, of earlier times or of what was asked is none of ours
        if section.title in _aside():
            covered[section.start : section.end] = b"\1" * (section.end - section.start)
    left = 1.0
    for pattern, few, free, cost in (
        (_NUMBER, _FEW_NUMBERS, limits.unread_numbers_free, limits.unread_numbers),
        (_WORD, _FEW_WORDS, limits.unread_words_free, limits.unread_words),
    ):
        read: dict[str, bool] = {}
        for one in pattern.finditer(parts.text):
            # the same words again say nothing new
            words = one.group().lower()
            read[words] = read.get(words, False) or bool(covered[one.start()])
        unread = len(read) - sum(read.values())
        share = max(0, unread - few) / len(read) if read else 0.0
        left -= cost * max(0.0, share - free)
    return max(0.0, left)
