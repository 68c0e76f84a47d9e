"""The quality metrics of `quality.yaml`: targets and alert thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from knowledge.loader import Policy, load

Group = Literal["retrieval_quality", "grounding_quality", "gate_quality", "extraction_quality"]
GROUPS: tuple[Group, ...] = (
    *("retrieval_quality", "grounding_quality"),
    *("gate_quality", "extraction_quality"),
)


class Bound(Policy):
    """A comparison with a number."""

    below: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    above: float | None = None

    @model_validator(mode="after")
    def _is_one(self) -> "Bound":
        if len(self.body()) != 1:
            raise ValueError("a bound is one of below, at_most, at_least, above")
        return self

    def body(self) -> dict[str, float]:
        """The name of the comparison and its number."""
        return self.model_dump(exclude_none=True)

    def holds(self, value: float) -> bool:
        """True if `value` satisfies the bound."""
        ((name, limit),) = self.body().items()
        match name:
            case "below":
                return value < limit
            case "at_most":
                return value <= limit
            case "at_least":
                return value >= limit
            case _:
                return value > limit

    def words(self) -> str:
        """The bound for display, such as `< 0.3`."""
        ((name, limit),) = self.body().items()
        sign = {"below": "<", "at_most": "≤", "at_least": "≥", "above": ">"}[name]
        return f"{sign} {limit:g}"


@dataclass(frozen=True)
class Figure:
    """A value and the number of questions, claims or documents behind it; None: there were none."""

    value: float | None
    over: int


UNKNOWN = Figure(None, 0)


class QualityMetric(Policy):
    """One metric; see the head of the file."""

    group: Group
    says: str
    source: str
    target: Bound | None = None
    alert: Bound | None = None
    least: int = Field(ge=1)
    standing: bool = False

    def met(self, figure: Figure) -> bool | None:
        """True if the target is met; None if there is no target or no value."""
        if self.target is None or figure.value is None:
            return None
        return self.target.holds(figure.value)

    def alerts(self, figure: Figure) -> bool | None:
        """True if the alert fires; None if there is no alert threshold or too little data."""
        if self.alert is None or figure.value is None or figure.over < self.least:
            return None
        return self.alert.holds(figure.value)


class _File(Policy):
    version: int
    metrics: dict[str, QualityMetric]


@cache
def quality_metrics() -> Mapping[str, QualityMetric]:
    """All metrics by name, in the order of the file."""
    return _File.model_validate(load("operation/quality")).metrics
