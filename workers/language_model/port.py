"""What a stage may ask of a language model: a proposal in a given shape. Pure.

A model proposes; code disposes (invariant 6). Whatever it returns is validated again by the caller
against what is held.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Prompt(Generic[T]):
    """One request: instructions that stay the same (and are cached), data that differ, a shape."""

    purpose: str
    """Such as "understand", "rerank", "generate", "judge": for cost accounting and logs."""
    version: str
    system: str
    user: str
    shape: type[T]
    max_tokens: int = 2048
    patience: float = 1.0
    """How many times longer than the settings say a time-out is, for a long answer."""


@dataclass(frozen=True)
class Usage:
    """Tokens and cost of one request; a cost that is not known is None, never zero."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: Decimal | None = None


@dataclass(frozen=True)
class Proposal(Generic[T]):
    """What the model proposes, in the asked shape, and what it cost."""

    value: T
    model: str
    usage: Usage
    prompt_hash: str
    output_hash: str


@dataclass(frozen=True)
class Consulted:
    """What is stored of having asked a model: nothing of what was sent or came back but hashes."""

    note: str
    """What came of it, in words of ours."""
    model: str | None = None
    prompt_version: str | None = None
    prompt_hash: str | None = None
    output_hash: str | None = None
    usage: Usage | None = None

    def as_body(self) -> dict[str, Any]:
        """As it stands in a retrieval."""
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
    """What the request used all the same, where the service said so."""
    maybe_billed: bool = False
    """Whether the service may bill a request of which nothing came back."""


class ModelUnavailable(ModelError):
    """It passes by itself: overload, rate limit, time-out, outage."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, lost: bool = False
    ) -> None:
        """A trouble that passes.

        Args:
            retry_after: seconds, where the service names them.
            lost: the answer got lost on its way; whoever pays may ask again at once.
        """
        super().__init__(message)
        self.retry_after = retry_after
        self.lost = lost


class ModelRefused(ModelError):
    """The model declined to answer; asking again changes nothing."""


class ModelUnusable(ModelError):
    """The output was cut off or has not the asked shape."""


class ModelMisconfigured(ModelError):
    """Wrong key, unknown model, spending limit: an operator must act."""


class BudgetSpent(ModelError):
    """The budget of the question or of the day does not allow another request."""


class LanguageModel(Protocol):
    """The port; `workers.language_model.anthropic` is its adapter."""

    name: str

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """Ask once; what is not billed may be repeated inside, so at most one request is paid for.

        Raises:
            ModelError: one of its kinds, with what it used or may have used.
        """
        ...
