"""A language model within budgets: each request is reserved, sent and settled.

    reserve   one transaction at a time: does the budget hold the most this request can cost?
    ask       outside any transaction
    settle    one transaction: the actual cost

An unknown cost counts as the highest possible. So no number of workers, crashes, time-outs or
unknown models spends more than a budget allows: each request reserves its worst case first.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

import structlog

from store.core.unit_of_work import Store
from store.models import ModelUsage
from store.reports import model_usage
from store.reports.model_usage import ASKED, Spent
from workers.language_model.masking import through_masks
from workers.language_model.port import (
    BudgetSpent,
    LanguageModel,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    Prompt,
    Proposal,
    T,
    Usage,
)
from workers.language_model.prices import PriceTable, prices

log = structlog.get_logger(__name__)

PROPOSED, REFUSED, UNUSABLE = "proposed", "refused", "unusable"
UNAVAILABLE, MISCONFIGURED = "unavailable", "misconfigured"
_OUTCOMES: dict[type[ModelError], str] = {
    ModelRefused: REFUSED,
    ModelUnusable: UNUSABLE,
    ModelUnavailable: UNAVAILABLE,
    ModelMisconfigured: MISCONFIGURED,
}
_PAUSE = 0.5
"""Seconds before a request whose answer was lost is repeated."""


@dataclass(frozen=True)
class Budget:
    """US dollars that may be spent for one subject, and in total on one day (UTC)."""

    subject_usd: Decimal
    day_usd: Decimal
    requests: int | None = None
    """How many replies may be asked for through one `BudgetedModel`; None: any number."""


class BudgetedModel:
    """A `LanguageModel` charged to one subject. Safe to share between threads."""

    def __init__(
        self,
        model: LanguageModel,
        store: Store,
        subject: str,
        budget: Budget,
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], None] = time.sleep,
        table: PriceTable | None = None,
        mask: bool = True,
        about: str = "",
    ) -> None:
        """Takes the model and who pays.

        Args:
            subject: is charged for the requests, such as a question's id, by the prices of `table`.
            mask: whether identifiers of persons are kept from the model.
            about: the document that its requests show parts of.
        """
        self.name = model.name
        self._model = model
        self._store = store
        self._subject = subject
        self._budget = budget
        self._now = now
        self._sleep = sleep
        self._prices = table or prices()
        self._mask, self._about = mask, about
        self.left = budget.requests
        """How many replies may still be asked for; None: any number."""

    def propose(self, prompt: Prompt[T]) -> Proposal[T]:
        """Ask if the budgets allow it. If the answer is lost, or has another shape than asked for,
        ask once more as a new request; in the second case the model is told what was wrong.

        Raises:
            BudgetSpent: a budget does not hold the most that this request can cost.
            ModelError: as raised by the model.
        """
        if not self._mask:
            return self._asked(prompt)
        return through_masks(self._asked, prompt, self._about)

    def _asked(self, prompt: Prompt[T]) -> Proposal[T]:
        try:
            return self._found(prompt)
        except ModelUnusable as error:
            if error.fault is None or self.left == 0:
                raise
            fault = error.fault
        return self._found(replace(prompt, correction=fault))

    def _found(self, prompt: Prompt[T]) -> Proposal[T]:
        try:
            return self._once(prompt)
        except ModelUnavailable as error:
            if not error.lost or error.retry_after:
                raise
        self._sleep(_PAUSE * random.uniform(1, 2))  # noqa: S311  jitter
        return self._once(prompt)

    def _once(self, prompt: Prompt[T]) -> Proposal[T]:
        if self.left == 0:
            raise BudgetSpent("All requests that may be made for it were made")
        usage_id, sent = self._reserve(prompt), time.monotonic()
        if self.left is not None:
            self.left -= 1
        try:
            made = self._model.propose(prompt)
        except ModelError as error:
            self._settle(usage_id, prompt.purpose, error, sent)
            raise
        # If anything else ends this, such as a kill, the row keeps its worst case.
        self._settle(usage_id, prompt.purpose, made, sent)
        return made

    def _reserve(self, prompt: Prompt[T]) -> int:
        read, now = prompt.most_input_tokens, self._now()
        need = self._prices.at_most(self.name, read, prompt.max_tokens)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        with self._store.unit_of_work("language_model") as unit:
            model_usage.lock_budgets(unit.session)
            of_subject = self._at_most(model_usage.spent(unit.session, subject=self._subject))
            of_day = self._at_most(model_usage.spent(unit.session, since=day))
            short = _short(self._budget, of_subject + need, of_day + need)
            if short is None:
                row = ModelUsage(
                    at=now,
                    subject=self._subject,
                    purpose=prompt.purpose,
                    model=self.name,
                    outcome=ASKED,
                    input_tokens=read,
                    output_tokens=prompt.max_tokens,
                )
                return model_usage.begin(unit.session, row)
        log.warning("language_model_budget_spent", of=short, purpose=prompt.purpose)
        raise BudgetSpent(f"The budget of the {short} does not hold another request")

    def _at_most(self, spent: Spent) -> Decimal:
        """US dollars; an unknown cost counts as the highest possible."""
        unknown = (
            self._prices.at_most(request.model, request.input_tokens, request.output_tokens)
            for request in spent.unpriced
        )
        return sum(unknown, spent.known)

    def _settle(
        self, usage_id: int, purpose: str, came: Proposal[T] | ModelError, sent: float
    ) -> None:
        took = (time.monotonic() - sent) * 1000
        error = came if isinstance(came, ModelError) else None
        outcome = PROPOSED if error is None else _OUTCOMES.get(type(error), UNUSABLE)
        usage = came.usage or (None if error and error.maybe_billed else _NOTHING)
        with self._store.unit_of_work("language_model") as unit:
            model_usage.end(
                unit.session,
                usage_id,
                outcome=outcome,
                model=self.name if isinstance(came, ModelError) else came.model,
                tokens=_tokens(usage),
                cost_usd=usage.cost_usd if usage else None,
                ms=round(took, 1),
            )
        write = log.info if error is None else log.warning
        if outcome == MISCONFIGURED:
            write = log.error  # an operator must act
        write(
            f"language_model_{outcome}",
            purpose=purpose,
            subject=self._subject[:36],
            cost_usd=str(usage.cost_usd) if usage and usage.cost_usd is not None else None,
            cause=str(error) if error else None,
        )


_NOTHING = Usage(0, 0, cost_usd=Decimal(0))


def _tokens(usage: Usage | None) -> tuple[int, int, int, int] | None:
    if usage is None:
        return None
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    )


def _short(budget: Budget, of_subject: Decimal, of_day: Decimal) -> str | None:
    """The budget that these sums would exceed; None if neither."""
    if of_subject > budget.subject_usd:
        return "question"
    return "day" if of_day > budget.day_usd else None
