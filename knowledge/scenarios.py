"""Scenario packs (EB-4.1): for a common decision the guidelines, reviews and trials that matter.

One file a scenario in `knowledge/scenarios/`. A pack names works; it is no evidence itself: what is
cited is the held record that an entry's identifier leads to.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from knowledge.loader import parse

Tag = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Kind = Literal["guideline", "systematic_review", "pivotal_trial", "cohort"]


class Entry(BaseModel):
    """One work of a pack. Only a confirmed one is ever used for a reference."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    title: Annotated[str, StringConstraints(min_length=3)]
    year: Annotated[int, Field(ge=1950, le=2100)]
    organization: str | None = None
    trial: str | None = Field(default=None, description="its short name, such as ARISTOTLE")
    pmid: Annotated[str, Field(pattern=r"^[1-9]\d{0,8}$")] | None = None
    doi: Annotated[str, Field(pattern=r"^10\.\d{4,9}/\S+$")] | None = None
    nct_id: Annotated[str, Field(pattern=r"^NCT\d{8}$")] | None = None
    url: Annotated[str, Field(pattern=r"^https://\S+$")] | None = None
    confirmed: bool = Field(description="its identifiers were seen together at a source")
    basis: Annotated[str, StringConstraints(min_length=3)] = Field(
        description="where the identity was confirmed, or why it could not be"
    )

    def identifiers(self) -> dict[str, str]:
        """Those it has, by the names that a record's identifiers have."""
        named = {"pmid": self.pmid, "doi": self.doi, "nct_id": self.nct_id}
        return {kind: value for kind, value in named.items() if value is not None}


class Scenario(BaseModel):
    """A decision in a kind of patient, recognized by its tags."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Tag
    label: str
    diseases: tuple[Tag, ...] = Field(min_length=1, description="all of them must be asked about")
    decisions: tuple[Tag, ...] = Field(description="one of them must be; any, if there are none")
    reviewed_on: str
    entries: tuple[Entry, ...]

    def usable(self) -> tuple[Entry, ...]:
        """The confirmed entries."""
        return tuple(one for one in self.entries if one.confirmed)


def pack_files() -> dict[str, str]:
    """The text of each pack's file, by the file's name."""
    folder = files("knowledge").joinpath("scenarios")
    return {
        path.name: path.read_text("utf-8")
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".yaml")
    }


@cache
def scenarios() -> tuple[Scenario, ...]:
    """All packs, those that ask for most diseases first, and among these by name."""
    found = [Scenario.model_validate(parse(text)) for text in pack_files().values()]
    return tuple(sorted(found, key=lambda one: (-len(one.diseases), one.name)))


def scenario_for(diseases: Sequence[str], decisions: Sequence[str]) -> Scenario | None:
    """The most specific scenario whose tags a question has: that of most diseases, then of most of
    the question's decisions, then the first by name."""
    matching = [
        scenario
        for scenario in scenarios()
        if set(scenario.diseases) <= set(diseases)
        and (not scenario.decisions or set(scenario.decisions) & set(decisions))
    ]
    return max(
        matching,
        key=lambda one: (len(one.diseases), len(set(one.decisions) & set(decisions))),
        default=None,
    )
