"""What the stages of a question make and what they find of each other: a statement each.

They stand on the way of whoever waits for an answer, so nothing goes through the ORM.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.copying import uuid_array
from store.hashes import Hashed
from store.models import now

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """A question as it was asked."""

    text: str
    options: Body


@dataclass(frozen=True)
class Retrieved:
    """A question with what was retrieved for it."""

    text: str
    retrieval: dict[str, Any]
    """All of it but `explain`, as everywhere here."""
    hash: str
    """Of the whole retrieval."""


@dataclass(frozen=True)
class Drafted:
    """A question with what was retrieved and drafted for it."""

    text: str
    retrieval: dict[str, Any]
    draft: dict[str, Any]
    hash: str
    """Of the draft."""


@dataclass(frozen=True)
class Composed:
    """An answer as it was stored, the key of its question's hashes, and what it was made from."""

    body: dict[str, Any]
    hash: str
    abstain_reason: str | None
    hash_key: bytes | None
    retrieval: dict[str, Any] | None


_ASKED = sa.text("SELECT text, options FROM question WHERE id = :id")
_READ_ON = "r.body - 'explain' AS retrieval"
"""Why each candidate was kept or dropped is nine tenths of a retrieval, and for people to read."""
_RETRIEVED = sa.text(
    f"""
    SELECT q.text, {_READ_ON}, r.hash
    FROM question q JOIN retrieval r ON r.question_id = q.id WHERE q.id = :id
    """  # noqa: S608  our own fragment
)
_DRAFTED = sa.text(
    f"""
    SELECT q.text, {_READ_ON}, d.body AS draft, d.hash
    FROM question q JOIN retrieval r ON r.question_id = q.id JOIN draft d ON d.question_id = q.id
    WHERE q.id = :id
    """  # noqa: S608  our own fragment
)
_COMPOSED = sa.text(
    f"""
    SELECT a.body, a.hash, a.abstain_reason, q.hash_key, {_READ_ON}
    FROM answer a JOIN question q ON q.id = a.question_id
    LEFT JOIN retrieval r ON r.question_id = a.question_id WHERE a.question_id = :id
    """  # noqa: S608  our own fragment
)


def asked(session: Session, question_id: UUID) -> Asked | None:
    """The question; None: there is none."""
    row = session.execute(_ASKED, {"id": question_id}).one_or_none()
    return None if row is None else Asked(*row)


def retrieved(session: Session, question_id: UUID) -> Retrieved | None:
    """The question with its retrieval; None: one of them is not there."""
    row = session.execute(_RETRIEVED, {"id": question_id}).one_or_none()
    return None if row is None else Retrieved(*row)


def drafted(session: Session, question_id: UUID) -> Drafted | None:
    """The question with its retrieval and its draft; None: one of them is not there."""
    row = session.execute(_DRAFTED, {"id": question_id}).one_or_none()
    return None if row is None else Drafted(*row)


def composed(session: Session, question_id: UUID) -> Composed | None:
    """The question's answer; None: there is none."""
    row = session.execute(_COMPOSED, {"id": question_id}).one_or_none()
    return None if row is None else Composed(*row)


_PUT_RETRIEVAL, _PUT_DRAFT = (
    sa.text(
        f"INSERT INTO {table} (question_id, body, hash, created_at) "  # noqa: S608  our own
        "VALUES (:question_id, CAST(:body AS jsonb), :hash, :now)"
    )
    for table in ("retrieval", "draft")
)
_PUT_ANSWER = sa.text(
    """
    WITH answered AS (
        INSERT INTO answer (question_id, body, hash, abstain_reason, created_at)
        VALUES (:question_id, CAST(:body AS jsonb), :hash, :abstain_reason, :now)),
    composed AS (
        INSERT INTO answer_inputs (question_id, body, hash, created_at)
        VALUES (:question_id, CAST(:inputs AS jsonb), :inputs_hash, :now))
    INSERT INTO citation (question_id, claim_id, version_id, start, "end", quote_hash)
    SELECT :question_id, cited.*
    FROM unnest(CAST(:claims AS varchar[]), CAST(:versions AS uuid[]), CAST(:starts AS int[]),
                CAST(:ends AS int[]), CAST(:quotes AS varchar[])) AS cited
    """
)


def put_retrieval(session: Session, question_id: UUID, body: Hashed) -> None:
    """Store what the retrieve stage found, with its hash."""
    session.execute(_PUT_RETRIEVAL, _row(question_id, body))


def put_draft(session: Session, question_id: UUID, body: Hashed) -> None:
    """Store what the generate stage proposes, with its hash."""
    session.execute(_PUT_DRAFT, _row(question_id, body))


def put_answer(
    session: Session,
    question_id: UUID,
    answer: Hashed,
    inputs: Hashed,
    *,
    abstain_reason: str | None,
    citations: Sequence[Body],
) -> None:
    """Store an answer, unsealed, what it was composed from, and the spans that it rests on.

    Args:
        inputs: see `store.audit_inputs`.
        citations: columns of `citation` without `id` and `question_id`.
    """
    session.execute(
        _PUT_ANSWER,
        {
            **_row(question_id, answer),
            "abstain_reason": abstain_reason,
            "inputs": inputs.json,
            "inputs_hash": inputs.hash,
            "claims": [one["claim_id"] for one in citations],
            "versions": uuid_array([one["version_id"] for one in citations]),
            "starts": [one["start"] for one in citations],
            "ends": [one["end"] for one in citations],
            "quotes": [one["quote_hash"] for one in citations],
        },
    )


def _row(question_id: UUID, body: Hashed) -> dict[str, Any]:
    return {"question_id": question_id, "body": body.json, "hash": body.hash, "now": now()}
