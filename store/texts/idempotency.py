"""Idempotency keys: a submission repeated under its key returns the first one, not another one.

The key is in the row of what was accepted under it, with the hash of the request. Both are written
in one transaction, and erasing a row's words erases the key too. A key belongs to its owner, and to
one kind of submission.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import make_transient_to_detached
from sqlmodel import Session, col, select

from store.core.hashes import is_json_hash, json_hash
from store.models import ExtractionRow, IngestItem, Note, Question, Verification

R = TypeVar("R", bound=Question | Note | Verification | ExtractionRow | IngestItem)


class KeyReused(ValueError):
    """The idempotency key was used before with another request."""


def keep(session: Session, row: R, request: Mapping[str, Any]) -> R:
    """Write `row`, or return the row that its owner's key already stands for.

    Two transactions with the same key at the same time meet at its unique index: the second waits
    until the first has ended, so there is one row in the end.

    Args:
        request: what was asked for, as JSON values; for a file, the hash of its bytes.

    Returns:
        `row` itself if it is new; then the caller has to promise the work that belongs to it.

    Raises:
        KeyReused: the key was used for another request.
    """
    if row.idempotency_key is not None:  # only a key needs the hash, and texts may be long
        row.request_hash = json_hash(request, _hash_key(row))
    model = type(row)
    values = {name: value for name, value in row.model_dump().items() if value is not None}
    statement, json_names = _insertion(sa.inspect(model).local_table, tuple(values))
    values |= {name: json.dumps(values[name]) for name in json_names}
    if session.execute(statement, values).one_or_none() is not None:
        make_transient_to_detached(row)  # it is in the table: later changes update it
        session.add(row)
        return row
    first = session.exec(
        select(model).where(model.owner == row.owner, model.idempotency_key == row.idempotency_key)
    ).one_or_none()
    if first is None:  # it was erased at this moment, and its key with it
        return keep(session, row, request)
    if not is_json_hash(first.request_hash, request, _hash_key(first)):
        raise KeyReused("this Idempotency-Key came before with another request: use a new key")
    return first


@lru_cache
def _insertion(
    table: sa.FromClause, names: tuple[str, ...]
) -> tuple[sa.TextClause, tuple[str, ...]]:
    """The statement that inserts these columns of a row, and which of them are JSON. Cached,
    because a caller waits for it: built by SQLAlchemy each time, it takes twice as long."""
    json_names = tuple(name for name in names if isinstance(table.columns[name].type, sa.JSON))
    slots = (f"CAST(:{name} AS jsonb)" if name in json_names else f":{name}" for name in names)
    statement = sa.text(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(slots)}) "  # noqa: S608  our own names
        "ON CONFLICT (owner, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING "
        "RETURNING id"
    )
    return statement, json_names


def was_accepted(session: Session, model: type[R], owner: str, key: str) -> bool:
    """True if this owner's key stands for a row of this kind."""
    query = select(model.id).where(model.owner == owner, model.idempotency_key == key)
    return session.exec(query).first() is not None


def newest_under(
    session: Session, model: type[R], owner: str, prefix: str, *, since: datetime
) -> UUID | None:
    """The id of the newest row of this kind, no older than `since`, that a key of this owner with
    this prefix stands for."""
    key, created = col(model.idempotency_key), col(model.created_at)
    query = (
        select(model.id)
        .where(model.owner == owner, key.is_not(None), sa.func.starts_with(key, prefix))
        .where(created >= since)
        .order_by(created.desc())
    )
    return session.exec(query).first()


def _hash_key(row: R) -> bytes | None:
    """The key for the hashes of patients' words, from their row; None for evidence."""
    return getattr(row, "hash_key", None)
