"""The policy files of this package as validated models."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from knowledge.conflicts import Pattern
from knowledge.loader import load
from knowledge.scenarios import Kind


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Relevance(_Policy):
    """When a passage speaks to a question; shares of 1."""

    coverage_alone: float = Field(gt=0, le=1)
    coverage_with_similarity: float = Field(gt=0, le=1)
    similarity: float = Field(gt=0, le=1)


class Levels(_Policy):
    """Sufficiency levels begin at these scores; what is below all of them is insufficient."""

    excellent: int
    good: int
    limited: int


class SufficiencyWeights(_Policy):
    """What each part is of the score, without a recognized scenario; shares of 1."""

    documents: float = Field(ge=0, le=1)
    coverage: float = Field(ge=0, le=1)
    kinds: float = Field(ge=0, le=1)


class Counted(_Policy):
    """Up to `most` of a kind count; all of them together give the points."""

    most: int = Field(ge=1)
    points: int = Field(ge=0, le=100)

    def score(self, found: int) -> float:
        """The points for `found` of the kind."""
        return self.points * min(found, self.most) / self.most


class AnchoredFloor(_Policy):
    """With so many guidelines of the scenario the score is at least this."""

    guidelines: int = Field(ge=1)
    score: int = Field(ge=0, le=100)


class AnchoredSufficiency(_Policy):
    """What counts in a recognized scenario (EB-4.1, 4.2)."""

    guidelines: Counted
    reviews: Counted
    studies: Counted
    floor: AnchoredFloor


class Sufficiency(_Policy):
    """How sufficiency is scored."""

    levels: Levels
    enough_documents: int = Field(ge=1)
    weights: SufficiencyWeights
    anchored: AnchoredSufficiency


class OutsideSearch(_Policy):
    """When the search outside is allowed, and how it is asked."""

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


class Rerank(_Policy):
    """How many candidates a language model is shown, and how many characters of a text of each."""

    most: int = Field(ge=2)
    chars: int = Field(ge=100)


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


class ToldIn(_Policy):
    """What words of a question ask for, and the parts of a label that tell it."""

    asked: Pattern
    parts: Pattern


class LabelParts(_Policy):
    """Which parts of a label go before and behind others, and how far."""

    weight: float = Field(ge=0, le=1)
    for_patients: Pattern
    told_in: tuple[ToldIn, ...]


class References(_Policy):
    """How long the list of references is (EB-5.7)."""

    fewest: int = Field(ge=1)
    most: int = Field(ge=1)


class OnTopic(_Policy):
    """The least share of references on topic; a list shorter than `relaxed_below` may have less."""

    share: float = Field(gt=0, le=1)
    relaxed_below: int = Field(ge=1)


class Fit(_Policy):
    """What relevance is multiplied by, for how a work's tags meet the question's."""

    disease: dict[Literal["any", "primary", "secondary", "broader", "other"], float]
    decision: dict[Literal["any", "primary", "secondary", "other"], float]
    off_focus: float = Field(gt=0, le=1)


class DecisionBoosts(_Policy):
    """What a work gets that is on a decision asked about."""

    primary: float = Field(ge=0)
    secondary: float = Field(ge=0)


class Ranking(_Policy):
    """How what was found is scored and put together (EB-5)."""

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


class DesignPattern(_Policy):
    """Words that tell a design."""

    design: str
    pattern: str


class Designs(_Policy):
    """How the design of a work is told, and which designs are primary studies."""

    order: tuple[DesignPattern, ...]
    sources: dict[str, str]
    primary: frozenset[str]
    registered_results: str


class Neighbours(_Policy):
    """How many nearest documents lend each other which share of their score."""

    count: int = Field(ge=1)
    share: float = Field(ge=0, lt=1)


class RetrievalPolicy(_Policy):
    """`retrieval.yaml`."""

    candidates: int = Field(ge=1)
    lexical_weight: float = Field(ge=0, le=1)
    neighbours: Neighbours
    documents: int = Field(ge=1)
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
        """No other amounts together outweigh that of an anchor or of an off-focus work."""
        ranking = self.ranking
        wanted = (max(one.values(), default=0.0) for one in self.wanted_sources.values())
        others = (
            1.0  # the fused score
            + max(wanted, default=0.0)
            + ranking.named
            + max(ranking.decision.primary, ranking.decision.secondary)
            + max(ranking.designs.values(), default=0.0)
            + self.restrictions.demotion
        )
        if min(ranking.anchor, ranking.off_focus) <= others:
            raise ValueError(f"the amounts for anchors and off focus must be above {others:.2f}")
        return self


@cache
def retrieval_policy() -> RetrievalPolicy:
    """The retrieval policy, read once in a process."""
    return RetrievalPolicy.model_validate(load("retrieval"))
