"""What a dead promise does not name any more: whoever waits for it waits for nothing.

A message names what it works for by an id. Where that is gone, or is another's, nobody finds it by
the message; but whatever waits has a promise that is still to be kept, written in the same
transaction (invariants 1 and 3). So what waits without one is an orphan, and ends with the message
that died.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from messages import QUESTION_STAGES, Stage


@dataclass(frozen=True)
class _Kind:
    """Rows of a table that wait in these states for one of these stages, which names them there."""

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
    # One that is being stored waits for its items.
    Stage.REFRESH.value: _Kind("refresh", "refresh_id", ("queued", "fetching"), (Stage.REFRESH,)),
}


def orphans(session: Session, stage: str) -> list[Mapping[str, str]]:
    """What waits for this stage, or one of the same chain, without a promise that names it: each as
    the part of a message that does. Each is locked; one that another transaction ends is left out.
    """
    kind = _KINDS.get(stage)
    if kind is None:
        return []
    found = session.execute(
        sa.text(
            f"""
            SELECT waiting.id FROM {kind.table} AS waiting
            WHERE waiting.status = ANY(:waits) AND NOT EXISTS (
                SELECT FROM outbox WHERE stage = ANY(:stages) AND status IN ('pending', 'published')
                    AND payload ->> '{kind.field}' = CAST(waiting.id AS text))
            FOR UPDATE SKIP LOCKED
            """  # noqa: S608  our own names
        ),
        {"waits": list(kind.waits), "stages": [one.value for one in kind.stages]},
    ).scalars()
    return [{kind.field: str(one)} for one in found]


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
    """End what was submitted and read, but has versions that no message to this stage names: what
    would have made them found, or quoted, is lost. A version whose message to the stage before is
    still under way is not. Gives the items; those of sources are not told, since nobody waits for
    them."""
    if stage not in (Stage.EMBED, Stage.ANCHOR):
        return []
    lost, before = ("found", "") if stage == Stage.EMBED else ("wholly quoted", Stage.EMBED.value)
    error = f"it was read, but not all of it can be {lost}: its message to stage {stage} {cause}"
    values = {"error": error, "outbox_id": outbox_id, "stage": stage, "before": before}
    return list(session.execute(_LOST, values).scalars())
