"""verify: the draft is checked claim by claim; what passes becomes the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlmodel import Session

from contracts import Answer, AnswerInputs, Retrieval
from contracts.answer import Siding
from contracts.draft import Proposal
from knowledge.answering.generation import generation_policy
from messages import AuditV1, Stage, VerifyV1
from store.audit import inputs as audit_inputs
from store.audit.payloads import judge_asked
from store.core.hashes import hashed, keyed, text_hash
from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.documents.documents import Version, get_texts
from store.questions import bodies
from store.questions.bodies import Cited
from store.reports import model_usage
from workers.language_model.budgeted import BudgetedModel
from workers.language_model.port import BudgetSpent, ModelUnavailable
from workers.runtime.errors import Later, Permanent
from workers.runtime.llm_access import asking, wait_if_worth_it
from workers.runtime.question_stage import question_stage
from workers.runtime.stage import Context
from workers.verify.answers.answer import Held, compose, said_of
from workers.verify.answers.cures import Abstained, cure, is_past
from workers.verify.answers.keyless import in_place_of, may_be_thinned, without_refused
from workers.verify.checking import Checking, Judge, Repairer, check_claims
from workers.verify.claims import Checked, Drafted, Located
from workers.verify.conflicts.contradictions import contested, find, shown, witnesses
from workers.verify.conflicts.found import unresolved
from workers.verify.gate import Passed, gate
from workers.verify.judges.judging import PURPOSE, Judged, Material, judge
from workers.verify.judges.repairing import Mended, repair
from workers.verify.lead.forms import Said, by_strength
from workers.verify.lead.stance import MOST_POLICY_LINES, read_stances
from workers.verify.passages.locating import CitedText
from workers.verify.passages.texts import chunks_of, cited_text, held_versions, place_of
from workers.verify.record.counts import count
from workers.verify.record.version import gate_version

DRAFTING = "generate"
"""The purpose under which the ledger of model requests has a draft."""


@dataclass(frozen=True)
class Result:
    """The answer, the spans and documents it rests on, and what would cure it."""

    body: Answer
    hash_key: bytes | None
    citations: Sequence[Cited]
    checking: Checking
    set_aside: Sequence[Checked]
    """The verdicts of a model's draft in whose place the keyless one is shown."""
    inputs: AnswerInputs
    rests_on: Sequence[UUID]
    in_the_past: bool
    abstained: Abstained | None


def work(context: Context, message: VerifyV1) -> Result:
    """Check every drafted claim against the stored versions and compose the answer."""
    with context.store.reading() as session:
        question = bodies.drafted(session, message.question_id)
        if question is None:
            raise Permanent(f"question {message.question_id} has no draft to verify")
        if question.hash != message.draft_hash:
            raise Permanent(f"the draft of question {message.question_id} is another one")
        retrieval, drafted = question.retrieval, question.draft
        keys = [entry.evidence_id for entry in retrieval.evidence]
        ids = [UUID(entry.version_id) for entry in retrieval.evidence]
        versions = dict(zip(keys, get_texts(session, ids), strict=True))
        held = held_versions(session, versions, context.now())
        chunks = chunks_of(session, ids)
        said = witnesses(session, held)
    cost = question.cost_usd
    in_the_past = is_past(retrieval.as_of, context.now())
    texts = {key: cited_text(context, held[key]) for key in versions}
    model = _model(context, message.question_id, drafted, question.text)
    judge = _judge(context, message.question_id, model) if model else None
    not_citable = {
        key for key, one in held.items() if not one.may_be_cited(in_the_past=in_the_past)
    }
    checking = check_claims(
        _claims(drafted),
        texts,
        judge=judge,
        repairer=_repairer(model) if model else None,
        not_citable=not_citable,
    )
    if judge is not None:
        with context.store.at_once() as session:  # asking it has cost something since
            cost = model_usage.cost_of(session, str(message.question_id))
    found = find(question.text, said)
    passed = gate(checking.results, contested(checking.results, found))
    set_aside: Sequence[Checked] = ()
    draft: Proposal = drafted
    if may_be_thinned(drafted, passed):
        instead = in_place_of(drafted)
        own = check_claims(_claims(instead), texts, not_citable=not_citable)
        results = without_refused(own.results, checking)
        keyless = gate(results, contested(results, found))
        if len(keyless.held) > len(passed.held):
            set_aside = checking.results
            draft, passed, checking = instead, keyless, Checking(results, checking.judged)
    disputed = contested(checking.results, found)
    undecided = contested(checking.results, unresolved(found))
    counts = count(
        set_aside or checking.results,
        checking.judged,
        by_model=not drafted.is_extractive,
        set_aside=bool(set_aside),
    )
    conflicts = shown(found, held)
    cost_usd = None if cost is None else str(cost)
    stances = _stances(question.text, retrieval, said_of(draft, passed, versions))
    body = compose(
        question=question.text,
        retrieval=retrieval,
        draft=draft,
        checked=checking.results,
        passed=passed,
        conflicts=conflicts,
        undecided=undecided,
        in_the_past=in_the_past,
        cost_usd=cost_usd,
        held=held,
        place_of=lambda key, span: place_of(chunks[versions[key].id], span),
        stances=stances,
    )
    citations = _citations(body, versions)
    used = {citation.version_id for citation in citations}
    return Result(
        body,
        question.hash_key,
        citations,
        checking,
        set_aside,
        audit_inputs.inputs(
            checked=checking.results,
            keyless=bool(set_aside),
            contested=disputed,
            undecided=undecided,
            conflicts=conflicts,
            in_the_past=in_the_past,
            cost_usd=cost_usd,
            held=held,
            gate={"version": gate_version(), "counts": counts.model_dump(mode="json")},
            stances={key: one.as_json() for key, one in stances.items()},
        ),
        [version.document_id for version in versions.values() if version.id in used],
        in_the_past,
        _abstained(body, retrieval, passed, held, context.now()),
    )


def _stances(question: str, retrieval: Retrieval, said: Sequence[Said]) -> dict[str, Siding]:
    """What the reader of sides makes of the claims on a yes/no question, the strongest designs
    first; on coverage, of what policies say."""
    if retrieval.asks_on_coverage:
        policies = [one.claim for one in said if one.decides_coverage]
        return read_stances(question, policies, MOST_POLICY_LINES)
    if retrieval.asked is None or retrieval.asked.type != "yesno":
        return {}
    first = [one.claim for one in by_strength(said)]
    return read_stances(question, first)


def _claims(draft: Proposal) -> list[Drafted]:
    return [Drafted.of(claim) for claim in draft.claims]


def _model(
    context: Context, question_id: UUID, draft: Proposal, question: str
) -> BudgetedModel | None:
    """A language model judges what a language model drafted; the sources' sentences need none. It
    may be asked as often as the draft left over."""
    if draft.is_extractive:
        return None
    most = generation_policy().requests
    with context.store.reading() as session:
        drafts = model_usage.replied(session, str(question_id), DRAFTING)
    left = most.question - min(drafts, most.draft)
    return asking(context, question_id, left, about=question)


def _judge(context: Context, question_id: UUID, model: BudgetedModel) -> Judge:
    def judged(material: Material) -> Judged:
        try:
            return judge(material, model.propose)
        except ModelUnavailable as error:
            wait_if_worth_it(context, question_id, PURPOSE, error)
            raise

    return judged


def _repairer(model: BudgetedModel) -> Repairer:
    """Who drafted is asked to mend, where there is a judge left for what comes of it. A model that
    cannot be asked now is not waited for."""

    def mended(
        fallen: Mapping[str, Sequence[str]],
        located: Sequence[Located],
        texts: Mapping[str, CitedText],
    ) -> Mended:
        if model.left is not None and model.left < 2:
            raise BudgetSpent("No request would be left to judge what is mended")
        return repair(fallen, located, texts, model.propose)

    return mended


def _abstained(
    body: Answer,
    retrieval: Retrieval,
    passed: Passed,
    held: Mapping[str, Held],
    at: datetime,
) -> Abstained | None:
    """What the cure of an abstention must know."""
    if not body.abstained:
        return None
    stale = [held[one.evidence_id] for one in passed.held]
    return Abstained(
        at=at,
        as_of=retrieval.as_of,
        filtered=retrieval.filters is not None,
        search_terms=retrieval.search_terms,
        stale_documents=[one.version.document_id for one in stale if one.clocks.stale],
        named=retrieval.named_wanted,
    )


def _citations(body: Answer, versions: Mapping[str, Version]) -> list[Cited]:
    """Every place whose words the answer shows: those of its claims, and of a remark."""
    numbered = {(str(one.document_id), one.n): one.id for one in versions.values()}
    return [
        Cited(
            claim_id,
            numbered[place.document_id, place.version],
            place.start,
            place.end,
            text_hash(place.quote),
        )
        for claim_id, place in body.quoted
    ]


def commit(unit: UnitOfWork, message: VerifyV1, result: Result) -> None:
    """Store the answer, unsealed, with the spans it rests on, and pass it on.

    An abstention that a refresh could cure asks for it, in this transaction (invariant 9).

    Raises:
        Later: what the answer rests on was retracted or replaced since; it is checked again.
    """
    _require_citable(unit.session, result)
    body, key = result.body, result.hash_key
    if result.abstained is not None:
        body = cure(unit, body, result.abstained)
    answer, inputs = hashed(body.as_body(), key), audit_inputs.to_keep(result.inputs, body, key)
    bodies.put_answer(
        unit.session,
        message.question_id,
        answer,
        inputs,
        abstain_reason=body.abstain_reason,
        citations=result.citations,
    )
    unit.emit(
        AuditV1(
            request_id=message.request_id,
            question_id=message.question_id,
            answer_hash=answer.hash,
        )
    )
    unit.record(
        "question.verified",
        message.question_id,
        answer_hash=answer.hash,
        inputs_hash=inputs.hash,
        gate=result.inputs.gate.version if result.inputs.gate else None,
        abstain_reason=body.abstain_reason,
        claims=[claim.claim_id for claim in body.claims],
        verdicts=[_verdict(one, key) for one in result.checking.results],
        **_aside(result.set_aside, key),
        judged=judge_asked(key, result.checking.judged.as_body()),
        quotations=body.quotations.as_json() if body.quotations else None,
        cure_refreshes=[one.refresh_id for one in body.cure_refreshes],
    )


def _aside(results: Sequence[Checked], key: bytes | None) -> dict[str, Any]:
    """What became of the draft in whose place the sources' sentences are shown, if there is one."""
    return {"set_aside": [_verdict(one, key) for one in results]} if results else {}


def _verdict(one: Checked, key: bytes | None) -> dict[str, Any]:
    """What the audit log keeps of a claim's verdict: no words of it (invariant 11)."""
    before = one.rewritten_from
    return {
        "claim_id": one.claim_id,
        "verdict": one.verdict.value,
        "basis": one.basis.value,
        "quote_verdict": one.quote_verdict,
        "findings": list(before.findings if before else one.findings),
        "rewritten_from": keyed(before.text_hash, key) if before else None,
        "repaired_from": keyed(one.repaired_from.text_hash, key) if one.repaired_from else None,
        "judged": one.judged.as_body() if one.judged else None,
    }


def _require_citable(session: Session, result: Result) -> None:
    """Whatever ends a work from here on finds the answer that cites it, and waits for it."""
    if not result.rests_on:
        return
    publication_status.share(session, result.rests_on)
    allowed = ("current", "superseded") if result.in_the_past else ("current",)
    versions = {one.version_id for one in result.citations}
    if not publication_status.still_citable(session, result.rests_on, versions, allowed):
        raise Later("what the answer rests on changed while it was checked", 0.0)


SPEC = question_stage(
    Stage.VERIFY, work, commit, model_waits=generation_policy().requests.question - 1
)
