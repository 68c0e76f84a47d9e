"""How answers are checked again when a cited document or the gate changes (`recalls.yaml`)."""

from functools import cache
from typing import Annotated

from pydantic import Field

from knowledge.loader import Policy, load


class RecallPolicy(Policy):
    """How many answers are checked at once, and what makes an unchanged quotation doubtful."""

    step_answers: Annotated[int, Field(ge=1, le=1000)]
    asked_anew_at_once: Annotated[int, Field(ge=1)]
    recheck_answers: Annotated[int, Field(ge=1, le=1000)]
    same_subject: Annotated[float, Field(gt=0, le=1)]


@cache
def recall_policy() -> RecallPolicy:
    """The policy, read and validated once per process."""
    return RecallPolicy.model_validate(load("operation/recalls"))
