"""The word lists of the guards that veto a claim (`knowledge/guards/*.yaml`), checked. Pure."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from knowledge.loader import Policy, load
from knowledge.works.conflicts import Pattern

Word = Annotated[str, StringConstraints(min_length=1)]
Lower = Annotated[str, StringConstraints(min_length=1, to_lower=True)]
Words = tuple[Word, ...]


class _File(Policy):
    version: int


class DrugClass(Policy):
    """Words for a class of drugs, and the endings of its members' names."""

    words: Words
    members: Words


class Asking(Policy):
    """Patterns that separate the drugs a question is about from those taken already."""

    taken: Pattern
    to_be_taken: Pattern
    another: Pattern


class DrugTerms(_File):
    """Drugs, classes, and how doses are stated."""

    names: dict[Lower, Words]
    stems: Words
    not_drugs: frozenset[Lower]
    not_drug_endings: Words
    shortest: Annotated[int, Field(ge=4)]
    classes: dict[str, DrugClass]
    asking: Asking
    stand_ins: Words
    routes: dict[str, Words]
    dose_units: frozenset[Word]


@cache
def drug_terms() -> DrugTerms:
    """`drugs.yaml`. Raises ValidationError if the file is invalid."""
    return DrugTerms.model_validate(load("guards/drugs"))


class KnownTrial(Policy):
    """A trial's names, and all its registry numbers."""

    names: Words
    numbers: Annotated[tuple[Word, ...], Field(min_length=1)]
    basis: Word


class NamedTerms(_File):
    """Journals and trials that a claim may name."""

    journals: dict[str, Words]
    trials: dict[str, KnownTrial]
    trial_nouns: frozenset[Lower]
    not_trials: frozenset[Word]


@cache
def named_terms() -> NamedTerms:
    """`named.yaml`. Raises ValidationError if the file is invalid."""
    return NamedTerms.model_validate(load("guards/named"))


class ArmTerms(_File):
    """How texts compare the arms of a trial."""

    empty: frozenset[Lower]
    labelled: frozenset[Lower]
    connectors: Words
    contrasts: Words


@cache
def arm_terms() -> ArmTerms:
    """`arms.yaml`. Raises ValidationError if the file is invalid."""
    return ArmTerms.model_validate(load("guards/arms"))


class PopulationTerms(_File):
    """The population of a statement: values of categories that exclude each other."""

    categories: dict[str, dict[str, Words]]
    assumed: dict[str, Word]
    same_markers: tuple[tuple[Lower, ...], ...]
    status: dict[Literal["positive", "negative"], tuple[Lower, ...]]
    not_markers: frozenset[Lower]


@cache
def population_terms() -> PopulationTerms:
    """`population.yaml`. Raises ValidationError if the file is invalid."""
    return PopulationTerms.model_validate(load("guards/population"))
