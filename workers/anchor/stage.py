"""anchor: the sentences of a version that are worth quoting, as exact spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from messages import AnchorV1, Stage
from store.documents import get_versions
from store.models import Anchor as AnchorRow
from store.spans import Structure
from store.unit_of_work import UnitOfWork
from workers.anchor.signals import Anchor, anchors
from workers.runtime.stage import Context, StageSpec


@dataclass(frozen=True)
class Result:
    """The anchors of each version."""

    found: Sequence[tuple[UUID, Sequence[Anchor]]]


def work(context: Context, message: AnchorV1) -> Result:
    """Score the sentences of the versions and keep the best of each."""
    with context.store.reading() as session:
        versions = get_versions(session, message.version_ids)
    return Result(
        [
            (version.id, anchors(version.text, Structure.model_validate(version.structure)))
            for version in versions
        ]
    )


def commit(unit: UnitOfWork, message: AnchorV1, result: Result) -> None:
    """Store the anchors."""
    rows = [
        {
            "version_id": version_id,
            "start": anchor.start,
            "end": anchor.end,
            "score": anchor.score,
            "signals": list(anchor.signals),
        }
        for version_id, found in result.found
        for anchor in found
    ]
    if rows:
        unit.session.execute(sa.insert(AnchorRow), rows)
    unit.record("versions.anchored", message.subject, anchors=len(rows))


SPEC = StageSpec(stage=Stage.ANCHOR, work=work, commit=commit, backoff_seconds=2.0)
