"""Stored versions as witnesses."""

from collections.abc import Mapping, Sequence
from typing import Any

from clinical_text.effects.estimates import estimates, from_row
from store.core.spans import sentences_of
from store.documents.documents import Version
from workers.verify.conflicts.types import Witness


def witness_of(
    evidence_id: str, version: Version, rows: Sequence[Mapping[str, Any]] | None
) -> Witness:
    """What a version says and what its word weighs.

    Args:
        rows: its estimates as stored (`store.documents.anchors.estimates_of`); None where they were
        never
            looked for, and then they are read here.
    """
    sentences = sentences_of(version.structure)
    if rows is None:
        found = estimates(version.text, sentences)
    else:
        found = [from_row(row, version.text) for row in rows]
    return Witness(
        evidence_id=evidence_id,
        document_id=str(version.document_id),
        version_id=str(version.id),
        title=version.title,
        text=version.text,
        sentences=sentences,
        estimates=found,
        source_type=version.source_type,
        publisher=version.publisher,
        evidence_level=version.evidence_level,
        published_at=version.published_at,
        published_precision=version.published_precision,
        status=version.status,
        n=version.n,
    )
