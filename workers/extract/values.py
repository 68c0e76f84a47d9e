"""The kinds of value that a field of a clinical document can have. Pure.

A value is data of its own, never the words: the words are `text[start:end]` of the field, and every
kind can be read back from them. `key` is what two values are compared by: same key, same meaning.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Key = tuple[object, ...]

MILLIMETERS = {"mm": 1.0, "cm": 10.0, "m": 1000.0, "in": 25.4}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Words(_Value):
    """Words of the document, as they stand there."""

    kind: Literal["words"] = "words"
    text: str

    @property
    def key(self) -> Key:
        """Case, space and closing points do not count."""
        return ("words", " ".join(self.text.lower().split()).strip(" .;:,"))


class Grade(_Value):
    """How a tumor is graded: "1" to "4", "low", "intermediate", "high", "X", or a Gleason sum."""

    kind: Literal["grade"] = "grade"
    level: str
    system: str | None = None

    @property
    def key(self) -> Key:
        """The level; two systems' levels are told apart only for Gleason."""
        return ("grade", self.level)


class Tnm(_Value):
    """A TNM formula, each part without its prefix, such as t="2", n="1a", m=None."""

    kind: Literal["tnm"] = "tnm"
    prefix: str = ""
    t: str | None = None
    n: str | None = None
    m: str | None = None

    @property
    def key(self) -> Key:
        """The three parts; a prefix may be left out."""
        return ("tnm", self.t, self.n, self.m)


class Stage(_Value):
    """A stage group such as IIIA."""

    kind: Literal["stage"] = "stage"
    group: str

    @property
    def key(self) -> Key:
        """The group."""
        return ("stage", self.group)


class Marker(_Value):
    """What a stain or a receptor assay showed; percentages 0-100, `score` 0, 1+, 2+ or 3+."""

    kind: Literal["marker"] = "marker"
    marker: str
    result: str | None = None
    """positive, negative, equivocal, low, intact or lost."""
    percent: float | None = None
    percent_to: float | None = None
    comparator: str | None = None
    score: str | None = None

    @property
    def key(self) -> Key:
        """Everything that was said of the marker."""
        percent = (self.comparator, self.percent, self.percent_to)
        return ("marker", self.marker, self.result, *percent, self.score)


class Margin(_Value):
    """A resection margin: positive, negative or close; the distance in millimeters."""

    kind: Literal["margin"] = "margin"
    status: str
    distance_mm: float | None = None
    which: str | None = None

    @property
    def key(self) -> Key:
        """Status and distance."""
        return ("margin", self.status, self.distance_mm)


class Measurement(_Value):
    """One to three dimensions in one unit, and what was measured where the words say it."""

    kind: Literal["measurement"] = "measurement"
    dimensions: tuple[float, ...]
    unit: str
    of: str | None = None

    @property
    def millimeters(self) -> tuple[float, ...]:
        """The dimensions, largest first."""
        factor = MILLIMETERS[self.unit]
        return tuple(sorted((round(one * factor, 2) for one in self.dimensions), reverse=True))

    @property
    def key(self) -> Key:
        """The dimensions in millimeters."""
        return ("measurement", *self.millimeters)


class Amount(_Value):
    """A number and its unit, if any, such as a volume or a mutational burden."""

    kind: Literal["amount"] = "amount"
    number: float
    unit: str | None = None
    comparator: str | None = None

    @property
    def key(self) -> Key:
        """The number; the unit belongs to the field."""
        return ("amount", self.comparator, self.number)


class Microsatellites(_Value):
    """MSI-H, MSI-L or MSS."""

    kind: Literal["msi"] = "msi"
    status: str

    @property
    def key(self) -> Key:
        """The status."""
        return ("msi", self.status)


class Mutation(_Value):
    """A variant of a gene: HGVS parts in one-letter form, or the kind of event; VAF in percent."""

    kind: Literal["mutation"] = "mutation"
    gene: str
    protein: str | None = None
    coding: str | None = None
    event: str | None = None
    vaf: float | None = None
    significance: str | None = None
    """uncertain, where the report says so."""

    @property
    def key(self) -> Key:
        """The gene and what changed; the protein change where it is named."""
        return ("mutation", self.gene, self.protein or self.coding or self.event)


class LabValue(_Value):
    """A measured value with unit, reference range and flag where they are printed."""

    kind: Literal["lab"] = "lab"
    name: str
    number: float | None = None
    text: str | None = None
    unit: str | None = None
    low: float | None = None
    high: float | None = None
    flag: str | None = None
    comparator: str | None = None

    @property
    def key(self) -> Key:
        """Name and value."""
        return ("lab", self.name.lower(), self.comparator, self.number, self.text)


class Nodes(_Value):
    """Lymph nodes with tumor, of those examined."""

    kind: Literal["nodes"] = "nodes"
    positive: int
    examined: int | None = None

    @property
    def key(self) -> Key:
        """Both numbers."""
        return ("nodes", self.positive, self.examined)


class Presence(_Value):
    """Whether something looked for is there: present, absent or indeterminate."""

    kind: Literal["presence"] = "presence"
    state: str

    @property
    def key(self) -> Key:
        """The state."""
        return ("presence", self.state)


class Day(_Value):
    """A date, `YYYY-MM-DD`, or `YYYY-MM` where no day is named.

    `other` is the second reading where day and month could change places.
    """

    kind: Literal["day"] = "day"
    iso: str
    other: str | None = None

    @property
    def key(self) -> Key:
        """The date read day first or as written."""
        return ("day", self.iso)


class Medication(_Value):
    """A drug as ordered."""

    kind: Literal["medication"] = "medication"
    name: str
    dose: float | None = None
    dose_to: float | None = None
    """The most, where a range is ordered."""
    unit: str | None = None
    route: str | None = None
    frequency: str | None = None

    @property
    def key(self) -> Key:
        """Name, dose and unit."""
        return ("medication", self.name.lower(), self.dose, self.unit)


Value = Annotated[
    Words | Grade | Tnm | Stage | Marker | Margin | Measurement | Amount | Microsatellites
    | Mutation | LabValue | Nodes | Presence | Day | Medication,
    Field(discriminator="kind"),
]  # fmt: skip
