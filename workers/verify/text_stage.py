"""check: a pasted text is checked statement by statement."""

from dataclasses import dataclass
from typing import Any

from messages import CheckV1, Stage
from store.core.unit_of_work import UnitOfWork
from store.models import Verification
from store.texts.verifications import VERIFICATIONS
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context, StageSpec
from workers.verify.pasted.report import checked
from workers.verify.pasted.sources import held_evidence, sent_along
from workers.verify.pasted.statements import TooLong, statements


@dataclass(frozen=True)
class Result:
    """What was found, as it is stored, or why nothing was looked for."""

    body: dict[str, Any]
    refused: str | None = None


def work(context: Context, message: CheckV1) -> Result:
    """Compare every statement, quotation and identifier with the sources."""
    with context.store.reading() as session:
        asked = session.get(Verification, message.verification_id)
        if asked is None or asked.text_hash != message.text_hash:
            raise Permanent(f"there is no text of verification {message.verification_id}")
    try:
        found = statements(asked.text)
        along = bool(asked.documents)
        sources = sent_along(asked.documents, found) if along else held_evidence(context, found)
    except TooLong as error:  # the caller's fault, and no reason for an operator to look
        return Result({}, str(error))
    return Result(
        checked(
            asked.text,
            found,
            sources,
            against="documents" if along else "held",
            at=context.now(),
        )
    )


def commit(unit: UnitOfWork, message: CheckV1, result: Result) -> None:
    """Keep the result; its counts are audited, its words are not (invariant 11)."""
    if result.refused is not None:
        VERIFICATIONS.failed(unit, message.verification_id, result.refused)
        return
    digest = VERIFICATIONS.done(unit, message.verification_id, result.body)
    unit.record(
        "verification.done",
        message.verification_id,
        result_hash=digest,
        summary=result.body["summary"],
        **({"without": away} if (away := result.body.get("without")) else {}),
    )


def _on_dead(unit: UnitOfWork, message: CheckV1, cause: str) -> None:
    VERIFICATIONS.failed(unit, message.verification_id, cause)


SPEC = StageSpec(
    stage=Stage.CHECK,
    work=work,
    commit=commit,
    on_dead=_on_dead,
    backoff_seconds=0.5,
    backoff_cap_seconds=30.0,
    time_limit_seconds=300.0,
)
