"""How a language model drafts an answer: `generation.yaml` as a validated model."""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Form = Literal["trial", "guideline", "coverage", "general"]
"""A prompt of `workers/generate/prompts/`."""

Reason = Literal["refused", "unusable", "unavailable", "misconfigured", "budget_spent", "thinned"]
"""Why an answer is not the model's draft though there is one; "thinned": too little of it held."""

Count = Annotated[int, Field(ge=1)]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FormPolicy(_Policy):
    """The types of question that get a prompt, and the one whose sections it shares."""

    query_types: frozenset[str]
    sections_of: str


class EvidenceBounds(_Policy):
    """Characters that are sent, of a version, of all of them, and of a title."""

    document_chars: Count
    all_chars: Count
    title_chars: Count


class DraftBounds(_Policy):
    """What a draft may be: claims, characters of each, tokens of the whole, and how long it takes
    beside a short answer."""

    claims: Count
    claim_chars: Count
    quote_chars: Count
    max_tokens: Count
    patience: float = Field(ge=1)


class Retries(_Policy):
    """How often a model that is away is asked, and how long a pause is waited for."""

    tries: Count
    pause_seconds: float = Field(gt=0)
    longest_pause_seconds: float = Field(gt=0)


class GenerationPolicy(_Policy):
    """See the comments of `generation.yaml`."""

    forms: dict[Form, FormPolicy]
    evidence: EvidenceBounds
    draft: DraftBounds
    retries: Retries
    fallbacks: dict[Reason, str]

    def form_of(self, query_type: str) -> Form:
        """The prompt for a type of question; one that is not listed is a general one."""
        found = (form for form, policy in self.forms.items() if query_type in policy.query_types)
        return next(found, "general")


@cache
def generation_policy() -> GenerationPolicy:
    """The policy, validated.

    Raises pydantic.ValidationError if the file is not what it should be.
    """
    return GenerationPolicy.model_validate(load("generation"))
