"""The policy files of this package as validated models."""

from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Relevance(_Policy):
    """When a passage speaks to a question; shares of 1."""

    coverage_alone: float = Field(gt=0, le=1)
    coverage_with_similarity: float = Field(gt=0, le=1)
    similarity: float = Field(gt=0, le=1)


class Levels(_Policy):
    """Sufficiency levels begin at these scores."""

    excellent: int
    good: int


class Sufficiency(_Policy):
    """How sufficiency is scored."""

    enough_documents: int = Field(ge=1)
    levels: Levels


class Cap(_Policy):
    """At most `most` references of these source types, except for these types of question."""

    most: int = Field(ge=1)
    of: frozenset[str] = Field(min_length=1)
    not_for: frozenset[str]


class Need(_Policy):
    """At least so many references of these source types, where there are as many."""

    least: int = Field(ge=1)
    of: frozenset[str] = Field(min_length=1)


class Restrictions(_Policy):
    """Language that confines something to trials, and what it costs a passage."""

    demotion: float = Field(ge=0, le=1)
    demoted_for: frozenset[str]
    patterns: tuple[str, ...]


class RetrievalPolicy(_Policy):
    """`retrieval.yaml`."""

    candidates: int = Field(ge=1)
    lexical_weight: float = Field(ge=0, le=1)
    documents: int = Field(ge=1)
    chunks_per_document: int = Field(ge=1)
    relevance: Relevance
    wanted_sources: dict[str, dict[str, float]]
    sufficiency: Sufficiency
    caps: dict[str, Cap]
    needs: dict[str, Need]
    restrictions: Restrictions


@cache
def retrieval_policy() -> RetrievalPolicy:
    """The retrieval policy, read once in a process."""
    return RetrievalPolicy.model_validate(load("retrieval"))
