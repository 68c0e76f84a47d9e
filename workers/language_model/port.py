"""The interface of a language model: a stage asks for a proposal in a given shape. Pure.

A model proposes and code decides (invariant 6): the caller validates every proposal against the
stored data.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)

_OVERHEAD_TOKENS = 1000
"""Our choice: for what the service adds to a prompt, mainly the wording around a schema."""


@dataclass(frozen=True)
class Prompt(Generic[T]):
    """One request: constant (and cached) instructions, variable data, and a shape."""

    purpose: str
    """For cost accounting and logs, such as "understand", "rerank", "generate", "judge"."""
    version: str
    system: str
    user: str
    shape: type[T]
    max_tokens: int = 2048
    patience: float = 1.0
    """A factor on the settings' time-out, for long answers."""
    correction: str = ""
    """What was wrong with the last reply to this, for the model; behind the instructions."""

    @property
    def most_input_tokens(self) -> int:
        """The most tokens that it can have: each token holds at least one byte of UTF-8."""
        # The schema is sent too, and counted twice: adapters may word it more fully than pydantic,
        # and tell it besides.
        schema = 2 * json.dumps(self.shape.model_json_schema())
        written = f"{self.system}{self.user}{self.correction}{schema}"
        return len(written.encode("utf-8", "surrogatepass")) + _OVERHEAD_TOKENS


@dataclass(frozen=True)
class Usage:
    """Tokens and cost of one request; an unknown cost is None, never zero."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: Decimal | None = None


@dataclass(frozen=True)
class Proposal(Generic[T]):
    """The model's proposal in the requested shape, with its cost."""

    value: T
    model: str
    usage: Usage
    prompt_hash: str
    output_hash: str


@dataclass(frozen=True)
class Consulted:
    """The stored record of a request to a model: prompt and output only as hashes."""

    note: str
    """The outcome, in our words."""
    model: str | None = None
    prompt_version: str | None = None
    prompt_hash: str | None = None
    output_hash: str | None = None
    usage: Usage | None = None

    def as_body(self) -> dict[str, Any]:
        """The record as JSON, as stored in a retrieval."""
        cost = self.usage.cost_usd if self.usage else None
        return {
            "note": self.note,
            "model": self.model,
            "prompt_version": self.prompt_version,
            "prompt_hash": self.prompt_hash,
            "output_hash": self.output_hash,
            "cost_usd": None if cost is None else str(cost),
        }


class ModelError(RuntimeError):
    """The model gave no usable proposal. Its text never quotes prompt, output or key."""

    usage: Usage | None = None
    """The usage of the failed request, if the service stated it."""
    maybe_billed: bool = False
    """Whether the service may bill the request although no answer came back."""


class ModelUnavailable(ModelError):
    """A fault that passes by itself: overload, rate limit, time-out, outage."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, lost: bool = False
    ) -> None:
        """Takes the message and how to retry.

        Args:
            retry_after: seconds, if the service states them.
            lost: the answer was lost on its way; the payer may ask again at once.
        """
        super().__init__(message)
        self.retry_after = retry_after
        self.lost = lost


class ModelRefused(ModelError):
    """The model declined to answer; a retry cannot help."""


class ModelUnusable(ModelError):
    """The output was cut off or does not have the requested shape."""

    def __init__(
        self, message: str, *, fault: str | None = None, not_accepted: bool = False
    ) -> None:
        """Takes the message and what may be done.

        Args:
            fault: what is wrong with the shape, for the model that wrote it. It may hold words of
                the reply: it goes back to the model, and to no log.
            not_accepted: the request was refused unread, so that another form of it may pass.
        """
        super().__init__(message)
        self.fault = fault
        self.not_accepted = not_accepted


class ModelMisconfigured(ModelError):
    """Wrong key, unknown model, spending limit: an operator must act."""


class BudgetSpent(ModelError):
    """The budget of the question or of the day does not allow another request."""


class LanguageModel(Protocol):
    """The port; its adapters are `AnthropicModel` (Messages API) and `ChatModel` (chat completions
    API)."""

    name: str

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """Ask once. Unbilled requests may be repeated inside, so at most one is paid for.

        Raises:
            ModelError: one of its subclasses, with the usage or `maybe_billed`.
        """
        ...
