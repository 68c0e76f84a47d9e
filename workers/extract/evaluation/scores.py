"""What an evaluation consists of. Pure."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Severity = Literal["critical", "major", "minor"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvaluationFailed(RuntimeError):
    """There is no evaluation: it is retried or given up, and never a score."""


class Issue(_Record):
    """Something wrong with an attempt, and how to mend it."""

    severity: Severity
    field: str
    description: str
    suggested_fix: str | None = None


class FieldScore(_Record):
    """How one field fares in one dimension, 0-1."""

    field: str
    dimension: Literal["completeness", "accuracy"]
    present: bool
    score: float
    weight: float
    borne: float = 1.0
    """The share of a value that its own words and the rules' reading of the document bear."""
    issues: tuple[str, ...] = ()
    grave: bool = False
    """Whether a person should look at it, whatever the score."""


class Score(_Record):
    """The four dimensions and their weighted sum; how likely the fields are right, together, with
    what bounds it, and each; 0-1."""

    overall: float
    likelihood: float = 0.0
    likely: Mapping[str, float] = {}
    completeness: float
    accuracy: float
    consistency: float
    clinical_validity: float
    breakdown: tuple[FieldScore, ...] = ()


class Feedback(_Record):
    """What the next attempt should mend."""

    overall_score: float
    issues: tuple[Issue, ...] = ()
    missing_fields: tuple[str, ...] = ()
    priority_fields: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    review_fields: tuple[str, ...] = ()
    """Those that a person should look at, whatever the score."""


class Evaluation(_Record):
    """A score with its feedback."""

    score: Score
    feedback: Feedback

    def as_body(self) -> dict[str, Any]:
        """As JSON data."""
        return self.model_dump(mode="json")
