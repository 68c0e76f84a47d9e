"""Words that tell whose a value is and whether a drug is taken. Pure.

They stand in `knowledge/rubrics/patients.yaml`.
"""

from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Words = Annotated[tuple[str, ...], Field(min_length=1)]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Relatives(_Data):
    """Words for relatives."""

    female: Words
    male: Words
    either: Words

    @property
    def every(self) -> tuple[str, ...]:
        """All of them."""
        return self.female + self.male + self.either


class Medicines(_Data):
    """Words by which a drug is taken, and by which it is not."""

    refused: Words
    refused_next: Words
    not_a_drug: Words
    changes: Words
    conditional: frozenset[str]
    conditions: Words
    taken: Words
    taken_next: Words
    stay_headings: frozenset[str]
    given: Words
    given_there: Words
    going_home: Words
    ended: Words
    ended_cells: Words
    taken_cells: Words
    status_titles: Words
    drug_labels: Words
    heading_words: Words
    harmed: Words
    reactions: Words
    refused_headings: frozenset[str]
    taken_headings: frozenset[str]
    before_the_name: Words

    @property
    def bare_headings(self) -> frozenset[str]:
        """Headings of several words, which are one without a colon, too."""
        return frozenset(
            one
            for one in self.refused_headings | self.taken_headings | self.stay_headings
            if " " in one
        )


class Allergies(_Data):
    """Words by which sentences tell of allergies."""

    told: Words
    none: Words
    things: frozenset[str]


class Patients(_Data):
    """See the comments of `patients.yaml`."""

    version: int
    relatives: Relatives
    possessives: Words
    which: Words
    companions: Words
    back_to_the_patient: Words
    family_headings: frozenset[str]
    medicines: Medicines
    allergies: Allergies
    others: Words
    other_samples: Words
    copied: Words


@cache
def patients() -> Patients:
    """The file's content; raises ValidationError where it is not what it should be."""
    return Patients.model_validate(load("rubrics/patients"))
