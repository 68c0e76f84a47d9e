"""anchor: finds the quotable sentences of a version, and the effects that it states."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from clinical_text.effects.estimates import as_row, estimates
from messages import AnchorV1, Stage
from store.core.spans import Structure
from store.core.unit_of_work import UnitOfWork
from store.documents import anchors as held
from store.documents.anchors import Found
from store.documents.documents import get_versions
from store.models import DocumentVersion
from workers.anchor.signals import anchors
from workers.runtime.stage import Context, StageSpec


@dataclass(frozen=True)
class Result:
    """The anchors and effect estimates of each version."""

    found: Mapping[UUID, Found]


def find(version: DocumentVersion) -> Found:
    """The anchors and effect estimates of a version, as their rows. Pure."""
    structure = Structure.model_validate(version.structure)
    return Found(
        [
            {
                "start": anchor.start,
                "end": anchor.end,
                "score": anchor.score,
                "signals": list(anchor.signals),
                "kinds": list(anchor.kinds),
            }
            for anchor in anchors(version.text, structure)
        ],
        [as_row(estimate) for estimate in estimates(version.text, structure.sentences)],
    )


def work(context: Context, message: AnchorV1) -> Result:
    """Find the anchors and effect estimates of each version."""
    with context.store.reading() as session:
        versions = get_versions(session, message.version_ids)
    return Result({version.id: find(version) for version in versions})


def commit(unit: UnitOfWork, message: AnchorV1, result: Result) -> None:
    """Store the result in place of earlier ones."""
    held.replace(unit, result.found)
    unit.record(
        "versions.anchored",
        message.subject,
        anchors=sum(len(found.anchors) for found in result.found.values()),
        estimates=sum(len(found.estimates) for found in result.found.values()),
    )


SPEC = StageSpec(stage=Stage.ANCHOR, work=work, commit=commit, backoff_seconds=2.0)
