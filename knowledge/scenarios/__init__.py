"""Scenario packs (EB-4.1): the important guidelines, reviews and trials of a common decision.

One file per scenario in `knowledge/scenarios/`. A pack names works but is no evidence itself: the
held record with an entry's identifier is cited.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from knowledge.loader import Policy, parse

Tag = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Kind = Literal["guideline", "systematic_review", "pivotal_trial", "cohort"]


class Entry(Policy):
    """One work of a pack. Only confirmed entries are used for references."""

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
        """The identifiers of the entry, under the names that records use."""
        named = {"pmid": self.pmid, "doi": self.doi, "nct_id": self.nct_id}
        return {kind: value for kind, value in named.items() if value is not None}


class Scenario(Policy):
    """A decision for a group of patients, recognized by its tags."""

    name: Tag
    label: str
    diseases: tuple[Tag, ...] = Field(min_length=1, description="all of them must be asked about")
    decisions: tuple[Tag, ...] = Field(description="one of them must be; any, if there are none")
    reviewed_on: str
    entries: tuple[Entry, ...]

    def usable(self) -> tuple[Entry, ...]:
        """The confirmed entries."""
        return tuple(entry for entry in self.entries if entry.confirmed)


def pack_files() -> dict[str, str]:
    """The text of each pack file, by file name."""
    folder = files("knowledge").joinpath("scenarios")
    return {
        path.name: path.read_text("utf-8")
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".yaml")
    }


@cache
def scenarios() -> tuple[Scenario, ...]:
    """All packs, ordered by number of diseases, the most first, then by name."""
    packs = [Scenario.model_validate(parse(text)) for text in pack_files().values()]
    return tuple(sorted(packs, key=lambda pack: (-len(pack.diseases), pack.name)))


def scenario_for(diseases: Sequence[str], decisions: Sequence[str]) -> Scenario | None:
    """The most specific scenario whose tags a question has: the one with the most diseases, then
    with the most of the question's decisions, then with the disease named first, then the first by
    name.

    Args:
        diseases: in the order of the question, but those that include another one of them last
            (`knowledge.subjects.breadth.narrow_first`).
        decisions: tags, in any order.
    """
    matching = [
        scenario
        for scenario in scenarios()
        if set(scenario.diseases) <= set(diseases)
        and (not scenario.decisions or set(scenario.decisions) & set(decisions))
    ]
    return max(
        matching,
        key=lambda pack: (
            len(pack.diseases),
            len(set(pack.decisions) & set(decisions)),
            -min(map(diseases.index, pack.diseases)),
        ),
        default=None,
    )
