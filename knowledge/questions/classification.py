"""A question's area, topic and MeSH headings, by its tags (`classification.yaml`). Pure."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load
from knowledge.subjects.tags import heading


class Rule(Policy):
    """A class of questions, chosen if one of its decisions and of its diseases are asked about."""

    name: Annotated[str, Field(alias="class", pattern=r"^[a-z_]+/[a-z_]+$")]
    diseases: frozenset[str] = frozenset()
    area: str | None = Field(default=None, description="its diseases, in place of `diseases`")
    decisions: frozenset[str]
    of: Literal["all", "primary"]
    no_disease: bool = Field(default=False, description="takes a question that names none, too")
    modified_by: tuple[str, ...] = Field(default=(), description="comorbidities, weightiest first")
    mesh: tuple[str, ...] | None = Field(default=None, description="the only headings, if set")
    mesh_with: Mapping[str, tuple[str, ...]] = Field(default={}, description="added with a disease")


class ClassificationPolicy(Policy):
    """`classification.yaml`."""

    version: Literal[1]
    areas: Mapping[str, frozenset[str]]
    general: Mapping[str, str]
    aspects: frozenset[str]
    rules: tuple[Rule, ...]

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        vocabulary = load("subjects/vocabulary")
        placed = [tag for tags in self.areas.values() for tag in tags]
        diseases = set().union(
            placed, *(rule.diseases.union(rule.modified_by) for rule in self.rules)
        )
        decisions = self.aspects.union(*(rule.decisions for rule in self.rules))
        if set(placed) != set(vocabulary["diseases"]) or len(placed) != len(set(placed)):
            raise ValueError("classification.yaml: each disease has one area")
        if not (diseases <= set(placed) and decisions <= set(vocabulary["decisions"])):
            raise ValueError("classification.yaml: a tag is not in the vocabulary")
        if not {rule.area for rule in self.rules} - {None} <= set(self.areas):
            raise ValueError("classification.yaml: a rule's area is none")
        return self

    def area_of(self, disease: str) -> str:
        """The area of a disease tag."""
        return next(area for area, diseases in self.areas.items() if disease in diseases)

    def diseases_of(self, rule: Rule) -> frozenset[str]:
        """The diseases that a rule is for."""
        return self.areas[rule.area] if rule.area else rule.diseases


@cache
def classification_policy() -> ClassificationPolicy:
    """The policy, validated, read once per process."""
    return ClassificationPolicy.model_validate(load("questions/classification"))


def _rule(diseases: Sequence[str], decisions: Sequence[str]) -> Rule | None:
    policy = classification_policy()
    for rule in policy.rules:
        judged = diseases if rule.of == "all" else diseases[:1]
        fits = policy.diseases_of(rule) & set(judged) if diseases else rule.no_disease
        if fits and rule.decisions & set(decisions):
            return rule
    return None


def classify(diseases: Sequence[str], decisions: Sequence[str], query_type: str) -> str:
    """The class of a question, "area/topic" (EB-3.1).

    Args:
        diseases: its tags, the primary one first.
        decisions: likewise.
        query_type: the topic where nothing is to be decided.
    """
    if rule := _rule(diseases, decisions):
        return rule.name
    area = classification_policy().area_of(diseases[0]) if diseases else "general"
    return f"{area}/{decisions[0] if decisions else query_type}"


def mesh_of(diseases: Sequence[str], decisions: Sequence[str]) -> tuple[str, ...]:
    """The MeSH headings that widen a question's search (EB-3.2 to 3.4).

    A class with headings of its own has only these; otherwise they are the headings of the tags.
    """
    rule = _rule(diseases, decisions)
    if rule is None or rule.mesh is None:
        headings = [heading("diseases", tag) for tag in diseases]
        headings += [heading("decisions", tag) for tag in decisions]
        return tuple(dict.fromkeys(name for name in headings if name is not None))
    added = [name for tag in diseases for name in rule.mesh_with.get(tag, ())]
    return tuple(dict.fromkeys((*rule.mesh, *added)))


def comorbidities(diseases: Sequence[str], decisions: Sequence[str]) -> tuple[str, ...]:
    """All diseases but the primary one; those that modify the decision come first (EB-2.2 b)."""
    rule = _rule(diseases, decisions)
    weighty = rule.modified_by if rule else ()
    secondary = diseases[1:]
    return tuple(dict.fromkeys((*(tag for tag in weighty if tag in secondary), *secondary)))


def is_aspect(decision: str) -> bool:
    """True if a decision only asks when, how long or which one of another decision (EB-1.3)."""
    return decision in classification_policy().aspects


def belongs(disease: str, decision: str) -> bool:
    """True if a rule combines the two: the decision is about the disease (EB-1.5)."""
    policy = classification_policy()
    return any(
        decision in rule.decisions and disease in policy.diseases_of(rule) for rule in policy.rules
    )


def without_general(diseases: Sequence[str]) -> tuple[str, ...]:
    """The diseases, without those that only name the area of another disease among them."""
    policy = classification_policy()

    def is_said_better(tag: str) -> bool:
        area = policy.general.get(tag)
        return area is not None and any(
            policy.area_of(disease) == area for disease in diseases if disease != tag
        )

    return tuple(tag for tag in diseases if not is_said_better(tag))
