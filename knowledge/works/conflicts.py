"""When sources contradict each other, and which of them prevails (`conflicts.yaml`)."""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from knowledge.feeds.sources import Tier
from knowledge.loader import load

Kind = Literal["effect", "recommendation", "label_guideline", "approval", "superseded"]
RuleName = Literal["standing", "newer_guideline", "newer_statement", "tier", "design"]
Share = Annotated[float, Field(gt=0, le=1)]


def _compiled(value: Any) -> Any:
    return re.compile(value, re.IGNORECASE) if isinstance(value, str) else value


def _words(value: Any) -> Any:
    """A pattern of whole words."""
    return _compiled(rf"(?<!\w)(?:{value})(?![\w])") if isinstance(value, str) else value


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]
WordPattern = Annotated[re.Pattern[str], BeforeValidator(_words)]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Resolution(_Policy):
    """The rules that decide conflicts of one kind, in order."""

    rules: tuple[RuleName, ...]
    tier_yields: frozenset[Tier]


class Opposed(_Policy):
    """Values that exclude each other in one patient or treatment."""

    first: WordPattern
    second: WordPattern


class Stance(_Policy):
    """Patterns of sentences for and against; `against` is tried first."""

    against: tuple[Pattern, ...] = Field(min_length=1)
    for_: Annotated[tuple[Pattern, ...], Field(alias="for", min_length=1)]


class Findings(_Policy):
    """Patterns of findings without a number."""

    lowers: tuple[str, ...] = Field(min_length=1)
    raises: tuple[str, ...] = Field(min_length=1)
    told_by_others: tuple[str, ...]


class ConflictPolicy(_Policy):
    """`conflicts.yaml`, which explains each part."""

    version: Literal[1]
    resolution: dict[Kind, Resolution]
    tiers: tuple[Tier, ...]
    designs: tuple[frozenset[str], ...]
    guideline_sources: frozenset[str]
    label_sources: frozenset[str]
    same_outcome: tuple[tuple[str, ...], ...]
    opposed: tuple[Opposed, ...]
    findings: Findings
    generic: frozenset[str]
    other_acts: frozenset[str]
    neutral: tuple[Pattern, ...]
    takes_sides: tuple[str, ...]
    stances: dict[Literal["use", "approval"], Stance]
    regulators: dict[str, Pattern]
    same_condition: Share
    same_frame: Share
    same_sentence: Share

    @cached_property
    def outcome_names(self) -> Mapping[str, str]:
        """Maps each name of an outcome to the name that is shown."""
        return {name: names[0] for names in self.same_outcome for name in names}

    def design_class(self, level: str | None) -> int | None:
        """The class of an evidence level, 0 is the highest; None: the level decides nothing."""
        plain = (level or "").lower()
        ranks = (rank for rank, levels in enumerate(self.designs) if plain in levels)
        return next(ranks, None)


@cache
def conflict_policy() -> ConflictPolicy:
    """The file, validated."""
    return ConflictPolicy.model_validate(load("works/conflicts"))
