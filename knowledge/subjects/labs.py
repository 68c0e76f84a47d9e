"""Measured values in a text, their categories by threshold, age groups (`labs.yaml`). Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, nextafter
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load

Limit = Literal["below", "above"]


class Band(Policy):
    """A range of values in the lab's first unit: `at_least` is included, `below` is not."""

    category: str
    at_least: float = float("-inf")
    below: float = float("inf")
    tag: str | None = None


class Unit(Policy):
    """Conversion of a value to the lab's first unit: value x factor + add."""

    factor: float = 1.0
    add: float = 0.0
    also: tuple[str, ...] = ()


class Lab(Policy):
    """A laboratory value or other measured quantity."""

    names: Annotated[tuple[str, ...], Field(min_length=1)]
    units: Annotated[Mapping[str, Unit], Field(min_length=1)]
    unit_may_be_missing: bool = False
    plausible: tuple[float, float]
    source: Annotated[str, Field(min_length=10)]
    bands: Annotated[tuple[Band, ...], Field(min_length=1)]

    def band_of(self, value: float) -> Band | None:
        """The band of a value in the first unit; None if it is in none."""
        return next((band for band in self.bands if band.at_least <= value < band.below), None)


class AgeGroup(Policy):
    """An age group and its lowest age in years."""

    first: Annotated[float, Field(alias="from", ge=0)]
    name: str


class LabPolicy(Policy):
    """`labs.yaml`."""

    version: Literal[1]
    labs: Mapping[str, Lab]
    age_groups: tuple[AgeGroup, ...]
    between: tuple[str, ...]
    limits: Mapping[Limit, tuple[str, ...]]

    @model_validator(mode="after")
    def _names_tags_of_the_vocabulary(self) -> Self:
        named = {band.tag for lab in self.labs.values() for band in lab.bands} - {None}
        if not named <= set(load("subjects/vocabulary")["diseases"]):
            raise ValueError("labs.yaml: a tag is not in the vocabulary")
        return self


@dataclass(frozen=True)
class Reading:
    """A stated value; `value` is in `unit`, the lab's first, and is a bound if `limit` is set."""

    lab: str
    value: float
    unit: str
    limit: Limit | None
    category: str | None
    tag: str | None
    start: int
    end: int


@cache
def lab_policy() -> LabPolicy:
    """The policy, validated, read once per process."""
    return LabPolicy.model_validate(load("subjects/labs"))


def age_group(years: float) -> str:
    """The age group of an age in years."""
    return [group.name for group in lab_policy().age_groups if group.first <= years][-1]


def readings(text: str) -> Iterator[Reading]:
    """The values that `text` states, lab by lab, each with its category by threshold."""
    for name, lab in lab_policy().labs.items():
        for match in _pattern(name).finditer(text):
            if reading := _read(name, lab, match):
                yield reading


@cache
def _pattern(name: str) -> re.Pattern[str]:
    policy = lab_policy()
    lab = policy.labs[name]
    units = [word for unit, read in lab.units.items() for word in (unit, *read.also)]
    limits = [word for words in policy.limits.values() for word in words]
    return re.compile(
        rf"(?<!\w){_any(lab.names)}(?!\w)(?:\s{{0,9}}{_any(policy.between)}){{0,4}}\s{{0,9}}"
        rf"(?P<limit>{_any(limits)})?\s{{0,9}}(?P<value>\d{{1,3}}(?:,\d{{3}})+|\d{{1,6}}(?:\.\d{{1,3}})?)(?![\d.]*\d)"
        rf"(?:\s{{0,9}}(?P<unit>{_any(units)})(?!\w))?"
    )


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


def _read(name: str, lab: Lab, match: re.Match[str]) -> Reading | None:
    first = next(iter(lab.units))
    if match["unit"] is None and not lab.unit_may_be_missing:
        return None
    written = match["unit"] or first
    unit = next(unit for key, unit in lab.units.items() if written in (key, *unit.also))
    value = round(float(match["value"].replace(",", "")) * unit.factor + unit.add, 2)
    if not lab.plausible[0] <= value <= lab.plausible[1]:
        return None
    limits = lab_policy().limits
    limit = next((kind for kind, words in limits.items() if match["limit"] in words), None)
    # A bound has a tag or category only if the nearest and the farthest plausible value share it.
    nearest = nextafter(value, -inf) if limit == "below" else value
    farthest = {"below": lab.plausible[0], "above": lab.plausible[1], None: value}[limit]
    near, far = lab.band_of(nearest), lab.band_of(farthest)
    tag = near.tag if near and far and near.tag == far.tag else None
    category = near.category if near and near == far else None
    return Reading(name, value, first, limit, category, tag, match.start(), match.end())
