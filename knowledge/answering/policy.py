"""The policy files of this package as validated models."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load
from knowledge.scenarios import Kind
from knowledge.works.conflicts import Pattern


class Relevance(Policy):
    """When a passage is relevant to a question; shares of 1."""

    coverage_alone: float = Field(gt=0, le=1)
    coverage_with_similarity: float = Field(gt=0, le=1)
    similarity: float = Field(gt=0, le=1)


class Levels(Policy):
    """The lowest score of each sufficiency level; a score below all of them is insufficient."""

    excellent: int
    good: int
    limited: int


class SufficiencyWeights(Policy):
    """The weight of each part of the score without a recognized scenario; shares of 1."""

    documents: float = Field(ge=0, le=1)
    coverage: float = Field(ge=0, le=1)
    kinds: float = Field(ge=0, le=1)


class Counted(Policy):
    """Up to `most` items of a kind count; `most` of them give all the points."""

    most: int = Field(ge=1)
    points: int = Field(ge=0, le=100)

    def score(self, found: int) -> float:
        """The points for `found` items of the kind."""
        return self.points * min(found, self.most) / self.most


class AnchoredFloor(Policy):
    """The lowest score if there are so many guidelines of the scenario."""

    guidelines: int = Field(ge=1)
    score: int = Field(ge=0, le=100)


class AnchoredSufficiency(Policy):
    """The parts of the score in a recognized scenario (EB-4.1, 4.2)."""

    guidelines: Counted
    reviews: Counted
    studies: Counted
    floor: AnchoredFloor


class Sufficiency(Policy):
    """How sufficiency is scored."""

    levels: Levels
    enough_documents: int = Field(ge=1)
    weights: SufficiencyWeights
    anchored: AnchoredSufficiency


class OutsideSearch(Policy):
    """When the outside search is allowed, and how it is called."""

    pack_years: int = Field(ge=1)
    recent_years: int = Field(ge=1)
    recent_sources: frozenset[str]
    model: str
    max_tokens: int = Field(ge=1)
    context: str
    domains: tuple[str, ...] = Field(min_length=1)
    ask: str = Field(pattern=r"\{terms\}")
    seconds: float = Field(gt=0)
    most_leads: int = Field(ge=1)


class Rerank(Policy):
    """The number of candidates sent to a language model, and the characters of each text."""

    most: int = Field(ge=2)
    chars: int = Field(ge=100)


class Cap(Policy):
    """At most `most` references of these source types, except for these types of question."""

    most: int = Field(ge=1)
    of: frozenset[str] = Field(min_length=1)
    not_for: frozenset[str]
    hard: bool = False
    """It holds also where no other kind of source wants the place."""


class Need(Policy):
    """At least so many references of these source types, if there are as many."""

    least: int = Field(ge=1)
    of: frozenset[str] = Field(min_length=1)


class Restrictions(Policy):
    """Words that restrict something to trials, and the amount they deduct from a passage."""

    demotion: float = Field(ge=0, le=1)
    demoted_for: frozenset[str]
    patterns: tuple[str, ...]


class ToldIn(Policy):
    """A pattern of what a question asks for, and the parts of a label that state it."""

    asked: Pattern
    parts: Pattern


class LabelParts(Policy):
    """Which parts of a label rank before and behind others, and by how much."""

    weight: float = Field(ge=0, le=1)
    for_patients: Pattern
    told_in: tuple[ToldIn, ...]


class References(Policy):
    """The length of the list of references (EB-5.7)."""

    fewest: int = Field(ge=1)
    most: int = Field(ge=1)


class OnTopic(Policy):
    """The least share of references on topic; lists shorter than `relaxed_below` may have less."""

    share: float = Field(gt=0, le=1)
    relaxed_below: int = Field(ge=1)


class Fit(Policy):
    """The factors of relevance, by how a work's tags match those of the question."""

    disease: dict[Literal["any", "primary", "secondary", "broader", "other"], float]
    decision: dict[Literal["any", "primary", "secondary", "other"], float]
    off_focus: float = Field(gt=0, le=1)


class DecisionBoosts(Policy):
    """The amounts added for a work on a decision that is asked about."""

    primary: float = Field(ge=0)
    secondary: float = Field(ge=0)


class Ranking(Policy):
    """How results are scored and combined (EB-5)."""

    considered: int = Field(ge=1)
    relevance_at_least: int = Field(ge=1, le=100)
    references: References
    on_topic: OnTopic
    of_each_name: int = Field(ge=1)
    primary_studies: int = Field(ge=0)
    fallback_below: int = Field(ge=0)
    broader_diseases: dict[str, frozenset[str]]
    fit: Fit
    anchor: float = Field(gt=0)
    off_focus: float = Field(gt=0)
    named: float = Field(ge=0)
    decision: DecisionBoosts
    designs: dict[str, Annotated[float, Field(ge=0)]]
    leading_anchors: dict[str, frozenset[Kind]]


class DesignPattern(Policy):
    """A pattern of words that state a study design."""

    design: str
    pattern: str


class Designs(Policy):
    """How the design of a work is recognized, and which designs are primary studies."""

    order: tuple[DesignPattern, ...]
    sources: dict[str, str]
    primary: frozenset[str]
    registered_results: str


class Neighbours(Policy):
    """The number of nearest documents that share their scores, and the share."""

    count: int = Field(ge=1)
    share: float = Field(ge=0, lt=1)


class RetrievalPolicy(Policy):
    """`retrieval.yaml`."""

    candidates: int = Field(ge=1)
    lexical_weight: float = Field(ge=0, le=1)
    neighbours: Neighbours
    documents: int = Field(ge=1)
    documents_for_lists: int = Field(ge=1)
    chunks_per_document: int = Field(ge=1)
    chunks_per_label: int = Field(ge=1)
    relevance: Relevance
    wanted_sources: dict[str, dict[str, float]]
    sufficiency: Sufficiency
    outside: OutsideSearch
    rerank: Rerank
    caps: dict[str, Cap]
    needs: dict[str, Need]
    restrictions: Restrictions
    label_parts: LabelParts
    ranking: Ranking
    designs: Designs

    @model_validator(mode="after")
    def _hard_amounts_are_hard(self) -> Self:
        """Require that the amounts for anchors and off-focus works outweigh all others together."""
        ranking = self.ranking
        wanted = (max(amounts.values(), default=0.0) for amounts in self.wanted_sources.values())
        rest = (
            1.0  # the fused score
            + max(wanted, default=0.0)
            + ranking.named
            + max(ranking.decision.primary, ranking.decision.secondary)
            + max(ranking.designs.values(), default=0.0)
            + self.restrictions.demotion
        )
        if min(ranking.anchor, ranking.off_focus) <= rest:
            raise ValueError(f"the amounts for anchors and off focus must be above {rest:.2f}")
        return self


@cache
def retrieval_policy() -> RetrievalPolicy:
    """The retrieval policy, read once per process."""
    return RetrievalPolicy.model_validate(load("answering/retrieval"))
