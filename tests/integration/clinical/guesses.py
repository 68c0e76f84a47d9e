"""What somebody could hold against the store who has guessed the words of a patient right.

They would run this release on their guess and the same evidence, and have all that the stages made
of it: the plain hashes of that, of every part of it, and of messages that carry them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa

from messages import AuditV1, GenerateV1, RetrieveV1, VerifyV1
from store.core.hashes import json_hash, text_hash
from store.core.unit_of_work import Store

_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WORDS: Mapping[str, Mapping[str, str]] = {
    "question": {
        "question": "id",
        "retrieval": "question_id",
        "draft": "question_id",
        "answer_inputs": "question_id",
        "answer": "question_id",
    },
    "note": {"note": "id"},
    "verification": {"verification": "id"},
    "extraction": {
        "extraction": "id",
        "extraction_iteration": "extraction_id",
        "extraction_reply": "extraction_id",
    },
}
"""Tables with words of each kind, and the column that names the thing."""
_OF_SOURCES = ("SELECT content_hash FROM document_version", "SELECT quote_hash FROM citation")


def guessable(store: Store, kind: str, subject: UUID, *of: UUID) -> set[str]:
    """All that a right guess gives, without hashes of what sources say.

    Args:
        subject: of whom it is guessed.
        of: more things made of the guess, such as the same question asked anew.
    """
    found: set[str] = set()
    for one in (subject, *of):
        rows = {table: _row(store, table, key, one) for table, key in _WORDS[kind].items()}
        for row in (row for several in rows.values() for row in several):
            found.update(_hashes(row))
        if kind == "question":
            found.update(_promised(subject, rows))
    with store.engine.connect() as connection:
        for query in _OF_SOURCES:
            found.difference_update(connection.execute(sa.text(query)).scalars())
    return found


def held(store: Store) -> dict[str, str]:
    """Every hash that the store holds anywhere, with a table that it stands in."""
    found: dict[str, str] = {}
    with store.engine.connect() as connection:
        names = connection.execute(
            sa.text(
                "SELECT table_name FROM information_schema.tables "
                "WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            )
        ).scalars()
        for name in names.all():
            for row in connection.execute(sa.text(f'SELECT t::text FROM "{name}" AS t')).scalars():
                found.update(dict.fromkeys(_HASH.findall(row), name))
    return found


def _row(store: Store, table: str, key: str, subject: UUID) -> list[dict[str, Any]]:
    query = sa.text(f"SELECT to_jsonb(t) FROM {table} AS t WHERE {key} = :id")
    with store.engine.connect() as connection:
        return list(connection.execute(query, {"id": subject}).scalars())


def _hashes(row: Mapping[str, Any]) -> Iterator[str]:
    """Of the row's values and whatever is in them. Hashes that stand in a column are none of a
    guess, those inside a body are: whoever makes the body has them."""
    if "text" in row and "options" in row:
        yield json_hash({"text": row["text"], "options": row["options"]})
    for value in row.values():
        if not (isinstance(value, str) and _HASH.fullmatch(value)):
            yield from _within(value)


def _within(value: Any) -> Iterator[str]:
    if not value or (isinstance(value, str) and _ID.fullmatch(value)):
        return
    if isinstance(value, str):
        yield from (
            (value, json_hash(value))
            if _HASH.fullmatch(value)
            else (
                text_hash(value),
                json_hash(value),
            )
        )
    elif isinstance(value, Mapping):
        yield json_hash(value)
        for inner in value.values():
            yield from _within(inner)
    elif isinstance(value, Sequence):
        yield json_hash(value)
        for inner in value:
            yield from _within(inner)


def _promised(subject: UUID, rows: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    """What the ledger would have of the messages of an unkeyed question."""
    about: dict[str, Any] = {"request_id": uuid4(), "question_id": subject}
    for row in rows["question"]:
        yield RetrieveV1(**about, question_hash=text_hash(row["text"])).input_hash()
    for row in rows["retrieval"]:
        yield GenerateV1(**about, retrieval_hash=json_hash(row["body"])).input_hash()
    for row in rows["draft"]:
        yield VerifyV1(**about, draft_hash=json_hash(row["body"])).input_hash()
    for row in rows["answer"]:
        yield AuditV1(**about, answer_hash=json_hash(row["body"])).input_hash()
