"""The words and units of `knowledge/reading/quotations.yaml`, checked and indexed once per
process."""

from functools import cached_property, lru_cache
from typing import Annotated, Literal

from pydantic import StringConstraints

from knowledge.loader import Policy, load

Term = Annotated[str, StringConstraints(min_length=1, to_lower=True)]
Spelling = Annotated[str, StringConstraints(min_length=1)]
UnitKind = Literal["percent", "dose", "duration", "plain"]


class Vocabulary(Policy):
    """Clinical policy about quotations and numbers; see the data file for each list's source."""

    version: int
    comparators: dict[str, tuple[Term, ...]]
    comparators_after: dict[str, tuple[Term, ...]]
    not_comparators_of_durations: frozenset[Term]
    units: dict[UnitKind, dict[Spelling, tuple[Spelling, ...]]]
    measures: dict[str, tuple[Spelling, ...]]
    counted: frozenset[Term]
    number_words: tuple[Term, ...]

    def unit(self, spelling: str) -> str | None:
        """The canonical spelling of one simple unit, None if it is none.

        The case as printed counts first (mM is not mm), then any case.
        """
        spelling = spelling.replace("\u00b5", "\u03bc")
        return self._unit_of.get(spelling) or self._unit_of.get(spelling.lower())

    @cached_property
    def _unit_of(self) -> dict[str, str]:
        return {
            spelling: canonical
            for group in self.units.values()
            for canonical, spellings in group.items()
            for spelling in spellings
        }

    @cached_property
    def unit_kind(self) -> dict[str, UnitKind]:
        """Canonical unit to what it measures."""
        return {canonical: kind for kind, group in self.units.items() for canonical in group}

    @cached_property
    def comparator_of(self) -> dict[str, str]:
        """Phrase or sign before a number to the sign it means."""
        return {phrase: sign for sign, phrases in self.comparators.items() for phrase in phrases}

    @cached_property
    def comparator_after_of(self) -> dict[str, str]:
        """Phrase after a number to the sign it means."""
        pairs = self.comparators_after.items()
        return {phrase: sign for sign, phrases in pairs for phrase in phrases}


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The vocabulary shipped with the product.

    Raises ValidationError when the data file was edited into something invalid.
    """
    return Vocabulary.model_validate(load("reading/quotations"))
