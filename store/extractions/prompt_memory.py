"""Prompts that did well, by type of document: which fields they named, and how they scored.

Only names of fields are stored, and only names from a rubric, so no word of a document can get here
(seed marc_v1, section 9.1, without the prompt itself, which quotes the previous attempt).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from store.core.hashes import json_hash
from store.models import PromptMemory, now


@dataclass(frozen=True)
class Remembered:
    """The fields to name at the first attempt at a document of this type."""

    id: UUID
    fields: tuple[str, ...]


def best(session: Session, document_type: str, least_score: float) -> Remembered | None:
    """The best scored fields for the type, if their mean score is still at least `least_score`."""
    query = (
        select(PromptMemory)
        .where(PromptMemory.document_type == document_type, col(PromptMemory.score) >= least_score)
        .order_by(
            col(PromptMemory.score).desc(), col(PromptMemory.uses).desc(), col(PromptMemory.id)
        )
        .limit(1)
    )
    row = session.exec(query).first()
    return None if row is None else Remembered(row.id, tuple(row.fields))


def remember(session: Session, document_type: str, fields: Sequence[str], score: float) -> None:
    """Store fields that reached `score`; if they are already stored, this is another use."""
    named = sorted(set(fields))
    row = insert(PromptMemory).values(
        id=uuid4(),
        document_type=document_type,
        fields=named,
        fields_hash=json_hash(named),
        score=score,
        uses=1,
        created_at=now(),
    )
    session.execute(
        row.on_conflict_do_update(
            index_elements=["document_type", "fields_hash"], set_=_after(score)
        )
    )


def used(session: Session, memory_id: UUID, score: float) -> None:
    """Record that the memory was tried first, and the first attempt scored `score`."""
    session.execute(
        sa.update(PromptMemory).where(col(PromptMemory.id) == memory_id).values(**_after(score))
    )


def _after(score: float) -> dict[str, object]:
    """The updated values, with the mean score over one more document."""
    uses = col(PromptMemory.uses)
    return {
        "score": (col(PromptMemory.score) * uses + score) / (uses + 1),
        "uses": uses + 1,
        "used_at": now(),
    }
