"""Whether what was read can be found: what stages gave up on behind the one that reads.

A text is found once embed has indexed it, and quoted once anchor has read its sentences.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session


@dataclass(frozen=True)
class Death:
    """Work on versions that died, by its latest dead letter.

    `state`: "open", it waits for an operator; "discarded", an operator gave it up; "again", it was
    replayed and is at work. `request_id`: of the request that caused the work.
    """

    letter_id: UUID
    request_id: UUID
    stage: str
    cause: str
    state: Literal["open", "discarded", "again"]


_DEATHS = sa.text(
    """
    SELECT DISTINCT ON (letter.outbox_id) letter.id AS letter_id, promised.request_id,
           letter.stage, letter.cause,
           CASE WHEN promised.status <> 'dead' THEN 'again' ELSE letter.status END AS state
    FROM dead_letter AS letter JOIN outbox AS promised ON promised.id = letter.outbox_id
    WHERE letter.stage IN ('embed', 'anchor') AND promised.status <> 'done'
      AND jsonb_exists_any(promised.payload -> 'version_ids', :versions)
    ORDER BY letter.outbox_id, letter.died_at DESC
    """
)


def deaths(session: Session, version_ids: Collection[str]) -> list[Death]:
    """What died of the work on any of these versions, and did not go through since; the open ones
    first."""
    if not version_ids:
        return []
    rows = session.execute(_DEATHS, {"versions": list(version_ids)})
    found = [Death(**row._mapping) for row in rows]
    order = ("open", "discarded", "again")
    return sorted(found, key=lambda one: order.index(one.state))
