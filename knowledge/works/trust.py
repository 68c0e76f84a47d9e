"""The rules for badges, and for titles that name different works (`trust.yaml`)."""

from functools import cache

from pydantic import Field

from knowledge.loader import Policy, load


class Cochrane(Policy):
    """How a Cochrane review is recognized; one of the two suffices."""

    doi_prefix: str = Field(pattern=r"^10\.\d{4,9}/\S+$")
    journals: frozenset[str] = Field(min_length=1, description="in lower case")
    basis: str


class Recent(Policy):
    """The highest age of a recent work, in days."""

    days: int = Field(ge=1)
    basis: str


class HighlyCited(Policy):
    """The least number of citations."""

    citations: int = Field(ge=1)
    basis: str


class Standard(Policy):
    """Evidence levels with this badge, unless a label says that the text is not the work's own."""

    levels: frozenset[str] = Field(min_length=1)
    source_types: frozenset[str] = frozenset()
    not_labels: frozenset[str]
    basis: str


class Badges(Policy):
    """The rule of each badge (EB-8.4)."""

    types: dict[str, tuple[str, ...]]
    labels: dict[str, str]
    standings: dict[str, str]
    cochrane: Cochrane
    recent: Recent
    highly_cited: HighlyCited
    gold_standard: Standard
    practical_guidance: Standard


class Identity(Policy):
    """When another source's title means that a record's identifiers name another work."""

    title_match: float = Field(gt=0, le=1, description="share of words in common")
    basis: str


@cache
def badge_policy() -> Badges:
    """The rules of badges."""
    return Badges.model_validate(load("works/trust")["badges"])


@cache
def identity_policy() -> Identity:
    """The rules of identity."""
    return Identity.model_validate(load("works/trust")["identity"])
