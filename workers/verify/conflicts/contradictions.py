"""Which sources of an answer contradict each other, and which of its claims that touches."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlmodel import Session, col, select

from contracts.answer import Conflict as ShownConflict
from knowledge.feeds.sources import source_policy
from store.documents import anchors
from store.documents.documents import Version
from store.models import DocumentVersion
from workers.verify.answers.answer import Held
from workers.verify.claims import Checked
from workers.verify.conflicts.found import contradictions, distinct
from workers.verify.conflicts.types import Conflict, Witness
from workers.verify.conflicts.witnesses import witness_of


def witnesses(session: Session, held: Mapping[str, Held]) -> list[Witness]:
    """What each version that may be cited says, and what its document said just before."""
    shown = {key: one.version for key, one in held.items() if not one.ended}
    before = _versions_before(session, list(shown.values()))
    versions: dict[str, Version] = shown | {
        f"{key}@{one.n}": one for key, one in _by_key(shown, before).items()
    }
    rows = anchors.estimates_of(session, [one.id for one in versions.values()])
    return [witness_of(key, one, _stored(rows[one.id])) for key, one in versions.items()]


def find(question: str, said: Sequence[Witness]) -> list[Conflict]:
    """All that contradicts each other in the sources, on what the question asks."""
    return contradictions(said, question)


def shown(found: Sequence[Conflict], held: Mapping[str, Held]) -> list[ShownConflict]:
    """The conflicts as an answer shows them: each once, each side with its source and its clocks.

    An abstention has no evidence records that would tell these.
    """
    return [
        ShownConflict.model_validate(
            {
                **conflict.as_body(),
                "sides": [
                    {**side.as_body(), **_source(side.witness, held)} for side in conflict.sides
                ],
            }
        )
        for conflict in distinct(found)
    ]


def _source(witness: Witness, held: Mapping[str, Held]) -> dict[str, Any]:
    """What a side is of. An earlier version is not held, and no longer checked: it has no clocks,
    only its date of publication."""
    one, published = held.get(witness.evidence_id), witness.published_at
    return {
        "title": witness.title,
        "source": {
            "name": witness.publisher or source_policy(witness.source_type).name,
            "source_type": witness.source_type,
            "published_at": published.isoformat() if published else None,
            "published_precision": witness.published_precision,
        },
        "clocks": one.clocks.as_body() if one else None,
    }


def contested(results: Sequence[Checked], found: Sequence[Conflict]) -> set[str]:
    """The ids of claims that rest on a side which does not stand, or on one of an undecided two."""
    touched = set()
    for claim in results:
        place = claim.place
        for conflict in found:
            for side in conflict.sides:
                key = side.witness.evidence_id
                if place is None or key != claim.evidence_id or conflict.stands == key:
                    continue
                if side.start < place.end and place.start < side.end:
                    touched.add(claim.claim_id)
    return touched


def _stored(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]] | None:
    """None where none are stored: versions held before estimates were looked for are read anew."""
    return rows or None


def _versions_before(session: Session, versions: Sequence[Version]) -> dict[UUID, DocumentVersion]:
    """The version before each of these, by document."""
    wanted = {one.document_id: one.n - 1 for one in versions if one.n > 1}
    if not wanted:
        return {}
    rows = session.exec(
        select(DocumentVersion).where(
            col(DocumentVersion.document_id).in_(wanted),
            col(DocumentVersion.status) == "superseded",
        )
    )
    return {one.document_id: one for one in rows if one.n == wanted[one.document_id]}


def _by_key(shown: Mapping[str, Version], before: Mapping[UUID, Version]) -> dict[str, Version]:
    return {key: before[one.document_id] for key, one in shown.items() if one.document_id in before}
