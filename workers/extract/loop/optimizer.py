"""The next prompt: the first one, with what was wrong and the attempt that was wrong. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from workers.extract.evaluation.scores import Feedback, Issue, Severity

_TITLES: Sequence[tuple[Severity, str]] = (
    ("critical", "CRITICAL ISSUES (must fix)"),
    ("major", "MAJOR ISSUES (should fix)"),
    ("minor", "MINOR ISSUES"),
)


def optimized_prompt(
    base: str, feedback: Feedback, previous: dict[str, Any], iteration: int, target: float
) -> str:
    """`base` with feedback in the order of seed marc_v1 section 3.3.2, the last attempt included.

    Args:
        previous: the values of the attempt, as JSON data.
        iteration: which one the feedback is about, from 1.
        target: the score that is asked for, 0-1.
    """
    blocks = [
        base,
        f"--- FEEDBACK FROM QUALITY EVALUATION (Iteration {iteration}) ---\n"
        f"Current Score: {feedback.overall_score:.1%} (Target: {target:.0%})",
    ]
    for severity, title in _TITLES:
        lines = [_line(one) for one in feedback.issues if one.severity == severity]
        blocks += _block(title, lines)
    blocks += _block("MISSING FIELDS", list(feedback.missing_fields))
    blocks += _block("SUGGESTIONS", list(feedback.suggestions))
    if feedback.priority_fields:
        blocks.append(f"PRIORITY (priorityFields): {', '.join(feedback.priority_fields)}")
    held = json.dumps(previous, indent=1, ensure_ascii=False, sort_keys=True)
    blocks.append(f"PREVIOUS ATTEMPT (for reference):\n{held}")
    blocks.append(
        "Extract again. Mend every issue above, keep what was right, and quote the document's own "
        "words exactly."
    )
    return "\n\n".join(blocks)


def _line(issue: Issue) -> str:
    fix = f" -> {issue.suggested_fix}" if issue.suggested_fix else ""
    return f"[{issue.field}] {issue.description}{fix}"


def _block(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    return ["\n".join([f"{title}:", *(f"  - {one}" for one in lines)])]
