"""Whether a passage speaks to the question at all. Pure."""

from knowledge.policy import retrieval_policy


def is_relevant(covered: float, similarity: float | None) -> bool:
    """Whether a passage speaks to the question at all.

    Args:
        covered: see `store.content.Content.covered`.
        similarity: its cosine with the question, if the search gave one.
    """
    policy = retrieval_policy().relevance
    if covered >= policy.coverage_alone:
        return True
    return covered >= policy.coverage_with_similarity and (similarity or 0.0) >= policy.similarity
