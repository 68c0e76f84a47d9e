"""Extraction as a service (`extraction.yaml`): limits, error texts, memory."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal, get_args

from pydantic import Field

from knowledge.loader import Policy, load

DocumentTypeName = Literal[
    "pathology", "radiology", "genomics", "lab-report", "prescription", "clinical-notes",
    "discharge-summary", "surgical-notes", "unknown",
]  # fmt: skip
ProfileName = Literal["real-time", "batch", "clinical"]
Fallback = Literal["refused", "unusable", "unavailable", "misconfigured", "budget_spent", "lost"]
DOCUMENT_TYPE_NAMES: tuple[str, ...] = get_args(DocumentTypeName)
PROFILE_NAMES: tuple[str, ...] = get_args(ProfileName)
"""The names in `rubrics/`, for code that must not import the stage; a test compares them."""


class MemoryPolicy(Policy):
    """Limits of what a remembered prompt names."""

    most_fields: Annotated[int, Field(ge=1)]


class ExtractionPolicy(Policy):
    """See the comments of `extraction.yaml`."""

    version: int
    max_chars: Annotated[int, Field(ge=1)]
    step_seconds: Annotated[float, Field(gt=0)]
    step_attempts: Annotated[int, Field(ge=1)]
    suggestions: tuple[str, ...]
    fallbacks: Mapping[Fallback, str]
    memory: MemoryPolicy


@cache
def extraction_policy() -> ExtractionPolicy:
    """The policy, validated."""
    return ExtractionPolicy.model_validate(load("documents/extraction"))
