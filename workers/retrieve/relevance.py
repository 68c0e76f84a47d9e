"""Whether a passage speaks to the question at all. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from knowledge.loader import load
from knowledge.policy import retrieval_policy
from knowledge.tags import mentions, tags
from store.index.terms import terms


@dataclass(frozen=True)
class Content:
    """What a passage should hold of a question."""

    weights: Mapping[int, float]
    """Its terms with their idf, words of asking left out."""
    diseases: Mapping[int, frozenset[str]]
    """The disease tags that a term is part of naming: another name of the disease is as good."""

    def covered(self, words: str, source_type: str) -> float:
        """The share of the weight that a passage holds, 0..1.

        Args:
            words: the passage with its title and heading.
            source_type: a document answers what its kind is called by being one (`kind_words`).
        """
        found = terms(words).keys() | kind_terms(source_type)
        named = frozenset(tags("diseases", words)) if any(self.diseases.values()) else frozenset()
        also = {term for term, some in self.diseases.items() if some & named}
        return coverage(self.weights, found | also)


def content_terms(question: str) -> frozenset[int]:
    """The terms of a question without its words of asking; all, if it has no others."""
    asked = frozenset(terms(question))
    return asked - frozenset(terms(" ".join(load("questions")["asking_words"]))) or asked


def content(question: str, weighted: Mapping[int, float]) -> Content:
    """What `question` asks a passage to hold.

    Args:
        weighted: its terms with their idf.
    """
    diseases: dict[int, frozenset[str]] = {}
    for mention in mentions("diseases", question):
        for term in terms(question[mention.start : mention.end]):
            diseases[term] = diseases.get(term, frozenset()) | {mention.name}
    kept = content_terms(question)
    return Content({term: weighted[term] for term in kept}, diseases)


def coverage(weighted: Mapping[int, float], found: Iterable[int]) -> float:
    """The share of the question's weight that a passage's terms hold, 0..1."""
    total = sum(weighted.values())
    if total <= 0:
        return 0.0
    return sum(weighted[term] for term in set(found) & weighted.keys()) / total


@cache
def kind_terms(source_type: str) -> frozenset[int]:
    """The terms that a document of this kind of source answers by being one (`kind_words`)."""
    return frozenset(terms(" ".join(load("questions")["kind_words"].get(source_type, ()))))


def is_relevant(covered: float, similarity: float | None) -> bool:
    """Whether a passage speaks to the question at all."""
    policy = retrieval_policy().relevance
    if covered >= policy.coverage_alone:
        return True
    return covered >= policy.coverage_with_similarity and (similarity or 0.0) >= policy.similarity
