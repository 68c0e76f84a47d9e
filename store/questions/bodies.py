"""The results of a question's stages, and what each stage reads of the others: a statement each.

Whoever waits for an answer waits for these statements, so nothing goes through the ORM.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from contracts import Body, Draft, Retrieval
from contracts.inputs import Gate
from messages import Stage
from store.core.copying import uuid_array
from store.core.hashes import Hashed
from store.models import now
from store.questions.states import MOVE, moving
from store.reports.model_usage import cost_of_subject

Json = Mapping[str, Any]
B = TypeVar("B", bound=Body)


@dataclass(frozen=True)
class Asked:
    """A question as it was asked."""

    text: str
    options: Json
    hash_key: bytes | None
    """The key of the hashes of its words and of all that is made of them (`store.core.hashes`),
    here and below; None for a question from before there were keys."""


@dataclass(frozen=True)
class Retrieved:
    """A question with what was retrieved for it."""

    text: str
    retrieval: Retrieval
    """All of it except `explain`, as everywhere here."""
    hash: str
    """The hash of the whole retrieval."""
    hash_key: bytes | None


@dataclass(frozen=True)
class Drafted:
    """A question with what was retrieved and drafted for it."""

    text: str
    retrieval: Retrieval
    draft: Draft
    hash: str
    """The hash of the draft."""
    hash_key: bytes | None
    cost_usd: Decimal | None
    """The cost of the language model so far; None if it is not known."""


@dataclass(frozen=True)
class Composed:
    """An answer as it was stored, and what it was made from. Its hash is that of `body`, which is
    read (`contracts.Answer.read`) once that was looked at."""

    body: Json
    hash: str
    abstain_reason: str | None
    hash_key: bytes | None
    retrieval: Retrieval | None
    gate: Gate | None
    """What names the gate and what it did, in counts; None from a release that did not count."""


class Cited(NamedTuple):
    """A place that an answer shows: of which claim, in which version, and the hash of its words."""

    claim_id: str
    version_id: UUID
    start: int
    end: int
    quote_hash: str


class Keyed(NamedTuple, Generic[B]):
    """The result of a stage for a question, and the key of its hashes.

    The key is read before the work. An erasure of a question first ends its work, so nothing is
    ever written under a deleted key.
    """

    body: B
    hash_key: bytes | None


_ASKED = sa.text("SELECT text, options, hash_key FROM question WHERE id = :id")
_READ_ON = "r.body - 'explain' AS retrieval"
"""`explain`, why each candidate was kept or dropped, is nine tenths of a retrieval, for people."""
_RETRIEVED = sa.text(
    f"""
    SELECT q.text, {_READ_ON}, r.hash, q.hash_key
    FROM question q JOIN retrieval r ON r.question_id = q.id WHERE q.id = :id
    """  # noqa: S608  our own fragment
)
_DRAFTED = sa.text(
    f"""
    SELECT q.text, {_READ_ON}, d.body AS draft, d.hash, q.hash_key,
           {cost_of_subject("CAST(q.id AS text)")}
    FROM question q JOIN retrieval r ON r.question_id = q.id JOIN draft d ON d.question_id = q.id
    WHERE q.id = :id
    """  # noqa: S608  our own fragment
)
_COMPOSED = sa.text(
    f"""
    SELECT a.body, a.hash, a.abstain_reason, q.hash_key, {_READ_ON}, i.body -> 'gate' AS gate
    FROM answer a JOIN question q ON q.id = a.question_id
    LEFT JOIN retrieval r ON r.question_id = a.question_id
    LEFT JOIN answer_inputs i ON i.question_id = a.question_id WHERE a.question_id = :id
    """  # noqa: S608  our own fragment
)


def asked(session: Session, question_id: UUID) -> Asked | None:
    """The question; None if there is none."""
    row = session.execute(_ASKED, {"id": question_id}).one_or_none()
    return None if row is None else Asked(*row)


def retrieved(session: Session, question_id: UUID) -> Retrieved | None:
    """The question with its retrieval; None if either is missing."""
    row = session.execute(_RETRIEVED, {"id": question_id}).one_or_none()
    if row is None:
        return None
    return Retrieved(row.text, Retrieval.read(row.retrieval), row.hash, row.hash_key)


def drafted(session: Session, question_id: UUID) -> Drafted | None:
    """The question with its retrieval and its draft; None if one of them is missing."""
    row = session.execute(_DRAFTED, {"id": question_id}).one_or_none()
    if row is None:
        return None
    text, retrieval, draft, *others = row
    return Drafted(text, Retrieval.read(retrieval), Draft.read(draft), *others)


def composed(session: Session, question_id: UUID) -> Composed | None:
    """The question's answer; None if there is none."""
    row = session.execute(_COMPOSED, {"id": question_id}).one_or_none()
    if row is None:
        return None
    retrieval = None if row.retrieval is None else Retrieval.read(row.retrieval)
    gate = None if row.gate is None else Gate.model_validate(row.gate)
    return Composed(row.body, row.hash, row.abstain_reason, row.hash_key, retrieval, gate)


_PUT_RETRIEVAL, _PUT_DRAFT = (
    sa.text(
        f"""
        WITH moved AS ({MOVE})
        INSERT INTO {table} (question_id, body, hash, created_at)
        SELECT id, CAST(:body AS jsonb), :hash, :now FROM moved RETURNING question_id
        """  # noqa: S608  our own fragments
    )
    for table in ("retrieval", "draft")
)
_PUT_ANSWER = sa.text(
    f"""
    WITH moved AS ({MOVE}),
    answered AS (
        INSERT INTO answer (question_id, body, hash, abstain_reason, created_at)
        SELECT id, CAST(:body AS jsonb), :hash, :abstain_reason, :now FROM moved),
    composed AS (
        INSERT INTO answer_inputs (question_id, body, hash, created_at)
        SELECT id, CAST(:inputs AS jsonb), :inputs_hash, :now FROM moved),
    cited AS (
        INSERT INTO citation (question_id, claim_id, version_id, start, "end", quote_hash)
        SELECT moved.id, place.*
        FROM moved, unnest(CAST(:claims AS varchar[]), CAST(:versions AS uuid[]),
                           CAST(:starts AS int[]), CAST(:ends AS int[]),
                           CAST(:quotes AS varchar[])) AS place)
    SELECT id FROM moved
    """  # noqa: S608  our own fragment
)


def put_retrieval(session: Session, question_id: UUID, body: Hashed) -> None:
    """Store the result of the retrieve stage, with its hash; the question then waits for generate.

    Raises:
        LookupError: there is no such question.
    """
    _put(session, _PUT_RETRIEVAL, question_id, Stage.GENERATE, body)


def put_draft(session: Session, question_id: UUID, body: Hashed) -> None:
    """Store the draft of the generate stage, with its hash; the question then waits for verify.

    Raises:
        LookupError: there is no such question.
    """
    _put(session, _PUT_DRAFT, question_id, Stage.VERIFY, body)


def put_answer(
    session: Session,
    question_id: UUID,
    answer: Hashed,
    inputs: Hashed,
    *,
    abstain_reason: str | None,
    citations: Sequence[Cited],
) -> None:
    """Store an unsealed answer, what it was composed from, and the spans that it rests on; the
    question then waits for audit.

    Args:
        inputs: see `store.audit.inputs`.

    Raises:
        LookupError: there is no such question.
    """
    _put(
        session,
        _PUT_ANSWER,
        question_id,
        Stage.AUDIT,
        answer,
        abstain_reason=abstain_reason,
        inputs=inputs.json,
        inputs_hash=inputs.hash,
        claims=[one.claim_id for one in citations],
        versions=uuid_array([one.version_id for one in citations]),
        starts=[one.start for one in citations],
        ends=[one.end for one in citations],
        quotes=[one.quote_hash for one in citations],
    )


def _put(
    session: Session,
    statement: sa.TextClause,
    question_id: UUID,
    following: Stage,
    body: Hashed,
    **values: object,
) -> None:
    own = {"body": body.json, "hash": body.hash, "now": now(), **moving(question_id, following)}
    if session.execute(statement, {**own, **values}).one_or_none() is None:
        raise LookupError(f"there is no question {question_id}")
