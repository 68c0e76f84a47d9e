"""summarize: a clinical note becomes a summary and a plan whose every word it cites.

With a language model, it chooses and orders; without one, or where it cannot, the rules do, and the
result says why (`provenance.fallback`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from contracts import Summary
from knowledge.documents.notes import Reason, plan_policy
from messages import Stage, SummarizeV1
from store.core.unit_of_work import UnitOfWork
from store.models import Note
from store.reports import model_usage
from store.texts.notes import NOTES
from workers.language_model import maker_of
from workers.language_model.port import (
    BudgetSpent,
    LanguageModel,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
)
from workers.runtime.errors import Permanent
from workers.runtime.llm_access import asking, wait_if_worth_it
from workers.runtime.stage import Context, StageSpec
from workers.summarize.model import Asked, propose_items, propose_plan, propose_sections
from workers.summarize.plan import recommendations
from workers.summarize.sections import OTHER
from workers.summarize.summary import Reading, by_rules, read, result_of

T = TypeVar("T")

_REASONS: dict[type[ModelError], Reason] = {
    ModelRefused: "refused",
    ModelUnavailable: "unavailable",
    ModelMisconfigured: "misconfigured",
    BudgetSpent: "budget_spent",
}


@dataclass(frozen=True)
class Result:
    """What was made of a note, as it is stored."""

    body: Summary


def work(context: Context, message: SummarizeV1) -> Result:
    """Summarize the note.

    Raises:
        Later: the model is away for a moment; it is asked again after that.
    """
    with context.store.reading() as session:
        note = session.get(Note, message.note_id)
        if note is None or note.text_hash != message.text_hash:
            raise Permanent(f"there is no text of note {message.note_id}")
        text = note.text
    model = asking(context, message.note_id, about=text)
    if model is None:
        return Result(by_rules(text))
    return Result(_by_model(context, message, model, text))


def _by_model(context: Context, message: SummarizeV1, model: LanguageModel, text: str) -> Summary:
    asked = Asked()
    fallbacks: dict[str, dict[str, str]] = {}

    def attempt(purpose: str, ask: Callable[[], T], otherwise: T) -> T:
        try:
            return ask()
        except ModelError as error:
            if isinstance(error, ModelUnavailable) and not asked.consulted:
                wait_if_worth_it(context, message.note_id, purpose, error)
            reason = _REASONS.get(type(error), "unusable")
            fallbacks[purpose] = {"reason": reason, "note": plan_policy().fallbacks[reason]}
            return otherwise

    reading, maker = read(text), maker_of(context.settings)
    inferred: Sequence[tuple[int, str, str]] = ()
    if _has_no_heading(reading):
        inferred = attempt("sections", lambda: propose_sections(model, reading, asked), ())
        reading = read(text, inferred)
    items = attempt("summarize", lambda: propose_items(model, reading, asked), reading.items)
    by_rules = recommendations(text, items)
    plan = attempt("plan", lambda: propose_plan(model, reading, items, asked), by_rules)
    with context.store.reading() as session:
        cost = model_usage.cost_of(session, str(message.note_id))
    provenance = {
        "generator": maker if "summarize" not in fallbacks else "extractive",
        "model": model.name,
        "consulted": [one.as_body() for one in asked.consulted],
        "refused": dict(asked.refused),
        "supplemented": asked.supplemented,
        "sections_inferred": len(inferred),
        "fallback": fallbacks,
        "cost_usd": None if cost is None else str(cost),
    }
    return result_of(reading, items, plan, provenance)


def _has_no_heading(reading: Reading) -> bool:
    """Whether rules found no part in a note of some sentences."""
    sections = reading.outline.sections
    return all(one.kind == OTHER for one in sections) and len(reading.outline.units) > 2


def commit(unit: UnitOfWork, message: SummarizeV1, result: Result) -> None:
    """Keep the result; its counts are audited, its words are not (invariant 11)."""
    digest = NOTES.done(unit, message.note_id, result.body.as_body())
    unit.record(
        "note.summarized",
        message.note_id,
        result_hash=digest,
        generator=result.body.provenance.generator,
        validation=result.body.validation.as_json(),
    )


def _on_dead(unit: UnitOfWork, message: SummarizeV1, cause: str) -> None:
    NOTES.failed(unit, message.note_id, cause)


SPEC = StageSpec(
    stage=Stage.SUMMARIZE,
    work=work,
    commit=commit,
    on_dead=_on_dead,
    backoff_seconds=0.5,
    backoff_cap_seconds=30.0,
    time_limit_seconds=600.0,
    model_waits=3 * plan_policy().model.patience,
)
"""A language model is asked two or three times, and may take a minute each."""
