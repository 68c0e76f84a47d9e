"""What the extract stage makes of a clinical document: fields with the words that state them."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from contracts.body import Body, Part

Scalar: TypeAlias = str | bool | int | float | None
Value: TypeAlias = Mapping[str, Scalar | tuple[Scalar, ...]]
"""A value as it was read: its `kind`, and what such a kind has (`workers.extract.values`)."""


class Readability(Part):
    """Whether the text can be read, how sure that is (a share), and what would help."""

    readable: bool
    confidence: float
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


class FieldItem(Part):
    """A value and the words that state it, `[start, end)` in code points."""

    value: Value
    start: int
    end: int


class Field(Part):
    """A field: found, ambiguous or not_present, then with the `reason`. One of many values has
    `items`."""

    value: Value | tuple[Value, ...] | None
    status: str
    start: int | None
    end: int | None
    origin: str = "rules"
    items: tuple[FieldItem, ...] = ()
    reason: str | None = None


class FieldScore(Part):
    """What an evaluation says of a field in one dimension."""

    field: str
    dimension: str
    score: float
    weight: float
    present: bool
    borne: float = 1.0
    issues: tuple[str, ...] = ()
    grave: bool = False


class Score(Part):
    """The scores of an attempt, shares: `overall` sums the four dimensions and steers the loop,
    `likelihood` is how likely its fields are right, `likely` of each field."""

    overall: float
    likelihood: float = 0.0
    likely: Mapping[str, float] = {}
    completeness: float
    accuracy: float
    consistency: float
    clinical_validity: float
    breakdown: tuple[FieldScore, ...] = ()


class Issue(Part):
    """A fault of an attempt, and what may mend it."""

    field: str
    severity: str
    description: str
    suggested_fix: str | None = None


class Feedback(Part):
    """What an evaluation tells the next attempt."""

    overall_score: float
    missing_fields: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    suggestions: tuple[str, ...] = ()
    priority_fields: tuple[str, ...] = ()
    review_fields: tuple[str, ...] = ()


class IterationDone(Part):
    """An iteration of the loop; places count from the start of its part."""

    iteration: int
    fields: Mapping[str, Field]
    score: Score
    feedback: Feedback
    improvement_from_previous: float | None = None


class Loop(Part):
    """How the result of a part came about."""

    final_score: float
    iterations: int
    met_threshold: bool
    stopped_reason: str
    processing_time_ms: int
    iteration_history: tuple[IterationDone, ...]


class DocumentPart(Part):
    """A part of the document, of one type and one patient (numbered)."""

    type: str
    start: int
    end: int
    patient: int = 0
    rest: bool = False
    reliability_loop: Loop


class Consulted(Part):
    """What a language model had to do with an iteration of a part."""

    part: int
    iteration: int
    generator: str = "rules"
    model: str | None = None
    prompt_version: str | None = None
    prompt_hash: str | None = None
    output_hash: str | None = None
    remembered: bool = False
    opinions: int = 0
    fallback: str | None = None
    cost_usd: str | None = None
    note: str | None = None


class ExtractionProvenance(Part):
    """Who read the fields, by which policies, at what cost."""

    generator: str
    models: tuple[str, ...] = ()
    knowledge_version: str
    consulted: tuple[Consulted, ...] = ()
    remembered: tuple[tuple[str, ...], ...] = ()
    cost_usd: str | None = None


class Extraction(Body):
    """The result of a clinical document. Unreadable: `error`, `readability`, `suggestions`."""

    outcome: Literal["extracted", "unreadable"]
    fields: Mapping[str, Field]
    readability: Readability
    type: str | None = None
    confidence: float | None = None
    composite: bool = False
    score: float | None = None
    iterations: int | None = None
    met_threshold: bool | None = None
    needs_review: bool = False
    patients: int = 1
    parts: tuple[DocumentPart, ...] = ()
    provenance: ExtractionProvenance | None = None
    error: str | None = None
    suggestions: tuple[str, ...] = ()
