"""Whether a passage speaks to the question at all. Pure."""

from knowledge.answering.policy import retrieval_policy


def is_relevant(covered: float, similarity: float | None, *, spared: bool = False) -> bool:
    """Whether a passage speaks to the question at all.

    Args:
        covered: see `store.documents.content.Content.covered`.
        similarity: its cosine with the question, if the search gave one.
        spared: so much of the question is enough without similarity.
    """
    policy = retrieval_policy().relevance
    if covered >= policy.coverage_alone:
        return True
    is_near = spared or (similarity or 0.0) >= policy.similarity
    return covered >= policy.coverage_with_similarity and is_near
