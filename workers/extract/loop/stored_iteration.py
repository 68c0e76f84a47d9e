"""One iteration over one part of a document, of what was stored before it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import structlog

import contracts
from knowledge.documents.extraction import Fallback, extraction_policy
from messages import ExtractV1
from store.extractions import extractions, replies
from store.extractions.extractions import Ended
from store.models import ExtractionIteration, now
from store.reports import model_usage
from workers.extract.documents import parts_of
from workers.extract.evaluation.evaluator import Opinion, evaluate
from workers.extract.evaluation.scores import Evaluation, EvaluationFailed
from workers.extract.fields import Attempt
from workers.extract.loop.extraction import extract_by_rules, with_model
from workers.extract.loop.loop import Iteration, best_of, iterate, learned
from workers.extract.loop.paid_once import Lost, PaidOnce
from workers.extract.loop.proposing import (
    OPINION_PURPOSE,
    PURPOSE,
    OpinionOnFields,
    remembered_prompt,
    second_opinion,
)
from workers.extract.loop.steps import Next, Plan, extraction_of, next_of, result_body
from workers.extract.parts import Parts
from workers.extract.rubrics import Rubric, policy, rubric
from workers.language_model.port import (
    BudgetSpent,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    Prompt,
    Proposal,
    T,
)
from workers.runtime.errors import Permanent, Transient
from workers.runtime.llm_access import asking, wait_if_worth_it
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)

_REASONS: dict[type[ModelError], Fallback] = {
    ModelRefused: "refused",
    ModelUnavailable: "unavailable",
    ModelMisconfigured: "misconfigured",
    BudgetSpent: "budget_spent",
    Lost: "lost",
}
_AN_OPERATOR_MUST_ACT = (ModelRefused, ModelMisconfigured, BudgetSpent)


@dataclass(frozen=True)
class Iterated:
    """An iteration, and the next step or the end."""

    row: ExtractionIteration
    next: Next | None
    used: tuple[UUID, float] | None
    """The remembered prompt that was tried first, and the score that came of it."""
    remember: tuple[str, Sequence[str], float] | None
    """Type, fields and score of a prompt that did well."""
    ended: tuple[contracts.Extraction, Ended] | None


class Step:
    """The step that a message asks for."""

    def __init__(
        self,
        context: Context,
        message: ExtractV1,
        text: str,
        plan: Plan,
        stored: Sequence[ExtractionIteration],
        began: float,
    ) -> None:
        """`stored` are the iterations of the message's part, in order."""
        self._context = context
        self._message = message
        self._plan = plan
        self._stored = stored
        self._began = began
        self._text = text
        self._planned = plan.parts[message.part]
        self._rubric = rubric(self._planned.type)
        model = asking(context, message.extraction_id, about=text)
        self._model: PaidOnce | None = None
        if model is not None:
            self._model = PaidOnce(
                model, context.store, message.extraction_id, message.part, message.iteration
            )
        self._fallback: Fallback | None = None
        self._proposal: Proposal[Any] | None = None
        self._prompt: Prompt[Any] | None = None
        self._opinions = 0

    def make(self) -> Iterated:
        """The iteration, and what follows from it."""
        parts = parts_of(self._text, self._planned.part)
        before = [_iteration(one) for one in self._stored]
        made = iterate(
            parts, self._rubric, before[-1] if before else None, self._extract, self._evaluate
        )
        took = time.monotonic() - self._began
        row = self._row(made, took)
        seconds = sum(one.seconds for one in (*self._stored, row))
        history = [*before, made]
        following = next_of(self._plan, self._message.part, history, seconds)
        ended = None if following is not None else self._end(row)
        _tell(self._message, made, took)
        return Iterated(row, following, self._used(made), self._remember(history, following), ended)

    def _extract(self, parts: Parts, wanted: Rubric, previous: Iteration | None) -> Attempt:
        if self._model is None:
            return extract_by_rules(parts, wanted, previous)
        base = remembered_prompt(wanted, self._planned.remembered)
        threshold = self._plan.profile.threshold
        try:
            return with_model(self._ask, target=threshold, base=base)(parts, wanted, previous)
        except ModelError as error:
            if isinstance(error, ModelUnavailable):
                wait_if_worth_it(self._context, self._message.extraction_id, PURPOSE, error)
            self._fallback = _REASONS.get(type(error), "unusable")
            return extract_by_rules(parts, wanted, previous)

    def _ask(self, prompt: Prompt[T]) -> Proposal[T]:
        assert self._model is not None
        self._prompt = prompt
        self._proposal = made = self._model.propose(prompt)
        return made

    def _evaluate(self, parts: Parts, wanted: Rubric, attempt: Attempt) -> Evaluation:
        voices = self._context.settings.extraction_opinions if self._model is not None else 0
        opinions = [self._voice(one) for one in range(voices)]
        try:
            found = evaluate(parts, wanted, attempt, opinions=opinions)
        except EvaluationFailed as error:
            cause = error.__cause__
            if isinstance(cause, ModelUnavailable):
                wait_if_worth_it(self._context, self._message.extraction_id, OPINION_PURPOSE, cause)
            if isinstance(cause, _AN_OPERATOR_MUST_ACT):
                raise Permanent(f"the evaluation failed: {error}: {cause}") from error
            raise Transient(f"the evaluation failed: {error}") from error
        self._opinions = voices
        return found

    def _voice(self, voice: int) -> Opinion:
        model = self._model
        assert model is not None
        asked: list[Prompt[OpinionOnFields]] = []

        def ask(prompt: Prompt[OpinionOnFields]) -> Proposal[OpinionOnFields]:
            asked.append(prompt)
            return model.opinion(prompt, voice)

        def judge(text: str, attempt: Attempt) -> Mapping[str, float]:
            try:
                return second_opinion(ask)(text, attempt)
            except EvaluationFailed:
                for prompt in asked:
                    model.refuse(prompt, voice)
                raise

        return judge

    def _row(self, made: Iteration, took: float) -> ExtractionIteration:
        message, proposal = self._message, self._proposal
        with self._context.store.reading() as session:
            cost = replies.cost_of(session, message.extraction_id, message.part, message.iteration)
        return ExtractionIteration(
            extraction_id=message.extraction_id,
            part=message.part,
            n=made.number,
            proposal=made.attempt.model_dump(mode="json"),
            evaluation=made.evaluation.as_body(),
            score=made.score,
            gain=made.gain,
            seconds=took,
            consulted={
                "generator": "model" if proposal else "rules",
                "model": proposal.model if proposal else None,
                "prompt_version": self._prompt.version if self._prompt else None,
                "output_hash": proposal.output_hash if proposal else None,
                "remembered": bool(self._planned.memory) and proposal is not None,
                "opinions": self._opinions,
                "fallback": self._fallback,
            },
            prompt_hash=proposal.prompt_hash if proposal else None,
            cost_usd=cost,
            ended_at=now(),
        )

    def _used(self, made: Iteration) -> tuple[UUID, float] | None:
        memory = self._planned.memory
        if memory is None or self._proposal is None or made.number > 1:
            return None
        return UUID(memory.id), made.score

    def _remember(
        self, history: Sequence[Iteration], following: Next | None
    ) -> tuple[str, Sequence[str], float] | None:
        """What the part has taught, once its loop has stopped."""
        if following is not None and following.part == self._message.part:
            return None
        best = best_of(history)
        if self._proposal is None or best.number == 1 or best.score < policy().remember_from:
            return None
        fields = learned(history, self._rubric, self._planned.remembered)
        most = extraction_policy().memory.most_fields
        return (self._planned.type, fields, best.score) if 0 < len(fields) <= most else None

    def _end(self, last: ExtractionIteration) -> tuple[contracts.Extraction, Ended]:
        """The result, of the iterations of all parts; the last is not stored yet."""
        with self._context.store.reading() as session:
            cost = model_usage.cost_of(session, str(self._message.extraction_id))
            stored = extractions.iterations(session, self._message.extraction_id)
        rows = [*(one for one in stored if (one.part, one.n) < (last.part, last.n)), last]
        of_parts = [
            [row for row in rows if row.part == part] for part in range(len(self._plan.parts))
        ]
        found = extraction_of(
            self._plan,
            [[_iteration(row) for row in part] for part in of_parts],
            [sum(row.seconds for row in part) for part in of_parts],
        )
        ended = Ended(
            outcome="extracted",
            document_type=self._plan.type,
            score=found.score,
            met_threshold=found.met_threshold,
            cost_usd=cost,
            needs_review=found.needs_review,
        )
        return result_body(found, self._provenance(rows, cost)), ended

    def _provenance(
        self, rows: Sequence[ExtractionIteration], cost: Decimal | None
    ) -> dict[str, Any]:
        fallbacks = extraction_policy().fallbacks
        models = sorted({row.consulted["model"] for row in rows if row.consulted["model"]})
        return {
            "generator": "model" if models else "rules",
            "models": models,
            "knowledge_version": self._plan.knowledge_version,
            "consulted": [
                {
                    "part": row.part,
                    "iteration": row.n,
                    **row.consulted,
                    "prompt_hash": row.prompt_hash,
                    "cost_usd": None if row.cost_usd is None else str(row.cost_usd),
                    "note": fallbacks.get(row.consulted["fallback"]),
                }
                for row in rows
            ],
            "remembered": [list(one.remembered) for one in self._plan.parts],
            "cost_usd": None if cost is None else str(cost),
        }


def _iteration(row: ExtractionIteration) -> Iteration:
    return Iteration(
        number=row.n,
        attempt=Attempt.model_validate(row.proposal),
        evaluation=Evaluation.model_validate(row.evaluation),
        gain=row.gain,
    )


def _tell(message: ExtractV1, made: Iteration, took: float) -> None:
    """Scores and counts, as seed marc_v1, section 8.2 asks; names of fields are ours."""
    score, feedback = made.evaluation.score, made.evaluation.feedback
    log.info(
        "marc_iteration",
        extraction=str(message.extraction_id),
        part=message.part,
        iteration=made.number,
        overall=score.overall,
        completeness=score.completeness,
        accuracy=score.accuracy,
        consistency=score.consistency,
        validity=score.clinical_validity,
        issues=len(feedback.issues),
        critical=sum(one.severity == "critical" for one in feedback.issues),
        missing_fields=list(feedback.missing_fields),
        improvement=made.gain,
        ms=round(took * 1000, 1),
    )
