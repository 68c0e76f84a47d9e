"""Work left on stored texts: what the stages after ingest still have to do, or gave up on.

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
"""Whichever request caused the work: sending a text again waits for the same work."""


def undone(session: Session, version_ids: Collection[str]) -> Mapping[str, Literal["open", "dead"]]:
    """The versions that cannot be found or wholly quoted yet: "open" if work on them is still to be
    done, "dead" if a stage gave up on it."""
    if not version_ids:
        return {}
    rows = session.execute(_UNDONE, {"versions": list(version_ids)})
    return {row.version: "open" if row.open else "dead" for row in rows}


def still_read(session: Session, version_ids: Collection[str]) -> bool:
    """True if one of these versions cannot be found yet, but will be without an operator."""
    return "open" in undone(session, version_ids).values()


@dataclass(frozen=True)
class Death:
    """Work on versions that died, by its latest dead letter.

    `state`: "open", it waits for an operator; "discarded", an operator gave it up; "again", it was
    replayed and is under way. `request_id`: the request that caused the work.
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
    """The dead work on any of these versions that has not succeeded since; open letters first."""
    if not version_ids:
        return []
    rows = session.execute(_DEATHS, {"versions": list(version_ids)})
    letters = [Death(**row._mapping) for row in rows]
    order = ("open", "discarded", "again")
    return sorted(letters, key=lambda letter: order.index(letter.state))
