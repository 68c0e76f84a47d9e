"""How a language model drafts an answer: `generation.yaml` as a validated model."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from knowledge.loader import Policy, load

Form = Literal["trial", "guideline", "coverage", "general"]
"""A prompt of `workers/generate/prompts/`."""

Reason = Literal["refused", "unusable", "unavailable", "misconfigured", "budget_spent", "thinned"]
"""Why an answer does not use the model's draft; "thinned": too few of its claims were verified."""

Count = Annotated[int, Field(ge=1)]


class FormPolicy(Policy):
    """The question types that use a prompt, and the prompt whose sections it shares."""

    query_types: frozenset[str]
    sections_of: str


class EvidenceBounds(Policy):
    """Limits in characters for what is sent: per version, of all versions, and per title."""

    document_chars: Count
    all_chars: Count
    title_chars: Count


class DraftBounds(Policy):
    """Limits of a draft: claims, characters of each, tokens of the whole, and the time that it may
    take beside a short answer."""

    claims: Count
    claim_chars: Count
    quote_chars: Count
    max_tokens: Count
    patience: float = Field(ge=1)


class Retries(Policy):
    """How often an unavailable model is called again, and the longest pause to wait."""

    tries: Count
    pause_seconds: float = Field(gt=0)
    longest_pause_seconds: float = Field(gt=0)


class Requests(Policy):
    """How many replies of a model may be asked for, for a draft and for a whole question."""

    draft: Count
    question: Count


class GenerationPolicy(Policy):
    """See the comments of `generation.yaml`."""

    forms: dict[Form, FormPolicy]
    evidence: EvidenceBounds
    draft: DraftBounds
    requests: Requests
    retries: Retries
    fallbacks: dict[Reason, str]

    def form_of(self, query_type: str) -> Form:
        """The prompt for a type of question; `general` if the type is not listed."""
        forms = (form for form, policy in self.forms.items() if query_type in policy.query_types)
        return next(forms, "general")


@cache
def generation_policy() -> GenerationPolicy:
    """The policy, validated."""
    return GenerationPolicy.model_validate(load("answering/generation"))
