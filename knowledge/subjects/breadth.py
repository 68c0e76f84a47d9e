"""Which diseases a general disease includes (`broader_diseases` of `retrieval.yaml`). Pure."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from knowledge.answering.policy import retrieval_policy


def accepted(asked: Collection[str]) -> frozenset[str]:
    """The diseases asked about, with those that a general one among them includes."""
    return _accepted(frozenset(asked))


@lru_cache(maxsize=1024)  # all results are compared with the same question
def _accepted(asked: frozenset[str]) -> frozenset[str]:
    broader = retrieval_policy().ranking.broader_diseases
    return asked.union(*(broader.get(tag, ()) for tag in asked))


def is_broader(diseases: Collection[str], asked: Collection[str]) -> bool:
    """True if `diseases` has a general one that includes one asked about, but none it includes."""
    return any(
        general in diseases and narrower & set(asked) and not narrower & set(diseases)
        for general, narrower in retrieval_policy().ranking.broader_diseases.items()
    )


def meets(named: Collection[str], asked: Collection[str]) -> bool:
    """True if one of the named diseases is one asked about, or includes one."""
    return not accepted(asked).isdisjoint(named) or is_broader(named, asked)


def narrow_first(diseases: Sequence[str]) -> list[str]:
    """The diseases in their order, but those that include another one of them last."""
    broader = retrieval_policy().ranking.broader_diseases
    return sorted(diseases, key=lambda tag: not set(diseases).isdisjoint(broader.get(tag, ())))
