"""generate: evidence becomes a draft of claims with evidence keys. Nothing is checked yet.

With a language model it drafts; without one, or where it cannot, the draft is made of sentences of
the sources and says why (`fallback`). Beside a model's draft that one is kept too (`keyless`): it
is shown where the gate leaves less of the model's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from contracts import Draft, Retrieval
from contracts.retrieval import Found
from knowledge.answering.generation import Reason, generation_policy
from knowledge.feeds.sources import source_policies
from knowledge.subjects.payers import without_payers
from messages import GenerateV1, Stage, VerifyV1
from store.audit.payloads import models_asked
from store.core.hashes import hashed
from store.core.unit_of_work import Store, UnitOfWork
from store.documents.content import Content, content, share, terms_of_interest
from store.documents.documents import VersionText, get_texts
from store.index import lexical
from store.questions import bodies
from store.questions.bodies import Keyed
from store.reports import model_usage
from workers.generate.candidates import candidates_of
from workers.generate.extractive import Asked, choose, lacking
from workers.generate.fitting import fitting
from workers.generate.model import PURPOSE, draft
from workers.generate.prompting import instructions_for
from workers.generate.restrictions import ANYBODY, Restrictions
from workers.generate.scoring import Lacks
from workers.generate.snippets import Shown, shown
from workers.language_model import maker_of
from workers.language_model.port import (
    BudgetSpent,
    Consulted,
    LanguageModel,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
)
from workers.runtime.errors import Permanent
from workers.runtime.llm_access import asking, wait_if_worth_it
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)

GENERATOR = "extractive"
PROMPT_VERSION = "extractive.v1"

_REASONS: dict[type[ModelError], Reason] = {
    ModelRefused: "refused",
    ModelUnavailable: "unavailable",
    ModelMisconfigured: "misconfigured",
    BudgetSpent: "budget_spent",
}


@dataclass(frozen=True)
class _Material:
    """What a draft is made of."""

    question: str
    retrieval: Retrieval
    versions: Sequence[VersionText]
    asked: Sequence[Content]
    hash_key: bytes | None

    @property
    def query_type(self) -> str:
        return self.retrieval.query_type

    @property
    def evidence(self) -> list[tuple[Found, VersionText]]:
        return list(zip(self.retrieval.evidence, self.versions, strict=True))


def work(context: Context, message: GenerateV1) -> Keyed[Draft]:
    """Draft an answer.

    Raises:
        Later: the model is away for a moment; it is asked again after that.
    """
    material = _read(context.store, message)
    model = asking(context, message.question_id, generation_policy().requests.draft)
    evidence = shown(material.evidence) if model else []
    log.info(  # MC-2.1d
        "answer_form_chosen",
        question_id=str(message.question_id),
        query_type=material.query_type,
        form=generation_policy().form_of(material.query_type),
        by_model=bool(model and evidence),
    )
    if model is None or not evidence:
        body = _extractive(material)
    else:
        body = _drafted(context, message, model, material, evidence)
    if body["generator"] != GENERATOR and body["claims"]:  # the gate may leave too little of it
        body = {**body, "keyless": _covering(material, _extractive(material))}
    return Keyed(Draft.model_validate(_covering(material, body)), material.hash_key)


def _read(store: Store, message: GenerateV1) -> _Material:
    with store.at_once() as session:  # what it reads never changes
        question = bodies.retrieved(session, message.question_id)
        if question is None or question.hash != message.retrieval_hash:
            raise Permanent(f"question {message.question_id} has no such retrieval")
        ids = [UUID(entry.version_id) for entry in question.retrieval.evidence]
        versions = get_texts(session, ids)
    return _Material(
        question.text,
        question.retrieval,
        versions,
        [
            content(without_payers(one.text), weights)
            for one, weights in zip(
                question.retrieval.sub_queries, _weights(store, question.retrieval), strict=True
            )
        ],
        question.hash_key,
    )


def _weights(store: Store, retrieval: Retrieval) -> list[dict[int, float]]:
    """How much the terms of each sub-query tell: as when it was searched for, or as now for a
    retrieval that a release made whose terms are others."""
    asked = [terms_of_interest(one.text) for one in retrieval.sub_queries]
    told = [{int(term): one for term, one in some.items()} for some in retrieval.weights]
    if told and all(terms <= one.keys() for terms, one in zip(asked, told, strict=True)):
        return told
    with store.reading() as session:
        return [lexical.weights(lexical.prepare(session, terms, {}), terms) for terms in asked]


def _drafted(
    context: Context,
    message: GenerateV1,
    model: LanguageModel,
    material: _Material,
    evidence: Sequence[Shown],
) -> dict[str, Any]:
    """The model's draft, or an extractive one that says why it is not the model's."""
    try:
        maker = maker_of(context.settings)
        body = draft(model, material.question, material.query_type, evidence, maker).as_body()
    except ModelError as error:
        if isinstance(error, ModelUnavailable):
            wait_if_worth_it(context, message.question_id, PURPOSE, error)
        reason = _REASONS.get(type(error), "unusable")
        told = instructions_for(material.query_type)
        body = {
            **_extractive(material),
            "fallback": {"reason": reason, "note": generation_policy().fallbacks[reason]},
            "consulted": Consulted(str(error), model.name, told.version).as_body(),
        }
    with context.store.at_once() as session:
        cost = model_usage.cost_of(session, str(message.question_id))
    return {**body, "cost_usd": None if cost is None else str(cost)}


def _restrictions(retrieval: Retrieval) -> Restrictions:
    asked = retrieval.asked
    if asked is None:
        return ANYBODY
    return Restrictions(asked.constraints, asked.names, asked.required)


def _covering(material: _Material, body: Mapping[str, Any]) -> dict[str, Any]:
    """The draft, each claim with the share of the question that it and its title hold: the answer
    abstains by those that answer it best. What forbids it holds all of it."""
    restrictions = _restrictions(material.retrieval)
    titles = {entry.evidence_id: version.title for entry, version in material.evidence}
    claims = [
        {
            **claim,
            "covers": 1.0
            if restrictions.forbid(claim["text"], "")
            else round(
                share(material.asked, f"{claim['text']}\n{titles.get(claim['evidence_id'], '')}"), 3
            ),
        }
        for claim in body["claims"]
    ]
    return {**body, "claims": claims}


def _extractive(material: _Material) -> dict[str, Any]:
    candidates = [
        candidate
        for entry, version in material.evidence
        for candidate in candidates_of(entry, version)
    ]
    retrieval = material.retrieval
    asked = Asked(
        material.query_type,
        material.asked,
        retrieval.tags.diseases,
        retrieval.products,
        [one.text for one in retrieval.sub_queries],
        # A body that recommends is a kind of source, and of others that tell of it there are many.
        [one for one in retrieval.names if one.lower() not in source_policies()],
        _restrictions(retrieval),
        retrieval.asked.type if retrieval.asked else "",
    )
    fit = fitting(candidates, retrieval.asked)
    claims = choose(fit.candidates, asked)
    lacks = None
    if fit.missing:
        lacks = Lacks("names", fit.missing)
    elif not claims:
        lacks = lacking(fit.candidates, asked)
    return {
        "generator": GENERATOR,
        "prompt_version": PROMPT_VERSION,
        "claims": [claim.as_body() for claim in claims],
        "considered": len(candidates),
        **({"lacks": {"who": lacks.who, "asked": list(lacks.asked)}} if lacks else {}),
    }


def commit(unit: UnitOfWork, message: GenerateV1, drafted: Keyed[Draft]) -> None:
    """Store the draft and pass the question on; tell operators of a model that cannot be used."""
    body, key = drafted
    stored, fallback = hashed(body.as_body(), key), body.fallback.reason if body.fallback else None
    bodies.put_draft(unit.session, message.question_id, stored)
    unit.emit(
        VerifyV1(
            request_id=message.request_id,
            question_id=message.question_id,
            draft_hash=stored.hash,
        )
    )
    unit.record(
        "question.drafted",
        message.question_id,
        generator=body.generator,
        prompt_version=body.prompt_version,
        draft_hash=stored.hash,
        claims=len(body.claims),
        fallback=fallback,
        asked=models_asked(key, draft=body.request),
    )
    if fallback in ("misconfigured", "budget_spent"):
        unit.record(
            f"language_model.{fallback}",
            message.question_id,
            model=body.request.model,
            cause=body.request.note,
        )


SPEC = question_stage(
    Stage.GENERATE,
    work,
    commit,
    time_limit_seconds=240.0,
    model_waits=generation_policy().draft.patience * generation_policy().requests.draft,
)
"""A language model may take a minute, and is asked once more if its answer gets lost."""
