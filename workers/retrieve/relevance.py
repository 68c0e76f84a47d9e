"""Whether a passage speaks to the question at all. Pure."""

from collections.abc import Iterable, Mapping

from knowledge.policy import retrieval_policy


def coverage(weighted: Mapping[int, float], found: Iterable[int]) -> float:
    """The share of the question's weight that a passage's terms hold, 0..1."""
    total = sum(weighted.values())
    if total <= 0:
        return 0.0
    return sum(weighted[term] for term in set(found) & weighted.keys()) / total


def is_relevant(covered: float, similarity: float | None) -> bool:
    """Whether a passage speaks to the question at all."""
    policy = retrieval_policy().relevance
    if covered >= policy.coverage_alone:
        return True
    return covered >= policy.coverage_with_similarity and (similarity or 0.0) >= policy.similarity
