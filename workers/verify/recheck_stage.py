"""recheck: held answers go through the gate of today once more; what falls is recalled.

A step looks at a few answers and writes down what it found together with the promise of the next
step. A worker that is killed in between loses one step, and another does it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from sqlmodel import Session

from knowledge.operation.recalls import recall_policy
from messages import RecheckV1, Stage
from store.audit.payloads import judge_asked
from store.core.unit_of_work import UnitOfWork
from store.documents.documents import get_texts
from store.models import Recheck
from store.recalls import rechecks
from store.recalls.rechecks import Held, Outcomes
from workers.language_model.port import ModelError
from workers.runtime.errors import Permanent
from workers.runtime.llm_access import asking
from workers.runtime.stage import Context, StageSpec
from workers.verify.checking import Judge, consulted
from workers.verify.entailment import reader
from workers.verify.judges.judging import Judged, judge
from workers.verify.passages.locating import CitedText
from workers.verify.passages.texts import cited_text, held_versions
from workers.verify.record.claims import Recorded, cited, recorded
from workers.verify.record.comparing import Compared, compare, judged, outcome
from workers.verify.record.version import gate_version

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Result:
    """What the gate of this worker makes of the answers of a step."""

    gate: str
    found: Sequence[Outcomes]


@dataclass(frozen=True)
class _Read:
    """An answer with its claims and the versions that it cites; or why it cannot be read."""

    held: Held
    claims: Sequence[Recorded] = ()
    texts: dict[str, CitedText] | None = None
    error: str | None = None


def work(context: Context, message: RecheckV1) -> Result:
    """Put the next answers of the run through the gate of today.

    Raises:
        Permanent: there is no such run under way, or this worker's gate is another than the one
            that the run began with.
    """
    gate = gate_version()
    with context.store.reading() as session:
        run = rechecks.get(session, message.recheck_id)
        if run is None or run.status != "running":
            raise Permanent(f"no run {message.recheck_id} is under way")
        if run.gate not in (None, gate):
            raise Permanent(
                f"the run began with the gate {run.gate}, this worker has {gate}: start it again "
                "once all workers are of one release"
            )
        many = 1 if run.ask else recall_policy().recheck_answers  # a model may take its time
        answers = rechecks.next_held(session, run, gate, many)
        read = [_read(context, session, held) for held in answers]
    return Result(gate, [_outcome(context, run, one) for one in read])


def _read(context: Context, session: Session, held: Held) -> _Read:
    """Its claims and the versions that they cite."""
    try:
        claims = recorded(held.body, held.inputs)
        places = cited(held.body["claims"])
        ids = rechecks.versions(session, list(places.values()))
        keys = {key: ids[place] for key, place in places.items()}
    except (LookupError, TypeError, ValueError) as error:
        return _Read(held, error=type(error).__name__)
    texts = dict(zip(keys, get_texts(session, list(keys.values())), strict=True))
    versions = held_versions(session, texts, context.now())
    return _Read(held, claims, {key: cited_text(context, one) for key, one in versions.items()})


def _outcome(context: Context, run: Recheck, one: _Read) -> Outcomes:
    held = one.held
    if one.texts is None:
        log.warning("recheck_unreadable", question_id=str(held.question_id), error=one.error)
        told = {"claim_id": None, "finding": "gate", "before": None, "after": "unreadable"}
        findings = [{**told, "checks": [one.error]}]
        return Outcomes(held.question_id, "unreadable", held.gate, findings)
    found, said = compare(one.claims, one.texts), Judged()
    if run.ask and outcome(found) == "needs_judge":
        found, said = _asked(context, held.question_id, found, one.texts)
    return Outcomes(
        held.question_id,
        outcome(found),
        held.gate,
        [claim.as_finding() for claim in found if claim.standing != "stands"],
        {
            "verdicts": [_told(claim) for claim in found],
            "judged": judge_asked(held.hash_key, said.as_body()),
        },
    )


def _told(one: Compared) -> dict[str, Any]:
    """What the audit log keeps of a claim (invariant 11)."""
    return {
        "claim_id": one.recorded.drafted.claim_id,
        "standing": one.standing,
        "judged": one.told.as_body() if one.told else None,
    }


def _asked(
    context: Context,
    question_id: UUID,
    found: Sequence[Compared],
    texts: dict[str, CitedText],
) -> tuple[list[Compared], Judged]:
    """The claims, and what a judge says of those that the record does not settle. What it does not
    say, or is not believed in, stays open."""
    judge_of = _judge(context, question_id)
    open_ = [one.located for one in found if one.standing == "needs_judge"]
    if judge_of is None:
        return list(found), Judged()
    try:
        _, said = consulted(open_, texts, judge_of, None, None)
    except ModelError as error:
        log.warning("recheck_judge_failed", error=type(error).__name__, claims=len(open_))
        return list(found), Judged(note=f"without a model: {type(error).__name__}")
    if not said.believed:
        return list(found), said
    digest = reader.digest()
    return [
        judged(one.recorded, one.located, said, digest)
        if one.standing == "needs_judge" and one.recorded.drafted.claim_id in said.replies
        else one
        for one in found
    ], said


def _judge(context: Context, question_id: UUID) -> Judge | None:
    """The model of today, charged to the run and not to whose question it was."""
    model = asking(context, f"recheck of {question_id}")
    return None if model is None else lambda material: judge(material, model.propose)


def commit(unit: UnitOfWork, message: RecheckV1, result: Result) -> None:
    """Write down what was found, recall what falls, and promise the next step."""
    if rechecks.put(unit, message.recheck_id, result.gate, result.found):
        unit.emit(message.model_copy(update={"step": message.step + 1}))


def _on_dead(unit: UnitOfWork, message: RecheckV1, cause: str) -> None:
    rechecks.failed(unit, message.recheck_id, cause)


SPEC = StageSpec(
    stage=Stage.RECHECK,
    work=work,
    commit=commit,
    on_dead=_on_dead,
    backoff_seconds=2.0,
    time_limit_seconds=300.0,
)
