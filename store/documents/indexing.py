"""Whether what was read can be found: what the stages behind the one that reads still have to do,
and what they gave up on.

A text is found once embed has indexed it, and quoted once anchor has read its sentences.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

_UNDONE = sa.text(
    """
    SELECT named.version, bool_or(promised.status <> 'dead') AS open
    FROM outbox AS promised,
         jsonb_array_elements_text(promised.payload -> 'version_ids') AS named (version)
    WHERE promised.stage IN ('embed', 'anchor') AND named.version = ANY(:versions)
      AND (promised.status = 'pending' OR promised.status = 'published'
           OR promised.status = 'dead' AND promised.id = ANY(ARRAY(
               SELECT outbox_id FROM dead_letter WHERE stage IN ('embed', 'anchor'))))
    GROUP BY 1
    """
)
"""Whichever request caused the work: who sends what another has sent waits for the same."""


def undone(session: Session, version_ids: Collection[str]) -> Mapping[str, Literal["open", "dead"]]:
    """Those of the versions that cannot be found yet, or not wholly quoted: work on them is still
    to be done, or a stage gave up on it."""
    if not version_ids:
        return {}
    rows = session.execute(_UNDONE, {"versions": list(version_ids)})
    return {row.version: "open" if row.open else "dead" for row in rows}


def still_read(session: Session, version_ids: Collection[str]) -> bool:
    """Whether one of these versions cannot be found yet, though it will be by itself."""
    return "open" in undone(session, version_ids).values()


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
