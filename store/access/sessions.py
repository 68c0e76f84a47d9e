"""Sessions of browsers: begun with a key, found by a token, ended.

A token is 256 random bits, so a fast hash without salt suffices (see `store.access.keys`).
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.unit_of_work import UnitOfWork
from store.models import AccessKey, PageSession, now

TOKEN_BYTES = 32
_TOKEN_CHARS = 43
_PERSON = b"attest.session"


def begin(work: UnitOfWork, key_id: UUID, *, hours: float) -> tuple[str, datetime]:
    """Begin a session; returns its token, which is not stored, and when it expires.

    It expires with its key at the latest. Expired sessions are deleted at the same time.

    Raises:
        LookupError: there is no such key.
    """
    key = work.session.get(AccessKey, key_id)
    if key is None:
        raise LookupError(f"there is no key {key_id}")
    at, token = now(), secrets.token_urlsafe(TOKEN_BYTES)
    work.session.execute(sa.delete(PageSession).where(col(PageSession.expires_at) <= at))
    ends = min(at + timedelta(hours=hours), key.expires_at)
    work.session.add(PageSession(hash=_hash(token), key_id=key.id, created_at=at, expires_at=ends))
    work.session.flush()
    work.record("session.begun", key.id, expires_at=ends.isoformat())
    return token, ends


def key_of(session: Session, token: str, at: datetime) -> AccessKey | None:
    """The key of a token's session, if session and key are valid at the time `at`."""
    if len(token) != _TOKEN_CHARS:
        return None
    query = (
        select(AccessKey)
        .join(PageSession, col(PageSession.key_id) == col(AccessKey.id))
        .where(
            PageSession.hash == _hash(token),
            col(PageSession.expires_at) > at,
            col(AccessKey.expires_at) > at,
            col(AccessKey.revoked_at).is_(None),
        )
    )
    return session.exec(query).one_or_none()


def open_of(session: Session, names: Collection[bytes], at: datetime) -> set[bytes]:
    """The sessions among `names` (`name_of`) that have not expired at the time `at`."""
    if not names:
        return set()
    query = select(PageSession.hash).where(
        col(PageSession.hash).in_(names), col(PageSession.expires_at) > at
    )
    return set(session.exec(query))


def end(work: UnitOfWork, token: str) -> bool:
    """End a session; returns True if there was one."""
    row = work.session.get(PageSession, _hash(token))
    if row is None:
        return False
    work.session.delete(row)
    work.record("session.ended", row.key_id)
    return True


def name_of(token: str) -> bytes:
    """The name by which a session is found. It is not secret and does not reveal the token."""
    return _hash(token)


def _hash(token: str) -> bytes:
    """The hash of a token, (32,) bytes: BLAKE2b (RFC 7693)."""
    written = token.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(written, digest_size=32, person=_PERSON).digest()
