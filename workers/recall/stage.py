"""recall: checks answers anew after their sources changed, and reaffirms or supersedes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.operation.recalls import RecallPolicy, recall_policy
from messages import RecallV1, Stage
from store.core.hashes import text_hash
from store.core.spans import Span, Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import indexing, publication_status
from store.documents.documents import get_versions
from store.models import DocumentVersion, now
from store.recalls import recalls
from store.recalls.recalls import Affected
from workers.recall.standing import Doubt, Reading, stands
from workers.runtime.errors import Later
from workers.runtime.stage import Context, StageSpec

SOON = timedelta(seconds=5)
"""A change more recent than this is still being read, so the stage retries at the relay's pace."""
PAUSE_SECONDS = 0.5


@dataclass(frozen=True)
class Cited:
    """A quotation of an answer, with its span in the cited version."""

    claim_id: str
    document_id: UUID
    version_id: UUID
    span: Span


@dataclass(frozen=True)
class Checked:
    """The outcome of checking an answer: with findings, it does not stand."""

    spans: Sequence[dict[str, Any]]
    findings: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """The answers that were checked in this step."""

    checked: Mapping[UUID, Checked]


def work(context: Context, message: RecallV1) -> Result:
    """Check the next affected answers against the current versions.

    Raises:
        Later: a new version is not searchable yet, so a repeated question would not find it; or
            enough repeated questions are in progress, and users' own must not wait for more.
    """
    policy = recall_policy()
    with context.store.reading() as session:
        affected = recalls.waiting(session, message.recall_id, policy.step_answers)
        if not affected:
            return Result({})
        cited = _citations(session, [answer.question_id for answer in affected])
        documents = {place.document_id for places in cited.values() for place in places}
        current = _current(session, documents)
        ended = publication_status.ended(session, documents)
        if indexing.still_read(session, [str(version_id) for version_id in current.values()]):
            raise Later("a new version is not searchable yet", _pause(affected))
        comparison = _Comparison(session, policy, current, ended)
        checked = {
            answer.question_id: comparison.check(answer, cited.get(answer.question_id, ()))
            for answer in affected
        }
        room = max(0, policy.asked_anew_at_once - recalls.asked_anew(session))
    fallen = [question_id for question_id, outcome in checked.items() if outcome.findings]
    for postponed in fallen[room:]:
        del checked[postponed]
    if not checked:
        raise Later("enough questions asked anew are under way", _pause(affected))
    return Result(checked)


def _pause(affected: Sequence[Affected]) -> float:
    since = max(answer.affected_at for answer in affected)
    return 0.0 if now() - since < SOON else PAUSE_SECONDS


def _citations(session: Session, question_ids: Sequence[UUID]) -> dict[UUID, list[Cited]]:
    rows = session.execute(
        sa.text(
            'SELECT c.question_id, c.claim_id, c.start, c."end", c.version_id, v.document_id '
            "FROM citation c JOIN document_version v ON v.id = c.version_id "
            "WHERE c.question_id = ANY(:ids) ORDER BY c.id"
        ),
        {"ids": list(question_ids)},
    )
    citations: dict[UUID, list[Cited]] = {}
    for row in rows:
        place = Cited(row.claim_id, row.document_id, row.version_id, Span(row.start, row.end))
        citations.setdefault(row.question_id, []).append(place)
    return citations


def _current(session: Session, document_ids: set[UUID]) -> dict[UUID, UUID]:
    """The current version of each document that has one."""
    rows = session.execute(
        select(col(DocumentVersion.document_id), col(DocumentVersion.id)).where(
            col(DocumentVersion.document_id).in_(document_ids),
            col(DocumentVersion.status) == "current",
        )
    )
    return {row.document_id: row.id for row in rows}


@dataclass
class _Comparison:
    """Compares quotations with current versions; each version is read once a step."""

    session: Session
    policy: RecallPolicy
    current: Mapping[UUID, UUID]
    ended: set[UUID]
    versions: dict[UUID, DocumentVersion] = field(default_factory=dict)
    readings: dict[UUID, Reading] = field(default_factory=dict)
    known: dict[tuple[UUID, Span], Span | Doubt] = field(default_factory=dict)

    def check(self, answer: Affected, cited: Sequence[Cited]) -> Checked:
        """Check an answer. It stands only if all its quotations do, because it shows them all."""
        spans: list[dict[str, Any]] = []
        findings = _fallen(answer)
        for quotation in cited:
            version_id = (
                quotation.version_id if answer.about_the_past else self._successor(quotation)
            )
            place = self._place(quotation, version_id)
            origin = {"claim_id": quotation.claim_id, "document_id": str(quotation.document_id)}
            if isinstance(place, Doubt) or version_id is None:
                findings.append({**origin, "finding": str(place)})
                continue
            version = self._version(version_id)
            spans.append(
                {
                    **origin,
                    "version": version.n,
                    "start": place.start,
                    "end": place.end,
                    "quote_hash": text_hash(place.of(version.text)),
                }
            )
        return Checked(spans, findings)

    def _successor(self, one: Cited) -> UUID | None:
        return self.current.get(one.document_id)

    def _place(self, one: Cited, version_id: UUID | None) -> Span | Doubt:
        if one.document_id in self.ended:
            return Doubt.WORK_ENDED
        if version_id is None:
            return Doubt.NO_CURRENT_VERSION
        if version_id == one.version_id:
            return one.span
        key = (one.version_id, one.span)
        if key not in self.known:
            old, new = self._reading(one.version_id), self._reading(version_id)
            self.known[key] = stands(old, one.span, new, self.policy.same_subject)
        return self.known[key]

    def _version(self, version_id: UUID) -> DocumentVersion:
        if version_id not in self.versions:
            (self.versions[version_id],) = get_versions(self.session, [version_id])
        return self.versions[version_id]

    def _reading(self, version_id: UUID) -> Reading:
        if version_id not in self.readings:
            version = self._version(version_id)
            structure = Structure.model_validate(version.structure)
            self.readings[version_id] = Reading(version.text, structure)
        return self.readings[version_id]


def _fallen(answer: Affected) -> list[dict[str, Any]]:
    """The claims that a new gate would not let through: no source mends that."""
    by_gate = [reason for reason in answer.because if reason["change"] == recalls.GATE]
    return [dict(finding) for reason in by_gate for finding in reason["findings"]]


def commit(unit: UnitOfWork, message: RecallV1, result: Result) -> None:
    """Write the outcomes, ask the questions of superseded answers anew, and emit the next step.

    An answer whose sources changed again since the check is left to the recall of that change.
    """
    if not result.checked:
        return
    mine = recalls.held(unit.session, message.recall_id, result.checked)
    ends = {question: result.checked[question] for question in sorted(mine)}
    recalls.reaffirm(
        unit, {question: end.spans for question, end in ends.items() if not end.findings}
    )
    for question_id, end in ends.items():
        if end.findings:
            recalls.supersede(unit, question_id, end.findings, message.request_id)
    if recalls.anything_waits(unit.session, message.recall_id):
        unit.emit(message.model_copy(update={"step": message.step + 1}))


SPEC = StageSpec(
    stage=Stage.RECALL,
    work=work,
    commit=commit,
    backoff_seconds=2.0,
    time_limit_seconds=300.0,
)
