"""Dead letters: record, replay or discard messages that died. Payloads hold ids and hashes only.

A foreign message may contain anything. A dead letter keeps the values that have the form of an id,
a hash or a schema, and only the length of all others (invariant 11): no row has a key to hash them
with (`store.core.hashes`).
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlmodel import Session, col, select

from messages import MESSAGES, MessageError, Stage
from messages.upgrades import UPGRADES, Upgrades, parse_upgraded
from store.core.clock import database_now
from store.core.hashes import text_hash
from store.core.unit_of_work import UnitOfWork
from store.dead_letters import orphans, subjects
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution
from store.pipeline import circuits, outbox

CODE_VERSION = version("attest")
UNREADABLE = frozenset({"UnknownMessage", "InvalidMessage", "UndecodableMessage"})
"""Errors of messages that this code cannot read, whether retried or not."""
NOT_BY_TRYING = frozenset({"Permanent", "ValidationError"})
"""Errors that a retry by the same code does not cure; something else may have been fixed."""
_SPEAKS_NO_WORDS = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}"
    rf"|({'|'.join(Stage)})\.v[0-9]{{1,9}}"
)
_FIELDS = frozenset({"payload", "bytes"}).union(
    *({field.alias or name for name, field in kind.model_fields.items()} for kind in MESSAGES)
)
_MAX_DEPTH = 4
_MAX_ITEMS = 1000


class NotReplayable(ValueError):
    """Replaying this dead letter is refused; the message says why and what to do."""


class AlreadyResolved(NotReplayable):
    """The dead letter was replayed or discarded before."""


@dataclass(frozen=True)
class Death:
    """How a message died. Its `id` becomes the dead letter's, so a second report is ignored."""

    stage: str
    payload: Mapping[str, Any]
    error_type: str
    cause: str
    traceback: str = ""
    attempts: int = 1
    outbox_id: UUID | None = None
    subject: str | None = None
    first_failed_at: datetime | None = None
    id: UUID = field(default_factory=uuid4)

    @property
    def fingerprint(self) -> str:
        """A hash that is the same for the same fault, whichever ids and numbers the cause names."""
        shape = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+", "#", self.cause)
        return hashlib.sha256(f"{self.stage}|{self.error_type}|{shape}".encode()).hexdigest()[:16]


def _without_words(value: Any, depth: int = 0) -> Any:
    """`value` with texts replaced by their length, as a dead letter may keep it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, str) and _SPEAKS_NO_WORDS.fullmatch(value):
        return value
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        items = list(value.items())[:_MAX_ITEMS]
        return {
            key if key in _FIELDS else f"field {n}": _without_words(inner, depth + 1)
            for n, (key, inner) in enumerate(items, 1)
        }
    if isinstance(value, (list, tuple)) and depth < _MAX_DEPTH:
        return [_without_words(inner, depth + 1) for inner in value[:_MAX_ITEMS]]
    text = value if isinstance(value, str) else repr(value)
    return {"characters": len(text)}


def add(work: UnitOfWork, death: Death) -> UUID:
    """Write a dead letter in the unit of work's transaction, with its audit event.

    An outbox message has at most one open dead letter: if there is one, no other is written.

    Returns:
        The id of the open dead letter.
    """
    payload, died_at = _without_words(death.payload), database_now(work.session)
    schema = payload.get("schema")
    letter = DeadLetter(
        id=death.id,
        outbox_id=death.outbox_id,
        stage=death.stage,
        subject=death.subject,
        payload=payload,
        error_type=death.error_type,
        cause=death.cause,
        traceback=death.traceback,
        fingerprint=death.fingerprint,
        attempts=death.attempts,
        code_version=CODE_VERSION,
        message_schema=schema if isinstance(schema, str) else None,
        first_failed_at=death.first_failed_at or died_at,
        died_at=died_at,
    )
    written = work.session.execute(
        insert(DeadLetter)
        .values(**letter.model_dump())
        .on_conflict_do_nothing()
        .returning(col(DeadLetter.id))
    ).one_or_none()
    if written is None:
        same = col(DeadLetter.id) == letter.id
        if death.outbox_id is not None:  # else every open letter without an outbox row would match
            of_promise = col(DeadLetter.outbox_id) == death.outbox_id
            same = sa.or_(same, sa.and_(of_promise, col(DeadLetter.status) == "open"))
        return work.session.exec(select(DeadLetter.id).where(same)).one()
    work.record(
        "message.dead",
        death.subject or death.outbox_id or letter.id,
        dead_letter_id=str(letter.id),
        stage=death.stage,
        error_type=death.error_type,
        fingerprint=letter.fingerprint,
    )
    if death.outbox_id is not None:
        circuits.watch_deaths(work, death.stage)
    return letter.id


def bury(work: UnitOfWork, death: Death, *, if_idle: bool = True) -> None:
    """Record a death outside any claim, and end the rows that waited for the message.

    Nothing changes if the outbox message is done or dead, or with `if_idle` being worked on: then a
    late copy died.
    """
    if death.outbox_id is None or not _is_promised(work.session, death.outbox_id):
        add(work, replace(death, outbox_id=None))
        return
    end = outbox.dead_if_idle if if_idle else outbox.dead
    promised = end(work.session, death.outbox_id)
    if promised is None:
        return
    subject = subjects.subject_of(promised)
    waited: Sequence[Mapping[str, Any]] = [promised]
    if not subjects.is_named(work.session, promised):
        waited = orphans.orphans(work.session, death.stage)
        lost = orphans.end_unfound(work.session, death.outbox_id, death.stage, "cannot be read")
        named = [subjects.subject_of(waiting) for waiting in waited] + [*map(str, lost)]
        subject = named[0] if len(named) == 1 else None
    add(work, replace(death, subject=subject or death.subject))
    for waiting in waited:
        subjects.fail(work, waiting, death.cause)


def _is_promised(session: Session, outbox_id: UUID) -> bool:
    query = sa.text("SELECT 1 FROM outbox WHERE id = :id")
    return session.execute(query, {"id": outbox_id}).one_or_none() is not None


@dataclass(frozen=True)
class Plan:
    """The payload a replay would send: unchanged, or upgraded to the newest schema version."""

    payload: Mapping[str, Any]
    upgraded_from: str | None


_REPEATED = sa.text(
    """
    SELECT 1 FROM dead_letter WHERE outbox_id = :outbox_id AND id <> :id AND status = 'replayed'
        AND fingerprint = :fingerprint AND code_version = :code_version LIMIT 1
    """
)


def plan(
    session: Session, letter: DeadLetter, *, force: bool = False, upgrades: Upgrades = UPGRADES
) -> Plan:
    """Check whether `letter` can be replayed, and return the plan; changes nothing.

    Args:
        force: also plan letters that died before of the same cause, or were unreadable, under this
            code.

    Raises:
        NotReplayable: the replay would be refused; says why.
    """
    if letter.status != "open":
        raise AlreadyResolved(f"dead letter {letter.id} is {letter.status} already")
    promised = session.execute(
        sa.text("SELECT payload FROM outbox WHERE id = :id AND status = 'dead'"),
        {"id": letter.outbox_id},
    ).scalar_one_or_none()
    if promised is None:
        if letter.error_type in UNREADABLE:
            raise NotReplayable(f"it can never succeed as it is: {letter.cause}")
        raise NotReplayable("its promise in the outbox is gone or was kept in the meantime")
    planned = _readable(letter, promised, force, upgrades)
    if (why := subjects.hindrance(session, planned.payload)) is not None:
        raise NotReplayable(why)
    if letter.error_type in NOT_BY_TRYING and letter.code_version == CODE_VERSION and not force:
        key = letter.model_dump(include={"outbox_id", "id", "fingerprint", "code_version"})
        if session.execute(_REPEATED, key).one_or_none() is not None:
            raise NotReplayable(
                "it was replayed before and died of the same cause under the same code: mend "
                "that, then replay with force"
            )
    return planned


def _readable(letter: DeadLetter, promised: Any, force: bool, upgrades: Upgrades) -> Plan:
    """The plan for a message that this code can read.

    Raises:
        NotReplayable: this code cannot read it, or could not and has not changed.
    """
    try:
        message = parse_upgraded(Stage(letter.stage), promised, upgrades)
    except MessageError as error:
        raise NotReplayable(f"it can never succeed as it is: {error}") from None
    except ValueError:
        raise NotReplayable("it can never succeed: there is no such stage any more") from None
    payload = message.payload()
    old = promised["schema"]
    upgraded_from = old if payload["schema"] != old else None
    unchanged = letter.code_version == CODE_VERSION and upgraded_from is None
    if letter.error_type in UNREADABLE and unchanged and not force:
        raise NotReplayable(f"it can never succeed as it is: {letter.cause}")
    return Plan(payload if upgraded_from else promised, upgraded_from)


def replay(
    work: UnitOfWork,
    letter_id: UUID,
    *,
    force: bool = False,
    due_at: datetime | None = None,
    upgrades: Upgrades = UPGRADES,
) -> DeadLetter:
    """Make the work of a dead letter pending again, with its attempts reset.

    Args:
        force: see `plan`.
        due_at: when to publish it; None: at once.

    Raises:
        LookupError: there is no such dead letter.
        NotReplayable: it was resolved before, or can never succeed; nothing was changed.
    """
    letter = _locked(work.session, letter_id)
    planned = plan(work.session, letter, force=force, upgrades=upgrades)
    moment = database_now(work.session)
    promised = work.session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', not_before = :due, payload = :payload, "
            "publish_count = 0, done_at = NULL WHERE id = :id AND status = 'dead' RETURNING id"
        ).bindparams(sa.bindparam("payload", type_=JSONB)),
        {"id": letter.outbox_id, "due": due_at or moment, "payload": dict(planned.payload)},
    ).one_or_none()
    if promised is None:
        raise NotReplayable("its promise in the outbox is gone or was kept in the meantime")
    if planned.upgraded_from is None:  # else the ledger treats it as new work
        _wait_again(work.session, letter)
    subjects.revive(work, planned.payload)
    resolution = DeadLetterResolution(
        dead_letter_id=letter.id,
        kind="replayed",
        by=work.actor,
        forced=force,
        upgraded_from=planned.upgraded_from,
        at=moment,
        due_at=due_at or moment,
    )
    letter.replays += 1
    _resolve(work, letter, resolution)
    details = {"upgraded_from": planned.upgraded_from} if planned.upgraded_from else {}
    work.record(
        "message.replayed",
        letter.subject or letter.id,
        dead_letter_id=str(letter.id),
        **details,
        **({"forced": True} if force else {}),
    )
    return letter


def discard(work: UnitOfWork, letter_id: UUID, reason: str) -> DeadLetter:
    """Discard a dead letter: it is kept, with the reason, and rows that waited for it stay failed.

    Discarding it again changes nothing. The audit event has only the hash of the reason, because
    it is free text (invariant 11).

    Raises:
        LookupError: there is no such dead letter.
        AlreadyResolved: it was replayed.
        ValueError: there is no reason.
    """
    letter = _unless_replayed(_locked(work.session, letter_id))
    if letter.status == "discarded":
        return letter
    if not reason.strip():
        raise ValueError("say why it is discarded")
    resolution = DeadLetterResolution(
        dead_letter_id=letter.id,
        kind="discarded",
        by=work.actor,
        reason=reason.strip(),
        at=database_now(work.session),
    )
    _resolve(work, letter, resolution)
    work.record(
        "message.discarded",
        letter.subject or letter.id,
        dead_letter_id=str(letter.id),
        reason_sha256=text_hash(reason.strip()),
    )
    return letter


def discardable(session: Session, letter_id: UUID) -> DeadLetter:
    """The dead letter, if it may be discarded or has been; it is not locked.

    Raises:
        LookupError: there is no such dead letter.
        AlreadyResolved: it was replayed.
    """
    return _unless_replayed(_there(session.get(DeadLetter, letter_id), letter_id))


def _unless_replayed(letter: DeadLetter) -> DeadLetter:
    if letter.status == "replayed":
        raise AlreadyResolved(f"dead letter {letter.id} is {letter.status} already")
    return letter


def _locked(session: Session, letter_id: UUID) -> DeadLetter:
    return _there(session.get(DeadLetter, letter_id, with_for_update=True), letter_id)


def _there(letter: DeadLetter | None, letter_id: UUID) -> DeadLetter:
    if letter is None:
        raise LookupError(f"there is no dead letter {letter_id}")
    return letter


def _resolve(work: UnitOfWork, letter: DeadLetter, resolution: DeadLetterResolution) -> None:
    letter.status, letter.resolved_at = resolution.kind, resolution.at
    work.session.add_all([letter, resolution])


def _wait_again(session: Session, letter: DeadLetter) -> None:
    """Reset the attempts in the ledger. Work that killed a worker before is still done alone."""
    session.execute(
        sa.text(
            "UPDATE stage_run SET status = 'waiting', attempts = 0, losses = least(losses, 1), "
            "finished_at = NULL, first_failed_at = NULL WHERE status = 'dead' "
            "AND (outbox_id = :outbox_id OR (stage = :stage AND subject = :subject))"
        ),
        {"outbox_id": letter.outbox_id, "stage": letter.stage, "subject": letter.subject},
    )
