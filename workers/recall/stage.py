"""recall: answers whose sources changed are checked again, and end reaffirmed or superseded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.recalls import RecallPolicy, recall_policy
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
"""What changed so short ago is waited for at the pace of the relay: it is being read."""
PAUSE_SECONDS = 0.5


@dataclass(frozen=True)
class Cited:
    """A quotation of an answer, where it was made."""

    claim_id: str
    document_id: UUID
    version_id: UUID
    span: Span


@dataclass(frozen=True)
class Checked:
    """What an answer ends as: with findings it does not stand."""

    spans: Sequence[dict[str, Any]]
    findings: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """The answers of this step."""

    checked: Mapping[UUID, Checked]


def work(context: Context, message: RecallV1) -> Result:
    """Check the next affected answers against what is current now.

    Raises:
        Later: a new version is not searchable yet, so a question asked anew would not find it; or
            enough questions asked anew are under way, so that people's own do not wait for more.
    """
    policy = recall_policy()
    with context.store.reading() as session:
        affected = recalls.waiting(session, message.recall_id, policy.step_answers)
        if not affected:
            return Result({})
        cited = _citations(session, [one.question_id for one in affected])
        documents = {place.document_id for places in cited.values() for place in places}
        current = _current(session, documents)
        ended = publication_status.ended(session, documents)
        if indexing.still_read(session, [str(one) for one in current.values()]):
            raise Later("a new version is not searchable yet", _pause(affected))
        comparison = _Comparison(session, policy, current, ended)
        checked = {
            one.question_id: comparison.check(one, cited.get(one.question_id, ()))
            for one in affected
        }
        room = max(0, policy.asked_anew_at_once - recalls.asked_anew(session))
    fallen = [one for one, outcome in checked.items() if outcome.findings]
    for question_id in fallen[room:]:
        del checked[question_id]
    if not checked:
        raise Later("enough questions asked anew are under way", _pause(affected))
    return Result(checked)


def _pause(affected: Sequence[Affected]) -> float:
    since = max(one.affected_at for one in affected)
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
    found: dict[UUID, list[Cited]] = {}
    for row in rows:
        place = Cited(row.claim_id, row.document_id, row.version_id, Span(row.start, row.end))
        found.setdefault(row.question_id, []).append(place)
    return found


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
    """Compares quotations with current versions; each pair of versions is read once a step."""

    session: Session
    policy: RecallPolicy
    current: Mapping[UUID, UUID]
    ended: set[UUID]
    versions: dict[UUID, DocumentVersion] = field(default_factory=dict)
    readings: dict[UUID, Reading] = field(default_factory=dict)
    known: dict[tuple[UUID, Span], Span | Doubt] = field(default_factory=dict)

    def check(self, answer: Affected, cited: Sequence[Cited]) -> Checked:
        """An answer stands where each of its quotations does: it shows them all."""
        spans: list[dict[str, Any]] = []
        findings: list[dict[str, Any]] = []
        for one in cited:
            version_id = one.version_id if answer.about_the_past else self._successor(one)
            place = self._place(one, version_id)
            told = {"claim_id": one.claim_id, "document_id": str(one.document_id)}
            if isinstance(place, Doubt) or version_id is None:
                findings.append({**told, "finding": str(place)})
                continue
            version = self._version(version_id)
            spans.append(
                {
                    **told,
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


def commit(unit: UnitOfWork, message: RecallV1, result: Result) -> None:
    """Write how these answers end, ask anew what does not stand, and promise the next step.

    An answer that something changed under since it was checked is left to that change's recall.
    """
    if not result.checked:
        return
    mine = recalls.held(unit.session, message.recall_id, result.checked)
    ends = {one: result.checked[one] for one in sorted(mine)}
    recalls.reaffirm(unit, {one: end.spans for one, end in ends.items() if not end.findings})
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
