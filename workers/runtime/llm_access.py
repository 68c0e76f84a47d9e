"""How a stage asks the language model: charged to the stage's subject, within the budgets."""

from knowledge.answering.generation import generation_policy
from store.reports import model_usage
from workers.language_model import table_of
from workers.language_model.budgeted import UNAVAILABLE, Budget, BudgetedModel
from workers.language_model.port import ModelUnavailable
from workers.runtime.errors import Later
from workers.runtime.stage import Context


def asking(
    context: Context, subject: object, requests: int | None = None, about: str = ""
) -> BudgetedModel | None:
    """The language model, charged to `subject`, such as a question's id; None where there is none.

    Requests are paid for from the budgets of the settings, and every request is written to the
    table `model_usage`, whatever its outcome. `propose` raises `BudgetSpent` if the money or the
    number of requests is spent.

    Args:
        requests: how many replies may be asked for; None: any number.
        about: the document that the requests show parts of, whose identifiers they do not show.

    Raises:
        ValueError: key, name or address of the settings cannot be used.
    """
    model, settings = context.language_model, context.settings
    if model is None:
        return None
    return BudgetedModel(
        model,
        context.store,
        str(subject),
        Budget(settings.question_budget_usd, settings.day_budget_usd, requests),
        now=context.now,
        sleep=context.sleep,
        table=table_of(settings),
        mask=settings.mask_identifiers,
        about=about,
    )


def wait_if_worth_it(
    context: Context, subject: object, purpose: str, error: ModelUnavailable
) -> None:
    """Raise `Later` if the model is worth another try; return if not.

    A server of one's own that was too slow will be so again: it is not asked twice. Tries are
    counted in `model_usage`, so the count survives restarts and is shared by all workers.

    Raises:
        Later: tries are left, and the pause is not too long.
    """
    if context.settings.model_url and error.maybe_billed and not error.lost:
        return
    retries = generation_policy().retries
    with context.store.reading() as session:
        tries = model_usage.ended(session, str(subject), purpose, UNAVAILABLE)
    pause = retries.pause_seconds if error.retry_after is None else error.retry_after
    if tries < retries.tries and pause <= retries.longest_pause_seconds:
        raise Later(str(error), pause)
