"""How a long question is split into sub-queries (`questions.yaml`, decomposition). Pure."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load

Part = Literal["core_decision", "modifiers", "monitoring", "alternatives"]
"""The purpose of a sub-query, EB-2.2 (a) to (d)."""

Targets = Annotated[tuple[str, ...], Field(min_length=1)]


class PartPolicy(Policy):
    """The parts of one sub-query."""

    takes: frozenset[str]
    otherwise: Annotated[tuple[str, ...], Field(alias="else")]
    comorbidities: Annotated[int, Field(ge=1)]
    targets: Targets


class DecompositionPolicy(Policy):
    """The section `decomposition`."""

    longer_than: Annotated[int, Field(ge=20)]
    most_words: Annotated[int, Field(ge=10)]
    default_decision: str
    roles: Mapping[Part, PartPolicy]
    alternatives: tuple[str, ...]
    targets_of: Mapping[str, Targets]

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        decisions = set(load("subjects/vocabulary")["decisions"])
        types = {rule["type"] for rule in load("questions/questions")["query_types"]}
        if not all(part.takes <= decisions for part in self.roles.values()):
            raise ValueError("questions.yaml: a decision is not in the vocabulary")
        if set(self.targets_of) != types or len(self.roles) != 4:
            raise ValueError("questions.yaml: a type of question or a role is missing")
        return self


@cache
def decomposition_policy() -> DecompositionPolicy:
    """The policy, validated, read once per process."""
    return DecompositionPolicy.model_validate(load("questions/questions")["decomposition"])
