"""The evaluator's own words and numbers (`knowledge/rubrics/signs.yaml`), checked. Pure."""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load
from workers.extract.rubrics import any_of, field_policies

Share = Annotated[float, Field(ge=0, le=1)]


class Sign(BaseModel):
    """Where a field may be stated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    patterns: tuple[str, ...]
    near: tuple[str, ...] = ()
    reach: int = 0
    names: Literal["markers", "genes", "labs", "drugs"] | None = None

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """The patterns."""
        return tuple(re.compile(one) for one in self.patterns)

    @cached_property
    def company(self) -> re.Pattern[str] | None:
        """Finds a word that must stand near."""
        return any_of(self.near) if self.near else None


class SignsPolicy(BaseModel):
    """All of them, and what a doubt costs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    fields: Mapping[str, Sign]
    known: frozenset[str]
    right: frozenset[str]
    grave_if_missed: frozenset[str]
    grave_kinds: frozenset[str]
    grave_if_some_missed: Mapping[str, tuple[str, ...]]
    frequencies: tuple[str, ...]
    frequency_shapes: tuple[str, ...]
    frequency_unread: Share
    damaged_line: Share
    runs_on: Share
    entries_left: Share
    either_date: Share
    doubted: Share
    lab_impossible: Share
    lab_contradicted: Share
    lab_unflagged: Share
    never_flagged: frozenset[str]
    lab_without_unit: Share
    lab_twice: Share
    drug_unknown: Share
    lab_unknown: Share
    lab_without_range: Share
    before_birth: Share
    two_columns: Share
    two_doses: Share
    status_unknown: Share
    strange: Mapping[str, tuple[str, ...]]
    strange_fields: int
    damage_free: Share
    unread_numbers: Share
    unread_numbers_free: Share
    unread_words: Share
    unread_words_free: Share
    type_in_doubt: Share
    type_sure: Share
    clinical_fields: int

    @cached_property
    def often(self) -> re.Pattern[str]:
        """Finds a word of how often something is taken."""
        shapes = "|".join((any_of(self.frequencies).pattern, *self.frequency_shapes))
        return re.compile(shapes.replace("(?i)", ""), re.IGNORECASE)


@cache
def signs_policy() -> SignsPolicy:
    """The file's content.

    Raises:
        ValueError: it names a field that there is not.
    """
    found = SignsPolicy.model_validate(load("rubrics/signs"))
    named = {one for every in found.strange.values() for one in every}
    unknown = (set(found.fields) | named) - set(field_policies())
    if unknown:
        raise ValueError(f"signs.yaml names unknown fields: {sorted(unknown)}")
    return found
