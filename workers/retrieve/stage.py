"""retrieve: a question becomes understanding and evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import partial
from typing import Any

import structlog

from contracts import Retrieval
from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Scenario, scenario_for
from knowledge.subjects.breadth import narrow_first
from knowledge.subjects.misspelt import Meant
from messages import GenerateV1, RetrieveV1, Stage
from store.audit.payloads import models_asked
from store.core.hashes import hashed
from store.core.unit_of_work import UnitOfWork
from store.index.filters import Filter
from store.models import now
from store.questions import bodies, remedies
from store.questions.bodies import Asked, Keyed
from workers.language_model.port import LanguageModel
from workers.retrieve import named_works, packs
from workers.retrieve.gather import find, gather
from workers.retrieve.images.openi import images
from workers.retrieve.offers import not_held, offers
from workers.retrieve.outside import may_search_outside, recent_publications
from workers.retrieve.perplexity import consult, wanted
from workers.retrieve.ranking.candidates import Candidate, Decision, Ranked
from workers.retrieve.ranking.ranking import explain, rank
from workers.retrieve.ranking.reranking import rerank
from workers.retrieve.report import Timings, measure
from workers.retrieve.sufficiency import Sufficiency, assess_with_rerun
from workers.retrieve.understanding.decomposition import log_fields
from workers.retrieve.understanding.model import Understanding
from workers.retrieve.understanding.read import search_terms, understand
from workers.retrieve.understanding.scope import is_none_of_ours
from workers.runtime.errors import Permanent
from workers.runtime.llm_access import asking
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Evidence:
    """What was found and decided for a question."""

    ranked: Ranked
    sufficiency: Sufficiency
    reranked: dict[str, Any] | None
    weights: Sequence[Mapping[int, float]]
    """How much each term of a sub-query tells in what is held, in their order."""
    without: Sequence[str]
    """The partitions of the index that some sub-query was not searched in."""


def work(context: Context, message: RetrieveV1) -> Keyed[Retrieval]:
    """Understand the question and find its evidence."""
    with context.store.at_once() as session:
        question = bodies.asked(session, message.question_id)
    if question is None:
        raise Permanent(f"there is no question {message.question_id}")
    options, timings = question.options, Timings()
    patient_context = options.get("patient_context") or ""
    model = asking(context, message.question_id, 1 + context.settings.rerank)
    understanding = understand(question.text, patient_context, model, partial(_not_held, context))
    for sub_query in understanding.sub_queries:
        log.info("sub_query", question_id=str(message.question_id), **log_fields(sub_query))
    scenario = scenario_for(narrow_first(understanding.diseases), understanding.decisions)
    timings.lap("understand")
    found = _find(context, question, understanding, scenario, model, timings)
    recognized = search_terms(question.text)
    confined = "as_of" in options or "filters" in options
    outside = _look_outside(context, found, scenario, recognized, confined=confined)
    pack_wanted, named_wanted = _wanted(context, found, scenario, understanding, confined=confined)
    shown = images(context, understanding, recognized)
    timings.lap("outside")
    with context.store.reading() as session:
        # A drug by its name in another language is not misspelt.
        meant = offers(session, question.text) if understanding.is_english else []
    report = measure(understanding, found.ranked, timings)
    log.info("question_retrieved", question_id=str(message.question_id), **report)
    named_held = bool(understanding.names) and any(one.named for one in found.ranked.decisions)
    body = {
        **understanding.as_body(),
        "weights": [{str(term): one for term, one in some.items()} for some in found.weights],
        "is_clinical": named_held or not is_none_of_ours(question.text, context.encoder),
        "names_something": understanding.names_something or named_held,
        "scenario": scenario.name if scenario else None,
        "evidence": [_entry(n, one) for n, one in enumerate(found.ranked.kept, start=1)],
        "sufficiency": found.sufficiency.as_body(),
        "as_of": options.get("as_of"),
        "filters": options.get("filters"),
        "search_terms": recognized,
        "reranked": found.reranked,
        "outside": outside,
        "pack_wanted": pack_wanted,
        "named_wanted": named_wanted,
        "meant": meant,
        "without": found.without,
        "images": shown,
        "explain": [explain(one) for one in found.ranked.decisions],
        "relaxations": list(found.ranked.relaxations),
        "metrics": report,
    }
    return Keyed(Retrieval.model_validate(body), question.hash_key)


def _not_held(context: Context, found: Sequence[Meant]) -> tuple[Meant, ...]:
    if not found:
        return ()
    with context.store.reading() as session:
        return not_held(session, found)


def _wanted(
    context: Context,
    found: _Evidence,
    scenario: Scenario | None,
    understanding: Understanding,
    *,
    confined: bool,
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Works that are not held: of the scenario's pack where the evidence is not enough, and those
    that the question names."""
    packed = None if confined or found.sufficiency.is_enough else scenario
    sought = {} if confined else named_works.identifiers(understanding.names)
    if packed is None and not sought:
        return {}, {}
    with context.store.reading() as session:
        return packs.missing(session, packed), named_works.missing(session, sought)


def _find(
    context: Context,
    question: Asked,
    understanding: Understanding,
    scenario: Scenario | None,
    model: LanguageModel | None,
    timings: Timings,
) -> _Evidence:
    """Search, gather and rank; rank again where the first list is not enough (EB-4.3)."""
    only, sought = asked_filter(question.options), named_works.identifiers(understanding.names)
    found = find(context, understanding.sub_queries, scenario, only, sought)
    candidates = gather(found)
    timings.lap("search")
    ordered, reranked = _rerank(
        model if context.settings.rerank else None, question.text, candidates
    )
    policy = retrieval_policy()
    depth = policy.documents_for_lists if understanding.asked.type == "list" else policy.documents
    most = question.options.get("max_references") or depth
    ranked, sufficiency = assess_with_rerun(
        lambda strict: rank(ordered, understanding, scenario, most=most, strict_tags=strict),
        scenario,
    )
    timings.lap("rank")
    without = sorted(frozenset[str]().union(*(one.without for one in found)))
    return _Evidence(ranked, sufficiency, reranked, [one.weights for one in found], without)


def _rerank(
    model: LanguageModel | None, question: str, candidates: Sequence[Candidate]
) -> tuple[Sequence[Candidate], dict[str, Any] | None]:
    if model is None:
        return candidates, None
    ordered, reranked = rerank(model, question, candidates)
    return ordered, reranked.as_body()


def _look_outside(
    context: Context,
    found: _Evidence,
    scenario: Scenario | None,
    recognized: Mapping[str, Sequence[str]],
    *,
    confined: bool,
) -> dict[str, Any] | None:
    today = context.now().date()
    choice = may_search_outside(
        found.sufficiency,
        scenario,
        recent_publications(found.ranked, today),
        today,
        key_set=bool(context.settings.perplexity_api_key),
        confined=confined,
    )
    return consult(context, choice, recognized)


def asked_filter(options: Mapping[str, Any]) -> Filter:
    """What a question confines its evidence to: the day that it asks about, and its `filters`."""
    filters = options.get("filters") or {}
    return Filter(
        source_types=_any_of(filters.get("source_types")),
        diseases=_any_of(filters.get("diseases")),
        decisions=_any_of(filters.get("decisions")),
        published_from=_moment(filters.get("published_from"), time.min),
        published_to=_moment(filters.get("published_to"), time.max),
        as_of=_moment(options.get("as_of"), time.max),
    )


def _any_of(values: Sequence[str] | None) -> frozenset[str] | None:
    return frozenset(values) if values else None


def _moment(written: str | None, of_day: time) -> datetime | None:
    """The moment that is named; of a plain date its beginning or its end, in UTC."""
    if written is None:
        return None
    moment = datetime.fromisoformat(written)
    if len(written) == len("2026-01-31"):
        moment = datetime.combine(moment, of_day)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _entry(number: int, decision: Decision) -> dict[str, Any]:
    """A version that became evidence, under the key that names it."""
    candidate = decision.candidate
    return {
        "evidence_id": f"E{number}",
        "document_id": str(candidate.document_id),
        "version_id": str(candidate.version_id),
        "version": candidate.n,
        "source_type": candidate.source_type,
        "score": round(decision.score, 4),
        "merit": round(decision.merit, 4),
        "named": decision.named,
        "passages": [
            {
                "chunk_id": place.chunk_id,
                "section": place.section,
                "start": place.start,
                "end": place.end,
            }
            for place in decision.places
        ],
    }


def commit(unit: UnitOfWork, message: RetrieveV1, found: Keyed[Retrieval]) -> None:
    """Store the retrieval and pass the question on; ask primary sources for what is missing."""
    body, key = found
    remedies.refresh_records(unit, _records_to_fetch(body), now())
    stored = hashed(body.as_body(), key)
    bodies.put_retrieval(unit.session, message.question_id, stored)
    unit.emit(
        GenerateV1(
            request_id=message.request_id,
            question_id=message.question_id,
            retrieval_hash=stored.hash,
        )
    )
    unit.record(
        "question.retrieved",
        message.question_id,
        query_type=body.query_type,
        retrieval_hash=stored.hash,
        **({"without": list(body.without)} if body.without else {}),
        version_ids=[entry.version_id for entry in body.evidence],
        sufficiency=body.sufficiency.score,
        asked=models_asked(key, understand=body.language_model, rerank=body.reranked),
    )


def _records_to_fetch(body: Retrieval) -> dict[str, list[str]]:
    """What leads name, and the works of a pack that are not held where evidence is short."""
    named = wanted(body.outside)
    return {
        kind: [*named.get(kind, ()), *body.pack_wanted.get(kind, ())]
        for kind in named.keys() | body.pack_wanted.keys()
    }


SPEC = question_stage(Stage.RETRIEVE, work, commit, time_limit_seconds=180.0, model_waits=2)
"""A language model may be asked twice, three attempts each; without one a tenth of a second."""
