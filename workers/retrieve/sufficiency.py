"""Whether what was found is enough to decide on (EB-4). Pure."""

from collections.abc import Sequence

from knowledge.policy import retrieval_policy


def sufficiency(covered: Sequence[float]) -> dict[str, object]:
    """Score 0-100 from how many relevant documents there are and how much the best covers."""
    policy = retrieval_policy().sufficiency
    if not covered:
        return {"score": 0, "level": "insufficient", "basis": "no relevant document is held"}
    breadth = min(1.0, len(covered) / policy.enough_documents)
    score = round(100 * (0.5 * breadth + 0.5 * max(covered)))
    levels = policy.levels
    level = (
        "excellent" if score >= levels.excellent else "good" if score >= levels.good else "limited"
    )
    basis = f"{len(covered)} relevant documents; the best passage covers {max(covered):.0%}"
    return {"score": score, "level": level, "basis": basis}
