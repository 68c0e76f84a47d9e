"""Composes an answer again from its records, without a model, and compares the bytes.

Scores, doubts and replies are read from the record, and the verdicts decided again from them. A
recomputation reads every claim with the gate of today instead, and tells the differences.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from sqlmodel import Session, col, select

import contracts
from contracts.inputs import HeldVersion
from knowledge.version import knowledge_version
from store.audit import inputs as audit_inputs
from store.core.hashes import is_json_hash, is_text_hash, json_hash
from store.dead_letters.dead_letters import CODE_VERSION
from store.documents.documents import get_versions
from store.documents.publication_status import Standing
from store.models import Answer, AuditEvent, DocumentVersion, Draft, Question, Retrieval
from workers.verify.answers.answer import Held, compose
from workers.verify.answers.evidence import Cited, Clocks
from workers.verify.answers.keyless import in_place_of
from workers.verify.claims import Checked, Verdict
from workers.verify.gate import gate
from workers.verify.passages.texts import Cut, chunks_of, place_of, text_of
from workers.verify.record.claims import recorded
from workers.verify.record.comparing import compare, decided, differences
from workers.verify.record.version import gate_version

_CHECKED = TypeAdapter(list[Checked])
_STANDING = TypeAdapter(Standing)
_CLOCKS = TypeAdapter(Clocks)


class CannotReplay(LookupError):
    """A record that the replay needs is missing; the text says which."""


@dataclass(frozen=True)
class Rows:
    """All records of how an answer was composed."""

    question: Question
    retrieval: Retrieval
    draft: Draft
    answer: Answer
    inputs: audit_inputs.Kept
    versions: Mapping[UUID, DocumentVersion]
    chunks: Mapping[UUID, list[Cut]]
    attested: Mapping[str, Mapping[str, Any]]
    """The newest payload of each audit event of the question."""


@dataclass(frozen=True)
class Replay:
    """The result of a replay. `faults` names, in order of processing, each record that differs
    from its attestation, or why the bytes differ. Without faults the answer was reproduced."""

    question_id: UUID
    sealed_hash: str
    replayed_hash: str
    faults: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    """What this release makes otherwise of what is on record, in plain words: no faults."""

    @property
    def same(self) -> bool:
        """True if the bytes are the same and every record is as the audit chain attests."""
        return not self.faults


def read(session: Session, question_id: UUID) -> Rows:
    """Return the rows of an answer.

    Raises:
        CannotReplay: there is no sealed answer, or not everything was recorded.
    """
    question, answer = session.get(Question, question_id), session.get(Answer, question_id)
    if question is not None and question.status == "erased":
        raise CannotReplay(
            f"the words of question {question_id} were erased, and what was composed of them: it "
            "cannot be replayed. `attest audit trail` tells what happened to it"
        )
    retrieval, draft = session.get(Retrieval, question_id), session.get(Draft, question_id)
    if question is None or answer is None or answer.sealed_at is None:
        raise CannotReplay(f"question {question_id} has no sealed answer")
    inputs = audit_inputs.kept(session, question_id)
    if retrieval is None or draft is None or inputs is None:
        raise CannotReplay(
            f"what the answer to {question_id} was composed from is not kept: it is from before "
            "this was recorded, or its texts were erased"
        )
    ids = [UUID(version["version_id"]) for version in inputs.body["held"].values()]
    events = select(AuditEvent).where(AuditEvent.subject == str(question_id))
    return Rows(
        question,
        retrieval,
        draft,
        answer,
        inputs,
        dict(zip(ids, get_versions(session, ids), strict=True)),
        chunks_of(session, ids),
        {row.event: row.payload for row in session.exec(events.order_by(col(AuditEvent.seq)))},
    )


def replay(rows: Rows) -> Replay:
    """Compose the answer again from the rows alone and compare it with the sealed one. Pure."""
    faults = _not_as_attested(rows)
    sealed, key = rows.answer.hash, rows.question.hash_key
    try:
        body, told = recompose(rows), decided_otherwise(rows)
    except (KeyError, ValueError, ValidationError) as error:
        return Replay(
            rows.question.id,
            sealed,
            "",
            [*faults, f"it cannot be composed: {type(error).__name__} in what was recorded"],
        )
    if is_json_hash(sealed, body, key):
        return Replay(rows.question.id, sealed, sealed, faults, told)
    faults.append(_why_different(rows))
    return Replay(rows.question.id, sealed, json_hash(body, key), faults, told)


def decided_otherwise(rows: Rows) -> list[str]:
    """The shown claims whose recorded scores, doubts and replies this release would decide
    otherwise. Pure; only of answers that kept them."""
    shown = recorded(rows.answer.body, rows.inputs.body)
    verdicts = {one: decided(one) for one in shown if one.judged is not None}
    return [
        f"claim {one.drafted.claim_id}: {one.verdict} on record; by the scores, doubts and replies "
        f"there this release decides {verdict.value}"
        for one, verdict in verdicts.items()
        if verdict is not Verdict.SUPPORTED
    ]


def recompute(rows: Rows) -> list[str]:
    """What the gate of this release makes otherwise of the claims that the answer shows, in plain
    words: hard facts and doubts are looked for and the verifier reads anew; no model is asked."""
    body = rows.inputs.body
    then, today = body.get("gate", {}).get("version"), gate_version()
    told = [] if then == today else [f"the gate was {then or 'not kept'} then, it is {today} now"]
    held = contracts.AnswerInputs.read(body).held
    texts = {key: text_of(_held(key, kept, rows.versions)) for key, kept in held.items()}
    return told + differences(compare(recorded(rows.answer.body, body), texts))


def recompose(rows: Rows) -> dict[str, Any]:
    """Compose the body of the answer from the recorded verdicts, times and standings. Pure.

    Raises:
        KeyError, ValueError: the records are not in the form that this code reads.
    """
    inputs = contracts.AnswerInputs.read(rows.inputs.body)
    retrieval = contracts.Retrieval.read(rows.retrieval.body)
    draft = contracts.Draft.read(rows.draft.body)
    checked = _CHECKED.validate_python([one.as_json() for one in inputs.checked])
    held = {key: _held(key, recorded, rows.versions) for key, recorded in inputs.held.items()}
    body = compose(
        question=rows.question.text,
        retrieval=retrieval,
        # Not recorded by earlier releases, whose drafts had no keyless draft beside them.
        draft=in_place_of(draft) if inputs.keyless else draft,
        checked=checked,
        passed=gate(checked, inputs.contested),
        conflicts=inputs.conflicts,
        # Not recorded by earlier releases, which used these defaults.
        undecided=inputs.contested if inputs.undecided is None else inputs.undecided,
        in_the_past=bool(retrieval.as_of) if inputs.in_the_past is None else inputs.in_the_past,
        cost_usd=inputs.cost_usd,
        held=held,
        place_of=lambda key, span: place_of(rows.chunks[held[key].version.id], span),
        stances=inputs.stances,
    )
    if inputs.cured is not None:
        body = body.model_copy(update=dict(inputs.cured))
    return body.in_form(contracts.Answer.read(rows.answer.body).schema_version).as_body()


def _held(key: str, recorded: HeldVersion, versions: Mapping[UUID, DocumentVersion]) -> Held:
    """Return a version as it was held then: its text never changes, but its status may have."""
    stored = versions[UUID(recorded.version_id)]
    version = DocumentVersion(**stored.model_dump() | {"status": recorded.status})
    standing = _STANDING.validate_python(recorded.standing.as_json())
    cited = Cited(key, version, standing, frozenset(recorded.doubts), recorded.cited_by)
    return Held(cited, _CLOCKS.validate_python(recorded.clocks.as_json()))


def _not_as_attested(rows: Rows) -> list[str]:
    """Return a fault for each row whose hash differs from the one in the audit chain."""
    key = rows.question.hash_key
    text_hash = rows.attested.get("question.submitted", {}).get("text_hash")
    faults = []
    if not is_text_hash(text_hash, rows.question.text, key):
        faults.append("the question is not what question.submitted attests")
    checks: tuple[tuple[str, str, str, object], ...] = (
        ("the retrieval", "question.retrieved", "retrieval_hash", rows.retrieval.body),
        ("the draft", "question.drafted", "draft_hash", rows.draft.body),
        ("what it was composed from", "question.verified", "inputs_hash", rows.inputs.body),
        ("the answer", "answer.sealed", "answer_hash", rows.answer.body),
    )
    return faults + [
        f"{what} is not what {event} attests"
        for what, event, name, body in checks
        if not is_json_hash(rows.attested.get(event, {}).get(name), body, key)
    ]


def _why_different(rows: Rows) -> str:
    version = rows.answer.body.get("provenance", {}).get("knowledge_version")
    if version != knowledge_version():
        return (
            f"other bytes: it was made under the policies {version}, this code has "
            f"{knowledge_version()}: replay it with the release that has those"
        )
    release = rows.attested.get("answer.sealed", {}).get("code_version")
    return f"other bytes: it was made by release {release}, this one is {CODE_VERSION}"
