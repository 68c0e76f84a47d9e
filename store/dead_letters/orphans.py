"""Orphans: rows that wait for a message which died and does not name them any more.

A message names its subject by an id. If that id is lost or wrong, the subject cannot be found by
the message. But every waiting row has an open outbox message, written in the same transaction
(invariants 1 and 3). So a row that waits without one is an orphan, and fails with the message that
died.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from messages import QUESTION_STAGES, Stage


@dataclass(frozen=True)
class _Kind:
    """A table whose rows wait in these states for these stages; messages name them in `field`."""

    table: str
    field: str
    waits: Sequence[str]
    stages: Sequence[Stage]


_QUESTIONS = _Kind("question", "question_id", ("queued", "running"), QUESTION_STAGES)
_KINDS: Mapping[str, _Kind] = {
    **{stage.value: _QUESTIONS for stage in QUESTION_STAGES},
    Stage.CHECK.value: _Kind("verification", "verification_id", ("queued",), (Stage.CHECK,)),
    Stage.SUMMARIZE.value: _Kind("note", "note_id", ("queued",), (Stage.SUMMARIZE,)),
    Stage.EXTRACT.value: _Kind(
        "extraction", "extraction_id", ("queued", "running"), (Stage.EXTRACT,)
    ),
    Stage.INGEST.value: _Kind("ingest_item", "item_id", ("pending",), (Stage.INGEST,)),
    # A refresh that is being stored waits for its items.
    Stage.REFRESH.value: _Kind("refresh", "refresh_id", ("queued", "fetching"), (Stage.REFRESH,)),
    Stage.RECHECK.value: _Kind("recheck", "recheck_id", ("running",), (Stage.RECHECK,)),
}


def orphans(session: Session, stage: str) -> list[Mapping[str, str]]:
    """The rows that wait for this stage, or one of the same chain, without an outbox message: each
    as the message field that would name it. They are locked; rows locked by others are skipped.
    """
    kind = _KINDS.get(stage)
    if kind is None:
        return []
    ids = session.execute(
        sa.text(
            f"""
            SELECT waiting.id FROM {kind.table} AS waiting
            WHERE waiting.status = ANY(:waits) AND NOT EXISTS (
                SELECT FROM outbox WHERE stage = ANY(:stages) AND status IN ('pending', 'published')
                    AND payload ->> '{kind.field}' = CAST(waiting.id AS text))
            FOR UPDATE SKIP LOCKED
            """  # noqa: S608  our own names
        ),
        {"waits": list(kind.waits), "stages": [member.value for member in kind.stages]},
    ).scalars()
    return [{kind.field: str(row_id)} for row_id in ids]


_LOST = sa.text(
    """
    UPDATE ingest_item AS item SET status = 'failed', error = :error
    WHERE item.status = 'done' AND item.refresh_id IS NULL
      AND CAST(item.id AS text) IN (
        SELECT asked.payload ->> 'item_id' FROM outbox AS asked
        WHERE asked.stage = 'ingest' AND asked.request_id = (
            SELECT request_id FROM outbox WHERE id = :outbox_id))
      AND EXISTS (
        SELECT FROM jsonb_array_elements(item.outcome -> 'documents') AS became
        WHERE became ->> 'outcome' IN ('new', 'changed') AND NOT EXISTS (
            SELECT FROM outbox AS promised
            WHERE (promised.stage = :stage OR promised.stage = :before
                                              AND promised.status <> 'done')
              AND jsonb_exists(promised.payload -> 'version_ids', became ->> 'version_id')))
    RETURNING item.id
    """
)


def end_unfound(session: Session, outbox_id: UUID, stage: str, cause: str) -> list[UUID]:
    """Fail submitted items that were read, but have versions that no message to this stage names:
    the message that would have made them searchable or quotable is lost. A version whose message
    to the previous stage is still open is not. Returns the items; those of sources are left alone,
    since nobody waits for them."""
    if stage not in (Stage.EMBED, Stage.ANCHOR):
        return []
    lost, before = ("found", "") if stage == Stage.EMBED else ("wholly quoted", Stage.EMBED.value)
    error = f"it was read, but not all of it can be {lost}: its message to stage {stage} {cause}"
    values = {"error": error, "outbox_id": outbox_id, "stage": stage, "before": before}
    return list(session.execute(_LOST, values).scalars())
