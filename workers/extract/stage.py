"""extract: the fields of a clinical document, step by step, each kept before the next begins.

Step 0 reads the document and plans; every later step is one iteration of the loop over one part.
A step commits its result together with the message for the next, so that whoever is killed goes on
where the last commit was; what a language model answered is kept before that (`paid_once`).
"""

import time
from dataclasses import dataclass

from contracts import Extraction
from knowledge.documents.extraction import extraction_policy
from messages import ExtractV1, Stage
from store.core.unit_of_work import UnitOfWork
from store.extractions import extractions, prompt_memory
from store.extractions.extractions import EXTRACTIONS, Ended
from store.models import ExtractionRow
from workers.extract.intake.files import take_in
from workers.extract.intake.readability import Unreadable
from workers.extract.intake.refusals import IntakeRefused
from workers.extract.loop.steps import Memory, Plan, TooLong, plan_of, unreadable_body
from workers.extract.loop.stored_iteration import Iterated, Step
from workers.extract.rubrics import policy
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec


@dataclass(frozen=True)
class Planned:
    """Step 0: what was read, and what will be done with it; no plan where there can be none."""

    text: str
    plan: Plan | None
    seconds: float
    refused: Extraction | None = None


Result = Planned | Iterated


def work(context: Context, message: ExtractV1) -> Result:
    """Make one step.

    Raises:
        Later: the model is away for a moment; it is asked again after that.
        Transient: the evaluation failed; the attempt is kept and evaluated again.
    """
    began = time.monotonic()
    with context.store.reading() as session:
        row = EXTRACTIONS.get(session, message.extraction_id)
        if row is None or row.erased_at or row.content_hash != message.content_hash:
            raise Permanent(f"there is no document of extraction {message.extraction_id}")
        stored = extractions.iterations(session, row.id, message.part)
    if message.iteration == 0:
        return _plan(context, row, began)
    if row.plan is None or row.text is None:
        raise Permanent(f"extraction {message.extraction_id} has no plan")
    return Step(context, message, row.text, Plan.model_validate(row.plan), stored, began).make()


def _plan(context: Context, row: ExtractionRow, began: float) -> Planned:
    def remembers(document_type: str) -> Memory | None:
        with context.store.reading() as session:
            found = prompt_memory.best(session, document_type, policy().remember_from)
        return None if found is None else Memory(id=str(found.id), fields=found.fields)

    text, readability = row.text, None
    try:
        if text is None:
            taken = take_in(
                row.content or b"", filename=row.filename or "", media_type=row.media_type
            )
            # PostgreSQL stores no NUL; a space keeps every place where it is
            text, readability = taken.text.replace("\x00", " "), taken.readability
        plan = plan_of(text, row.asked_type, row.profile, remembers, readability)
    except TooLong as error:
        refused = unreadable_body(str(error), None, [str(error)], ["Split the document"])
    except IntakeRefused as error:
        refused = unreadable_body(str(error), None, [str(error)])
    except Unreadable as error:
        refused = unreadable_body(str(error), error.readability)
    else:
        return Planned(text, plan, time.monotonic() - began)
    return Planned(text or "", None, time.monotonic() - began, refused)


def commit(unit: UnitOfWork, message: ExtractV1, result: Result) -> None:
    """Keep the step, and promise the next or keep the result."""
    row = extractions.locked(unit, message.extraction_id)
    if isinstance(result, Planned):
        extractions.read(row, result.text)
        row.seconds += result.seconds
        if result.plan is None:
            refused = result.refused.as_body() if result.refused else {}
            extractions.done(unit, row, refused, Ended(outcome="unreadable"))
            return
        extractions.planned(unit, row, result.plan.model_dump(mode="json"))
        extractions.next_step(unit, row, part=0, iteration=1)
        return
    extractions.iterated(unit, row, result.row)
    if result.used is not None:
        prompt_memory.used(unit.session, *result.used)
    if result.remember is not None:
        prompt_memory.remember(unit.session, *result.remember)
    if result.next is not None:
        following = result.next
        extractions.next_step(unit, row, part=following.part, iteration=following.iteration)
    elif result.ended is not None:
        extraction, ended = result.ended
        extractions.done(unit, row, extraction.as_body(), ended)


def _on_dead(unit: UnitOfWork, message: ExtractV1, cause: str) -> None:
    EXTRACTIONS.failed(unit, message.extraction_id, cause)


SPEC = StageSpec(
    stage=Stage.EXTRACT,
    work=work,
    commit=commit,
    on_dead=_on_dead,
    max_attempts=extraction_policy().step_attempts,
    backoff_seconds=0.5,
    backoff_cap_seconds=30.0,
    time_limit_seconds=extraction_policy().step_seconds,
)
